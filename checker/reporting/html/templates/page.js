"use strict";

// Everything that a specification says is put into the page as text, never as markup.
const $ = (id) => document.getElementById(id);

function make(tag, options = {}, ...children) {
  const { text, ...attributes } = options;
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  element.append(...children);
  return element;
}

// --- Colours: those of the system until somebody chooses ---

function themes() {
  const button = $("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const say = () => { button.textContent = dark() ? "Light colours" : "Dark colours"; };
  try {
    const kept = localStorage.getItem("killpoint-theme");
    if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
  } catch { /* a browser may refuse to keep anything for a file */ }
  button.addEventListener("click", () => {
    const chosen = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = chosen;
    try { localStorage.setItem("killpoint-theme", chosen); } catch { /* then it lasts as long as the page */ }
    say();
  });
  system.addEventListener("change", say);
  say();
  button.hidden = false;
}

// --- Claims by text ---

function filtering() {
  const field = $("filter");
  if (!field) return;
  const claims = [...document.querySelectorAll("tbody.claim")];
  const texts = claims.map((claim) => claim.textContent.toLowerCase());
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    claims.forEach((claim, number) => {
      claim.hidden = !words.every((word) => texts[number].includes(word));
      shown += claim.hidden ? 0 : 1;
    });
    $("filtered").textContent = words.length ? `${shown} of ${claims.length}` : "";
  };
  field.addEventListener("input", show);
  field.closest(".filter").hidden = false;
  show();
}

// --- Runs ---

const SIGNS = { "●": "acts", "◆": "is changed", "✖": "is killed", "○": "what it knows is stale" };

class Player {
  constructor(data) {
    this.layouts = data.layouts;
    // Runs share their rows, which they name by number.
    this.runs = data.runs.map((run) => ({ ...run, rows: run.rows.map((row) => data.rows[row]) }));
    this.listed = this.runs.slice(0, data.listed);
    this.listen();
    // What breaks comes before what is merely possible.
    const bad = this.listed.findIndex((run) => !run.good);
    if (this.listed.length) this.choose(Math.max(bad, 0));
  }

  listen() {
    const select = $("run");
    let claim = null;
    this.listed.forEach((run, number) => {
      const name = `${run.mutant ? "mutant" : "scenario"} ${run.claim}`;
      if (claim === null || claim.label !== name) {
        claim = make("optgroup", { label: name });
        select.append(claim);
      }
      const what = run.property || "run-time error";
      const verb = run.good ? "is reached" : run.property ? "breaks" : "happens";
      const option = make("option", { value: number, text: `${run.claim}: ${what} ${verb}, ${run.length} transitions` });
      claim.append(option);
    });
    select.addEventListener("change", () => this.choose(Number(select.value)));
    $("first").addEventListener("click", () => this.go(0));
    $("back").addEventListener("click", () => this.back());
    $("forward").addEventListener("click", () => this.forward());
    $("last").addEventListener("click", () => this.go(this.run.rows.length - 1));
    $("slide").addEventListener("input", (event) => this.go(Number(event.target.value)));
    $("player").addEventListener("keydown", (event) => this.key(event));
    for (const link of document.querySelectorAll("a[data-run]")) {
      // The link itself moves the focus to the player, where keys step.
      link.addEventListener("click", () => this.choose(Number(link.dataset.run), link.closest(".heat td")));
    }
    $("to-cell").addEventListener("click", () => {
      const link = this.cell.querySelector("a");
      link.focus({ preventScroll: true });
      link.scrollIntoView({ block: "center", inline: "center" });
    });
    $("to-runs").addEventListener("click", () => {
      this.choose(this.shown);
      $("run").focus();
    });
  }

  key(event) {
    if (event.target.matches("select, input") || event.altKey || event.ctrlKey || event.metaKey) return;
    const steps = {
      ArrowRight: () => this.forward(), ArrowDown: () => this.forward(),
      ArrowLeft: () => this.back(), ArrowUp: () => this.back(),
      Home: () => this.go(0), End: () => this.go(this.run.rows.length - 1),
    };
    if (!(event.key in steps)) return;
    event.preventDefault();
    steps[event.key]();
  }

