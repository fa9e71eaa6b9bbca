"""Canonical JSON of frozen dataclasses, and its strict reading: closed objects, no coercion, nothing left out.

Two records are equal exactly when their canonical forms are, byte by byte; digests are taken of those bytes.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import re
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass

T = typing.TypeVar("T")


class Malformed(Exception):
    """Bytes or a value that are not what the declaration says."""


@dataclass(frozen=True, slots=True)
class AtLeast:
    """Constrain an integer from below."""

    bound: int


@dataclass(frozen=True, slots=True)
class Matching:
    """Constrain a string to one form as a whole."""

    pattern: str


@dataclass(frozen=True, slots=True)
class AtMost:
    """Constrain the number of elements of an array, or of the characters of a string."""

    bound: int


def canonical(value: object) -> bytes:
    """Return the one serialisation of a dataclass: keys in order, no blanks, UTF-8.

    >>> canonical({"b": 1, "a": None})
    b'{"a":null,"b":1}'
    """
    return json.dumps(value, default=_fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def digest(value: object) -> str:
    """Return the digest of the canonical form, `sha256:` and 64 hexadecimal digits."""
    return digest_of(canonical(value))


def digest_of(content: bytes) -> str:
    """Return the digest of bytes that are a canonical form already."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def read(kind: type[T], content: bytes) -> T:
    """Return the value of which the bytes are the canonical form.

    Raises:
        Malformed: they are no JSON, do not fit the declaration, or are not canonical.
    """
    try:
        plain = json.loads(content)
    except (UnicodeDecodeError, json.JSONDecodeError) as problem:
        raise Malformed(f"no JSON: {problem}") from problem
    # The cache wants something hashable, and not every type says that it is.
    reader: _Read = _reader(kind)  # type: ignore[arg-type]
    value: T = reader(plain, kind.__name__)
    if canonical(value) != content:
        raise Malformed(f"{kind.__name__} is not written in its canonical form")
    return value


def _fields(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no canonical form")


_Read = Callable[[object, str], typing.Any]


@functools.cache
def _reader(kind: typing.Any) -> _Read:
    """Return the function that reads values of a type from what JSON gives; built once a type."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _object_reader(kind)
    if origin is typing.Annotated:
        return _constrained(_reader(arguments[0]), arguments[1:])
    if origin is typing.Literal:
        return _literal_reader(arguments)
    if origin is tuple:
        return _array_reader(_reader(arguments[0]))
    if origin in {types.UnionType, typing.Union}:
        return _optional_reader(_reader(next(one for one in arguments if one is not type(None))))
    return _plain_reader(kind)


def _object_reader(kind: type) -> _Read:
    hints = typing.get_type_hints(kind, include_extras=True)
    readers = {name: _reader(hint) for name, hint in hints.items()}

    def reading(plain: object, where: str) -> typing.Any:
        if not isinstance(plain, dict) or plain.keys() != readers.keys():
            raise Malformed(f"{where} needs exactly the fields {', '.join(sorted(readers))}")
        return kind(**{name: reader(plain[name], f"{where}.{name}") for name, reader in readers.items()})

    return reading


def _constrained(reader: _Read, constraints: tuple[object, ...]) -> _Read:
    def reading(plain: object, where: str) -> typing.Any:
        value = reader(plain, where)
        for constraint in constraints:
            if isinstance(constraint, AtLeast) and value < constraint.bound:
                raise Malformed(f"{where} is less than {constraint.bound}")
            if isinstance(constraint, AtMost) and len(value) > constraint.bound:
                raise Malformed(f"{where} is longer than {constraint.bound}")
            if isinstance(constraint, Matching) and re.fullmatch(constraint.pattern, value) is None:
                raise Malformed(f"{where} does not have the form {constraint.pattern}")
        return value

    return reading


def _literal_reader(values: tuple[object, ...]) -> _Read:
    def reading(plain: object, where: str) -> typing.Any:
        for value in values:
            # Python holds 0 for equal to False, and neither is the other here.
            if value == plain and type(value) is type(plain):
                return value
        raise Malformed(f"{where} is none of {', '.join(map(str, values))}")

    return reading


def _array_reader(element: _Read) -> _Read:
    def reading(plain: object, where: str) -> typing.Any:
        if not isinstance(plain, list):
            raise Malformed(f"{where} is no array")
        return tuple(element(one, f"{where}[{index}]") for index, one in enumerate(plain))

    return reading


def _optional_reader(reader: _Read) -> _Read:
    return lambda plain, where: None if plain is None else reader(plain, where)


def _plain_reader(kind: type) -> _Read:
    def reading(plain: object, where: str) -> typing.Any:
        if type(plain) is not kind:
            raise Malformed(f"{where} is no {kind.__name__}")
        return plain

    return reading
