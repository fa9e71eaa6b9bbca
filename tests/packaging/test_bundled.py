"""Where the bundled specifications are looked for, and what is said when they are not there."""

from pathlib import Path

import pytest

from model import bundled

ROOT = Path(__file__).resolve().parents[2]


def test_in_a_checkout_the_bundled_specifications_are_its_own() -> None:
    assert bundled.specification_directory() == ROOT / "spec"


def test_a_packed_copy_comes_before_a_directory_beside_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundled, "_PACKAGE", tmp_path / "model")
    (tmp_path / "spec").mkdir()
    (tmp_path / "model" / "_spec").mkdir(parents=True)

    assert bundled.specification_directory() == tmp_path / "model" / "_spec"


def test_an_incomplete_installation_names_both_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "_PACKAGE", tmp_path / "model")

    with pytest.raises(FileNotFoundError, match=r"_spec nor .*spec is a directory"):
        bundled.specification_directory()
