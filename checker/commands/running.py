"""Exploring with limits: the cache is asked first, progress is shown, and Ctrl-C ends it with what is known so far."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Literal, Self

from checker.cache import NO_CACHE, Cache, cache_key
from checker.commands.inputs import Loaded
from checker.commands.refusal import BadInput
from checker.exploration import Exploration, Limits
from checker.identity import patch_of, system_hash
from checker.reporting.output import standard_error
from checker.reporting.progress import ProgressLine
from checker.trace import EngineDisagreement
from model.diagnostics import Code, Diagnostic, Note, SpecificationError, quoted
from model.source import Source
from model.specification import Scenario
from model.system import TransitionSystem

if TYPE_CHECKING:
    from checker.crosscheck import CrossCheck
    from checker.engines.consultations import Consultations

EngineName = Literal["columnar", "oracle"]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to explore: where to stop, on how many processors, with which engine, and with what of earlier runs."""

    states_max: int | None = None
    timeout: float | None = None
    workers: int = 1
    engine: EngineName = "columnar"
    cache: Cache = NO_CACHE
    properties: tuple[str, ...] | None = None
    """The properties that the fast engine is to look at; None for all of them."""
    bound: int | None = None
    """Up to where each `nat` is followed, whatever scenarios say."""


@dataclass(frozen=True, slots=True)
class Explored:
    """Explorations by the names of their claims, which of them are earlier ones, and how long the others took."""

    explorations: dict[str, Exploration]
    cached: frozenset[str]
    seconds: float


