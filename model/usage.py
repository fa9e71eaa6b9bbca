"""What is declared and used by nobody: mostly a slip of the pen, and where a patch adds it, surely one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from model.declare import Declared, span_of
from model.diagnostics import Code, Diagnostics, did_you_mean, quoted
from model.source import Span
from model.specification import PropertyKind, Variable


def warn_of_unused(base: Declared, all_declared: Iterable[Declared], diagnostics: Diagnostics) -> None:
    """Warn of declarations that neither the specification nor any variant or mutant uses."""
    used: set[tuple[str, str]] = set()
    mentioned: set[str] = set()
    for declared in all_declared:
        used |= declared.used
        mentioned |= declared.mentioned
    for kind, name, span in _declarations(base):
        if (kind, name) not in used and name not in mentioned and not base.excuses(name):
            diagnostics.report(Code.NEVER_USED, f"nothing uses the {kind} {quoted(name)}", span)
    for variable in base.specification.variables.values():
        _warn_of_variable(variable, used, mentioned, diagnostics)


def _warn_of_variable(
    variable: Variable, used: set[tuple[str, str]], mentioned: set[str], diagnostics: Diagnostics
) -> None:
    if ("read", variable.key) not in used and variable.name not in mentioned:
        message = f"nothing reads {quoted(variable.key)}, which makes the state space larger"
        diagnostics.report(Code.NEVER_USED, message, variable.span)
    elif ("assigned", variable.key) not in used and not variable.starts_anywhere:
        message = f"no step assigns {quoted(variable.key)}, so it keeps its initial value"
        diagnostics.report(Code.NEVER_ASSIGNED, message, variable.span, help="a parameter says that better")


def refuse_unused_additions(base: Declared, patched: Declared, what: str, diagnostics: Diagnostics) -> None:
    """Refuse what a patch adds and the patched protocol does not use: it was meant to change something else."""
    known = {(kind, name) for kind, name, _ in _declarations(base)}
    known_variables = base.specification.variables
    for kind, name, span in _declarations(patched):
        if (kind, name) in known or (kind, name) in patched.used or base.excuses(name) or patched.excuses(name):
            continue
        help_text = did_you_mean(name, [other for kind_of_other, other in known if kind_of_other == kind])
        message = f"{what} adds the {kind} {quoted(name)}, and nothing in it uses that"
        diagnostics.report(Code.PATH_NOT_FOUND, message, span, help=help_text)
    for key, variable in patched.specification.variables.items():
        if key in known_variables or base.excuses(variable.name) or patched.excuses(variable.name):
            continue
        if ("read", key) not in patched.used and ("assigned", key) not in patched.used:
            help_text = did_you_mean(variable.name, [other.name for other in known_variables.values()])
            message = f"{what} adds the variable {quoted(key)}, and nothing in it uses that"
            diagnostics.report(Code.PATH_NOT_FOUND, message, variable.span, help=help_text)


def _declarations(declared: Declared) -> Iterator[tuple[str, str, Span | None]]:
    """Yield what must be used to have any effect, with its kind as `Findings.used` names it."""
    specification = declared.specification
    for name, parameter in specification.parameters.items():
        yield "parameter", name, parameter.span
    for name in specification.types:
        if name not in specification.parameters:
            yield "type", name, span_of(declared.tree, "types", name)
    for name, span in declared.definitions.items():
        yield "definition", name, span
    for name, fault in specification.faults.items():
        if not fault.crashes:
            yield "fault", name, fault.span
    for asked in specification.properties.values():
        if asked.kind is PropertyKind.CHECKED:
            yield "checked", asked.name, asked.span
    for name in dict.fromkeys(table for table, _ in specification.tables):
        yield "table", name, span_of(declared.tree, "tables", name)
