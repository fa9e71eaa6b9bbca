"""A worker that keeps its notes in files, as an adapter: honest, and with every mistake that killing should find."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from checker.conformance.adapter import (
    Action,
    Ended,
    Errand,
    Launch,
    Observation,
    Plain,
    Refused,
    Setting,
    UnknownSetting,
)
from checker.conformance.forking import ComeBy, quick_directory
from checker.conformance.launching import Launches

MODULE = "tests.conformance.delivery"
ROOT = str(Path(__file__).parents[2])


class Worker:
    """Orders what was asked for, once."""

    def __init__(self, directory: Path, lost: Callable[[], bool] = lambda: False) -> None:
        self.directory = directory
        self.lost = lost

    def steps(self) -> Iterator[str]:
        """Yield the label of each step before it is taken."""
        yield "rest"
        while self.has("asked") and not self.has("done"):
            known = False
            if self.has("intent"):
                yield "look_up"
                known = self.ordered()
            else:
                yield "record_intent"
                self.write("intent")
            while not known:
                yield "submit"
                self.order()
                if not self.lost():
                    break
                yield "look_up"
                known = self.ordered()
            yield from self.finish()
            yield "rest"

    def order(self) -> None:
        """Do what cannot be undone."""
        with (self.directory / "orders").open("a", encoding="utf-8") as orders:
            orders.write("order\n")

    def ordered(self) -> bool:
        """Look whether the shop has the order."""
        return self.has("orders")

    def finish(self) -> Iterator[str]:
        """Write down that all is done."""
        yield "record"
        self.write("done")

    def has(self, name: str) -> bool:
        """Tell whether something has been written down."""
        return (self.directory / name).exists()

    def write(self, name: str) -> None:
        """Write something down."""
        (self.directory / name).touch()


class LooksNothingUp(Worker):
    """Takes every order that it finds no confirmation of for one that was not sent."""

    def ordered(self) -> bool:
        """Believe nothing."""
        return False


class OrdersTwice(Worker):
    """Orders a second time to be sure."""

    def order(self) -> None:
        """Do what cannot be undone, and do it again."""
        super().order()
        super().order()


class SkipsAPoint(Worker):
    """Records without standing still before it."""

    def finish(self) -> Iterator[str]:
        """Finish at once."""
        self.write("done")
        yield from ()


class KnowsAnotherPoint(Worker):
    """Does something that the model has never heard of."""

    def finish(self) -> Iterator[str]:
        """Polish it first."""
        yield "polish"
        yield from super().finish()


class GivesUp(Worker):
    """Waits for ever where it finds an intent: safe, and of no use."""

    def steps(self) -> Iterator[str]:
        """Look once, then wait."""
        if self.has("intent") and not self.has("done"):
            yield "rest"
            return
        yield from super().steps()


class LosesItsNotes(Worker):
    """Cannot go on after a crash."""

    def ordered(self) -> bool:
        """Look for notes that were in memory."""
        raise LookupError("no notes")


WORKERS: Mapping[str, type[Worker]] = {
    "": Worker,
    "looks_nothing_up": LooksNothingUp,
    "orders_twice": OrdersTwice,
    "skips_a_point": SkipsAPoint,
    "knows_another_point": KnowsAnotherPoint,
    "gives_up": GivesUp,
    "loses_its_notes": LosesItsNotes,
}


def run_worker(argument: dict[str, Any], come_by: ComeBy) -> str:
    """Be a worker as a process of its own."""
    for label in WORKERS[argument["defect"]](Path(argument["directory"])).steps():
        come_by(f"worker.{label}")
    return "waiting"


class Adapter:
    """The worker in this process, step by step, or as a process of its own."""

    defect = ""
    """What is wrong with it where a setting does not say."""
    observes: Sequence[str] = ("asked", "intent", "done", "order", "submissions", "worker at")
    defects: Sequence[str] = tuple(name for name in WORKERS if name)

    def __init__(self) -> None:
        self._launches = Launches(f"{MODULE}:run_worker", path=[ROOT])
        self._directory = quick_directory()
        self._defect = ""
        self._lost = False
        self._steps: Iterator[str] = iter(())
        self._at = ""
        self._reset_worker()

    def reset(self, setting: Setting) -> None:
        """Start afresh."""
        if setting.parameters or setting.variant or setting.defect not in WORKERS:
            raise UnknownSetting(setting.variant or setting.defect)
        self._directory.cleanup()
        self._directory = quick_directory()
        self._defect = setting.defect or self.defect
        self._reset_worker()

    def perform(self, action: Action) -> None:
        """Let one thing happen."""
        if action.id == "customer.ask" and action.kind == "step":
            if (self._path / "asked").exists():
                raise Refused
            (self._path / "asked").touch()
        elif action.kind == "crash" and action.step == self._at:
            self._reset_worker()
        elif action.kind == "step" and action.step == self._at:
            self._lost = action.faults == ("lost_reply",)
            self._at = next(self._steps, "")
            if not self._at:
                self._reset_worker()
                raise Refused
        else:
            raise Refused

    def observe(self) -> Observation:
        """Return what is on disk, and where the worker in this process stands."""
        orders = self._path / "orders"
        count = len(orders.read_text("utf-8").splitlines()) if orders.exists() else 0
        seen: dict[str, Plain] = {name: (self._path / name).exists() for name in ("asked", "intent", "done")}
        return seen | {"order": count > 0, "submissions": min(count, 2), "worker at": self._at}

    def offers(self) -> Sequence[Action]:
        """Return what may be tried."""
        offered = [Action("step", "customer", 0, "ask"), Action("step", "worker", 0, self._at)]
        # A worker that is killed at rest loses nothing, and the model has no such crash.
        return [*offered, Action("crash", "worker", 0, self._at, faults=("crash",))][: 2 + (self._at != "rest")]

    def errands(self) -> Sequence[Errand]:
        """Return a whole order, and nothing to do."""
        order = (Launch("worker"), Action("step", "customer", 0, "ask"), Launch("worker"), Launch("worker"))
        return [Errand("order", order), Errand("idle", (Launch("worker"),))]

    def launch(self, launch: Launch, kill_at: int | None) -> Ended:
        """Let a worker run as a process of its own."""
        assert launch.process == "worker"
        argument = {"directory": self._directory.name, "defect": self._defect}
        return self._launches.run(argument, kill_at)

    def close(self) -> None:
        """End everything."""
        self._launches.close()
        self._directory.cleanup()

    @property
    def _path(self) -> Path:
        return Path(self._directory.name)

    def _reset_worker(self) -> None:
        self._lost = False
        self._steps = WORKERS[self._defect](self._path, lambda: self._lost).steps()
        self._at = next(self._steps)


class ForgetfulAdapter(Adapter):
    """The worker that looks nothing up."""

    defect = "looks_nothing_up"


class EagerAdapter(Adapter):
    """The worker that orders twice."""

    defect = "orders_twice"


class Blindfolded(Adapter):
    """The worker that nobody can look at."""

    def observe(self) -> Observation:
        """Say nothing."""
        return {}