  // A run of the list, or that of a cell of the matrix, which several cells may share.
  choose(number, cell = null) {
    this.cell?.classList.remove("played");
    this.cell = cell;
    cell?.classList.add("played");
    this.run = this.runs[number];
    if (!cell) {
      this.shown = number;
      $("run").value = number;
    }
    $("stage").hidden = false;
    $("cell").hidden = !cell;
    document.querySelector(".pick").hidden = Boolean(cell);
    $("to-runs").hidden = !this.listed.length;
    if (cell) $("cell").firstElementChild.textContent = `Cell of the kill-point matrix: ${cell.title}.`;
    this.states = [this.run.initial];
    for (const row of this.run.rows.slice(1)) {
      const state = [...this.states.at(-1)];
      for (const [slot, value] of Object.entries(row.changes)) state[slot] = value;
      this.states.push(state);
    }
    // The last state of a lasso is the one where it begins to go round.
    this.round = this.run.loop !== null && this.run.loop < this.run.length ? this.run.loop : null;
    const sign = this.run.good ? "✓" : "✗";
    $("ends").replaceChildren(
      make("strong", { class: this.run.good ? "is-good" : "is-bad", text: `${sign} ${this.run.message}` }),
      this.run.text ? make("code", { text: ` ${this.run.text}` }) : "");
    this.draw();
    this.turns = 1;
    this.go(0);
  }

  draw() {
    const { lanes, rows } = this.run;
    const head = make("tr", {}, make("th", { scope: "col", class: "n", text: "#" }));
    for (const lane of lanes) head.append(make("th", { scope: "col", class: "lane" }, make("span", { text: lane })));
    head.append(make("th", { scope: "col", text: "what happens" }), make("th", { scope: "col", text: "what changes" }));
    const body = make("tbody");
    this.drawn = rows.map((row, number) => {
      const line = make("tr", {}, make("td", { class: "n", text: number }));
      lanes.forEach((lane, place) => {
        const sign = row.signs[place];
        const cell = make("td", { class: "sign" });
        if (sign) {
          const mark = make("span", { class: `s-${sign[0]}`, text: sign[1], role: "img" });
          mark.setAttribute("aria-label", `${lane} ${SIGNS[sign[1]] ?? ""}`);
          cell.append(mark);
        }
        line.append(cell);
      });
      line.append(make("td", { class: "what" }, ...this.pieces(row.action)));
      const items = make("td", { class: "items" });
      for (const item of row.items) items.append(make("span", { class: "item" }, ...this.pieces(item)), " ");
      line.append(items);
      line.addEventListener("click", () => this.go(number));
      body.append(line);
      if (this.round !== null && number === this.round) {
        const note = make("td", { colspan: lanes.length + 3, text: "↻ from here it goes round for ever" });
        body.append(make("tr", { class: "goes-round" }, note));
      }
      return line;
    });
    $("lanes").replaceChildren(make("table", {}, make("thead", {}, head), body));
    $("slide").max = rows.length - 1;
  }

  pieces(line) {
    return line.map(([style, text]) => make("span", { class: style ? `s-${style}` : "", text }));
  }

  forward() {
    const last = this.run.rows.length - 1;
    if (this.at < last) this.go(this.at + 1);
    else if (this.round !== null) {
      this.turns += 1;
      this.go(this.round + 1);
    }
  }

  back() {
    if (this.turns > 1 && this.at === this.round + 1) {
      this.turns -= 1;
      this.go(this.run.rows.length - 1);
    } else if (this.at > 0) this.go(this.at - 1);
  }

