"""`killpoint new`: the first minute of a designer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Killpoint


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_is_written_checks_at_once(killpoint: Killpoint) -> None:
    assert killpoint("new", "order-payment").code == 0

    done = killpoint("check", "order_payment.yaml")

    assert done.code == 0
    assert done.err == ""
    assert "3 scenarios, 2 mutants: everything as declared" in done.out


def test_what_the_comments_promise_is_true(killpoint: Killpoint) -> None:
    killpoint("new", "pay", "-o", "elsewhere.yaml")
    text = Path("elsewhere.yaml").read_text(encoding="utf-8")
    assert "killpoint trace elsewhere.yaml -m charge-without-looking" in text
    assert "charges=2" in killpoint("trace", "elsewhere.yaml", "-m", "charge-without-looking").out

    line = "        if order == charging: goto(look_up)\n"
    assert line in text
    Path("elsewhere.yaml").write_text(text.replace(line, ""), encoding="utf-8")
    done = killpoint("check", "elsewhere.yaml")
    assert done.code == 1
    assert "charged_once" in done.out


@pytest.mark.parametrize("name", ["Order", "-x", "a b", "", "9", "a--b", "x" * 61])
def test_a_name_that_is_none_is_refused(killpoint: Killpoint, name: str) -> None:
    done = killpoint("new", "--", name)

    assert done.code == 2
    assert "cannot name a protocol" in done.err
    assert [path.name for path in Path().iterdir() if path.name != "lamp.yaml"] == []


def test_nothing_is_overwritten(killpoint: Killpoint) -> None:
    Path("pay.yaml").write_text("mine", encoding="utf-8")

    done = killpoint("new", "pay")

    assert done.code == 2
    assert "`pay.yaml` exists already" in done.err
    assert Path("pay.yaml").read_text(encoding="utf-8") == "mine"
