"""What others put into their pipelines: the scripts of the action are run as a runner would run them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / ".github/actions/check/action.yml").read_text(encoding="utf-8"))

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="the action's scripts are for bash")


def _step(name: str) -> dict[str, Any]:
    (step,) = (step for step in ACTION["runs"]["steps"] if step.get("name") == name)
    assert isinstance(step, dict)
    return step


class Runner:
    """A directory in which steps of the action run, with `killpoint` on the path."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.summary = directory / "summary.md"
        command = directory / "bin" / "killpoint"
        command.parent.mkdir()
        command.write_text(
            f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m checker "$@"\n', encoding="utf-8"
        )
        command.chmod(0o755)

    def run(self, name: str, **inputs: str) -> int:
        """Run a step with its variables, as a runner does: `bash --noprofile --norc -eo pipefail`."""
        step = _step(name)
        assert set(inputs) <= set(step["env"])
        given = {variable: inputs.get(variable, "") for variable in step["env"]}
        env = {
            **os.environ,
            **given,
            "PATH": f"{self.directory / 'bin'}:{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "KILLPOINT_CACHE": str(self.directory / "cache"),
        }
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        return subprocess.run(command, cwd=self.directory, env=env, check=False, capture_output=True).returncode


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    shutil.copytree(ROOT / "spec" / "classics", tmp_path / "spec")
    (tmp_path / "spec" / "killed_workflow_benchmark.yaml").unlink()
    return Runner(tmp_path)


def test_the_action_checks_and_writes_the_summary(runner: Runner) -> None:
    code = runner.run(
        "Check", SPECIFICATIONS="spec/", ARGUMENTS="--timeout 100", DIRECTORY=str(runner.directory / "out")
    )

    assert code == 0
    assert runner.summary.read_text(encoding="utf-8").startswith("# ✓ killpoint: everything as declared")
    assert {path.name for path in (runner.directory / "out").iterdir()} == {
        "killpoint.xml",
        "killpoint.sarif",
        "killpoint.md",
    }


def test_the_action_writes_pages_where_it_is_asked_to(runner: Runner) -> None:
    out = runner.directory / "out"
    shutil.copy(runner.directory / "spec" / "two_phase_commit.yaml", runner.directory / "spec" / "again.yaml")
    ask = {"SPECIFICATIONS": "spec/", "DIRECTORY": str(out)}

    assert runner.run("Check", **ask, HTML="true", WITH="matrix,mutate") == 0
    assert {path.name for path in (out / "pages").iterdir()} == {"index.html", "again.html", "two_phase_commit.html"}
    assert "made one change at a time" in (out / "pages" / "again.html").read_text(encoding="utf-8")
    assert ACTION["outputs"]["pages"]["value"] == "${{ inputs.directory }}/pages"
    # Parts without pages are a mistake, and say so.
    assert runner.run("Check", **ask, HTML="false", WITH="matrix") == 2


def test_the_action_fails_as_check_does_and_still_writes_the_summary(runner: Runner) -> None:
    path = runner.directory / "spec" / "two_phase_commit.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("scenarios:\n", "scenarios:\n  odd: {breaks: [consistent], because: of nothing}\n"), "utf-8"
    )

    assert runner.run("Check", SPECIFICATIONS="spec/", DIRECTORY=str(runner.directory / "out")) == 1
    assert "# ✗ killpoint: not as declared" in runner.summary.read_text(encoding="utf-8")


def test_an_input_is_data_and_no_script(runner: Runner) -> None:
    runner.run(
        "Check", SPECIFICATIONS="$(touch pwned) `touch pwned`; touch pwned", DIRECTORY=str(runner.directory / "o")
    )

    assert not (runner.directory / "pwned").exists()


def test_the_action_says_what_a_change_means(runner: Runner) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
        subprocess.run(["git", *identity, *arguments], cwd=runner.directory, check=True, capture_output=True)

    path = runner.directory / "spec" / "two_phase_commit.yaml"
    git("init", ".")
    git("add", "spec")
    git("commit", "-m", "one")
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[lines.index("  consistent:") + 1] = '    always: "True"'
    path.write_text("\n".join(lines), encoding="utf-8")
    git("commit", "-am", "two")
    out = str(runner.directory / "out")

    assert runner.run("What the change means", BASE="HEAD~1", DIRECTORY=out, FAIL="true") == 1
    assert "**consistent** is weaker" in runner.summary.read_text(encoding="utf-8")
    assert runner.run("What the change means", BASE="HEAD~1", DIRECTORY=out, FAIL="false") == 0
    assert runner.run("What the change means", BASE="nothing", DIRECTORY=out, FAIL="false") == 2


def test_every_input_is_used_and_every_expression_names_one() -> None:
    text = (ROOT / ".github/actions/check/action.yml").read_text(encoding="utf-8")

    for name in ACTION["inputs"]:
        assert f"inputs.{name}" in text
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_the_hook_runs_a_command_that_there_is() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))

    assert hook.keys() >= {"id", "name", "entry", "language", "files"}
    assert hook["entry"].split() == ["killpoint", "check"]
    assert hook["language"] == "python"