  go(number) {
    if (number === 0) this.turns = 1;
    this.at = number;
    const last = this.run.rows.length - 1;
    this.drawn.forEach((line, place) => {
      line.toggleAttribute("aria-current", place === number);
      if (place === number) line.setAttribute("aria-current", "step");
      line.classList.toggle("later", place > number);
    });
    this.scroll(this.drawn[number]);
    $("slide").value = number;
    // Not `disabled`, which would take the focus away from under a finger on the key.
    const useless = { first: number === 0, back: number === 0, last: number === last,
      forward: number === last && this.round === null };
    for (const [name, no] of Object.entries(useless)) $(name).setAttribute("aria-disabled", no);
    const row = this.run.rows[number];
    const what = row.action.map(([, text]) => text).join("");
    const turn = this.turns > 1 ? `, round ${this.turns}` : "";
    const end = number < last ? "" : this.round !== null ? "; forward goes round again" : `; ${this.run.message}`;
    $("status").textContent = `Step ${number} of ${last}${turn}: ${what}${end}`;
    this.tell(number, what, row);
  }

  scroll(line) {
    const box = $("lanes");
    const top = line.offsetTop - box.querySelector("thead").offsetHeight;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (line.offsetTop + line.offsetHeight > box.scrollTop + box.clientHeight) {
      box.scrollTop = line.offsetTop + line.offsetHeight - box.clientHeight;
    }
  }

  tell(number, what, row) {
    const layout = this.layouts[this.run.layout];
    const state = this.states[number];
    const before = this.states[Math.max(number - 1, 0)];
    const facts = make("dl");
    const add = (name, text) => facts.append(make("dt", { text: name }), make("dd", { text }));
    if (row.choices.length) add("choices", row.choices.join(", "));
    if (row.faults.length) add("faults", row.faults.join(", "));
    for (const slot of Object.keys(row.changes)) add(layout[slot][0], `${before[slot]} → ${state[slot]}`);
    if (number && !facts.children.length) add("changes", "nothing");
    const whole = make("div", { id: "state" });
    const groups = new Map();
    layout.forEach(([name, lane], slot) => {
      if (!groups.has(lane)) groups.set(lane, make("dl"));
      const short = name.startsWith(`${lane}.`) || name.startsWith(`${lane} `) ? name.slice(lane.length + 1) : name;
      const fresh = slot in row.changes;
      const value = make("dd", { text: state[slot], "data-slot": name });
      if (fresh) value.className = "new";
      groups.get(lane).append(make("dt", { text: short }), value);
    });
    for (const [lane, list] of groups) whole.append(make("h4", { text: lane }), list);
    $("detail").replaceChildren(make("h3", { text: what }), facts, make("h3", { text: "The whole state" }), whole);
  }
}

// --- The matrix: one stop for the tab key, arrows from cell to cell ---

function crossing(table) {
  const rows = [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("td")]);
  const links = rows.map((cells) => cells.map((cell) => cell.querySelector("a")));
  const all = links.flat().filter(Boolean);
  all.slice(1).forEach((link) => { link.tabIndex = -1; });
  const moves = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
  table.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (!move || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    let row = links.findIndex((line) => line.includes(event.target));
    if (row < 0) return;
    let column = links[row].indexOf(event.target);
    do {
      row += move[0];
      column += move[1];
    } while (row in links && column in links[row] && !links[row][column]);
    links[row]?.[column]?.focus();
  });
  table.addEventListener("focusin", (event) => {
    if (!all.includes(event.target)) return;
    for (const link of all) link.tabIndex = link === event.target ? 0 : -1;
  });
}

themes();
filtering();
document.querySelectorAll("table.square").forEach(crossing);
for (const graph of document.querySelectorAll(".graph")) {
  // A drawing that is wider than the window shows first where it begins.
  const first = graph.querySelector(".initial");
  if (first) {
    const [box, around] = [first.getBoundingClientRect(), graph.getBoundingClientRect()];
    graph.scrollLeft += box.left + box.width / 2 - around.left - around.width / 2;
  }
}
const stored = $("runs-data");
if (stored && $("stage")) {
  const data = JSON.parse(stored.textContent);
  if (data.runs.length) new Player(data);
}
