"""Mistakes that show only when the parameters of a scenario are fixed."""

from __future__ import annotations

import pytest

from model.diagnostics import Code, SpecificationError
from model.loader import load
from model.source import Source
from model.system import TransitionSystem

TEXT = """
language: 1
protocol: queue
parameters: {workers: {default: 1, range: 0..2}}
stores: {queue: {holds: {owner: {type: worker}}}}
processes:
  worker: {count: workers, steps: {take: "owner = self"}}
scenarios:
  one: {}
  nobody: {set: {workers: 0}}
"""


def test_a_variable_cannot_hold_an_instance_where_there_is_none() -> None:
    scenarios = load(Source("queue.yaml", TEXT)).scenarios
    TransitionSystem.of(scenarios["one"])

    with pytest.raises(SpecificationError) as refused:
        TransitionSystem.of(scenarios["nobody"])

    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code is Code.EMPTY_TYPE
    assert diagnostic.span is not None
    assert diagnostic.span.line == 5