def available_processors() -> int:
    """Return the number of processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def systems_of(
    loaded: Mapping[str, tuple[Loaded, Mapping[str, Scenario]]], bound: int | None = None
) -> dict[str, dict[str, TransitionSystem]]:
    """Build the systems of the claims of several files, by file and claim, to be explored.

    `bound` is up to where each `nat` is followed, whatever the claims say; None leaves that to them.

    Raises:
        BadInput: with what is wrong with any of them (a parameter out of range, an empty type, a `nat` without a
            bound).
    """
    refused: dict[str, Diagnostic] = {}
    sources: dict[str, Source] = {}
    systems: dict[str, dict[str, TransitionSystem]] = {}
    for name, (each, claims) in loaded.items():
        systems[name] = {}
        for claim in claims.values():
            try:
                chosen = claim if bound is None else replace(claim, bound=bound)
                systems[name][claim.name] = require_bound(TransitionSystem.of(chosen))
            except SpecificationError as error:
                sources |= each.sources
                for diagnostic in error.diagnostics:
                    # Several scenarios that meet the same mistake make one message, which names the first.
                    refused.setdefault(str(diagnostic), _in_claim(diagnostic, claim, each))
    if refused:
        raise BadInput(refused.values(), sources)
    return systems


def _in_claim(diagnostic: Diagnostic, claim: Scenario, loaded: Loaded) -> Diagnostic:
    """Say of a mistake that only some parameters, faults or patch bring about in which scenario or mutant it shows."""
    plain = not (claim.set or claim.allow or claim.variant or claim.mutant)
    if plain or claim.name not in loaded.file.scenarios.keys() | loaded.file.mutants.keys():
        return diagnostic
    what = "mutant" if claim.mutant else "scenario"
    return replace(diagnostic, notes=(*diagnostic.notes, Note(f"in the {what} {quoted(claim.name)}", claim.span)))


def require_bound(system: TransitionSystem) -> TransitionSystem:
    """Refuse to explore a system that has no end of numbers.

    Raises:
        SpecificationError: it has a `nat`, and nothing says up to where to follow it.
    """
    if not system.naturals or system.bound is not None:
        return system
    first = system.naturals[0]
    message = f"`{first.name}` is a `nat`, and nothing says up to where to follow it"
    help_text = "write `bound: 5` in the file or a scenario, or `--bound 5`; `killpoint induct` needs no bound"
    raise SpecificationError([Diagnostic(Code.NO_BOUND, message, first.span, help=help_text)])


class Runner:
    """Runs explorations for one command, which share its time; to be used as a context."""

    def __init__(self, options: RunOptions) -> None:
        self.options = options
        deadline = time.monotonic() + options.timeout if options.timeout is not None else None
        self.limits = Limits(states_max=options.states_max, deadline=deadline, workers=options.workers)
        self.progress = ProgressLine(standard_error())
        self.unit = "layer"
        """What is finished before an interrupt ends a run."""
        self._process = os.getpid()
        self._before: object = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.progress.clear()
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)  # type: ignore[arg-type]

    @property
    def interrupted(self) -> bool:
        """Whether somebody has pressed Ctrl-C."""
        return self.limits.interrupted

    def explore(
        self, loaded: Loaded, claims: Mapping[str, Scenario], systems: Mapping[str, TransitionSystem]
    ) -> Explored:
        """Explore the systems of some claims of a file; after an interrupt, only what was explored before.

        Raises:
            BadInput: a limit of the language is met in translation.
            EngineDisagreement: the evaluator does not confirm what the engine has found.
        """
        keys = self._keys(loaded, claims, systems)
        known = {name: self.options.cache.load(keys[name], system) for name, system in systems.items()}
        found = {name: exploration for name, exploration in known.items() if exploration is not None}
        cached = frozenset(found)
        missing = {name: system for name, system in systems.items() if name not in found}
        started = time.monotonic()
        if missing and not self.interrupted:
            judged = [systems[name] for name in missing if not claims[name].mutant]
            for name, exploration in self._explored(loaded, missing, judged).items():
                found[name] = exploration
                self.options.cache.store(keys[name], exploration)
        return Explored({name: found[name] for name in systems if name in found}, cached, time.monotonic() - started)

    def compare(self, loaded: Loaded, systems: Mapping[str, TransitionSystem], most: int) -> dict[str, CrossCheck]:
        """Compare the engines on the systems of some claims of a file, in up to `most` states of each.

        Raises:
            BadInput: a limit of the language is met in translation.
            EngineDisagreement: with the smallest difference.
        """
        from checker.crosscheck import cross_check

        self.limits.on_progress = self.progress.of(f"comparing engines on {loaded.file.source.file}")
        try:
            return cross_check(systems, self.limits, most)
        except SpecificationError as error:
            raise BadInput(error.diagnostics, loaded.sources) from error
        except EngineDisagreement as error:
            raise EngineDisagreement(f"{loaded.file.source.file}, {error}") from error
        finally:
            self.progress.clear()

    def consult(
        self, loaded: Loaded, claims: Mapping[str, Scenario], view: Sequence[str] = (), states_max: int | None = None
    ) -> dict[str, tuple[TransitionSystem, Consultations]]:
        """Find out how the systems of some claims consult their tables, and what crashes leave of some variables.

        Of each no more than `states_max` states are looked at.

        Raises:
            BadInput: a claim has no system (a parameter out of range, a type that is empty).
        """
        from checker.engines.consultations import consultations
        from checker.engines.projection import viewed_slots

        if states_max is not None:
            self.limits.states_max = min(states_max, self.limits.states_max or states_max)
        name = loaded.file.source.file
        systems = systems_of({name: (loaded, claims)})[name]
        self.limits.on_progress = self.progress.of(name)
        found = {
            claim: (system, consultations(system, self.limits, viewed_slots(system, view)))
            for claim, system in systems.items()
        }
        self.progress.clear()
        return found

    def _explored(
        self, loaded: Loaded, systems: Mapping[str, TransitionSystem], judged: Sequence[TransitionSystem]
    ) -> dict[str, Exploration]:
        self.limits.on_progress = self.progress.of(loaded.file.source.file)
        try:
            if self.options.engine == "oracle":
                from checker.engines import oracle

                results = [oracle.explore(system, self.limits) for system in systems.values()]
            else:
                from checker.engines import columnar

                results = columnar.explore(list(systems.values()), self.limits, self.options.properties, judged)
        except SpecificationError as error:
            raise BadInput(error.diagnostics, loaded.sources) from error
        finally:
            self.progress.clear()
        return dict(zip(systems, results, strict=True))

    def _keys(
        self, loaded: Loaded, claims: Mapping[str, Scenario], systems: Mapping[str, TransitionSystem]
    ) -> dict[str, str]:
        source, engine = loaded.file.source, self.options.engine
        asked = "" if self.options.properties is None else f" {','.join(self.options.properties)}"
        return {
            name: cache_key(system_hash(source, patch_of(claims[name]), system), engine + asked)
            for name, system in systems.items()
        }

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.limits.interrupted = True
        # The next one is not ours to handle: whoever presses twice wants out at once.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if os.getpid() != self._process:
            return  # an engine's helper process, which has inherited this handler and heard the same Ctrl-C
        # Not through `sys.stderr`, which may be in the middle of writing and then refuses to be entered again.
        line = f"interrupted: ending after this {self.unit}; once more to end at once\n"
        with contextlib.suppress(OSError, ValueError):
            os.write(sys.stderr.fileno(), f"{self.progress.erasure}{line}".encode())
