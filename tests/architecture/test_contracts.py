"""The import contracts bite. That they are kept is `lint-imports`, a step of `make test` of its own."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# A forbidden import for every contract: its id, the module that breaches it, what that module imports.
BREACHES = [
    ("two-halves", "model/source.py", "checker.verdict"),
    ("model-layers", "model/types.py", "model.loader"),
    ("checker-layers", "checker/verdict.py", "checker.campaign"),
    ("engines-independent", "checker/engines/oracle.py", "checker.engines.columnar"),
    ("backends-independent", "checker/backends/columns.py", "checker.backends.another"),
    ("oracle-shares-nothing", "checker/engines/oracle.py", "numpy"),
    ("backends-do-not-evaluate", "checker/backends/columns.py", "model.evaluate"),
    ("solver-behind-one-door", "checker/engines/oracle.py", "z3"),
    ("recheck-needs-no-explorer", "checker/certificates/rechecking.py", "checker.engines.frontier"),
    ("terminal-behind-one-door", "checker/verdict.py", "rich"),
    ("model-is-pure", "model/evaluate.py", "numpy"),
    ("acyclic", "model/diagnostics.py", "model.yamltree"),
]
CHECK = "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports_command as main; main()"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the two packages and of the contracts, with a second back end that does nothing."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in ("model", "checker"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "checker/backends/another.py").touch()
    return tmp_path


def keeps(copy: Path, contract: str) -> bool:
    """Tell whether the copy keeps the contract."""
    command = [sys.executable, "-P", "-c", CHECK, "--no-cache", "--contract", contract]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    verdict = (done.returncode, "1 kept, 0 broken" in done.stdout, "0 kept, 1 broken" in done.stdout)
    assert verdict in {(0, True, False), (1, False, True)}, done.stdout + done.stderr
    return done.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(("contract", "module", "imported"), BREACHES, ids=[contract for contract, _, _ in BREACHES])
def test_a_forbidden_import_breaks_the_contract(copy: Path, contract: str, module: str, imported: str) -> None:
    assert keeps(copy, contract)

    with (copy / module).open("a", encoding="utf-8") as text:
        text.write(f"\nimport {imported}\n")

    assert not keeps(copy, contract)


def test_every_contract_has_a_breach_here() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]

    assert [contract["id"] for contract in settings["contracts"]] == [contract for contract, _, _ in BREACHES]
