"""Earlier explorations: when they are believed, and when not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checker.cache import Cache, cache_key, user_cache
from checker.engines import columnar, oracle
from checker.exploration import Exploration, Limits
from checker.stored import NotAsStored, from_document, to_document
from model.loader import load_file
from model.system import TransitionSystem
from tests.cli.running import Edit, Killpoint

LAMP = Path(__file__).parent / "data" / "lamp.yaml"


def cached(killpoint: Killpoint, *arguments: str) -> dict[str, bool]:
    """Check the lamp; return which claims were answered from the cache."""
    done = killpoint("check", *(arguments or ["lamp.yaml"]), "--json")
    return {
        claim["name"]: claim["cached"]
        for claim in (*done.json["files"][0]["scenarios"], *done.json["files"][0]["mutants"])
    }


def entries(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.json"))


def rewritten(entry: Path, change: Callable[[Any], None]) -> None:
    """Change an entry and give it the right checksum again."""
    document = json.loads(entry.read_text(encoding="utf-8"))["document"]
    change(document)
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    checksum = hashlib.sha256(text.encode()).hexdigest()
    entry.write_text(json.dumps({"sha256": checksum, "document": document}), encoding="utf-8")


def test_a_second_run_is_answered_from_the_cache_and_says_so(killpoint: Killpoint) -> None:
    assert set(cached(killpoint).values()) == {False}
    assert set(cached(killpoint).values()) == {True}
    assert "all from the cache" in killpoint("check", "lamp.yaml").out


def test_a_cached_answer_is_the_same_answer(killpoint: Killpoint) -> None:
    def answers() -> list[dict[str, Any]]:
        document = killpoint("check", "lamp.yaml", "--json").json["files"][0]
        return [claim | {"cached": None} for claim in (*document["scenarios"], *document["mutants"])]

    assert answers() == answers()


def test_no_cache_neither_reads_nor_writes(killpoint: Killpoint, cache_directory: Path) -> None:
    killpoint("check", "lamp.yaml", "--no-cache")
    assert not cache_directory.exists()

    killpoint("check", "lamp.yaml")
    assert set(cached(killpoint, "lamp.yaml", "--no-cache").values()) == {False}


def test_a_change_of_the_file_makes_it_explore_again(killpoint: Killpoint, here: Path) -> None:
    cached(killpoint)
    with (here / "lamp.yaml").open("a", encoding="utf-8") as stream:
        stream.write("# a remark\n")

    assert set(cached(killpoint).values()) == {False}


def test_the_same_text_under_another_name_is_the_same(killpoint: Killpoint, edit: Edit) -> None:
    cached(killpoint)
    done = killpoint("check", edit(), "--json")

    assert all(claim["cached"] for claim in done.json["files"][0]["scenarios"])
    assert done.code == 0


def test_a_free_run_with_the_settings_of_a_scenario_is_that_scenario(killpoint: Killpoint) -> None:
    cached(killpoint)

    assert killpoint("explore", "lamp.yaml", "--set", "careful=false", "--json").json["claim"]["cached"]
    assert not killpoint("explore", "lamp.yaml", "--variant", "forgetful", "--json").json["claim"]["cached"]


def test_another_engine_has_its_own_answers(killpoint: Killpoint) -> None:
    cached(killpoint)

    assert set(cached(killpoint, "lamp.yaml", "--engine", "oracle").values()) == {False}


def test_what_was_cut_short_is_not_stored(killpoint: Killpoint, cache_directory: Path) -> None:
    killpoint("explore", "lamp.yaml", "--max-states", "3")

    assert entries(cache_directory) == []


def test_what_was_cut_short_is_not_believed_either(killpoint: Killpoint, cache_directory: Path) -> None:
    cached(killpoint)
    for entry in entries(cache_directory):
        rewritten(entry, lambda document: document.update(complete=False, states=1))

    assert set(cached(killpoint).values()) == {False}


def shift_last_state(document: Any) -> None:
    for finding in document["findings"].values():
        finding["states"][-1][0] = (finding["states"][-1][0] + 1) % 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: entry.write_bytes(b""),
        lambda entry: entry.write_bytes(b"\xff\x00 no JSON"),
        lambda entry: entry.write_text("[]", encoding="utf-8"),
        lambda entry: entry.write_text("[" * 100_000, encoding="utf-8"),
        lambda entry: entry.write_text(
            entry.read_text(encoding="utf-8").replace('"states":15', '"states":14'), encoding="utf-8"
        ),
        lambda entry: rewritten(entry, lambda document: document.pop("coverage")),
        lambda entry: rewritten(entry, lambda document: document.update(states="many")),
        lambda entry: rewritten(entry, shift_last_state),
    ],
    ids=["empty", "no-text", "a-list", "deep", "other-count", "without-coverage", "wrong-type", "no-such-transition"],
)
def test_a_broken_entry_is_ignored_and_written_over(
    killpoint: Killpoint, cache_directory: Path, damage: Callable[[Path], None]
) -> None:
    killpoint("explore", "lamp.yaml")
    (entry,) = entries(cache_directory)
    before = entry.read_bytes()
    damage(entry)
    assert entry.read_bytes() != before

    assert not killpoint("explore", "lamp.yaml", "--json").json["claim"]["cached"]
    assert entry.read_bytes() == before
    assert killpoint("explore", "lamp.yaml", "--json").json["claim"]["cached"]


def test_without_a_directory_to_write_to_there_is_no_cache_and_no_complaint(
    killpoint: Killpoint, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KILLPOINT_CACHE", str(here / "lamp.yaml"))
    done = killpoint("check", "lamp.yaml")

    assert (done.code, done.err) == (0, "")


def test_the_cache_lies_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KILLPOINT_CACHE", str(tmp_path / "own"))
    assert user_cache().directory == tmp_path / "own"

    monkeypatch.delenv("KILLPOINT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache().directory == tmp_path / "killpoint" / "explorations"


def test_old_entries_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.cache.ENTRIES_MAX", 4)
    exploration = explorations()["baseline"]
    for number in range(9):
        Cache(tmp_path).store(f"{number}", exploration)

    assert len(entries(tmp_path)) <= 5
    assert (tmp_path / "8.json").exists()


def test_a_key_depends_on_the_system_and_on_the_engine() -> None:
    assert len({cache_key("a", "columnar"), cache_key("b", "columnar"), cache_key("a", "oracle")}) == 3
    assert cache_key("a", "columnar") == cache_key("a", "columnar")


# --- Explorations as JSON ---


def explorations() -> dict[str, Exploration]:
    file = load_file(LAMP, "lamp.yaml")
    claims = {**file.scenarios, **file.mutants}
    found = columnar.explore([TransitionSystem.of(claim) for claim in claims.values()], Limits())
    plain = {f"{name}, plainly": oracle.explore(TransitionSystem.of(claim), Limits()) for name, claim in claims.items()}
    return {**dict(zip(claims, found, strict=True)), **plain}


def test_an_exploration_comes_back_as_it_was() -> None:
    for name, exploration in explorations().items():
        document = json.loads(json.dumps(to_document(exploration)))
        assert from_document(document, exploration.system) == exploration, name


def test_a_run_time_error_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "gap.yaml"
    text = LAMP.read_text(encoding="utf-8").replace('      over: {when: "order == done", act: false}\n', "")
    path.write_text(text, encoding="utf-8")
    exploration = oracle.explore(TransitionSystem.of(load_file(path).scenarios["baseline"]), Limits())
    found = from_document(json.loads(json.dumps(to_document(exploration))), exploration.system)

    assert exploration.failure is not None
    assert found.failure is not None
    assert found.failure.trace == exploration.failure.trace
    assert to_document(found) == to_document(exploration)


def test_an_exploration_of_another_system_is_refused() -> None:
    found = explorations()

    with pytest.raises(NotAsStored):
        from_document(to_document(found["deaf"]), found["baseline"].system)
