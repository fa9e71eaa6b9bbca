"""Hypothesis walks an adapter: it draws from what the system offers, and shrinks a walk that is no run of the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from checker.conformance.adapter import Adapter
from checker.conformance.walks import Walk
from model.specification import Scenario
from model.system import TransitionSystem


def walk_everywhere(
    claim: Scenario, make: Callable[[], Adapter], defect: str = "", *, walks: int, length: int, shrink: bool = True
) -> None:
    """Walk an implementation at random; fail with the shortest walk found that its model does not allow.

    Where `shrink` is false it is the first one that was found.
    """
    phases = set(Phase) if shrink else {Phase.generate}
    system = TransitionSystem.of(claim)
    adapter = make()

    class Machine(RuleBasedStateMachine):
        """One walk, from a fresh start."""

        def __init__(self) -> None:
            super().__init__()
            self.walk = Walk(claim, system, adapter, defect)
            self.offers = self.walk.offers()
            self.look()

        def look(self) -> None:
            rejection = self.walk.rejection
            assert rejection is None, f"the model does not allow {rejection.event.text}: {rejection.event.observed}"

        @precondition(lambda self: self.offers)
        @rule(data=st.data())
        def go_on(self, data: st.DataObject) -> Any:
            self.walk.take(data.draw(st.sampled_from(self.offers), label="does"))
            self.look()
            self.offers = self.walk.offers()

    try:
        run_state_machine_as_test(
            Machine, settings=settings(max_examples=walks, stateful_step_count=length, phases=phases)
        )
    finally:
        adapter.close()
