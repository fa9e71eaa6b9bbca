"""A coordinator that stands still once more between its decision to call and the call, where a gate may close."""

from __future__ import annotations

from model.reference.killed_workflow.coordinator import Coordinator, Label


class StandsBeforeTheCall(Coordinator):
    """Trusts the plan's gate: what was allowed then is sent now."""

    def _submit(self) -> Label:
        return "call"


class AsksBeforeTheCall(StandsBeforeTheCall):
    """Asks the gate's authority once more, and begins anew where it has closed."""

    def _submit(self) -> Label:
        return super()._submit() if self._judgements.allows("dispatch") else "rest"
