"""`killpoint step`: walk through a protocol by hand."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from checker.commands.answers import warn
from checker.commands.choices import one_claim
from checker.commands.inputs import Loaded, load_one
from checker.commands.running import RunOptions, systems_of
from checker.commands.trace import explore_claim
from checker.judgement import judge_scenario
from checker.reporting.claims import system_items
from checker.reporting.output import Output, standard_output
from checker.reporting.stepping import (
    HELP,
    option_lines,
    recovery_lines,
    state_lines,
    stop_lines,
    walk_lines,
)
from checker.stepping import Walk
from checker.verdict import ExitCode
from model.diagnostics import did_you_mean
from model.specification import Scenario
from model.transitions import Transition

_RANDOM = 10


@dataclass(frozen=True, slots=True)
class StepOptions:
    """What to walk through; `seed` decides where random walks go."""

    specification: str
    scenario: str = ""
    mutant: str = ""
    seed: int = 0


def run(options: StepOptions, running: RunOptions) -> ExitCode:
    """Read commands until there are no more.

    Raises:
        BadInput: the file or an option is wrong.
    """
    loaded = load_one(options.specification)
    claim = one_claim(loaded, options.scenario, options.mutant)
    file = loaded.file.source.file
    system = systems_of({file: (loaded, {claim.name: claim})}, running.bound)[file][claim.name]
    warn([loaded])
    output = standard_output()
    output.line(("title", f"{loaded.file.specification.name}, {claim.name}"), ("dim", "   h for help, q to quit"))
    output.line(("dim", "  ".join(system_items(system))))
    _Session(loaded, claim, Walk(system, seed=options.seed), running, output).run(_lines(output))
    return ExitCode.AS_DECLARED


def _lines(output: Output) -> Iterable[str]:
    """Yield what somebody types, or what a file holds; the latter is shown, so that the whole can be read later."""
    if sys.stdin.isatty():
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - lets `input` be edited, with the lines before within reach
        while True:
            output.flush()
            try:
                yield input("> ")
            except EOFError:
                output.line()
                return
    for line in sys.stdin:
        output.line(("dim", f"> {line.rstrip()}"))
        yield line


class _Session:
    def __init__(self, loaded: Loaded, claim: Scenario, walk: Walk, running: RunOptions, output: Output) -> None:
        self.loaded = loaded
        self.claim = claim
        self.walk = walk
        self.running = running
        self.output = output
        self.commands: dict[str, Callable[[list[str]], None]] = {
            "a": self._among,
            "b": self._back,
            "c": self._crash,
            "h": self._help,
            "r": self._random,
            "s": self._state,
            "start": self._start,
            "t": self._trace,
            "v": self._violation,
            "w": self._recovery,
        }

    def run(self, lines: Iterable[str]) -> None:
        self._show()
        for line in lines:
            words = line.split()
            if not words:
                self._show()
            elif words[0] in ("q", "quit", "exit"):
                return
            elif words[0].isdecimal():
                self._take(int(words[0]))
            else:
                known = [name for name in self.commands if name == words[0] or _LONG.get(words[0]) == name]
                if known:
                    self.commands[known[0]](words[1:])
                else:
                    help_ = did_you_mean(words[0], [*self.commands, *_LONG])
                    self._say(f"no such command: {words[0]}; {help_ or 'h for help'}")

    def _show(self, words: Iterable[str] = ()) -> None:
        self.output.lines(stop_lines(self.walk, self.output.width))
        self.output.lines(option_lines(self.walk, list(words), self.output.width))

    def _say(self, text: str) -> None:
        self.output.line(("doubt", f"  {text}"))

    def _take(self, number: int) -> None:
        options = self.walk.options
        if not 1 <= number <= len(options):
            self._say(f"there is no transition {number}; they are 1 to {len(options)}" if options else "nothing left")
            return
        option = options[number - 1]
        if not isinstance(option, Transition):
            self._say(f"it cannot be completed: {option.error.message}")
            return
        self.walk.take(option)
        self._show()

    def _among(self, words: list[str]) -> None:
        self._show(words)

    def _back(self, words: list[str]) -> None:
        steps = _number(words, 1)
        if steps is None or not self.walk.back(steps):
            self._say("b takes a number of transitions" if steps is None else "this is the start")
        else:
            self._show()

    def _start(self, words: list[str]) -> None:
        del words
        self.walk.back(len(self.walk.trace))
        self._show()

    def _random(self, words: list[str]) -> None:
        steps = _number(words, _RANDOM)
        if steps is None:
            self._say("r takes a number of transitions")
            return
        gone = self.walk.wander(steps)
        if gone < steps:
            self._say(f"nothing more can happen after {gone}")
        self._show()

    def _crash(self, words: list[str]) -> None:
        crash = self._one_crash(words)
        if crash is not None:
            self.walk.take(crash)
            self._show()

    def _recovery(self, words: list[str]) -> None:
        crash = self._one_crash(words)
        if crash is not None:
            trace, waits = self.walk.recovery(crash)
            self.output.lines(recovery_lines(self.walk, trace, self.output.width, waits=waits))

    def _one_crash(self, words: list[str]) -> Transition | None:
        """Return the crash that is meant: of the process that is named, the first where there are several."""
        possible = {
            self.walk.system.instance_name(crash.action.process, crash.action.instance): crash
            for crash in reversed(self.walk.crashes())
        }
        if not possible:
            self._say("nobody can crash here: it is not allowed, or would change nothing")
            return None
        name = words[0] if words else next(reversed(possible))
        if name not in possible:
            self._say(f"{name} cannot crash here; who can: {', '.join(reversed(possible))}")
            return None
        return possible[name]

    def _state(self, words: list[str]) -> None:
        del words
        self.output.lines(state_lines(self.walk, self.output.width))

    def _trace(self, words: list[str]) -> None:
        del words
        self.output.lines(walk_lines(self.walk, self.output.width))

    def _help(self, words: list[str]) -> None:
        del words
        for line in HELP.splitlines():
            self.output.line(("", line))

    def _violation(self, words: list[str]) -> None:
        """Explore the claim and go to the end of a shortest trace."""
        exploration = explore_claim(self.loaded, self.claim, self.running).explorations[self.claim.name]
        found = {
            p.name: p.finding for p in judge_scenario(self.claim, exploration).properties if p.broken and p.finding
        }
        if not found:
            self._say("nothing breaks" if exploration.complete else "nothing that breaks was found in time")
        elif words and words[0] not in found:
            self._say(f"{words[0]} does not break; what does: {', '.join(found)}")
        else:
            shortest = min(found.values(), key=lambda finding: finding.depth)
            self.walk.follow((found[words[0]] if words else shortest).trace)
            self._trace([])
            self._show()


_LONG = {
    "among": "a",
    "back": "b",
    "crash": "c",
    "help": "h",
    "?": "h",
    "random": "r",
    "state": "s",
    "trace": "t",
    "violation": "v",
    "what": "w",
    "recovery": "w",
}


def _number(words: list[str], default: int) -> int | None:
    if not words:
        return default
    return int(words[0]) if words[0].isdecimal() and int(words[0]) > 0 else None
