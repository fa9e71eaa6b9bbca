"""A protocol of four steps in which every operator has something to change, and the fate of every mutant by hand."""

from __future__ import annotations

from checker.mutation.fates import Fate

LAMP = """\
language: 1
protocol: lamp-order
types: {Order: [nothing, asked, done], Act: [ask, wait]}
stores:
  ledger:
    versioned: true
    holds: {order: {type: Order}}
  shop:
    holds: {lit: {type: bool}, left: {type: 0..1, init: 1}}
ghost: {calls: {type: counter 2}}
tables:
  plan:
    match: first
    gives: {act: Act}
    rows:
      new: {when: "order == nothing", act: ask}
      over: {when: "True", act: wait}
processes:
  hand:
    steps:
      look: |
        read(ledger)
        when(plan.act == ask and left > 0)
      intend: |
        if not fresh(ledger): goto(look)
        order = asked
      light: |
        if order == asked:
            lit = True
            left -= 1
        calls += 1
      record: |
        when(lit or order == done)
        order = done
        goto(look)
properties:
  intended: {always: "implies(calls > 0, order != nothing)"}
  once: {always: "calls <= 1"}
  can_finish: {possible: "order == done"}
scenarios: {baseline: {}}
"""

# There is one run: look, intend, light, record, and then `look` waits for ever. Nobody else writes the ledger, so that
# it is always fresh, and `left` and `order` both say whether the lamp has been ordered.
SAME = (Fate.SURVIVED, True)
DIFFERENT = (Fate.SURVIVED, False)
KILLED, ERROR, VACUOUS, NARROWER = ((fate, None) for fate in (Fate.KILLED, Fate.ERROR, Fate.VACUOUS, Fate.NARROWER))

FATES = {
    # `left` alone ends it where the plan does not, and where both do not the second lamp is one too many for `left`.
    "plan.new/drop-guard": SAME,
    "plan.new/negate-guard": VACUOUS,
    "plan.new/replace-output/act=wait": VACUOUS,
    "plan.new/drop-row": VACUOUS,
    "plan.over/replace-output/act=ask": SAME,
    "plan.over/drop-row": ERROR,
    "hand.look/drop-guard/plan.act == ask and left > 0": ERROR,
    "hand.look/negate-guard/plan.act == ask and left > 0": VACUOUS,
    "hand.look/drop-conjunct/plan.act == ask": SAME,
    "hand.look/drop-conjunct/left > 0": SAME,
    "hand.look/shift-boundary/left > 1": VACUOUS,
    "hand.look/shift-boundary/left > -1": SAME,
    # What is never read is never fresh.
    "hand.look/skip-step": VACUOUS,
    "hand.look/swap-steps/intend": VACUOUS,
    "hand.look/merge-steps/intend": NARROWER,
    "hand.intend/drop-guard/not fresh(ledger)": VACUOUS,
    "hand.intend/negate-guard/not fresh(ledger)": VACUOUS,
    "hand.intend/drop-fresh/fresh(ledger)": SAME,
    # The call is counted before anything is asked.
    "hand.intend/drop-assignment/order = asked": KILLED,
    "hand.intend/skip-step": KILLED,
    "hand.intend/swap-steps/light": KILLED,
    "hand.intend/merge-steps/light": NARROWER,
    "hand.light/drop-guard/order == asked": SAME,
    "hand.light/negate-guard/order == asked": VACUOUS,
    "hand.light/skip-branch/order == asked": VACUOUS,
    "hand.light/drop-assignment/lit = True": VACUOUS,
    # `left` stays 1, which nothing looks at again.
    "hand.light/drop-assignment/left -= 1": DIFFERENT,
    "hand.light/shift-boundary/left -= 2": ERROR,
    "hand.light/shift-boundary/left -= 0": DIFFERENT,
    "hand.light/skip-step": VACUOUS,
    "hand.light/swap-steps/record": VACUOUS,
    "hand.light/merge-steps/record": NARROWER,
    "hand.record/drop-guard/lit or order == done": SAME,
    "hand.record/negate-guard/lit or order == done": VACUOUS,
    "hand.record/drop-disjunct/lit": VACUOUS,
    "hand.record/drop-disjunct/order == done": SAME,
    "hand.record/drop-assignment/order = done": VACUOUS,
    "hand.record/skip-step": VACUOUS,
}
