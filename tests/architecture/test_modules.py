"""Every module can be imported on its own, from here and from nowhere else, with the libraries that are declared."""

import ast
import importlib
import importlib.metadata
import importlib.util
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("model", "checker")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def module_name(source: Path) -> str:
    """Return the dotted name under which the file is imported."""
    parts = source.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def canonical(distribution: str) -> str:
    """Return the name of a distribution as the package index compares it."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def imported_names(source: Path) -> Iterator[str]:
    """Yield the top-level name of everything the file imports, inside functions too."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


@pytest.fixture
def no_module_loaded_yet() -> Iterator[None]:
    """Forget our modules for the time of one test, and bring back the very same ones afterwards."""

    def ours() -> list[str]:
        return [name for name in sys.modules if name.partition(".")[0] in PACKAGES]

    before = {name: sys.modules.pop(name) for name in ours()}
    yield
    for name in ours():
        del sys.modules[name]
    sys.modules.update(before)


@pytest.mark.usefixtures("no_module_loaded_yet")
@pytest.mark.parametrize("source", SOURCES, ids=module_name)
def test_every_module_can_be_the_first_one_imported(source: Path) -> None:
    module = importlib.import_module(module_name(source))

    assert module.__doc__, f"{source} does not say what it is for"


@pytest.mark.parametrize("package", PACKAGES)
def test_the_package_is_imported_from_this_repository(package: str) -> None:
    found = importlib.util.find_spec(package)

    assert found is not None
    assert found.origin is not None, f"{package} has no __init__.py, so another {package} would be taken before it"
    assert Path(found.origin).resolve() == ROOT / package / "__init__.py"


@pytest.mark.parametrize("package", PACKAGES)
def test_no_other_distribution_provides_the_package(package: str) -> None:
    providers = {canonical(name) for name in importlib.metadata.packages_distributions().get(package, [])}

    assert providers <= {"killpoint"}


def test_libraries_are_declared_exactly_where_they_are_imported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [each for name, extra in project["optional-dependencies"].items() if name != "test" for each in extra]
    declared = {canonical(re.split(r"[^\w.-]", each)[0]) for each in [*project["dependencies"], *extras]}
    providers = importlib.metadata.packages_distributions()

    foreign = {name for source in SOURCES for name in imported_names(source)} - sys.stdlib_module_names - {*PACKAGES}
    imported = {canonical(distribution) for name in foreign for distribution in providers.get(name, [name])}

    assert imported == declared
