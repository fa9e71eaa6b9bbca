"""Specifications written in a test, explored with an engine by its name."""

from __future__ import annotations

from checker.engines import columnar, oracle
from checker.exploration import Exploration, Limits
from model.system import TransitionSystem

ENGINES = ("oracle", "columnar")


def explored_by(engine: str, system: TransitionSystem, limits: Limits | None = None) -> Exploration:
    """Explore with the engine that has this name."""
    if engine == "oracle":
        return oracle.explore(system, limits or Limits())
    return columnar.explore([system], limits or Limits())[0]
