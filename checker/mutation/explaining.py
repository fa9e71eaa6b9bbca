"""The reasons that a file gives for survivors, and whether they are true."""

from __future__ import annotations

import re
from collections.abc import Sequence

from checker.mutation.fates import Decided, Fate, Stale
from model.specification import SpecificationFile

_NO_SURVIVORS = {
    Fate.KILLED: "is killed",
    Fate.ERROR: "comes to a run-time error",
    Fate.VACUOUS: "leaves something unused",
    Fate.INVALID: "is no protocol",
}


def fits(pattern: str, name: str) -> bool:
    """Tell whether a pattern, in which `*` stands for any text, fits a name."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL) is not None


def apply_reasons(file: SpecificationFile, decided: Sequence[Decided]) -> None:
    """Give each survivor the first reason that fits it."""
    for each in decided:
        if each.fate is Fate.SURVIVED:
            found = (reason for entry, reason in file.equivalent.items() if fits(entry, each.mutant.id))
            each.explained = next(found, "")


def stale_reasons(file: SpecificationFile, decided: Sequence[Decided], *, whole: bool) -> tuple[Stale, ...]:
    """Return the entries that fit no mutant, or none that survives.

    A pattern speaks of a family, of which some may be caught. `whole` says that the run was about the whole file; else
    nothing is said of what fits nothing.
    """
    found = []
    for entry, span in file.equivalent_spans.items():
        fitting = [each for each in decided if fits(entry, each.mutant.id)]
        caught = [each for each in fitting if each.fate in _NO_SURVIVORS]
        if fitting and len(caught) == len(fitting):
            first = caught[0]
            by = f" by `{first.property}`" if first.property else ""
            more = f"; nor do the {len(caught) - 1} others survive" if len(caught) > 1 else ""
            found.append(Stale(entry, span, f"`{first.mutant.id}` {_NO_SURVIVORS[first.fate]}{by}{more}"))
        elif not fitting and whole:
            found.append(Stale(entry, span, f"no mutant is named `{entry}`"))
    return tuple(found)
