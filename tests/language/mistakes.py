"""Mistakes, each as changes to the specification of the ticket office or as a text of its own.

The name begins with the number of the code that the mistake has to produce; other codes may come with it.
"""

from __future__ import annotations

from tests.language.office import OFFICE, changed

Change = tuple[str, str]

PROPERTY = 'charged_once: {always: "all(charges[s] <= 1 for s in Seat)"}'
STEP_PROPERTY = 'stays_sold: {step: "all(implies(sale[s] == sold, next(sale[s]) == sold) for s in Seat)"}'
RESERVE = "        last = seat\n"
CHARGE = "        if reply == refused: refusals = min(refusals + 1, 9)\n"
CLOSE = "        phase = closed\n"
CLOSING = "      close: |\n        when(phase == open)\n        phase = closed\n"
TABLE_ROW = 'otherwise: {when: "True", action: wait}'
FORGETFUL = 'forgetful: {processes: {clerk: {steps: {record: "goto(rest)"}}}, breaks: [can_sell]}'
CARELESS = 'careless: {processes: {clerk: {steps: {charge: "goto(record)"}}}}'


def _always(expression: str) -> Change:
    """Put an expression where a property of every state is."""
    return PROPERTY, f'charged_once: {{always: "{expression}"}}'


def _step(expression: str) -> Change:
    """Put an expression where a property of every transition is."""
    return STEP_PROPERTY, f'stays_sold: {{step: "{expression}"}}'


def _reserve(*lines: str) -> Change:
    """Put statements in the place of the last one of the step `clerk.reserve`."""
    return RESERVE, "".join(f"        {line}\n" for line in lines)


def _charge(*lines: str) -> Change:
    """Put statements in the place of one of the step `clerk.charge`, which draws a fault later."""
    return CHARGE, "".join(f"        {line}\n" for line in lines)


def _close(*lines: str) -> Change:
    """Put statements in the place of the last one of the environment step `box_office.close`."""
    return CLOSE, "".join(f"        {line}\n" for line in lines)


def _on_crash(statement: str) -> Change:
    """Let a crash of the clerk do something."""
    return "    count: clerks\n", f"    count: clerks\n    on_crash: '{statement}'\n"


def _torn(statement: str) -> Change:
    """Let a crash inside the step `clerk.reserve` do something."""
    step = "      reserve: |\n        if not fresh"
    return step, f"      reserve:\n       torn: '{statement}'\n       do: |\n        if not fresh"


def _checked() -> Change:
    """Make a property one that steps have to check."""
    return PROPERTY, "charged_once: {checked: a seat is paid for once}"


def _mutant(patch: str) -> Change:
    return FORGETFUL, f"forgetful: {patch}"


def _equivalent(name: str) -> Change:
    """Say of mutants that they are equivalent."""
    return "reference: ticket_office", f"equivalent: {{'{name}': So.}}\nreference: ticket_office"


def _question(question: str) -> Change:
    """Add a question."""
    return "reference: ticket_office", f"questions:\n  Q-1: {question}\nreference: ticket_office"


def _top(text: str) -> Change:
    """Add something at the top of the structure."""
    return "reference: ticket_office", f"{text}\nreference: ticket_office"


