"""A small specification without a mistake, and texts that differ from it in few places."""

from __future__ import annotations

OFFICE = """\
language: 1
protocol: ticket-office
title: A seat is sold once
sources: [an example]

parameters:
  seats: {default: 2, range: 1..4}
  clerks: {default: 1, range: 1..3}
  on_doubt: {default: hold, one_of: [hold, resell]}
  strict: {default: true}

types:
  Seat: 1..seats
  Phase: [open, closed]
  Sale: [free, reserved, sold, disputed]
  Reply: [nothing, accepted, refused]
  Action: [wait, reserve]

stores:
  ledger:
    versioned: true
    holds:
      sale: {type: Sale, per: Seat, init: free}
      last: {type: 0..seats, init: 0}
      phase: {type: Phase, init: open}
  bank:
    holds:
      charged: {type: bool, per: Seat, init: false}

ghost:
  charges: {type: counter 2, per: Seat}
  refusals: {type: 0..9}

definitions:
  in_doubt: "any(sale[s] == disputed for s in Seat)"
  settled(x): "sale[x] in {free, sold}"

faults:
  crash: {of: [clerk]}
  lost_reply: {at_most: 1}

tables:
  plan:
    match: first
    gives: {action: Action, urgent: bool}
    defaults: {urgent: false}
    rows:
      doubtful: {when: "in_doubt and on_doubt == hold", action: wait, urgent: true}
      next_seat: {when: "phase == open and last < seats", action: reserve}
      otherwise: {when: "True", action: wait}

processes:
  clerk:
    count: clerks
    volatile:
      seat: {type: 0..seats, init: 0}
      reply: {type: Reply}
    steps:
      rest: |
        read(ledger)
        when(plan.action == reserve or not strict)
        seat = last + 1
      reserve: |
        if not fresh(ledger): goto(rest)
        sale[seat] = reserved
        last = seat
      charge: |
        if charged[seat]: goto(record)
        reply = choose({accepted, refused})
        if reply == accepted:
          charged[seat] = True
          charges[seat] += 1
        if reply == refused: refusals = min(refusals + 1, 9)
        if fault(lost_reply): reply = nothing
      record: |
        if not fresh(ledger): goto(rest)
        sale[seat] = sold if reply == accepted else disputed
        goto(rest)
  box_office:
    environment: true
    steps:
      close: |
        when(phase == open)
        phase = closed

properties:
  charged_once: {always: "all(charges[s] <= 1 for s in Seat)"}
  stays_sold: {step: "all(implies(sale[s] == sold, next(sale[s]) == sold) for s in Seat)"}
  can_sell: {possible: "any(sale[s] == sold for s in Seat)"}
  recovers: {recoverable: "all(settled(s) for s in Seat) or refusals > 0"}
  no_rush: {always: "not plan.urgent or in_doubt"}

variants:
  careless: {processes: {clerk: {steps: {charge: "goto(record)"}}}}

scenarios:
  baseline: {}
  busy: {set: {clerks: 2}, allow: {lost_reply: unlimited}, breaks: [charged_once], because: two clerks find one seat}
  hasty: {variant: careless, breaks: [can_sell], because: nobody is charged}

mutants:
  forgetful: {processes: {clerk: {steps: {record: "goto(rest)"}}}, breaks: [can_sell]}

views: {overview: [sale, phase]}
reference: ticket_office
"""


def changed(*changes: tuple[str, str], base: str = OFFICE) -> str:
    """Return the specification with each first text, which stands in it exactly once, replaced by the second."""
    text = base
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the text"
        text = text.replace(old, new)
    return text
