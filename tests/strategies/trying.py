"""What tests on random specifications share: how many to try, how to load one, and which states to look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from unicodedata import category

from hypothesis import Phase, assume, settings

from model.diagnostics import SpecificationError
from model.evaluate import Evaluator
from model.loader import load
from model.source import LINE_END, Source, Span
from model.specification import Scenario, SpecificationFile
from model.system import State, TransitionSystem
from model.transitions import Failure, Transition

FILE = "random.yaml"


def tries(percent: int) -> settings:
    """Return settings for a test that tries so many hundredths of the examples of the profile.

    In a profile that repeats its examples a failing one is shown as it was found: making a specification smaller takes
    minutes, and the other profile does it.
    """
    profile = settings.default
    assert profile is not None
    kept = {Phase.explicit, Phase.generate} if profile.derandomize else set(Phase)
    examples = max(1, profile.max_examples * percent // 100)
    return settings(max_examples=examples, phases=[phase for phase in profile.phases if phase in kept])


def loaded(text: str) -> SpecificationFile:
    """Load a generated text; give the example up where it is refused, which another test looks into."""
    try:
        return load(Source(FILE, text))
    except SpecificationError:
        assume(condition=False)
        raise


def claims(file: SpecificationFile) -> Iterator[Scenario]:
    """Yield the scenarios and mutants of a file."""
    yield from file.scenarios.values()
    yield from file.mutants.values()


def systems(file: SpecificationFile) -> list[TransitionSystem]:
    """Build the systems of a file that have a meaning: under some parameters a type may have no values."""
    return _built(file, TransitionSystem.of)


def without_bounds(file: SpecificationFile) -> list[TransitionSystem]:
    """Build the same systems without an end of their numbers, where these have none of their own."""
    return _built(file, TransitionSystem.endless)


def _built(file: SpecificationFile, build: Callable[[Scenario], TransitionSystem]) -> list[TransitionSystem]:
    built = []
    for claim in claims(file):
        try:
            built.append(build(claim))
        except SpecificationError:
            continue
    return built


def some_reachable(system: TransitionSystem, most: int) -> list[State]:
    """Return up to so many reachable states, breadth first."""
    evaluator = Evaluator(system)
    found = list(system.initial_states)
    known = set(found)
    for state in found:  # grows meanwhile
        for outcome in evaluator.transitions(state):
            if len(found) >= most:
                return found
            if isinstance(outcome, Transition) and outcome.successor not in known:
                known.add(outcome.successor)
                found.append(outcome.successor)
    return found


def described(outcomes: Iterable[Transition | Failure]) -> list[tuple[object, ...]]:
    """Return outcomes as values that can be compared."""
    return [
        (o.action, o.choices, o.faults, o.error.code, o.error.message, o.error.span)
        if isinstance(o, Failure)
        else (o.action, o.choices, o.faults, o.successor, o.fair)
        for o in outcomes
    ]


def obeyed(text: str) -> set[str]:
    """Return the characters of a text, line ends aside, that a terminal obeys or shows as nothing."""
    return {c for c in text if c != "\n" and category(c) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}}


def misplaced(span: Span, source: Source) -> str:
    """Say what is wrong with the position of something in a file; nothing if it lies inside."""
    lines = LINE_END.split(source.text)
    start, end = (span.line, span.column), (span.end_line, span.end_column)
    for line, column, beyond in ((*start, 1), (*end, 2)):
        # Where something is missing at the end of a line, the one character after it is meant.
        length = len(lines[line - 1]) if 1 <= line <= len(lines) else 0
        if not (1 <= line <= len(lines) + 1 and 1 <= column <= length + beyond):
            return f"{span} to {end}: line {line} of {len(lines)} has {length} characters"
    if span.file != source.file:
        return f"{span} lies in another file"
    return "" if start <= end else f"{span} ends before it begins, at {end}"
