"""Every specification in the documentation is one: it loads, and whole ones come out as they claim.

A `yaml` block that starts with `language: 1` is a whole specification; where a file name stands behind its fence, the
commands that follow check it. A `yaml patch` block is laid over the whole one above it, and loads. A
`yaml refused KPxxx` block is laid over it as well, and is refused with this error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from checker.campaign import judge
from checker.engines.columnar import explore
from checker.exploration import Limits
from checker.verdict import ExitCode
from model.diagnostics import SpecificationError
from model.loader import load
from model.source import Source
from model.system import TransitionSystem
from tests.docs.markdown import ROOT, Block, blocks, documents

WHOLE = "language: 1\n"


def yaml_blocks() -> list[Block]:
    """Return the blocks of YAML in the documentation."""
    return [block for path in documents() for block in blocks(path) if block.info.split(" ")[0] == "yaml"]


def whole_blocks() -> list[Block]:
    """Return those that are whole specifications; one with a file name is checked by the commands that follow it."""
    return [block for block in yaml_blocks() if block.text.startswith(WHOLE) and block.info == "yaml"]


def patches(kind: str) -> list[tuple[Block, Block]]:
    """Return the blocks of a kind, each with the whole specification above it."""
    found: list[tuple[Block, Block]] = []
    base: Block | None = None
    for block in yaml_blocks():
        if block.text.startswith(WHOLE):
            base = block
        elif block.info.split(" ")[1:2] == [kind]:
            assert base is not None, f"{block}: no specification above"
            assert base.path == block.path, f"{block}: no specification above"
            found.append((base, block))
    return found


def laid_over(base: Any, patch: Any) -> Any:
    """Merge mappings; everything else replaces."""
    if isinstance(base, dict) and isinstance(patch, dict):
        return base | {key: laid_over(base.get(key), value) for key, value in patch.items()}
    return patch


def source(base: Block, patch: Block) -> Source:
    """Return the text of a whole specification with a patch laid over it."""
    merged = laid_over(*(yaml.load(block.text, yaml.BaseLoader) for block in (base, patch)))
    return Source(str(patch), yaml.safe_dump(_typed(merged), sort_keys=False, allow_unicode=True, width=10_000))


def _typed(node: Any) -> Any:
    """Give back to scalars the kinds that the language knows, so that they are written without quotes."""
    match node:
        case dict():
            return {key: _typed(value) for key, value in node.items()}
        case list():
            return [_typed(value) for value in node]
        case "true" | "false" | "null":
            return {"true": True, "false": False, "null": None}[node]
        case str() if node.lstrip("-").isdigit():
            return int(node)
        case _:
            return node


@pytest.mark.parametrize("block", yaml_blocks(), ids=str)
def test_every_block_of_yaml_says_what_it_is(block: Block) -> None:
    kinds = block.info.split(" ")[1:]

    if block.text.startswith(WHOLE):
        assert kinds == [] or kinds[0].endswith(".yaml")
    else:
        assert kinds[0] in {"patch", "refused"}


@pytest.mark.parametrize("block", whole_blocks(), ids=str)
def test_a_whole_specification_comes_out_as_it_claims_and_uses_all_it_says(block: Block) -> None:
    file = load(Source(str(block), block.text))
    claims = {**file.scenarios, **file.mutants}
    found = explore([TransitionSystem.of(claim) for claim in claims.values()], Limits())
    report = judge(file, dict(zip(claims, found, strict=True)))

    problems = [problem.message for claim in (*report.scenarios, *report.mutants) for problem in claim.problems]
    unused = [unused.name for unused in report.teeth.unused if not unused.excuse]
    assert (problems, unused) == ([], [])
    assert report.exit_code is ExitCode.AS_DECLARED
    assert file.warnings == ()


@pytest.mark.parametrize(("base", "patch"), patches("patch"), ids=str)
def test_a_patch_of_a_specification_loads(base: Block, patch: Block) -> None:
    load(source(base, patch))


@pytest.mark.parametrize(("base", "patch"), patches("refused"), ids=str)
def test_what_is_said_to_be_refused_is_refused_for_that_reason(base: Block, patch: Block) -> None:
    with pytest.raises(SpecificationError) as refused:
        load(source(base, patch))

    assert {diagnostic.code.number for diagnostic in refused.value.diagnostics} == {patch.info.split(" ")[2]}


def test_the_language_and_each_recipe_have_a_specification() -> None:
    recipes = [path for path in (ROOT / "docs" / "howto").glob("*.md") if path.name != "README.md"]
    wanted: set[Path] = {ROOT / "docs" / "language.md", *recipes}

    assert wanted <= {block.path for block in whole_blocks()}
    assert len(recipes) > 0
