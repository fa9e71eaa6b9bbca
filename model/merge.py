"""Variants: a patch laid over a specification, as a merge of two YAML trees (language, point 17).

Mappings merge, everything else replaces, `null` removes. What the patch does not touch stays the same object, so that
later stages can recognise it. Positions stay those of the text that somebody wrote: an error in a patched step points
into the patch.

A patch of something that does not exist would change nothing, and a claim about it would be a claim about the unpatched
protocol. So what the specification does not have must be new on purpose, which is to say complete: a row with `when`, a
step with `after`, a variable with `type`. Definitions, types and faults are always complete; whether the patched
protocol uses a new one is checked later (`model.usage`).
"""

from __future__ import annotations

from dataclasses import dataclass

from model.diagnostics import Code, Diagnostics, did_you_mean, quoted
from model.yamlnodes import Entry, Mapping, Node, Scalar, Sequence

PATCHABLE = (
    "parameters",
    "types",
    "stores",
    "ghost",
    "initially",
    "definitions",
    "faults",
    "tables",
    "processes",
    "properties",
)
"""The sections that a variant or a mutant may change."""

_ANY = "*"
# What a new entry at a path is called, and the keys that it has.
_COMPLETE: dict[tuple[str, ...], tuple[str, tuple[str, ...]]] = {
    ("parameters",): ("parameter", ("default",)),
    ("stores",): ("store", ("holds",)),
    ("stores", _ANY, "holds"): ("variable", ("type",)),
    ("ghost",): ("ghost", ("type",)),
    ("tables",): ("table", ("gives", "rows")),
    ("tables", _ANY, "rows"): ("row", ("when",)),
    ("processes",): ("process", ("steps", "count or environment")),
    ("processes", _ANY, "volatile"): ("variable", ("type",)),
}


@dataclass(frozen=True, slots=True)
class Patched:
    """A specification with a patch applied. `changed` says whether it differs; `sound` whether the patch fits."""

    tree: Mapping
    changed: bool
    sound: bool


def patch_specification(root: Mapping, patch: Mapping, diagnostics: Diagnostics) -> Patched:
    """Apply a patch to a specification, reporting what does not fit; only the sections in `PATCHABLE` are looked at."""
    relevant = {name: entry for name, entry in patch.entries.items() if name in PATCHABLE}
    merger = _Merger(diagnostics)
    tree = merger.merge(root, Mapping(relevant, patch.span), ())
    return Patched(tree, merger.changed, merger.sound)


