"""The files of a certificate are scripts that solvers take as they are, without killpoint."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from checker.certificates.making import versions
from checker.certificates.proving import write_certificate
from tests.certificates import office, test_inductive
from tests.docs.markdown import ROOT, blocks

MADE = {"states": office.certificate, "induction": test_inductive.certificate}


@pytest.fixture(params=MADE)
def scripts(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """The obligations of a certificate, as files."""
    made = MADE[request.param]()
    write_certificate(tmp_path / "certificate", made.files(versions()))
    found = sorted(map(str, (tmp_path / "certificate").glob("*.smt2")))
    assert len(found) == len(made.obligations)
    return found


def answers(*command: str) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout.split()


@pytest.mark.slow
def test_the_command_of_z3_takes_the_files(scripts: list[str]) -> None:
    program = shutil.which("z3", path=Path(sys.executable).parent) or shutil.which("z3")
    assert program is not None, "the package of Z3 brings its command"

    assert [answers(program, script) for script in scripts] == [["unsat"]] * len(scripts)


@pytest.mark.slow
def test_the_reader_of_cvc5_takes_the_files(scripts: list[str], tmp_path: Path) -> None:
    (program,) = (block.text for block in blocks(ROOT / "docs" / "proofs.md") if block.info == "python")
    (tmp_path / "by_hand.py").write_text(program, encoding="utf-8")

    assert answers(sys.executable, "-I", str(tmp_path / "by_hand.py"), *scripts) == ["unsat"] * len(scripts)


@pytest.mark.slow
def test_both_say_so_where_an_obligation_does_not_hold(scripts: list[str], tmp_path: Path) -> None:
    (program,) = (block.text for block in blocks(ROOT / "docs" / "proofs.md") if block.info == "python")
    (tmp_path / "by_hand.py").write_text(program, encoding="utf-8")
    text = Path(scripts[0]).read_text(encoding="utf-8")
    weaker = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("(assert "))
    Path(scripts[0]).write_text(weaker, encoding="utf-8")
    z3 = shutil.which("z3", path=Path(sys.executable).parent) or shutil.which("z3")

    assert z3 is not None
    assert answers(z3, scripts[0]) == answers(sys.executable, "-I", str(tmp_path / "by_hand.py"), scripts[0]) == ["sat"]
