"""The operator's side of the adapter of `spec/operator_control.yaml`: its request files, and what became of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from checker.conformance.adapter import Action, Plain, Refused
from checker.conformance.deployments import OPERATOR, WORK, DeployedAdapter, number_of
from model.reference.operator_control.arbitration import Snapshot
from model.reference.operator_control.controls import Operation, Receipt, Request, Result, Version
from model.reference.operator_control.records import Phase
from model.reference.operator_control.service import Control

RESULTS = {Result.SCHEDULED: "Scheduled", Result.COMPLETED: "Completed", Result.STOPPED: "StoppedAgain"}
"""The model's words for results."""


class Requests(DeployedAdapter):
    """The keys of the model, the request files that they stand for at the moment, and the receipts of those."""

    def __init__(self) -> None:
        super().__init__()
        self._controls: dict[int, tuple[int, Control]] = {}
        self._names: dict[int, str] = {}
        self._closed: dict[int, Request] = {}
        """Requests that are answered for good while somebody else may still handle them, until their number is used."""
        self._used = 0
        self._first_receipts = 0

    def _ask(self, action: Action) -> None:
        key, operation = number_of(action.choices[0]), Operation(str(action.choices[1]))
        if self._request(key) is not None or self._handled(key):
            raise Refused("the key is in use")
        snapshot = self._here.storage.snapshot()
        opened = [other for other in range(1, self._keys + 1) if self._request(other) is not None]
        version = self._version(snapshot)
        if opened and self._setting.parameters["on_silence"] == "repeat":
            raise Refused("the operator repeats what it has asked for")
        if not opened:
            self._first_receipts = sum(receipt.principal == OPERATOR for receipt in snapshot.receipts.values())
        elif self._setting.parameters["on_silence"] == "new_key_old_version":
            # Not having read the record again: the version that an open request names, the latest of them.
            requests = [request for request in map(self._request, opened) if request is not None]
            version = next((r.expected for r in requests if r.expected == version), requests[0].expected)
        self._used += 1
        self._closed.pop(key, None)
        self._names[key] = f"key-{self._used}"
        epoch = 1 if "misdated" in action.faults else snapshot.epochs.current
        handle = snapshot.books.records[WORK].intent.handle
        self._here.desk.submit(OPERATOR, Request(handle, version, self._names[key], epoch, operation))

    def _edit(self, action: Action) -> None:
        key, operation = number_of(action.choices[0]), Operation(str(action.choices[1]))
        if self._request(key) is None or self._handled(key):
            raise Refused("there is no such file, or it is being handled")
        version = self._version(self._here.storage.snapshot())
        self._here.desk.edit(
            self._names[key], lambda request: replace(request, expected=version, operation=operation, evidence_ref=None)
        )

    def _offers_of_operator(self) -> list[Action]:
        operations = [str(operation) for operation in Operation]
        free = [k for k in range(1, self._keys + 1) if self._request(k) is None and not self._handled(k)]
        files = [k for k in range(1, self._keys + 1) if self._request(k) is not None and not self._handled(k)]
        parameters = self._setting.parameters
        opened = any(self._request(k) is not None for k in range(1, self._keys + 1))
        held = self._record.phase is Phase.AWAITING_RECONCILIATION
        wanted = ["Reconcile"] if parameters["diligent"] and held else operations
        asks = [] if opened and parameters["on_silence"] == "repeat" else [(k, o) for k in free for o in wanted]
        return [
            *(Action("step", "operator", 0, "ask", ask) for ask in asks),
            *(Action("step", "operator", 0, "ask", ask, ("misdated",)) for ask in asks),
            *(Action("step", "operator", 0, "edit", (k, o), ("edits_file",)) for k in files for o in operations),
        ]

    def _seen_of_key(self, key: int, snapshot: Snapshot) -> dict[str, Plain]:
        request = self._request(key) or self._closed.get(key)
        receipt = self._receipt(snapshot, request)
        values: dict[str, Plain] = {
            "asked": "NoRequest" if request is None else str(request.operation),
            "unchanged": request is not None and request.expected == self._version(snapshot),
            "receipt": "NoReceipt" if receipt is None else RESULTS[receipt.result],
            "epoch": 0 if request is None else request.retry_epoch,
            "edited": receipt is not None and receipt.request != request,
            "closed": key in self._closed,
        }
        return {f"{name}[{key}]": value for name, value in values.items()}

    @property
    def _keys(self) -> int:
        return number_of(self._setting.parameters["keys"])

    @property
    def _handlers(self) -> int:
        return number_of(self._setting.parameters["handlers"])

    @property
    def _backup_path(self) -> Path:
        return Path(self._path) / "backup.sqlite"

    def _version(self, snapshot: Snapshot) -> Version:
        return Version(snapshot.generation, snapshot.books.records[WORK].revision)

    def _request(self, key: int) -> Request | None:
        found = self._here.desk.request(self._names[key]) if key in self._names else None
        return None if found is None else found[1]

    def _receipt(self, snapshot: Snapshot, request: Request | None) -> Receipt | None:
        return None if request is None else snapshot.receipts.get((OPERATOR, request.retry_epoch, request.key))

    def _remember(self, key: int, request: Request | None) -> None:
        """Keep a request whose file is gone, where somebody else may handle the same one."""
        if request is not None and self._request(key) is None and self._handlers > 1:
            self._closed.setdefault(key, request)

    def _handled(self, key: int) -> bool:
        return any(handled == key for handled, _ in self._controls.values())
