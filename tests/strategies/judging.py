"""Exploring and judging claims together, for what asks several questions of one protocol."""

from __future__ import annotations

from collections.abc import Sequence

from checker.engines import columnar
from checker.exploration import Limits
from checker.judgement import ScenarioReport, judge_scenario
from model.specification import Scenario
from model.system import TransitionSystem


def judged(claims: Sequence[Scenario], states_max: int | None = None) -> list[ScenarioReport]:
    """Explore claims in as few runs as possible, and judge each."""
    explored = columnar.explore([TransitionSystem.of(claim) for claim in claims], Limits(states_max=states_max))
    return [judge_scenario(claim, exploration) for claim, exploration in zip(claims, explored, strict=True)]
