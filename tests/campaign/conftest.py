"""Loading and judging tiny specifications, with the plain explorer as the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest

from checker.campaign import FileReport, judge
from checker.engines.oracle import explore
from checker.exploration import Exploration, Limits
from checker.judgement import PropertyReport, ScenarioReport
from model.loader import load
from model.source import Source
from model.specification import SpecificationFile
from model.system import TransitionSystem


@dataclass(frozen=True)
class Judged:
    """A file's report, with short ways to its parts."""

    file: SpecificationFile
    explorations: Mapping[str, Exploration]
    report: FileReport

    def claim(self, name: str = "baseline") -> ScenarioReport:
        return next(r for r in (*self.report.scenarios, *self.report.mutants) if r.name == name)

    def of(self, name: str, claim: str = "baseline") -> PropertyReport:
        return next(p for p in self.claim(claim).properties if p.name == name)

    def messages(self, claim: str = "baseline") -> list[str]:
        return [problem.message for problem in self.claim(claim).problems]


Judge = Callable[..., Judged]


def judge_text(
    text: str,
    *,
    run: list[str] | None = None,
    properties: list[str] | None = None,
    limits: Mapping[str, int] | None = None,
    tamper: Callable[[dict[str, Exploration]], None] | None = None,
) -> Judged:
    """Judge a specification; `limits` cuts scenarios short, `tamper` plays an engine that is wrong."""
    file = load(Source("x.yaml", text))
    claims = {**file.scenarios, **file.mutants}
    explorations = {
        name: explore(TransitionSystem.of(claim), Limits(states_max=(limits or {}).get(name)))
        for name, claim in claims.items()
        if run is None or name in run
    }
    if tamper is not None:
        tamper(explorations)
    return Judged(file, explorations, judge(file, explorations, properties=properties))


@pytest.fixture
def judged() -> Judge:
    return judge_text
