"""The killed workflow for any number of attempts and of coordinators."""

from pathlib import Path

import pytest

from checker.engines.induction import Effort, decide
from checker.verdict import Verdict
from model.loader import load_file
from model.specification import PropertyKind
from model.system import TransitionSystem

SPECIFICATION = Path(__file__).resolve().parents[2] / "spec" / "unbounded" / "any_attempt.yaml"
FILE = load_file(SPECIFICATION)
CLAIMS = [name for name, p in FILE.specification.properties.items() if p.kind is not PropertyKind.POSSIBLE]


def test_numbers_have_no_end_here() -> None:
    system = TransitionSystem.endless(FILE.scenarios["any-attempts"])

    assert {variable.key for variable in system.naturals} >= {"ledger.attempt", "spotlight.followed"}
    assert all(system.budgets[name].limit is None for name in ("crash", "lost_reply"))


@pytest.mark.parametrize("name", ["any-attempts", "any-attempts-sealed", "any-coordinators"])
def test_no_attempt_is_submitted_twice_however_many_there_are(name: str) -> None:
    decisions = decide(TransitionSystem.endless(FILE.scenarios[name]), CLAIMS, Effort(depth=2, spacer_seconds=0))

    assert {decision.name: decision.verdict for decision in decisions} == dict.fromkeys([*CLAIMS, ""], Verdict.HOLDS)


@pytest.mark.parametrize(
    ("name", "depth"),
    [
        # Somebody else looks and finds nothing, then both submit.
        ("any-coordinators-unsealed", 4),
        # Intent, submission, a crash or a lost reply, a look-up that lags, and the submission again.
        ("stale-look-up", 7),
        ("no-look-up", 7),
    ],
)
def test_where_it_is_submitted_twice_the_shortest_run_is_shown(name: str, depth: int) -> None:
    claim = {**FILE.scenarios, **FILE.mutants}[name]

    (found, _) = decide(TransitionSystem.endless(claim), ["one_submission"], Effort(depth=depth, spacer_seconds=0))

    assert found.verdict is Verdict.VIOLATED
    assert found.finding is not None
    assert found.finding.depth == depth
