"""`killpoint sweep`: a protocol under every combination of what its surroundings may promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from checker.commands.answers import print_document, warn
from checker.commands.choices import all_properties, check_names, raise_if_any
from checker.commands.inputs import Loaded, load_one
from checker.commands.matrix import judged
from checker.commands.refusal import BadInput
from checker.commands.running import Runner, RunOptions
from checker.reporting.output import standard_output
from checker.reporting.sweep import sweep_document, sweep_lines
from checker.sweep import Swept, sweep
from checker.verdict import ExitCode
from model.diagnostics import Code, Diagnostic, quoted
from model.specification import Scenario, Sweep


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """Of which file, about which properties, and whether what is concluded is explored as well."""

    specification: str
    properties: Sequence[str] = ()
    verify: bool = False
    as_json: bool = False


def run(options: SweepOptions, running: RunOptions) -> ExitCode:
    """Try all combinations, and print what suffices and what breaks.

    Raises:
        BadInput: the file or an option is wrong, or the file has no sweep.
        EngineDisagreement: an exploration contradicts what was concluded.
    """
    loaded = load_one(options.specification)
    declared = _declared(loaded)
    raise_if_any(check_names(options.properties, all_properties([loaded]), Code.NO_SUCH_PROPERTY, "property"))
    if not options.as_json:
        warn([loaded])
    with Runner(running) as runner:
        swept = swept_of(loaded, declared, runner, options.properties, verify=options.verify)
    if options.as_json:
        print_document("sweep", swept.exit_code, sweep_document(loaded.file, swept))
    else:
        output = standard_output()
        output.lines(sweep_lines(loaded.file, swept, output.width))
    return swept.exit_code


def swept_of(
    loaded: Loaded, declared: Sweep, runner: Runner, properties: Sequence[str] = (), *, verify: bool = False
) -> Swept:
    """Try all combinations of a sweep.

    Raises:
        EngineDisagreement: an exploration contradicts what was concluded.
    """
    claim = _fixed(loaded, declared)
    return sweep(declared, claim, lambda claims: judged(loaded, claims, runner, None), properties, verify=verify)


def _declared(loaded: Loaded) -> Sweep:
    if loaded.file.sweep is None:
        message = f"{quoted(loaded.file.source.file)} does not say what to sweep"
        help_text = "write `sweep: {set: {parameter: [weakest, …, strongest]}, allow: {fault: [unlimited, 0]}}`"
        raise BadInput([Diagnostic(Code.NOTHING_DECLARED, message, None, help=help_text)])
    return loaded.file.sweep


def _fixed(loaded: Loaded, declared: Sweep) -> Scenario:
    """Return what the sweep does not vary: a scenario, or the file as it stands."""
    file = loaded.file
    if declared.scenario:
        return file.scenarios[declared.scenario]
    first = next(iter(file.scenarios.values()))
    return replace(
        first,
        name="",
        specification=file.specification,
        set={},
        allow={},
        only=None,
        variant="",
        crashes=None,
        bound=file.bound,
    )
