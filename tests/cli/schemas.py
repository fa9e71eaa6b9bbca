"""The published schemas, ready to validate with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

DIRECTORY = Path(__file__).resolve().parents[2] / "docs" / "schemas"


def problems(name: str, document: object) -> list[str]:
    """Return what is wrong with a document by the schema of that name."""
    return [f"{error.json_path}: {error.message[:300]}" for error in validator(name).iter_errors(document)]


def validator(name: str) -> Draft202012Validator:
    """Return the validator of a schema, which may refer to the others."""
    registry: Registry[Any] = Registry().with_resources(
        [(path.name, Resource.from_contents(_read(path))) for path in DIRECTORY.glob("*.schema.json")]
    )
    return Draft202012Validator(_read(DIRECTORY / f"{name}.schema.json"), registry=registry)


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
