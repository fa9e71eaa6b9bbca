"""What one run of `check` came to, file by file, as reports and documents are made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from checker.campaign import FileReport
from checker.judgement import ScenarioReport
from checker.verdict import ExitCode, worst
from model.specification import Scenario, SpecificationFile

if TYPE_CHECKING:
    from checker.crosscheck import CrossCheck


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A file, how its claims came out, which of them were answered from the cache, and how long the others took."""

    path: Path
    file: SpecificationFile
    report: FileReport
    cached: frozenset[str]
    seconds: float
    compared: Mapping[str, CrossCheck] | None = None
    """How far the engines were compared, by claim; None where nobody asked. That is part of the outcome."""

    @property
    def exit_code(self) -> ExitCode:
        """The code of the claims; inconclusive where a comparison was asked for and not finished."""
        if self.compared is not None and any(each.cut for each in self.compared.values()):
            return worst([self.report.exit_code, ExitCode.INCONCLUSIVE])
        return self.report.exit_code

    @property
    def claims(self) -> tuple[ScenarioReport, ...]:
        """All scenarios and mutants that were run."""
        return (*self.report.scenarios, *self.report.mutants)

    def claim(self, report: ScenarioReport) -> Scenario:
        """Return what a report is about."""
        return (self.file.mutants if report.mutant else self.file.scenarios)[report.name]


def exit_code_of(checked: Iterable[CheckedFile]) -> ExitCode:
    """Return the code for several files; inconclusive for none."""
    return worst(each.exit_code for each in checked)
