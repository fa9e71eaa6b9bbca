"""`killpoint graph`: the transition graph seen through a view, for people and for other tools."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from checker.commands.answers import print_document, say, warn, write_file
from checker.commands.choices import one_claim, viewed
from checker.commands.inputs import load_one
from checker.commands.refusal import BadInput
from checker.commands.running import Runner, RunOptions, systems_of
from checker.engines.projection import Projection, projection, viewed_slots
from checker.engines.reachable import CutShort
from checker.reporting.documents import file_document
from checker.reporting.graphs import pictures, texts
from checker.reporting.graphs.documents import graph_document
from checker.verdict import ExitCode
from model.diagnostics import Code, Diagnostic, quoted

_SUFFIXES = {".gv": "dot", ".dot": "dot", ".graphml": "graphml", ".mmd": "mermaid", ".svg": "svg", ".png": "png"}
_SITUATIONS_DRAWN = 400
"""More boxes than this make no picture that anybody reads."""


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """Which graph, through which view, in which form."""

    specification: str
    view: str = ""
    scenario: str = ""
    mutant: str = ""
    form: str = ""
    out: Path | None = None
    loops: bool = False
    as_json: bool = False


def run(options: GraphOptions, running: RunOptions) -> ExitCode:
    """Explore one scenario or mutant and write its projected graph.

    Raises:
        BadInput: the file or an option is wrong, or the graph is too large to draw.
    """
    loaded = load_one(options.specification)
    claim = one_claim(loaded, options.scenario, options.mutant)
    form = _form(options)
    keys = viewed(claim.specification, options.view)
    file = loaded.file.source.file
    system = systems_of({file: (loaded, {claim.name: claim})}, running.bound)[file][claim.name]
    if not options.as_json:
        warn([loaded])
    with Runner(running) as runner:
        runner.limits.on_progress = runner.progress.of(file)
        try:
            found = projection(system, viewed_slots(system, keys), runner.limits)
        except CutShort as cut:
            raise BadInput([Diagnostic(Code.OPTION_VALUE, f"not all states are known: {cut}", None)]) from cut
    if options.as_json:
        content = {**file_document(loaded.file), "scenario": claim.name, "graph": graph_document(found)}
        print_document("graph", ExitCode.AS_DECLARED, content)
        return ExitCode.AS_DECLARED
    drawn = _drawn(found, f"{loaded.file.specification.name}, {claim.name}", form, loops=options.loops)
    if options.out is None:
        sys.stdout.buffer.write(drawn)
    else:
        write_file(options.out, drawn)
        say(f"{options.out}: {_size(found)}")
    return ExitCode.AS_DECLARED


def _form(options: GraphOptions) -> str:
    """Return the format: the one named, or the one that the file's name ends in."""
    named = options.form or (_SUFFIXES.get(options.out.suffix, "") if options.out is not None else "mermaid")
    if not named:
        message = f"{quoted(str(options.out))} says no format by its ending"
        help_ = f"end it in {', '.join(_SUFFIXES)}, or name one with `--format`"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help=help_)])
    if named == "png" and options.out is None and sys.stdout.isatty():
        message = "a PNG is nothing for a terminal"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help="say where to with `--out FILE`")])
    return named


def _drawn(found: Projection, title: str, form: str, *, loops: bool) -> bytes:
    if form in ("svg", "png") and len(found.situations) > _SITUATIONS_DRAWN:
        message = f"{len(found.situations):,} situations make no picture; the limit is {_SITUATIONS_DRAWN}"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help="choose a view with fewer variables")])
    try:
        match form:
            case "png":
                return pictures.png(found, title, loops=loops)
            case "svg":
                return pictures.svg(found, title, loops=loops).encode()
            case "dot":
                return texts.dot(found, title, loops=loops).encode()
            case "graphml":
                return texts.graphml(found, title, loops=loops).encode()
            case _:
                return texts.mermaid(found, title, loops=loops).encode()
    except ImportError as error:
        message = f"pictures need the package {quoted(error.name or 'graphlay')}"
        help_ = "python -m pip install 'killpoint[pictures]'; the other formats need nothing"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help=help_)]) from error


def _size(found: Projection) -> str:
    ways = sum(passage.source != passage.target for passage in found.passages)
    return f"{len(found.situations):,} situations and {ways:,} ways between them, of {found.states:,} states"
