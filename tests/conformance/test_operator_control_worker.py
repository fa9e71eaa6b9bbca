"""What only a failing commit and a second process show of a worker, and no model of single steps can."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from model.reference.operator_control.deployment import Deployment
from model.reference.operator_control.records import Books, Claim, Code, Refusal
from tests.conformance.test_operator_control_runs import deployment


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Deployment]:
    with closing(deployment(tmp_path)) as made:
        yield made


def test_what_a_worker_changes_is_read_and_written_in_one_transaction(
    here: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside: list[bool] = []
    claim = here.storage.rules.claim

    def watched(books: Books, now: int) -> tuple[Books, Claim | None]:
        inside.append(here.storage.connection.in_transaction)
        return claim(books, now)

    monkeypatch.setattr(here.storage.rules, "claim", watched)
    read = here.storage._books

    def reading() -> Books:
        inside.append(here.storage.connection.in_transaction)
        return read()

    monkeypatch.setattr(here.storage, "_books", reading)
    here.storage.claim(0)
    assert inside == [True, True]


def test_a_worker_does_not_take_an_unknown_outcome_for_a_claim_that_has_ended(here: Deployment) -> None:
    turn = here.worker().run()
    assert next(turn) == "match"
    assert next(turn) == "start"
    here.storage.uncertain = True
    with pytest.raises(Refusal) as refusal:
        next(turn)
    assert refusal.value.code is Code.UNKNOWN
