"""What options choose: scenarios, mutants, properties, a variant, values of parameters, faults.

Everything that is wrong with a command is collected and shown at once, each with what was probably meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from checker.commands.inputs import Loaded
from checker.commands.refusal import BadInput
from model import limits
from model.claims import ANYWHERE
from model.diagnostics import Code, Diagnostic, did_you_mean, quoted
from model.specification import UNLIMITED, Allowance, CrashCourse, Parameter, Scenario, Specification
from model.types import BoolType, EnumType, Value

_NOT_AT_ALL = ("off", "none")
"""Words for a fault that is allowed not at all."""


def check_names(names: Iterable[str], known: Iterable[str], code: Code, what: str) -> list[Diagnostic]:
    """Return an error for each name that is not known."""
    candidates = list(dict.fromkeys(known))
    return [
        Diagnostic(
            code,
            f"there is no {what} {quoted(name)}",
            None,
            help=did_you_mean(name, candidates, known=f"the {what} names"),
        )
        for name in dict.fromkeys(names)
        if name not in candidates
    ]


def all_properties(loaded: Iterable[Loaded]) -> list[str]:
    """Return the names of the properties of files, those of variants and mutants included."""
    found: dict[str, None] = {}
    for each in loaded:
        claims = [*each.file.scenarios.values(), *each.file.mutants.values()]
        for specification in [
            each.file.specification,
            *each.file.variants.values(),
            *(c.specification for c in claims),
        ]:
            found |= dict.fromkeys(specification.properties)
    return list(found)


def one_claim(loaded: Loaded, scenario: str, mutant: str) -> Scenario:
    """Return the scenario or mutant that a command names; the first scenario where it names none.

    Raises:
        BadInput: there is no such thing, or both are named.
    """
    file = loaded.file
    if scenario and mutant:
        message = "`--scenario` and `--mutant` both say what to run"
        raise BadInput([Diagnostic(Code.OPTIONS_CONFLICT, message, None, help="name one of them")])
    if mutant:
        raise_if_any(check_names([mutant], file.mutants, Code.NO_SUCH_MUTANT, "mutant"))
        return file.mutants[mutant]
    if scenario:
        raise_if_any(check_names([scenario], file.scenarios, Code.NO_SUCH_SCENARIO, "scenario"))
        return file.scenarios[scenario]
    if not file.scenarios:
        message = f"{quoted(file.source.file)} has no scenarios"
        raise BadInput([Diagnostic(Code.NO_SUCH_SCENARIO, message, None, help="name a mutant with `--mutant`")])
    return next(iter(file.scenarios.values()))


def one_property(claim: Scenario, name: str) -> None:
    """Check that a claim asks about a property.

    Raises:
        BadInput: the property does not exist, or `only` leaves it out.
    """
    raise_if_any(check_names([name], claim.specification.properties, Code.NO_SUCH_PROPERTY, "property"))
    if claim.only is not None and name not in claim.only:
        message = f"{quoted(claim.name)} does not ask about {quoted(name)}"
        help_ = f"it asks about {', '.join(quoted(other) for other in claim.only)}"
        raise BadInput([Diagnostic(Code.NO_SUCH_PROPERTY, message, None, help=help_)])


def free_run(
    loaded: Loaded, variant: str, settings: Sequence[str], allowances: Sequence[str], crashes: str | None = None
) -> Scenario:
    """Return a claim that nothing breaks under what the options say (`--variant`, `--set`, `--allow`, `--crashes`).

    Raises:
        BadInput: with everything that is wrong with the options.
    """
    file = loaded.file
    if variant:
        raise_if_any(check_names([variant], file.variants, Code.NO_SUCH_VARIANT, "variant"))
    specification = file.variants[variant] if variant else file.specification
    found: list[Diagnostic] = []
    chosen = _settings(specification, settings, found)
    allow = _allowances(specification, allowances, found)
    course = None if crashes is None else _course(specification, crashes, allow, found)
    raise_if_any(found)
    return Scenario(
        name="free run",
        mutant=False,
        specification=specification,
        set=chosen,
        allow=allow,
        only=None,
        breaks=(),
        because="",
        survives="",
        variant=variant,
        bound=file.bound,
        crashes=course,
        span=next(iter(specification.processes.values())).span,
    )


def viewed(specification: Specification, view: str) -> Sequence[str]:
    """Return the keys of the variables of a view: one that the file names, the first, or names with commas.

    Raises:
        BadInput: there is no such view or variable, or none is named and the file has none.
    """
    if not view and specification.views:
        return next(iter(specification.views.values()))
    if view in specification.views:
        return specification.views[view]
    if not view:
        message = "this specification declares no view"
        help_ = "write `views: {situation: [x, y]}`, or name variables with `--view x,y`"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help=help_)])
    variables = {name: v.key for v in specification.variables.values() for name in (v.name, v.key)}
    names = [name.strip() for name in view.split(",")]
    if len(names) == 1 and names[0] not in variables:
        known = [*specification.views, *variables]
        message = f"there is no view or variable {quoted(view)}"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help=did_you_mean(view, known))])
    raise_if_any(check_names(names, variables, Code.OPTION_VALUE, "variable"))
    return [variables[name] for name in names]


def raise_if_any(diagnostics: Sequence[Diagnostic]) -> None:
    """Refuse the command if anything is wrong with it.

    Raises:
        BadInput: with all of it.
    """
    if diagnostics:
        raise BadInput(diagnostics)


def positive(option: str, value: float | None) -> list[Diagnostic]:
    """Return an error where an option has a number that is not above zero."""
    if value is None or value > 0:
        return []
    return [Diagnostic(Code.OPTION_VALUE, f"`{option}` must be above zero, not {value:g}", None)]


def within(option: str, value: int, most: int) -> list[Diagnostic]:
    """Return an error where an option has a number below zero or too large."""
    if 0 <= value <= most:
        return []
    return [Diagnostic(Code.OPTION_VALUE, f"`{option}` is a number from 0 to {most:,}, not {value:,}", None)]


# --- `--set name=value` and `--allow fault=count` ---


def _settings(specification: Specification, texts: Sequence[str], found: list[Diagnostic]) -> dict[str, Value]:
    settings: dict[str, Value] = {}
    for name, text in _assignments("--set", "a parameter", texts, found).items():
        parameter = specification.parameters.get(name)
        if parameter is None:
            found += check_names([name], specification.parameters, Code.NO_SUCH_PARAMETER, "parameter")
            continue
        value = _value(parameter, text, found)
        if value is not None:
            settings[name] = value
    return settings


def _value(parameter: Parameter, text: str, found: list[Diagnostic]) -> Value | None:
    match parameter.type:
        case BoolType():
            known: Mapping[str, Value] = {"true": True, "false": False}
        case EnumType(literals=literals):
            known = {literal: literal for literal in literals}
        case _:
            return _number(parameter, text, found)
    if text in known:
        return known[text]
    help_ = did_you_mean(text, known, known="it can be")
    found.append(Diagnostic(Code.OPTION_VALUE, f"`{parameter.name}` cannot be {quoted(text)}", None, help=help_))
    return None


def _number(parameter: Parameter, text: str, found: list[Diagnostic]) -> int | None:
    try:
        value = int(text) if len(text) <= 20 else limits.INTEGER_MAX + 1
    except ValueError:
        message = f"`{parameter.name}` is a number, not {quoted(text)}"
        found.append(Diagnostic(Code.OPTION_VALUE, message, None, help=f"it lies in {parameter.type}"))
        return None
    if abs(value) > limits.INTEGER_MAX:
        message = f"`{parameter.name}` cannot be {quoted(text)}: numbers end at {limits.INTEGER_MAX:,}"
        found.append(Diagnostic(Code.PARAMETER_OUT_OF_RANGE, message, None, help=f"it lies in {parameter.type}"))
        return None
    return value


def _allowances(specification: Specification, texts: Sequence[str], found: list[Diagnostic]) -> dict[str, Allowance]:
    allow: dict[str, Allowance] = {}
    for name, text in _assignments("--allow", "a fault", texts, found).items():
        if name not in specification.faults:
            found += check_names([name], specification.faults, Code.UNKNOWN_FAULT, "fault")
            continue
        count, at, points = text.partition("@")
        at_most = _count(name, count, found)
        allow[name] = Allowance(at_most, _points(specification, name, points, found) if at else None)
    return allow


def _count(name: str, text: str, found: list[Diagnostic]) -> int | Literal["unlimited"]:
    if text == UNLIMITED:
        return "unlimited"
    if text in _NOT_AT_ALL:
        return 0
    if text.isascii() and text.isdigit() and len(text) <= 9 and int(text) <= limits.FAULT_BUDGET_MAX:
        return int(text)
    message = (
        f"`{name}` can be allowed `unlimited`, `off` or 0 to {limits.FAULT_BUDGET_MAX:,} times, not {quoted(text)}"
    )
    found.append(Diagnostic(Code.OPTION_VALUE, message, None))
    return 0


def _points(specification: Specification, name: str, text: str, found: list[Diagnostic]) -> frozenset[str]:
    fault = specification.faults[name]
    if not fault.crashes:
        message = f"`@` places crashes, and `{name}` is none"
        found.append(Diagnostic(Code.OPTION_VALUE, message, None))
        return frozenset()
    known = [point for process in fault.crashes for point in specification.processes[process].kill_points]
    points = text.split(",")
    found += check_names(points, known, Code.NO_KILL_POINT, "kill point")
    return frozenset(points)


def _course(
    specification: Specification, text: str, allow: Mapping[str, Allowance], found: list[Diagnostic]
) -> CrashCourse:
    """Read which crashes there are, one after the other; an empty text names none."""
    faults = {name: fault for name, fault in specification.faults.items() if fault.crashes}
    for name in faults.keys() & allow.keys():
        if allow[name].at is not None or allow[name].at_most not in (0, UNLIMITED):
            message = f"`--crashes` says where and how often, and so does `--allow {name}`"
            found.append(Diagnostic(Code.OPTIONS_CONFLICT, message, None))
    victims = dict.fromkeys(victim for fault in faults.values() for victim in fault.crashes)
    known = [point for victim in victims for point in specification.processes[victim].kill_points]
    points = [point for point in text.split(",") if point]
    found += check_names([p for p in points if p != ANYWHERE], known, Code.NO_KILL_POINT, "kill point")
    return tuple(None if point == ANYWHERE else frozenset([point]) for point in points)


def _assignments(option: str, what: str, texts: Sequence[str], found: list[Diagnostic]) -> dict[str, str]:
    """Return `name=value` texts by their names."""
    assignments: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            message = f"`{option}` takes {what} and a value, `name=value`, not {quoted(text)}"
            found.append(Diagnostic(Code.OPTION_VALUE, message, None))
        elif name in assignments:
            found.append(Diagnostic(Code.OPTIONS_CONFLICT, f"`{option}` names {quoted(name)} twice", None))
        else:
            assignments[name] = value
    return assignments
