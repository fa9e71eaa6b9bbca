"""What a system has to offer so that it can be held against a model: the adapter.

A *process of the implementation* stands at a kill point before each step. An adapter lets it take one step, kills it,
or says what the model's variables are in it. Values are those of `killpoint trace --json`: booleans, integers, strings
for literals, None, and a sorted list for a set. An adapter of another language speaks the same in JSON lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

Plain = bool | int | str | None | list["Plain"]
"""A value of the model as JSON has it."""

Observation = Mapping[str, Plain]
"""Values of model variables by the names of their slots: `run`, `submission[1]`, `coordinator[0] at`.

Some may be left out; then they are not compared, and the model may take them to be anything that it allows.
"""


class Refused(Exception):
    """The system cannot do now what it is asked to, or does not; nothing has changed."""


class UnknownSetting(Exception):
    """The system has no such parameter, variant or defect: not every scenario can be put to every implementation."""


class AdapterFailed(Exception):
    """The adapter itself is at fault: it broke off, it did not answer, or what it answered means nothing.

    Nothing is known then of the system behind it. `details` is what it has left: a traceback, its standard error.
    """

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message)
        self.details = details


@dataclass(frozen=True, slots=True)
class Setting:
    """How a system is to start: the parameters and variant of a scenario, and where it starts.

    `defect` names a deliberate mistake of the implementation that is switched on, "" for none. `initial` has the value
    of every slot at the start.
    """

    parameters: Mapping[str, Plain]
    variant: str = ""
    defect: str = ""
    initial: Mapping[str, Plain] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Action:
    """What shall happen next, and how it is to come out where the environment decides.

    `choices` are the values of the `choose` statements on the way and `faults` the names of the faults that happen,
    each in the order in which the step comes to them. For a crash `step` is the label before which the process stands,
    or in which it is where `torn`, and the first of the faults is the crash's own name; for a restart `step` is empty.
    """

    kind: Literal["step", "crash", "restart"]
    process: str
    instance: int
    step: str
    choices: tuple[Plain, ...] = ()
    faults: tuple[str, ...] = ()
    torn: bool = False

    @property
    def id(self) -> str:
        """The stable id of the step or kill point: `coordinator.submit`, `operator.unlock.torn`."""
        return f"{self.process}.{self.step}{'.torn' if self.torn else ''}"


class Adapter(Protocol):
    """A system in this process or in another, driven step by step."""

    @property
    def observes(self) -> Sequence[str]:
        """The names of the variables and process labels that `observe` tells, without indices."""

    @property
    def defects(self) -> Sequence[str]:
        """The deliberate mistakes that can be switched on, by name."""

    def reset(self, setting: Setting) -> None:
        """Throw away what there is and start afresh.

        Raises:
            UnknownSetting: the implementation has no such parameter, variant or defect.
        """

    def perform(self, action: Action) -> None:
        """Let one thing happen.

        Raises:
            Refused: the system cannot do it now.
        """

    def observe(self) -> Observation:
        """Return the model's variables as they are in the system now."""

    def offers(self) -> Sequence[Action]:
        """Return what may be tried now, for random walks; what the system then refuses is left out by the caller."""

    def close(self) -> None:
        """End every process and remove every file."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process of its own ended, and the ids of the kill points that it came by, in order.

    `killed`: by SIGKILL, at the last of them. `waiting`: nothing to do for it now. `stopped`: it has done its work.
    A process that has come by a kill point has then taken that step, the last one excepted where it was killed.
    """

    how: Literal["killed", "waiting", "stopped"]
    points: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Launch:
    """A process to be started as a process of its own, which runs until it has nothing to do."""

    process: str
    instance: int = 0


@dataclass(frozen=True, slots=True)
class Errand:
    """A run worth killing: launches and what others do between them, in order.

    A launch that is killed is launched again, which is the recovery; an action that the system refuses is passed over
    where the model does not allow it either.
    """

    name: str
    acts: tuple[Launch | Action, ...]


@runtime_checkable
class Killable(Protocol):
    """An adapter whose processes can also run as processes of their own and be killed with SIGKILL."""

    def errands(self) -> Sequence[Errand]:
        """Return the runs that are worth killing, under the setting of the last reset."""

    def launch(self, launch: Launch, kill_at: int | None) -> Ended:
        """Start a process from what is on disk and wait for its end; kill it at the `kill_at`-th kill point, from 1."""