CHANGES: dict[str, Change | list[Change]] = {
    # --- The YAML, and limits ---
    "KP001 an expression without quotes": ('{when: "True", action: wait}', "{when: sale[seat] == sold, action: wait}"),
    "KP003 an escape for an invisible character": ("title: A seat is sold once", 'title: "A \\e[31mseat"'),
    "KP005 a second document": ("reference: ticket_office", "---\nreference: ticket_office"),
    "KP006 one key twice": ("  baseline: {}\n", "  baseline: {}\n  baseline: {set: {seats: 1}}\n"),
    "KP007 a truth value as a key": ("otherwise: {when", "true: {when"),
    "KP008 a tag": ("{default: 2, range: 1..4}", "{default: !!int 2, range: 1..4}"),
    "KP009 an alias without an anchor": ("  baseline: {}\n", "  baseline: *nothing\n"),
    "KP010 a merge key": ("  baseline: {}\n", "  baseline: &b {}\n  again: {<<: *b}\n"),
    "KP020 a large range": ("Seat: 1..seats", "Seat: 1..2000000"),
    "KP020 a large number": _always("charges[1] <= 99999999999"),
    "KP020 an array of pairs": (
        "charged: {type: bool, per: Seat, init: false}",
        "charged: {type: bool, per: Seat}\n      pairs: {type: bool, per: [0..999, 0..999]}",
    ),
    "KP020 deep nesting": _always("not " * 100 + "in_doubt"),
    "KP020 very deep nesting": _always("(" * 300 + "in_doubt" + ")" * 300),
    "KP020 too many instances": ("count: clerks", "count: 65"),
    "KP020 a long counter": ("counter 2", "counter 2000"),
    "KP020 a set of too many": ("charged: {type: bool", "charged: {type: set of 0..8"),
    # --- Structure ---
    "KP101 a misspelt section": ("ghost:\n", "ghosts:\n"),
    "KP101 a misspelt key": ("environment: true", "enviroment: true"),
    "KP101 a misspelt key that is needed": ("    steps:\n      close", "    step:\n      close"),
    "KP101 a text with a comma": ("because: nobody is charged", "because: nobody is charged, ever"),
    "KP101 `after` outside a variant": (CLOSING, "      close: {do: phase = closed, after: open}\n"),
    "KP101 a kept variable of a store": ("last: {type: 0..seats, init: 0}", "last: {type: 0..seats, keep: true}"),
    "KP102 a variable without a type": ("refusals: {type: 0..9}", "refusals: {init: 0}"),
    "KP102 no processes": (OFFICE[OFFICE.index("processes:\n") :], "reference: ticket_office\n"),
    "KP102 a crash of nobody": ("crash: {of: [clerk]}", "crash: {at_most: 2}"),
    "KP103 a name where a list belongs": ("breaks: [charged_once]", "breaks: charged_once"),
    "KP103 a list where a section belongs": ("views: {overview: [sale, phase]}", "views: [sale, phase]"),
    "KP103 an expression that YAML takes for a mapping": (
        'next_seat: {when: "phase == open and last < seats"',
        "next_seat: {when: {last < seats}",
    ),
    "KP103 nothing where a value belongs": ("protocol: ticket-office", "protocol:"),
    "KP104 a hyphen in a name": ("  in_doubt: ", "  in-doubt: "),
    "KP104 a word of the language": ("  strict: {default", "  next: {default: 1}\n  strict: {default"),
    "KP104 a truth value as a literal": ("Phase: [open, closed]", "Phase: [open, true]"),
    "KP104 a step called like a word": ("      reserve: |\n", "      stopped: |\n"),
    "KP104 a variable called like a statement": ("  refusals: {", "  stop: {type: bool}\n  refusals: {"),
    "KP104 a scenario with a space": ("  baseline: {}\n", "  base line: {}\n"),
    "KP104 a column called `when`": ("urgent: bool}", "urgent: bool, when: bool}"),
    "KP104 letters that look like others": ("Phase: [open, closed]", "Phase: [\u03bf\u03c1en, closed]"),
    "KP105 another language": ("language: 1", "language: 2"),
    "KP107 a range and a choice": ("one_of: [hold, resell]", "one_of: [hold, resell], range: 1..2"),
    "KP107 memory of an environment": (
        "environment: true\n",
        "environment: true\n    volatile: {open_till: {type: bool}}\n",
    ),
    "KP108 a type without literals": ("Phase: [open, closed]", "Phase: []"),
    "KP108 crashes at no place": ("allow: {lost_reply: unlimited}", "allow: {crash: {at: []}}"),
    "KP108 a process without steps": (
        f"  box_office:\n    environment: true\n    steps:\n{CLOSING}",
        "  box_office: {steps: {}}\n",
    ),
    "KP109 a literal twice": ("[free, reserved, sold, disputed]", "[free, reserved, sold, free]"),
    "KP110 a match that is none": ("match: first", "match: best"),
    "KP301 an array over an optional type": ("per: Seat, init: free", "per: 'Seat?', init: free"),
    "KP110 any value in volatile memory": ("reply: {type: Reply}", "reply: {type: Reply, init: any}"),
    "KP110 yes for true": ("versioned: true", "versioned: yes"),
    "KP111 a default outside its range": ("seats: {default: 2", "seats: {default: 5"),
    "KP111 a default that is no option": ("default: hold", "default: sell"),
    "KP111 a scenario that sets too much": ("set: {clerks: 2}", "set: {clerks: 4}"),
    # --- Names ---
    "KP201 a misspelt variable": _always("lst <= 2"),
    "KP201 a truth value in small letters": _always("true"),
    "KP201 a table as a value": _always("plan == wait"),
    "KP201 a view of nothing": ("views: {overview: [sale, phase]}", "views: {overview: [sales, phase]}"),
    "KP202 a name with two readings": [
        ("charged: {type: bool, per: Seat, init: false}", "charged: {type: bool, per: Seat}\n      last: {type: bool}"),
        _always("last == 0"),
    ],
    "KP202 any value or the literal any": [
        ("Phase: [open, closed]", "Phase: [open, closed, any]"),
        ("phase: {type: Phase, init: open}", "phase: {type: Phase, init: any}"),
    ],
    "KP202 a literal that is a variable too": [
        ("refusals: {type: 0..9}", "refusals: {type: 0..9}\n  sold: {type: Sale}")
    ],
    "KP203 a definition and a parameter": ("  in_doubt: ", '  strict: "True"\n  in_doubt: '),
    "KP203 a scenario and a mutant": ("  forgetful: {", "  busy: {"),
    "KP203 a store and a process with memory": ("  bank:\n", "  clerk:\n"),
    "KP204 a type that is not there": ("reply: {type: Reply}", "reply: {type: Replay}"),
    "KP204 a type in an expression": _always("all(charges[s] <= 1 for s in Seats)"),
    "KP204 a type before a dot": _always("phase == Fase.open"),
    "KP205 a misspelt label": _reserve("goto(recrod)"),
    "KP205 a label in a property": _always("clerk[0].at(resting)"),
    "KP206 a misspelt table": _always("plans.urgent"),
    "KP207 a column that is not there": _always("plan.urgency"),
    "KP207 a misspelt column in a row": (TABLE_ROW, 'otherwise: {when: "True", act: wait}'),
    "KP207 a misspelt column in the defaults": ("defaults: {urgent: false}", "defaults: {urgnt: false, urgent: false}"),
    "KP208 a fault that is not there": ("if fault(lost_reply)", "if fault(lost_replies)"),
    "KP208 a fault that cannot be allowed": ("allow: {lost_reply: unlimited}", "allow: {lost_call: unlimited}"),
    "KP209 a property that cannot be asked about": ("  baseline: {}\n", "  baseline: {only: [can_sel]}\n"),
    "KP210 a variable for a parameter": ("set: {clerks: 2}", "set: {last: 2}"),
    "KP211 a crash of a process that is not there": ("crash: {of: [clerk]}", "crash: {of: [clark]}"),
    "KP211 an instance of a process that is not there": _always("clark[0].seat == 0"),
    "KP212 a store that is not there": ("        read(ledger)\n", "        read(leger)\n"),
    "KP212 a store before a dot": _always("leger.phase == open"),
    "KP213 a variable of another store": _always("ledger.charged[1]"),
    "KP213 a variable that a process has not": _always("clerk[0].last == 0"),
    "KP213 a ghost that is not there": _always("ghost.charged[1] == 0"),
    "KP214 a misspelt literal": _always("phase == opne"),
    "KP214 a misspelt literal on the left": _always("opne == phase"),
    "KP214 a qualified literal": _always("phase == Phase.opne"),
    "KP215 a function that is not there": _always("len(sale) == 2"),
    "KP215 round brackets for square ones": _always("sale(1) == sold"),
    "KP215 a statement that is not there": _reserve("jump(record)"),
    "KP216 a variant that is not there": ("variant: careless", "variant: carless"),
    "KP217 a misspelt variable": _reserve("lst = seat"),
    "KP217 a local that is declared elsewhere": _reserve("if seat == 1:", "  found: bool = True", "found = False"),
    "KP218 a local of another branch": _reserve("if seat == 1:", "  found: bool = True", "when(found)"),
    "KP218 a local without a value": _reserve("found: bool"),
    "KP219 a quantifier that hides a variable": _always("all(charges[last] <= 1 for last in Seat)"),
    "KP219 a quantifier inside another of the same name": _always("all(any(s == 1 for s in Seat) for s in Seat)"),
    "KP219 a loop that hides a parameter": _reserve("for seats in Seat: last = seats"),
    "KP219 an argument that hides a variable": ("settled(x):", "settled(last):"),
    "KP220 a definition that uses itself": (
        "any(sale[s] == disputed for s in Seat)",
        "not all(settled(s) for s in Seat) and in_doubt",
    ),
    "KP220 a ring of definitions": [
        ("any(sale[s] == disputed for s in Seat)", "not settled(1)"),
        ("sale[x] in {free, sold}", "not in_doubt"),
    ],
    # --- Types and expressions ---
    "KP301 two kinds of literals": _always("sale[1] == accepted"),
    "KP301 a number where a truth value belongs": _always("last"),
    "KP301 a truth value assigned to a number": _reserve("last = True"),
    "KP301 an index of another kind": _always("sale[phase] == sold"),
    "KP301 a variable that is never `None`": _always("sale[1] != None"),
    "KP301 `None` assigned to a plain variable": _reserve("last = None"),
    "KP301 a list at the start of a number": ("refusals: {type: 0..9}", "refusals: {type: 0..9, init: [1]}"),
    "KP301 adding to what is no set": _reserve("last.add(seat)"),
    "KP301 joining truth values like sets": _always("in_doubt | strict"),
    "KP301 the size of a number": _always("size(last) == 0"),
    "KP301 a set of another type": [
        ("refusals: {type: 0..9}", "refusals: {type: 0..9}\n  seen: {type: set of Sale}"),
        _reserve("seen.add(accepted)"),
    ],
    "KP301 a default of no kind": ("strict: {default: true}", "strict: {default: maybe}"),
    "KP301 a scenario that sets a word": ("set: {clerks: 2}", "set: {clerks: two}"),
    "KP302 a range that ends before it begins": ("Seat: 1..seats", "Seat: 1..0"),
    "KP303 a type that is none": ("last: {type: 0..seats", "last: {type: 0-2"),
    "KP303 a set of optional values": ("reply: {type: Reply}", "reply: {type: 'set of Reply?'}"),
    "KP303 an optional counter": ("counter 2", "'counter 2?'"),
    "KP303 a counter without an end": ("counter 2", "counter"),
    "KP304 an operator of another language": _always("in_doubt && strict"),
    "KP304 one equals sign": _always("phase = open"),
    "KP304 a bracket that is never closed": _always("all(charges[s] <= 1 for s in Seat"),
    "KP304 a bracket that closes nothing": _always("in_doubt) or (strict"),
    "KP304 letters that look like others": _always("\uff4cast == 0"),
    "KP304 a block without a colon": _reserve("if seat == 1", "  last = seat"),
    "KP304 a number that runs into a word": _always("last == 1or strict"),
    "KP305 a loop without an end": _reserve("while last < seat: last += 1"),
    "KP305 a list": _always("last in [0, 1]"),
    "KP305 a text": _always("phase == 'open'"),
    "KP305 a decimal": _always("last < 1.5"),
    "KP305 a set where none is expected": _always("{1} == {2}"),
    "KP305 `is` for `==`": _always("last is None"),
    "KP305 looking for a value in a number": _always("1 in last"),
    "KP305 division": _always("last / 2 == 1"),
    "KP305 an assignment that unites": _reserve("last |= seat"),
    "KP305 a value alone": _reserve("last == seat"),
    "KP306 one argument too few": _always("implies(in_doubt)"),
    "KP306 an argument of a definition too many": _always("settled(1, 2)"),
    "KP306 `min` of one": _always("min(last) == 0"),
    "KP307 at most as many as it can count": _always("all(charges[s] <= 2 for s in Seat)"),
    "KP307 more than it can count": _always("all(charges[s] == 3 for s in Seat)"),
    "KP307 the number on the left": _always("3 > charges[1]"),
    "KP307 in a set": _always("charges[1] in {0, 3}"),
    "KP307 something that changes": _always("charges[1] <= last"),
    "KP307 two counters": _always("charges[1] < charges[2]"),
    "KP308 set back": _charge("charges[seat] = 0"),
    "KP308 decreased": _charge("charges[seat] -= 1"),
    "KP308 in arithmetic": _always("charges[1] + charges[2] <= 2"),
    "KP309 a counter in a store": ("last: {type: 0..seats", "last: {type: counter 2"),
    "KP310 an order of literals": _always("sale[1] > free"),
    "KP310 the larger of two literals": _always("max(phase, open) == open"),
    "KP311 an initial value outside its type": ("refusals: {type: 0..9}", "refusals: {type: 0..9, init: 10}"),
    "KP312 an array without an index": _always("sale == sold"),
    "KP312 an index of what is no array": _always("last[1] == 0"),
    "KP312 an index too many": _always("sale[1, 2] == sold"),
    "KP312 a process without its instance": _always("clerk.seat == 0"),
    "KP314 a variable in a bound": ("Seat: 1..seats", "Seat: 1..last"),
    "KP314 a quantifier in an initial value": (
        "type: bool, per: Seat, init: false",
        'type: bool, per: Seat, init: "all(s == 1 for s in Seat)"',
    ),
    "KP103 a `leads_to` of one expression": (PROPERTY, 'charged_once: {leads_to: ["sale[1] == sold"]}'),
    "KP301 a number that leads to a number": (PROPERTY, 'charged_once: {leads_to: ["1", "refusals"]}'),
    "KP315 `next` of what is led to": (PROPERTY, 'charged_once: {leads_to: ["True", "next(refusals) > 0"]}'),
    "KP315 next in a property of states": _always("next(last) == last"),
    "KP316 next of next": _step("next(next(last)) == last"),
    "KP317 a crash that is never seen": _always("not crashed(clerk[0])"),
    "KP318 a ghost in a `when`": _reserve("when(refusals == 0)", "last = seat"),
    "KP318 a choice from a set that is a ghost": [
        (
            "  refusals: {type: 0..9}",
            "  refusals: {type: 0..9}\n  replies: {type: set of Reply}\n  any_reply: {type: Reply}",
        ),
        _charge("replies.add(reply)", "any_reply = choose(replies)", CHARGE.strip()),
    ],
    "KP318 a ghost as an index": _charge("charged[refusals] = True"),
    "KP319 memory of another instance": _reserve("when(clerk[0].reply == accepted)"),
    "KP319 memory in a property": _always("reply == accepted"),
    "KP319 the label of an environment": _always("box_office[0].at(close)"),
    "KP319 a table in a table": (TABLE_ROW, 'otherwise: {when: "plan.urgent", action: wait}'),
    "KP320 self in a property": _always("self == 0"),
    "KP322 numbers without end as elements": ("per: Seat, init: free", "per: nat, init: free"),
    "KP322 numbers without end as a type with a name": ("Phase: [open, closed]", "Phase: nat"),
    "KP322 numbers without end or none": ("refusals: {type: 0..9}", "refusals: {type: 'nat?'}"),
    "KP322 a property of all numbers": _always("all(last <= n for n in nat)"),
    "KP322 any number at the start": ("refusals: {type: 0..9}", "refusals: {type: nat, init: any}"),
    "KP322 a choice among all numbers": _reserve("last = choose(nat)"),
    # --- Steps ---
    "KP305 a choice of something else than what is gone over": _reserve("last = choose(s + 1 for s in Seat if s > 1)"),
    "KP305 a choice over a type without a condition": _reserve("last = choose(s for s in Seat)"),
    "KP401 a choice in a condition": _reserve("when(choose({True, False}))"),
    "KP402 a fault in a definition": ("any(sale[s] == disputed for s in Seat)", "fault(lost_reply)"),
    "KP402 a fault in a part": _charge("lost: bool = strict and fault(lost_reply)"),
    "KP403 a store without versions": ("        read(ledger)\n", "        read(ledger)\n        read(bank)\n"),
    "KP404 a ghost decides about a store": _charge("if refusals == 0: charged[seat] = False"),
    "KP404 a ghost decides about a choice": _charge("if refusals == 0: refusals = choose({1, 2})"),
    "KP404 a ghost decides about a fault": _charge("if refusals == 0 and fault(lost_reply): refusals = 1"),
    "KP405 a parameter": _reserve("seats += 1"),
    "KP405 memory of another instance": _close("clerk[0].seat = 1"),
    "KP405 two at once": _reserve("last, seat = seat, last"),
    "KP406 an environment that goes somewhere": _close("goto(close)"),
    "KP407 behind a goto": _reserve("goto(record)", "last = seat"),
    "KP407 behind an `if` that ends on both sides": _reserve(
        "if strict: goto(record)", "else: goto(rest)", "last = seat"
    ),
    "KP408 a crash that is drawn": _charge("if fault(crash): goto(rest)"),
    "KP409 a value alone": _reserve("fresh(ledger)"),
    "KP409 a statement as a value": _reserve("when(goto(rest))"),
    "KP410 a loop over numbers": _reserve("for s in range(2): last = s"),
    "KP410 a loop over a variable": _reserve("for s in sale: last = seat"),
    "KP411 an empty step": ('charge: "goto(record)"', 'charge: ""'),
    "KP411 a step of comments": (CLOSING, "      close: |\n        # nothing\n"),
    "KP412 fresh in a property": _always("fresh(ledger)"),
    "KP412 read in an environment": _close("read(ledger)"),
    "KP413 a crash that waits": _on_crash("when(phase == open)"),
    "KP413 a crash that goes somewhere": _on_crash("goto(rest)"),
    "KP413 a crash that stops": _on_crash("stop()"),
    "KP413 a crash that remembers": _on_crash("read(ledger)"),
    "KP413 a crash that asks what is fresh": _on_crash("if fresh(ledger): last = seat"),
    "KP413 a crash that asks by a definition": [
        _on_crash("if mine: last = seat"),
        ('  in_doubt: "', '  mine: fresh(ledger)\n  in_doubt: "'),
    ],
    "KP413 a fault in a crash": _on_crash("if fault(lost_reply): last = seat"),
    "KP413 a torn step that goes somewhere": _torn("goto(rest)"),
    "KP413 a torn step that reads": _torn("read(ledger)"),
    "KP413 a fault in a torn step": _torn("when(fault(lost_reply))"),
    # --- Tables, properties, faults ---
    "KP510 a bound that is no number": ("  baseline: {}\n", "  baseline: {bound: seats}\n"),
    "KP507 a crash in turn that is nowhere": (
        "  baseline: {}\n",
        "  baseline: {crashes: [clerk.record, clerk.rest]}\n",
    ),
    "KP511 crashes counted twice": (
        "  baseline: {}\n",
        "  baseline: {crashes: [clerk.record, anywhere], allow: {crash: 1}}\n",
    ),
    "KP511 crashes placed twice": (
        "  baseline: {}\n",
        "  baseline: {crashes: [anywhere], allow: {crash: {at: [clerk.record]}}}\n",
    ),
    "KP507 a meaning of no kill point": _top("kill_points: {clerk.rest: nothing is lost}"),
    "KP512 a kill point without a meaning": _top("kill_points: {clerk.charge: it is reserved and not paid}"),
    "KP108 a sweep of nothing": _top("sweep: {}"),
    "KP210 a sweep of no parameter": _top("sweep: {set: {seat: [1, 2]}}"),
    "KP208 a sweep of no fault": _top("sweep: {allow: {lost_answer: [1, 0]}}"),
    "KP109 a sweep of one value twice": _top("sweep: {allow: {lost_reply: [1, 0, 1]}}"),
    "KP506 a sweep of a fault that happens often": _top("sweep: {allow: {lost_reply: [often, 0]}}"),
    "KP613 a sweep of one value": _top("sweep: {allow: {lost_reply: [unlimited]}}"),
    "KP614 a sweep of no scenario": _top("sweep: {scenario: bussy, allow: {lost_reply: [1, 0]}}"),
    "KP101 a sweep with a word of its own": _top("sweep: {over: {lost_reply: [1, 0]}, allow: {lost_reply: [1, 0]}}"),
    "KP510 a bound of nothing": ("  baseline: {}\n", "  baseline: {bound: 3}\n"),
    "KP906 a bound of the whole file": ("scenarios:\n", "bound: 3\nscenarios:\n"),
    "KP501 a column that is left open": (TABLE_ROW, 'otherwise: {when: "True"}'),
    "KP501 a row without a condition": (TABLE_ROW, "otherwise: {action: wait}"),
    "KP209 a check of a property that is not there": _reserve("check(charged_twice, seat > 0)"),
    "KP306 a check without a condition": _reserve("check(charged_once)"),
    "KP402 a fault in a check": [_reserve("check(charged_once, fault(lost_reply))"), _checked()],
    "KP209 a check of a property that stands for itself": _reserve("check(charged_once, seat > 0)"),
    "KP508 a property that no step checks": _checked(),
    "KP504 two kinds": (
        'no_rush: {always: "not plan.urgent or in_doubt"}',
        'no_rush: {always: "strict", possible: "strict"}',
    ),
    "KP504 no kind": ('no_rush: {always: "not plan.urgent or in_doubt"}', "no_rush: {}"),
    "KP505 a crash of an environment": ("crash: {of: [clerk]}", "crash: {of: [box_office]}"),
    "KP505 a place for what is no crash": (
        "allow: {lost_reply: unlimited}",
        "allow: {lost_reply: {at: [clerk.charge]}}",
    ),
    "KP506 a fault that happens often": ("lost_reply: {at_most: 1}", "lost_reply: {at_most: often}"),
    "KP506 less than never": ("lost_reply: {at_most: 1}", "lost_reply: {at_most: -1}"),
    "KP506 a scenario that allows a misspelt amount": (
        "allow: {lost_reply: unlimited}",
        "allow: {lost_reply: unlimted}",
    ),
    "KP507 a step without its process": ("allow: {lost_reply: unlimited}", "allow: {crash: {at: [charge]}}"),
    "KP507 a step that cannot be torn": (
        "allow: {lost_reply: unlimited}",
        "allow: {crash: {at: [clerk.charge.torn]}}",
    ),
    "KP509 a torn step of the environment": (CLOSING, "      close: {do: phase = closed, torn: pass}\n"),
    "KP205 a boot that is no step": ("    count: clerks\n", "    count: clerks\n    boot: start\n"),
    "KP205 a boot with nothing behind it": [
        ("    environment: true\n", "    boot: close\n"),
        ("        when(phase == open)\n", "        read(ledger)\n"),
    ],
    "KP110 a restart at some other time": ("    count: clerks\n", "    count: clerks\n    restarts: soon\n"),
    "KP509 nobody crashes": [
        _on_crash("last = seat"),
        ("crash: {of: [clerk]}", "outage: {at_most: 1}"),
        ("        if fault(lost_reply)", "        if fault(outage): reply = nothing\n        if fault(lost_reply)"),
    ],
    "KP507 where the process starts": [
        ("    count: clerks\n", "    count: clerks\n    boot: charge\n"),
        ("allow: {lost_reply: unlimited}", "allow: {crash: {at: [clerk.rest, clerk.charge]}}"),
    ],
    "KP507 the first step": ("allow: {lost_reply: unlimited}", "allow: {crash: {at: [clerk.rest]}}"),
    # --- Scenarios, variants, mutants ---
    "KP601 a misspelt row": _mutant("{tables: {plan: {rows: {next_saet: {action: wait}}}}, breaks: [can_sell]}"),
    "KP601 a misspelt definition": _mutant('{definitions: {in_dout: "False"}, breaks: [can_sell]}'),
    "KP601 a misspelt process": _mutant("{processes: {clark: {steps: {record: pass}}}, breaks: [can_sell]}"),
    "KP601 a misspelt parameter": _mutant("{parameters: {strit: {default: false}}, breaks: [can_sell]}"),
    "KP601 a row that is not there to remove": _mutant("{tables: {plan: {rows: {nothing: null}}}, breaks: [can_sell]}"),
    "KP601 a step after one that is not there": _mutant(
        "{processes: {clerk: {steps: {pay: {do: pass, after: chrage}}}}, breaks: [can_sell]}"
    ),
    "KP602 a misspelt step": _mutant("{processes: {clerk: {steps: {recrod: pass}}}, breaks: [can_sell]}"),
    "KP603 a property that cannot break": ("breaks: [charged_once]", "breaks: [charged_twice]"),
    "KP604 a property that nobody asked about": ("breaks: [charged_once]", "only: [can_sell], breaks: [charged_once]"),
    "KP605 a mutant without a claim": _mutant('{processes: {clerk: {steps: {record: "goto(rest)"}}}}'),
    "KP605 a mutant with two claims": _mutant(
        '{processes: {clerk: {steps: {record: "goto(rest)"}}}, breaks: [can_sell], survives: it may}'
    ),
    "KP606 a mutant of what is so already": _mutant("{parameters: {seats: {default: 2}}, breaks: [can_sell]}"),
    "KP606 a variant of nothing": (CARELESS, "careless: {because: it is late}"),
    "KP609 a question without a lesson": _question("{asks: 'Why?', shown_by: [busy]}"),
    "KP609 a question with neither": _question("{asks: 'Why?'}"),
    "KP609 a question with both": _question("{asks: 'Why?', lesson: None., unanswered: nobody knows}"),
    "KP610 a question about a scenario that is misspelt": _question("{asks: 'Why?', shown_by: [bussy], lesson: So.}"),
    "KP611 a repair that breaks the same": _question(
        "{asks: 'Why?', shown_by: [hasty], lesson: So., repaired_by: [busy, forgetful]}"
    ),
    "KP611 a repair that does not ask": [
        ("  baseline: {}\n", "  baseline: {only: [charged_once]}\n"),
        _question("{asks: 'Why?', shown_by: [hasty], lesson: So., repaired_by: [baseline]}"),
    ],
    "KP611 half a repair that repairs": _question(
        "{asks: 'Why?', shown_by: [hasty], lesson: So., not_repaired_by: [baseline]}"
    ),
    "KP611 a repair of nothing": _question(
        "{asks: 'Why?', shown_by: [baseline], lesson: So., repaired_by: [baseline]}"
    ),
    "KP110 a word that `conform` does not know": ("  baseline: {}\n", "  baseline: {conform: transition}\n"),
    "KP612 nothing to hold it against": [
        ("  baseline: {}\n", "  baseline: {conform: transitions}\n"),
        ("reference: ticket_office\n", ""),
    ],
    "KP612 situations without a view": ("  baseline: {}\n", "  baseline: {conform: situations}\n"),
    "KP620 a place that does not exist": _equivalent("clerk.reserv/skip-step"),
    "KP620 a place and no operator": _equivalent("clerk.reserve"),
    # --- Warnings ---
    "KP901 two stores at once": (
        "        sale[seat] = reserved\n",
        "        sale[seat] = reserved\n        charged[seat] = False\n",
    ),
    "KP902 used without `read` or `fresh`": (
        "        if charged[seat]: goto(record)\n",
        "        if sale[seat] == sold: goto(record)\n",
    ),
    "KP903 `fresh` without `read`": ("        read(ledger)\n", ""),
    "KP904 a condition that is always false": _reserve("when(False)"),
    "KP905 a step property of single states": _step("last <= 2"),
    "KP906 a definition": ("  in_doubt: ", '  doubtless: "not in_doubt"\n  in_doubt: '),
    "KP906 a parameter": ("  strict: {default: true}\n", "  strict: {default: true}\n  friendly: {default: true}\n"),
    "KP906 a type": ("  Phase: [open", "  Face: [friendly, stern]\n  Phase: [open"),
    "KP906 a fault": ("  lost_reply: {at_most: 1}\n", "  lost_reply: {at_most: 1}\n  late_call: {at_most: 1}\n"),
    "KP906 a table": ("tables:\n", 'tables:\n  notes: {gives: {x: bool}, rows: {a: {when: "True", x: true}}}\n'),
    "KP906 a variable": ("      last: {type: 0..seats", "      first: {type: 0..seats}\n      last: {type: 0..seats"),
    "KP907 a variable": ("        when(phase == open)\n        phase = closed\n", "        when(phase == open)\n"),
    "KP908 a row behind one that takes every case": (
        TABLE_ROW,
        TABLE_ROW + '\n      late: {when: "in_doubt", action: wait}',
    ),
    "KP908 a row that is never true": (TABLE_ROW, 'never: {when: "False", action: wait}\n      ' + TABLE_ROW),
    "KP909 a step that nothing leads to": _reserve("goto(record)"),
    "KP910 a break without a reason": (", because: nobody is charged", ""),
}

WHOLE: dict[str, str] = {
    "KP001 a tab": OFFICE.replace("  strict:", "\tstrict:"),
    "KP003 a reversed reading direction": OFFICE.replace("an example", "an \u202eexample"),
    "KP004 a comment": "# to be written\n",
    "KP103 a list": "- language: 1\n",
}


def mistakes() -> dict[str, str]:
    """Return every mistake by its name."""
    texts = dict(WHOLE)
    for name, changes in CHANGES.items():
        texts[name] = changed(*(changes if isinstance(changes, list) else [changes]))
    return dict(sorted(texts.items()))