class _Merger:
    def __init__(self, diagnostics: Diagnostics) -> None:
        self.diagnostics = diagnostics
        self.changed = False
        self.sound = True
        self._boot = ""
        """The label under `boot` of the process whose steps are merged: the one step outside their order."""

    def merge(self, base: Mapping, patch: Mapping, path: tuple[str, ...]) -> Mapping:
        if len(path) == 2 and path[0] == "processes":
            boot = patch.get("boot") or base.get("boot")
            self._boot = boot.text if isinstance(boot, Scalar) else ""
        entries = dict(base.entries)
        inserted: list[tuple[str, Entry]] = []
        for name, entry in patch.entries.items():
            known = _known_as(name, entries, path)
            removed = isinstance(entry.value, Scalar) and entry.value.kind == "null"
            if known is None and removed:
                self._refuse(Code.PATH_NOT_FOUND, f"there is no {quoted(_dotted(path, name))} to remove", entry, base)
            elif known is None and _in_steps(path):
                inserted.append((name, entry))
            elif known is None:
                self._add(entries, name, entry, base, path)
            elif removed:
                del entries[known]
                self.changed = True
            else:
                value = self._replace(entries[known].value, entry.value, (*path, name), in_steps=_in_steps(path))
                if known == name:
                    entries[name] = Entry(entry.key, value)
                else:
                    renamed = (name, Entry(entry.key, value))
                    entries = dict(renamed if other == known else (other, old) for other, old in entries.items())
        for name, entry in inserted:
            entries = self._insert(entries, name, entry, base)
        return Mapping(entries, base.span)

    def _add(self, entries: dict[str, Entry], name: str, entry: Entry, base: Mapping, path: tuple[str, ...]) -> None:
        """Add an entry that is new on purpose."""
        pattern = tuple(_ANY if position == 1 else part for position, part in enumerate(path))
        what, needed = _COMPLETE.get(pattern, ("", ()))
        given = entry.value.entries if isinstance(entry.value, Mapping) else {}
        missing = [keys for keys in needed if not any(key in given for key in keys.split(" or "))]
        if missing:
            wanted = " or ".join(f"`{key}`" for key in missing[0].split(" or "))
            message = f"there is no {what} {quoted(name)} to patch, and a new one has {wanted}"
            self._refuse(Code.PATH_NOT_FOUND, message, entry, base)
            return
        entries[name] = entry
        self.changed = True

    def _replace(self, old: Node, new: Node, path: tuple[str, ...], *, in_steps: bool) -> Node:
        if in_steps and isinstance(new, Mapping) and isinstance(old, Scalar):
            old = Mapping({"do": Entry(Scalar("do", "str", old.span), old)}, old.span)
        if in_steps and isinstance(new, Scalar) and isinstance(old, Mapping) and "do" in old.entries:
            new = Mapping({"do": Entry(Scalar("do", "str", new.span), new)}, new.span)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            return self.merge(old, new, path)
        self.changed = self.changed or not _same(old, new)
        return new

    def _insert(self, entries: dict[str, Entry], name: str, entry: Entry, base: Mapping) -> dict[str, Entry]:
        """Put a new step behind the one that it names with `after:`; one under `boot` stands behind none."""
        if name == self._boot and not (isinstance(entry.value, Mapping) and "after" in entry.value):
            self.changed = True
            return {**entries, name: entry}
        after = entry.value.entries.get("after") if isinstance(entry.value, Mapping) else None
        if after is None or not isinstance(after.value, Scalar) or not isinstance(entry.value, Mapping):
            message = f"there is no step {quoted(name)} to patch, and a new one says where it goes: `after: label`"
            self._refuse(Code.STEP_WITHOUT_PLACE, message, entry, base)
            return entries
        label = after.value.text
        if label not in entries:
            message = f"there is no step {quoted(label)} to put it after"
            near = did_you_mean(label, entries, known="the steps")
            self.diagnostics.report(Code.PATH_NOT_FOUND, message, after.value.span, help=near)
            self.sound = False
            return entries
        self.changed = True
        placed = {key: value for key, value in entry.value.entries.items() if key != "after"}
        result: dict[str, Entry] = {}
        for known, value in entries.items():
            result[known] = value
            if known == label:
                result[name] = Entry(entry.key, Mapping(placed, entry.value.span))
        return result

    def _refuse(self, code: Code, message: str, entry: Entry, base: Mapping) -> None:
        near = did_you_mean(entry.key.text, base.entries, known="there are")
        self.diagnostics.report(code, message, entry.key.span, help=near)
        self.sound = False


def _in_steps(path: tuple[str, ...]) -> bool:
    return len(path) == 3 and path[0] == "processes" and path[2] == "steps"


def _dotted(path: tuple[str, ...], name: str) -> str:
    return ".".join((*path, name))


def _known_as(name: str, entries: dict[str, Entry], path: tuple[str, ...]) -> str | None:
    """Return the key that a patch's key means: itself; a definition is the same whatever its arguments are called."""
    if name in entries:
        return name
    if path == ("definitions",):
        plain = name.partition("(")[0].strip()
        return next((other for other in entries if other.partition("(")[0].strip() == plain), None)
    return None


def _same(old: Node, new: Node) -> bool:
    """Tell whether two nodes say the same."""
    match old, new:
        case Scalar(), Scalar():
            return (old.kind, old.text.strip()) == (new.kind, new.text.strip())
        case Sequence(), Sequence():
            return len(old.items) == len(new.items) and all(map(_same, old.items, new.items))
        case Mapping(), Mapping():
            return list(old) == list(new) and all(_same(old.entries[k].value, new.entries[k].value) for k in old)
        case _:
            return False
