"""The reference implementations are killed for real: one errand of each, once at every kill point.

All errands and all pairs are behind `make conform`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli import main
from checker.commands.implementations import Wanted, implementations, opened
from checker.commands.kill import KillOptions, claims_to_kill
from checker.conformance.adapter import Killable
from checker.conformance.translation import setting_of
from model.system import TransitionSystem
from tests.conformance.test_record import REFERRING


@pytest.mark.parametrize("name", REFERRING)
def test_an_errand_of_each_is_a_run_of_the_model_wherever_it_is_killed(
    name: str, capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KILLPOINT_CACHE", str(tmp_path))
    (implementation,) = implementations([name], Wanted())
    claim = claims_to_kill(implementation, KillOptions())[0]
    system = TransitionSystem.of(claim)
    with opened(implementation) as adapter:
        assert isinstance(adapter, Killable)
        adapter.reset(setting_of(claim, system, system.initial_states[0]))
        errand = adapter.errands()[0].name
    code = main(["kill", name, "-s", claim.name, "--errand", errand, "--singles", "--json"])
    answer = json.loads(capfd.readouterr().out)
    assert code == 0
    (scenario,) = answer["files"][0]["scenarios"]
    assert scenario["errands"][0]["kills"] > 3
