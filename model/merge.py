"""Variants: a patch laid over a specification, as a merge of two YAML trees (language, point 17).

Mappings merge, everything else replaces, `null` removes. What the patch does not touch stays the same object, so that
later stages can recognise it. Positions stay those of the text that somebody wrote: an error in a patched step points
into the patch.
"""

from __future__ import annotations

from model.diagnostics import Code, Diagnostics, did_you_mean, quoted
from model.yamltree import Entry, Mapping, Node, Scalar

PATCHABLE = ("parameters", "types", "stores", "ghost", "definitions", "faults", "tables", "processes", "properties")
"""The sections that a variant or a mutant may change."""


def patch_specification(root: Mapping, patch: Mapping, diagnostics: Diagnostics) -> Mapping:
    """Return the specification with the patch applied; only the sections in `PATCHABLE` are looked at."""
    relevant = {name: entry for name, entry in patch.entries.items() if name in PATCHABLE}
    return _Merger(diagnostics).merge(root, Mapping(relevant, patch.span), ())


class _Merger:
    def __init__(self, diagnostics: Diagnostics) -> None:
        self.diagnostics = diagnostics

    def merge(self, base: Mapping, patch: Mapping, path: tuple[str, ...]) -> Mapping:
        entries = dict(base.entries)
        inserted: list[tuple[str, Entry]] = []
        in_steps = len(path) == 3 and path[0] == "processes" and path[2] == "steps"
        for name, entry in patch.entries.items():
            old = entries.get(name)
            if isinstance(entry.value, Scalar) and entry.value.kind == "null":
                if old is None:
                    self._missing(name, entry, base, path)
                entries.pop(name, None)
            elif old is None:
                if in_steps:
                    inserted.append((name, entry))
                else:
                    entries[name] = entry
            else:
                entries[name] = Entry(old.key, self._replace(old.value, entry.value, (*path, name), in_steps=in_steps))
        for name, entry in inserted:
            entries = self._insert(entries, name, entry, base)
        return Mapping(entries, base.span)

    def _replace(self, old: Node, new: Node, path: tuple[str, ...], *, in_steps: bool) -> Node:
        if in_steps and isinstance(new, Mapping) and isinstance(old, Scalar):
            old = Mapping({"do": Entry(old, old)}, old.span)
        if in_steps and isinstance(new, Scalar) and isinstance(old, Mapping) and "do" in old.entries:
            new = Mapping({"do": Entry(new, new)}, new.span)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            return self.merge(old, new, path)
        return new

    def _insert(self, entries: dict[str, Entry], name: str, entry: Entry, base: Mapping) -> dict[str, Entry]:
        """Put a new step behind the one that it names with `after:`."""
        after = entry.value.entries.get("after") if isinstance(entry.value, Mapping) else None
        label = after.value.text if after is not None and isinstance(after.value, Scalar) else None
        if label is None:
            near = did_you_mean(name, base.entries, known="the steps")
            self.diagnostics.report(Code.STEP_WITHOUT_PLACE, f"there is no step {quoted(name)}, and a new one says where it goes with `after: label`", entry.key.span, help=near)
            return entries
        if label not in entries:
            assert after is not None
            self.diagnostics.report(Code.PATH_NOT_FOUND, f"there is no step {quoted(label)} to put it after", after.value.span, help=did_you_mean(label, entries))
            return entries
        result: dict[str, Entry] = {}
        for known, value in entries.items():
            result[known] = value
            if known == label:
                result[name] = entry
        return result

    def _missing(self, name: str, entry: Entry, base: Mapping, path: tuple[str, ...]) -> None:
        where = ".".join((*path, name))
        self.diagnostics.report(Code.PATH_NOT_FOUND, f"there is no {quoted(where)} to remove", entry.key.span, help=did_you_mean(name, base.entries))
