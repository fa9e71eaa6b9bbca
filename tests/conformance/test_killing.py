"""Kills are carried out everywhere, each run is followed in the model, and what is none of its runs is found."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import pytest

from checker.conformance.adapter import Action, AdapterFailed, Ended, Errand, Launch, Refused
from checker.conformance.killing import KillableAdapter
from checker.conformance.scenarios import How, Killed, NoErrand, kill_scenario
from checker.engines import oracle
from checker.exploration import Limits
from model.loader import load
from model.source import Source
from model.system import TransitionSystem
from tests.conformance.delivery import Adapter
from tests.conformance.press import TEXT, Press

DELIVERY = Path(__file__).with_name("delivery.yaml").read_text("utf-8")


def _kill(adapter: KillableAdapter, text: str, defect: str = "", kills: int = 2, errands: Sequence[str] = ()) -> Killed:
    claim = load(Source("test.yaml", text)).scenarios["baseline"]
    exploration = oracle.explore(TransitionSystem.of(claim), Limits())
    return kill_scenario(adapter, claim, exploration, How(kills, tuple(errands), defect))


@pytest.fixture
def delivery() -> Iterator[Adapter]:
    with contextlib.closing(Adapter()) as adapter:
        yield adapter


def test_every_kill_point_is_killed_at_and_every_one_of_each_recovery(delivery: Adapter) -> None:
    killed = _kill(delivery, DELIVERY)
    assert not killed.refuted
    order = killed.errands["order"]
    # Undisturbed: at rest, and nothing was asked for; then rest, record_intent, submit, record, rest; then rest.
    visits = 1 + 5 + 1
    # After each of these kills: everything; at rest with the order asked for, twice, all but the first rest; with an
    # intent, look_up in the place of record_intent; with the order, no submit; with all done, rest twice; and once.
    again = 7 + 6 + 6 + 6 + 5 + 2 + 1
    assert (order.runs, order.pairs) == (1 + visits + again, again)
    assert order.kills == visits + 2 * again
    assert order.most == {"submissions": 1}
    assert order.total == {"submissions": order.runs}


@pytest.mark.parametrize(
    ("defect", "at", "message", "broken"),
    [
        ("looks_nothing_up", ["worker.record"], "stands at `submit`; the model has it at `record`", "one_submission"),
        ("orders_twice", [], "submissions is 2, in the model 1", "one_submission"),
        ("skips_a_point", [], "stands at `rest`; the model has it at `look_up` or `record`", ""),
        ("knows_another_point", [], "comes by worker.polish, a kill point that the model does not have", ""),
        ("gives_up", ["worker.submit"], "waits while the model has it at", ""),
    ],
)
def test_what_is_wrong_is_found_with_as_few_kills_as_it_takes(
    delivery: Adapter, defect: str, at: list[str], message: str, broken: str
) -> None:
    killed = _kill(delivery, DELIVERY, defect)
    assert killed.refuted
    assert killed.failed is not None
    assert [kill.point for kill in killed.failed.kills] == at
    assert message in killed.failed.message
    assert killed.failed.broken == ((broken,) if broken else ())


def test_a_process_that_breaks_off_is_none_of_the_model(delivery: Adapter) -> None:
    killed = _kill(delivery, DELIVERY, "loses_its_notes")
    assert killed.failed is not None
    assert [kill.point for kill in killed.failed.kills] == ["worker.submit"]
    assert "LookupError: no notes" in killed.failed.message


class Idle(Adapter):
    """Nobody ever asks it for anything."""

    def errands(self) -> Sequence[Errand]:
        return [Errand("idle", (Launch("worker"),))]


class Excused(Idle):
    """It has a reason."""

    unreached: Mapping[str, str] = dict.fromkeys(
        ("worker.record_intent", "worker.submit", "worker.look_up", "worker.record"), "nobody asks for anything"
    )


class WronglyExcused(Adapter):
    """It has a reason for what is not so."""

    unreached: Mapping[str, str] = {"worker.look_up": "it never has to", "worker.polish": "it is fine as it is"}


@pytest.mark.parametrize(
    ("adapter", "never", "excused", "stale"), [(Idle, 4, 0, 0), (Excused, 0, 4, 0), (WronglyExcused, 0, 0, 2)]
)
def test_kill_points_on_one_side_only_fail_unless_there_is_a_reason(
    adapter: type[Adapter], never: int, excused: int, stale: int
) -> None:
    with contextlib.closing(adapter()) as made:
        killed = _kill(made, DELIVERY, kills=1)
    assert killed.failed is None
    assert killed.gate is not None
    assert (len(killed.gate.never_reached), len(killed.gate.excused), len(killed.gate.stale)) == (never, excused, stale)
    assert killed.refuted is (never + stale > 0)


def test_without_all_errands_kill_points_are_not_judged(delivery: Adapter) -> None:
    killed = _kill(delivery, DELIVERY, errands=["idle"])
    assert list(killed.errands) == ["idle"]
    assert killed.gate is None
    assert not killed.refuted


def test_an_errand_that_does_not_exist_is_named(delivery: Adapter) -> None:
    with pytest.raises(NoErrand) as error:
        _kill(delivery, DELIVERY, errands=["ordr"])
    assert (error.value.name, error.value.known) == ("ordr", ("order", "idle"))


def test_kills_inside_a_step_and_restarts_and_stops_are_followed() -> None:
    press = Press()
    killed = _kill(press, TEXT)
    assert not killed.refuted
    assert killed.gate is not None
    assert killed.gate.model == ("press.rest", "press.print", "press.print.torn")
    page = killed.errands["page"]
    assert (page.runs, page.kills, page.pairs, page.processes) == (1 + 3 + 9, 3 + 18, 9, 1 + 3 * 2 + 9 * 3)
    assert press.launches[:3] == [None, 1, None]


@pytest.mark.parametrize(
    ("defect", "message"),
    [
        ("waits", "press waits while the model has it at stopped"),
        ("stops_early", "press has stopped while the model has it at print"),
        ("never_tears", "page is blank, in the model torn"),
        ("tears_too_soon", "page is torn, in the model blank"),
        ("takes_turns", "came by fewer kill points than the same run before"),
    ],
)
def test_what_is_wrong_inside_a_step_or_at_an_end_is_found(defect: str, message: str) -> None:
    killed = _kill(Press(), TEXT, defect)
    assert killed.failed is not None
    assert message in killed.failed.message


def test_a_kill_point_inside_a_step_that_is_never_come_by_is_found() -> None:
    killed = _kill(Press(), TEXT, "forgets_the_middle")
    assert killed.gate is not None
    assert killed.gate.never_reached == ("press.print.torn",)


def test_a_process_that_never_starts_again_is_not_launched_again() -> None:
    never = TEXT.replace("restarts: later", "restarts: never")
    killed = _kill(Press(), never)
    assert not killed.refuted
    page = killed.errands["page"]
    assert (page.runs, page.kills, page.processes) == (1 + 3, 3, 4)


class Unwilling(Adapter):
    """It does nothing that others are asked to do."""

    def perform(self, action: Action) -> None:
        raise Refused(action.id)


def test_a_refusal_of_what_the_model_allows_is_found() -> None:
    with contextlib.closing(Unwilling()) as made:
        killed = _kill(made, DELIVERY, errands=["order"])
    assert killed.failed is not None
    assert killed.failed.message == "refused is step customer.ask of instance 0, which the model allows here"


class Insistent(Adapter):
    """It asks again what was asked for already."""

    def errands(self) -> Sequence[Errand]:
        ask = Action("step", "customer", 0, "ask")
        return [Errand("order", (ask, ask, Launch("worker"), ask))]


def test_a_refusal_of_what_the_model_does_not_allow_either_is_passed_over() -> None:
    with contextlib.closing(Insistent()) as made:
        assert _kill(made, DELIVERY, kills=1, errands=["order"]).failed is None


class Untruthful(Press):
    """It tells other ends than those that it was asked for."""

    def __init__(self, points: int, how: Literal["killed", "stopped"]) -> None:
        super().__init__()
        self.end = Ended(how, ("press.rest", "press.print", "press.print.torn")[:points])

    def launch(self, launch: Launch, kill_at: int | None) -> Ended:
        ended = super().launch(launch, kill_at)
        return ended if kill_at is None else self.end


@pytest.mark.parametrize(("points", "how"), [(0, "killed"), (2, "killed"), (1, "stopped")])
def test_a_kill_that_was_none_or_elsewhere_is_not_believed(points: int, how: Literal["killed", "stopped"]) -> None:
    with pytest.raises(AdapterFailed, match=f"was to be killed at 1, and it says: {how} after {points}"):
        _kill(Untruthful(points, how), TEXT, kills=1)
