"""A small protocol with a property of every kind, and its certificate."""

from __future__ import annotations

from functools import cache

from checker.certificates.certificate import Certificate
from checker.certificates.making import make_certificate
from checker.engines import columnar
from checker.exploration import Exploration, Limits
from model.loader import load
from model.source import Source
from model.specification import Scenario
from model.system import TransitionSystem

TEXT = """language: 1
protocol: mailbox
types:
  Letter: 1..2
  Status: [open, sending, sent]
stores:
  ledger: {holds: {status: {type: Status, per: Letter, init: open}}}
  post: {holds: {posted: {type: set of Letter}}}
ghost:
  mailings: {type: counter 2, per: Letter}
faults:
  crash: {of: [clerk]}
  lost: {at_most: 1}
processes:
  clerk:
    volatile: {current: {type: "Letter?"}}
    steps:
      pick: |
        i: Letter = choose(Letter)
        when(status[i] != sent)
        current = i
        if status[i] == sending and i in posted: goto(record)
      intend: "status[current] = sending"
      send: |
        check(sent_when_meant, status[current] == sending)
        when(current not in posted)
        if not fault(lost):
          posted.add(current)
          mailings[current] += 1
        else: goto(pick)
      record: |
        status[current] = sent
        goto(pick)
properties:
  once: {always: "all(mailings[i] <= 1 for i in Letter)"}
  sent_is_final: {step: "all(implies(status[i] == sent, next(status[i]) == sent) for i in Letter)"}
  sent_when_meant: {checked: "letters are sent only when that is recorded"}
  can_doubt: {possible: "any(status[i] == sending and i in posted for i in Letter)"}
  ends: {recoverable: "all(status[i] == sent for i in Letter)"}
  arrives: {leads_to: ["1 in posted", "status[1] == sent"]}
scenarios:
  baseline: {}
"""


def scenario(text: str = TEXT) -> tuple[Source, Scenario, TransitionSystem]:
    """Return the source, its first scenario and the system of that."""
    source = Source("mailbox.yaml", text)
    claim = next(iter(load(source).scenarios.values()))
    return source, claim, TransitionSystem.of(claim)


@cache
def certificate(text: str = TEXT) -> Certificate:
    """Return the certificate of the first scenario of a text."""
    source, claim, system = scenario(text)
    return make_certificate(source, claim, system, explored(system), Limits())


def explored(system: TransitionSystem) -> Exploration:
    return columnar.explore([system], Limits())[0]
