"""A stamping clerk by hand, in Python, to be held against `stamps.yaml`; and everything that can be wrong with it."""

from __future__ import annotations

from collections.abc import Sequence

from checker.conformance.adapter import Action, Observation, Plain, Refused, Setting, UnknownSetting

COLOURS = ("red", "blue")


class Office:
    """The adapter and the system in one: a book with a version, a drawer, and a clerk who remembers what he picked."""

    observes = ("status", "colour", "inked", "stamps", "clerk at", "clerk.picked")
    defects: Sequence[str] = (
        "stamps-twice",
        "forgets-to-record",
        "refuses-blue",
        "starts-stamped",
        "empties-early",
        "keeps-its-memory",
        "changes-when-refusing",
        "observes-nonsense",
        "observes-an-unknown",
        "breaks-off",
    )

    def __init__(self) -> None:
        self.closed = 0

    def reset(self, setting: Setting) -> None:
        if setting.variant or (setting.defect and setting.defect not in self.defects):
            raise UnknownSetting(f"no defect is named {setting.defect}")
        self.defect = setting.defect
        self.status = "stamped" if self.defect == "starts-stamped" else "empty"
        self.colour: str | None = None
        self.inked: set[str] = set()
        self.version = 0
        self.stamps = 0
        self.at = "rest"
        self.picked: str | None = None
        self.seen: int | None = None

    def perform(self, action: Action) -> None:
        try:
            self._perform(action)
        except Refused:
            if self.defect == "changes-when-refusing":
                self.inked = {"blue"}
            raise

    def _perform(self, action: Action) -> None:
        if action.kind == "restart":
            self._require(self.at == "crashed", "the clerk is up")
            self.at = "rest"
        elif action.kind == "crash":
            self._require(self.at == action.step, f"the clerk is at {self.at}")
            if action.torn:
                self._require(action.step == "stamp", "nothing else is torn")
                self.inked.add("red")
            self._forget()
            self.at = "crashed"
        elif action.process == "chief":
            self._require(self.status != "stamping" or self.defect == "empties-early", "the book is in use")
            self._write("empty", None)
        else:
            self._require(self.at == action.step, f"the clerk is at {self.at}")
            getattr(self, f"_{action.step}")(action)

    def _rest(self, action: Action) -> None:
        del action
        self._require(self.status != "stamped", "nothing to do")
        self.seen, self.at = self.version, "pick"

    def _pick(self, action: Action) -> None:
        (picked,) = action.choices
        self._require(not (self.defect == "refuses-blue" and picked == "blue"), "no blue any more")
        if self.seen != self.version:
            self._go_to_rest()
            return
        self.picked, self.at = str(picked), "stamp"
        # His own write leaves what he has read as it is.
        self._write("stamping", self.picked)
        self.seen = self.version

    def _stamp(self, action: Action) -> None:
        assert self.picked is not None
        self.inked.add(self.picked)
        self.stamps += 2 if self.defect == "stamps-twice" and self.picked == "blue" else 1
        if "smudge" in action.faults:
            self._go_to_rest()
        else:
            self.at = "record"

    def _record(self, action: Action) -> None:
        del action
        if self.defect == "breaks-off":
            raise ZeroDivisionError("out of ink")
        if self.defect != "forgets-to-record":
            self._write("stamped", self.colour)
        self._go_to_rest()

    def _write(self, status: str, colour: str | None) -> None:
        self.status, self.colour = status, colour
        self.version += 1

    def _go_to_rest(self) -> None:
        self._forget()
        self.at = "rest"

    def _forget(self) -> None:
        if self.defect != "keeps-its-memory":
            self.picked = None
        self.seen = None

    def _require(self, condition: bool, otherwise: str) -> None:
        if not condition:
            raise Refused(otherwise)

    def observe(self) -> Observation:
        inked: list[Plain] = [*sorted(self.inked)]
        observed: dict[str, Plain] = {
            "status": self.status,
            "colour": self.colour,
            "inked": inked,
            "stamps": self.stamps,
            "clerk at": self.at,
            "clerk.picked": self.picked,
        }
        if self.defect == "observes-an-unknown":
            observed["letters"] = 3
        if self.defect == "observes-nonsense":
            observed["stamps"] = 1.5  # type: ignore[assignment]
        return observed

    def offers(self) -> Sequence[Action]:
        if self.at == "crashed":
            return [Action("restart", "clerk", 0, ""), Action("step", "chief", 0, "empty")]
        choices: list[tuple[Plain, ...]] = [(colour,) for colour in COLOURS] if self.at == "pick" else [()]
        steps = [Action("step", "clerk", 0, self.at, choice) for choice in choices]
        if self.at == "stamp":
            steps += [Action("step", "clerk", 0, "stamp", (), ("smudge",))]
            steps += [Action("crash", "clerk", 0, "stamp", (), ("crash",), torn=True)]
        return [
            *steps,
            Action("crash", "clerk", 0, self.at, (), ("crash",)),
            Action("step", "chief", 0, "empty"),
        ]

    def close(self) -> None:
        self.closed += 1


class Blindfolded(Office):
    """Lets nobody see anything."""

    def observe(self) -> Observation:
        """Say nothing."""
        return {}


class Spotless(Office):
    """Has a mistake in name only."""

    defects = ("hums-a-tune",)
