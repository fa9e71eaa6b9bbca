"""The command line of an operator: `run unlock` and `run reclaim`, previews unless `--yes` is there.

    run unlock RUN
    run unlock RUN --lock-sha256 DIGEST --actor WHO --reason WHY --yes
    run reclaim RUN
    run reclaim RUN --evidence-sha256 DIGEST --actor WHO --reason WHY --yes
    run reclaim RUN --unknown-liveness DIGEST --actor WHO --reason WHY --yes

and after the revision `run reclaim RUN --force --yes`. How a run that is proven to have ended is confirmed, the
document leaves open; here with a digest too, by an option named like that of an unlock.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from model.reference.audited_recovery.judgement import Refusal
from model.reference.audited_recovery.ledger import Operation
from model.reference.audited_recovery.party import Party
from model.reference.audited_recovery.provider_ledger import ProviderLedger
from model.reference.audited_recovery.recovery import Operator, Order, Refused
from model.reference.audited_recovery.revised import RetiringOperator
from model.reference.audited_recovery.run import Run

GATE_PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class Answered:
    """What a command has come to: refused, a preview with its digest, or done."""

    refusal: Refusal | None = None
    digest: str | None = None
    done: bool = False


class GateHeld(Exception):
    """Somebody else has held the gate for longer than a gate is held."""


def command(arguments: Sequence[str], root: Path, party: Party) -> Answered:
    """Carry out one command of the operator.

    Raises:
        GateHeld: the gate did not become free.
        SystemExit: the arguments are no command.
    """
    options = _parser().parse_args(arguments)
    run = Run(root, options.run)
    if options.verb == "reclaim" and options.force:
        return _force(run, party, confirmed=options.yes)
    operator, operation = Operator(run, party), Operation(options.verb)
    if options.yes:
        # A confirmation that names no digest confirms nothing: an empty one is that of no preview.
        digest = options.digest or options.unknown_liveness
        order = Order(operation, options.actor, options.reason, digest, admits_unknown=bool(options.unknown_liveness))
        drive(operator.turn(order))
        return Answered(operator.refusal, done=operator.refusal is None)
    try:
        return Answered(digest=operator.preview(operation, admits_unknown=True).digest)
    except Refused as refused:
        return Answered(refused.refusal)


def drive(turn: Iterator[str], patience_s: float = GATE_PATIENCE_S) -> None:
    """Let a process run to its end; it stands where it stood while the gate is another's.

    Raises:
        GateHeld: the gate did not become free.
    """
    deadline = time.monotonic() + patience_s
    before = ""
    for point in turn:
        if point == before:
            if time.monotonic() > deadline:
                raise GateHeld(point)
            time.sleep(0.005)
        before = point


def _force(run: Run, party: Party, *, confirmed: bool) -> Answered:
    operator = RetiringOperator(run, party, ProviderLedger(run.root / "provider-ledger"))
    if not confirmed:
        return Answered(operator.preview())
    drive(operator.turn())
    return Answered(operator.refusal, done=operator.refusal is None)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="run", allow_abbrev=False)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, option in (("unlock", "--lock-sha256"), ("reclaim", "--evidence-sha256")):
        command_parser = verbs.add_parser(verb, allow_abbrev=False)
        command_parser.add_argument("run")
        command_parser.add_argument(option, dest="digest", default="", metavar="DIGEST")
        command_parser.add_argument("--actor", default="")
        command_parser.add_argument("--reason", default="")
        command_parser.add_argument("--yes", action="store_true")
        command_parser.set_defaults(unknown_liveness="", force=False)
    verbs.choices["reclaim"].add_argument("--unknown-liveness", default="", metavar="DIGEST")
    verbs.choices["reclaim"].add_argument("--force", action="store_true")
    return parser
