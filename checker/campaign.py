"""What a whole file comes to: all its scenarios and mutants judged, and whether together they have teeth."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from checker.exploration import Exploration
from checker.judgement import ScenarioReport, asked_properties, judge_scenario
from checker.teeth import Teeth, judge_teeth
from checker.verdict import ExitCode, worst
from model.specification import Scenario, SpecificationFile

NAMED_MAX = 3
"""Claims that were left out are named up to here, and otherwise counted; all names are in `--json`."""


@dataclass(frozen=True, slots=True)
class FileReport:
    """How the claims of one file came out.

    `not_run` names the scenarios and mutants that were left out. `narrowed` says, where it says anything, why the run
    is not about all of the file; then its exit code speaks of what was asked, and of nothing else.
    """

    file: str
    protocol: str
    title: str
    scenarios: tuple[ScenarioReport, ...]
    mutants: tuple[ScenarioReport, ...]
    not_run: tuple[str, ...]
    narrowed: str
    teeth: Teeth

    @property
    def exit_code(self) -> ExitCode:
        """The code for all of it; inconclusive where nothing was run."""
        reports = [*self.scenarios, *self.mutants]
        return worst([r.exit_code for r in reports] + ([self.teeth.exit_code] if reports else []))


def judge(
    file: SpecificationFile, explorations: Mapping[str, Exploration], *, properties: Collection[str] | None = None
) -> FileReport:
    """Judge a file by the explorations of its scenarios and mutants, keyed by their names.

    What has no exploration was left out by whoever chose. `properties` narrows the run to some properties; a scenario
    that asks about none of them is left out as well.

    Raises:
        ValueError: an exploration of something unknown to the file, or a name that a scenario and a mutant share.
    """
    shared = file.scenarios.keys() & file.mutants.keys()
    if shared:
        raise ValueError(f"a scenario and a mutant are both called {', '.join(sorted(shared))}")
    unknown = explorations.keys() - file.scenarios.keys() - file.mutants.keys()
    if unknown:
        raise ValueError(f"{file.source.file} has no scenario or mutant {', '.join(sorted(unknown))}")
    scenarios = tuple(_judged(file.scenarios, explorations, properties))
    mutants = tuple(_judged(file.mutants, explorations, properties))
    judged = {report.name for report in (*scenarios, *mutants)}
    narrowed = _narrowed(file, {report.name for report in scenarios}, properties)
    return FileReport(
        file=file.source.file,
        protocol=file.specification.name,
        title=file.specification.title,
        scenarios=scenarios,
        mutants=mutants,
        not_run=tuple(name for name in (*file.scenarios, *file.mutants) if name not in judged),
        narrowed=narrowed,
        teeth=judge_teeth(file, explorations, narrowed),
    )


def _judged(
    claims: Mapping[str, Scenario], explorations: Mapping[str, Exploration], properties: Collection[str] | None
) -> Iterator[ScenarioReport]:
    for name, scenario in claims.items():
        asks_nothing = properties is not None and not asked_properties(scenario, properties)
        if name in explorations and not asks_nothing:
            yield judge_scenario(scenario, explorations[name], properties)


def _narrowed(file: SpecificationFile, judged: set[str], properties: Collection[str] | None) -> str:
    """Say why the run is not about all scenarios of the file and all they ask; nothing where it is."""
    reasons = []
    left_out = [name for name in file.scenarios if name not in judged]
    if left_out:
        few = len(left_out) <= NAMED_MAX
        reasons.append(f"scenarios not run: {', '.join(left_out)}" if few else f"{len(left_out)} scenarios not run")
    asked = {p.name for scenario in file.scenarios.values() for p in asked_properties(scenario)}
    if properties is not None and not asked <= set(properties):
        reasons.append(f"only asked about: {', '.join(sorted(properties))}")
    return "; ".join(reasons)
