// A leader that submits one job to a queue, and the adapter that holds it against the model
// `b_submission_timed_out`: requests come as JSON lines on standard input, answers go to standard output.
//
//   killpoint conform b_submission_timed_out -s fixed --command "node docs/examples/submission.mjs"

import { createInterface } from "node:readline";

// --- The system ---

class Refusal extends Error {}

class Queue {
  constructor(namesAreTakenOnce) {
    this.namesAreTakenOnce = namesAreTakenOnce;
    this.jobs = new Map(); // the name under which it was submitted, by the number of the job
  }

  // `number` is the one that the queue would give to a new job.
  submit(name, number) {
    const known = [...this.jobs].find(([, other]) => other === name);
    if (this.namesAreTakenOnce && known) {
      if (known[0] !== number) throw new Refusal(`the job of that name is ${known[0]}`);
      return known[0];
    }
    if (this.jobs.has(number)) throw new Refusal(`there is a job ${number} already`);
    this.jobs.set(number, name);
    return number;
  }
}

// Each step returns the label of the next one. What is not in the ledger is gone after a crash.
class Leader {
  constructor(ledger, queue, defect) {
    Object.assign(this, { ledger, queue, defect, at: "look", given: null, attempts: 0 });
  }

  look() {
    if (this.ledger.id !== null) throw new Refusal("the job is recorded");
    return "submit";
  }

  submit(number, replyIsLost) {
    this.attempts += 1;
    const name = this.defect === "new-name-each-time" ? `job, attempt ${this.attempts}` : "job";
    this.given = this.queue.submit(name, number);
    return replyIsLost ? "look" : "record";
  }

  record() {
    if (this.defect !== "records-nothing") this.ledger.id = this.given;
    return "look";
  }

  take(step, ...decided) {
    if (this.at !== step) throw new Refusal(`the leader is at ${this.at}`);
    this.at = this[step](...decided);
    if (this.at === "look") this.given = null;
  }

  crash() {
    Object.assign(this, { at: "look", given: null });
  }
}

// --- The adapter ---

let ledger, queue, leader;
const VARIANTS = { "": false, "name-taken-once": true };
const DEFECTS = ["new-name-each-time", "records-nothing"];

const requests = {
  hello: () => ({ observes: ["id", "jobs", "leader at", "leader.given"], defects: DEFECTS }),

  reset({ setting }) {
    if (!(setting.variant in VARIANTS)) throw { unknown: `there is no variant ${setting.variant}` };
    if (setting.defect && !DEFECTS.includes(setting.defect)) throw { unknown: `there is no defect ${setting.defect}` };
    ledger = { id: null };
    queue = new Queue(VARIANTS[setting.variant]);
    leader = new Leader(ledger, queue, setting.defect);
    return null;
  },

  perform({ action }) {
    if (action.kind === "crash") {
      if (leader.at !== action.step) throw new Refusal(`the leader is at ${leader.at}`);
      leader.crash();
    } else {
      leader.take(action.step, action.choices[0], action.faults.includes("lost_reply"));
    }
    return null;
  },

  observe: () => ({
    id: ledger.id,
    jobs: [...queue.jobs.keys()].sort(),
    "leader at": leader.at,
    "leader.given": leader.given,
  }),

  offers() {
    const step = { kind: "step", process: "leader", step: leader.at };
    const outcomes = leader.at !== "submit" ? [step] : [1, 2].flatMap((number) => [
      { ...step, choices: [number] },
      { ...step, choices: [number], faults: ["lost_reply"] },
    ]);
    const crash = { kind: "crash", process: "leader", step: leader.at, faults: ["crash"] };
    return leader.at === "look" ? outcomes : [...outcomes, crash];
  },

  close: () => null,
};

function answer(line) {
  try {
    const request = JSON.parse(line);
    return { ok: requests[request.do](request) };
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.message };
    return error.unknown ? { unknown: error.unknown } : { error: String(error) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(answer(line)) + "\n");
}
