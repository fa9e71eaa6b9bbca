"""Writes NumPy source for guarded terms over packed states.

The generated function gets the words of many states as columns and goes down a tree of conditions: rows that satisfy a
condition which several paths share are selected once, and below it only these rows are looked at. What is left of a
path at a leaf is a few additions on the selected words. Within one selection every term is computed once.

Values are 64-bit words; signed arithmetic happens on views of them. The operations release the interpreter lock, and
the functions are pure, so several threads may run them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from checker.backends.columns.packing import Packing, Place
from checker.backends.columns.paths import Update
from checker.backends.columns.terms import Term, Terms, conjuncts, members

LOOKUP_BITS_MAX = 12
"""A digit of a shared field is looked up in a table where the field has at most so many bits."""

WORD_MASK = (1 << 64) - 1


@dataclass(slots=True)
class Leaf:
    """Something to do with the rows in which `guard` is true.

    `write(emitter, rows)` writes the statements; the guard is already true of all rows.
    """

    guard: Term
    write: Callable[[Emitter, Rows], None]


@dataclass(slots=True)
class Rows:
    """A selection of states in the generated code: the names of its word columns, and the terms known for it."""

    words: tuple[str, ...]
    index: str
    """The name of the column of row numbers, which may be None when the code runs; empty where none is wanted."""
    names: dict[int, str] = field(default_factory=dict)
    digits: dict[int, int] = field(default_factory=dict)
    """Slots whose digit is the same in all rows."""


class Emitter:
    """Collects the lines of one generated function, and the constants that it uses."""

    def __init__(self, terms: Terms, packing: Packing) -> None:
        self.terms = terms
        self.packing = packing
        self.lines: list[str] = []
        self.constants: dict[str, object] = {
            "where": np.where,
            "i8": np.int64,
            "u8": np.uint64,
            "bincount": np.bincount,
        }
        self._tables: dict[tuple[int, ...], str] = {}
        self._indent = 1
        self._counter = 0

    # -- lines ----------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """Write a statement."""
        self.lines.append("    " * self._indent + text)

    def fresh(self, prefix: str) -> str:
        """Return a new name."""
        self._counter += 1
        return f"{prefix}{self._counter}"

    def constant(self, value: object) -> str:
        """Give an object a name in the generated code."""
        name = self.fresh("K")
        self.constants[name] = value
        return name

    def indented(self, write: Callable[[], None]) -> None:
        """Write a block one level deeper."""
        self._indent += 1
        write()
        self._indent -= 1

    def under(self, condition: str, rows: Rows, write: Callable[[], None]) -> None:
        """Write lines that run only under a condition; what they compute is not known behind them."""
        before, written = dict(rows.names), len(self.lines)
        self.line(f"if {condition}:")
        self.indented(write)
        if len(self.lines) == written + 1:
            self.lines.pop()
        rows.names = before

    # -- the tree -------------------------------------------------------------------------------------------------

    def tree(self, leaves: Sequence[Leaf], rows: Rows) -> None:
        """Write a decision tree over the conditions that leaves share, and the leaves below it."""
        pending = [(conjuncts(leaf.guard), leaf) for leaf in leaves if leaf.guard is not self.terms.false]
        self._tree(pending, rows)

    def _tree(self, pending: list[tuple[tuple[Term, ...], Leaf]], rows: Rows) -> None:
        while pending:
            slot = self._most_tested(pending)
            if slot is None:
                for conditions, leaf in pending:
                    self._leaf(conditions, leaf, rows)
                return
            branches: dict[int, list[tuple[tuple[Term, ...], Leaf]]] = {}
            tests: dict[int, Term] = {}
            rest = []
            for conditions, leaf in pending:
                test = next((c for c in conditions if _tested_slot(c) == slot), None)
                if test is None:
                    rest.append((conditions, leaf))
                    continue
                tests[test.number] = test
                branches.setdefault(test.number, []).append((tuple(c for c in conditions if c is not test), leaf))
            for number, below in branches.items():
                self._select((tests[number],), rows, lambda selected, below=below: self._tree(below, selected))  # type: ignore[misc]
            pending = rest

    def _most_tested(self, pending: list[tuple[tuple[Term, ...], Leaf]]) -> int | None:
        """Return the slot on which most leaves put a condition (the first such), None where none has company."""
        counts: dict[int, int] = {}
        for conditions, _ in pending:
            for condition in conditions:
                slot = _tested_slot(condition)
                if slot is not None:
                    counts[slot] = counts.get(slot, 0) + 1
        best = max(counts, key=lambda n: counts[n], default=None)
        return best if best is not None and counts[best] > 1 else None

    def _leaf(self, conditions: tuple[Term, ...], leaf: Leaf, rows: Rows) -> None:
        if not conditions:
            leaf.write(self, rows)
            return
        self._select(conditions, rows, lambda selected: leaf.write(self, selected))

    def _select(self, conditions: tuple[Term, ...], rows: Rows, write: Callable[[Rows], None]) -> None:
        mask = " & ".join(self.boolean(c, rows) for c in conditions)
        if len(conditions) > 1:
            name = self.fresh("m")
            self.line(f"{name} = {mask}")
            mask = name
        selected = Rows(
            tuple(self.fresh("r") for _ in rows.words), self.fresh("x") if rows.index else "", digits=dict(rows.digits)
        )
        for condition in conditions:
            self._learn(condition, selected)
        for before, after in zip(rows.words, selected.words, strict=True):
            self.line(f"{after} = {before}.compress({mask})")
        self.line(f"if {selected.words[0]}.size:")

        def body() -> None:
            if rows.index:
                self.line(f"{selected.index} = {rows.index} if {rows.index} is None else {rows.index}.compress({mask})")
            write(selected)

        self.indented(body)

    def _learn(self, condition: Term, rows: Rows) -> None:
        if condition.operator == "slot":
            rows.digits[condition.value] = 1
        elif condition.operator == "not" and condition.args[0].operator == "slot":
            rows.digits[condition.args[0].value] = 0
        elif condition.operator == "in" and condition.args[0].operator == "slot":
            values = list(members(condition))
            if len(values) == 1:
                rows.digits[condition.args[0].value] = values[0] - condition.args[0].low

    # -- terms ----------------------------------------------------------------------------------------------------

    def boolean(self, term: Term, rows: Rows) -> str:
        """Write what is needed for a truth value and return the name of its column (or a constant)."""
        if term.constant is not None:
            return self.constant(np.bool_(term.constant))
        return self._named(term, rows)

    def value(self, term: Term, rows: Rows) -> str:
        """Write what is needed for an integer and return the name of its signed column (or a number)."""
        if term.constant is not None:
            return str(term.constant)
        return self._named(term, rows)

    def _named(self, term: Term, rows: Rows) -> str:
        known = rows.names.get(term.number)
        if known is None:
            text = self._text(term, rows)
            known = rows.names[term.number] = self.fresh("t")
            self.line(f"{known} = {text}")
        return known

    def _text(self, term: Term, rows: Rows) -> str:
        match term.operator:
            case "slot":
                return self._slot(term, rows)
            case "in":
                return self._member(term, rows)
            case "eq":
                return f"{self.value(term.args[0], rows)} == {self.value(term.args[1], rows)}"
            case "le":
                return f"{self.value(term.args[0], rows)} <= {self.value(term.args[1], rows)}"
            case "not":
                return f"~{self.boolean(term.args[0], rows)}"
            case "and":
                return " & ".join(self.boolean(a, rows) for a in term.args)
            case "or":
                return " | ".join(self.boolean(a, rows) for a in term.args)
            case "add" | "sub" | "mul":
                sign = {"add": "+", "sub": "-", "mul": "*"}[term.operator]
                return f"{self.value(term.args[0], rows)} {sign} {self.value(term.args[1], rows)}"
            case "ite":
                return self._choice(term, rows)
            case "map":
                index = term.args[0]
                return self._looked_up(term.values, np.int64, self.value(index, rows), index.low)
            case _:
                raise AssertionError(f"a constant has no column: {term}")

    def _choice(self, term: Term, rows: Rows) -> str:
        condition, then, otherwise = term.args
        if condition is self.terms.true:
            return self.value(then, rows)
        side = self.boolean if term.is_bool else self.value
        return f"where({self.boolean(condition, rows)}, {side(then, rows)}, {side(otherwise, rows)})"

    def _slot(self, term: Term, rows: Rows) -> str:
        place = self.packing.places[term.value]
        if term.is_bool and not place.shared:
            return f"({rows.words[place.word]} & {place.field}) != 0"
        digit = self.digit(term.value, rows)
        if term.is_bool:
            return f"{digit} != 0"
        return digit if term.low == 0 else f"{digit} + {term.low}"

    def digit(self, slot: int, rows: Rows) -> str:
        """Return the name of the column of a slot's digit, signed; written once for each selection."""
        key = -1 - slot
        known = rows.names.get(key)
        if known is not None:
            return known
        place = self.packing.places[slot]
        word = rows.words[place.word]
        text = self._shared_digit(place, word, rows) if place.shared else f"{self._field(place, word)}.view(i8)"
        known = rows.names[key] = self.fresh("d")
        self.line(f"{known} = {text}")
        return known

    def _field(self, place: Place, word: str) -> str:
        shifted = word if place.shift == 0 else f"({word} >> {place.shift})"
        return shifted if place.shift + place.mask.bit_length() == 64 and place.shift else f"({shifted} & {place.mask})"

    def _shared_digit(self, place: Place, word: str, rows: Rows) -> str:
        key = -1_000_000 - (place.word * 64 + place.shift)
        whole = rows.names.get(key)
        if whole is None:
            whole = rows.names[key] = self.fresh("f")
            self.line(f"{whole} = {self._field(place, word)}.view(i8)")
        if place.mask.bit_length() <= LOOKUP_BITS_MAX:
            table = self._table(tuple((f // place.stride) % place.radix for f in range(place.mask + 1)), np.int64)
            return f"{table}.take({whole})"
        divided = whole if place.stride == 1 else f"({whole} // {place.stride})"
        return f"{divided} % {place.radix}"

    def _table(self, values: tuple[int, ...], dtype: type) -> str:
        key = (dtype is np.bool_, *values)
        if key not in self._tables:
            self._tables[key] = self.constant(np.array(values, dtype=dtype))
        return self._tables[key]

    def _member(self, term: Term, rows: Rows) -> str:
        item = term.args[0]
        size = item.high - item.low + 1
        inside = list(members(term))
        single = (
            inside
            if len(inside) == 1
            else [v for v in range(item.low, item.high + 1) if v not in inside]
            if len(inside) == size - 1
            else None
        )
        sign = "==" if len(inside) == 1 else "!="
        if item.operator == "slot" and not self.packing.places[item.value].shared:
            place = self.packing.places[item.value]
            masked = f"({rows.words[place.word]} & {place.field})"
            if single is not None:
                return f"{masked} {sign} {(single[0] - item.low) << place.shift}"
            if inside[-1] - inside[0] == len(inside) - 1 and inside[0] == item.low:
                return f"{masked} <= {(inside[-1] - item.low) << place.shift}"
            if inside[-1] - inside[0] == len(inside) - 1 and inside[-1] == item.high:
                return f"{masked} >= {(inside[0] - item.low) << place.shift}"
        if item.operator == "slot":
            digit, low = self.digit(item.value, rows), 0
        else:
            digit, low = self.value(item, rows), item.low
        if single is not None:
            return f"{digit} {sign} {single[0] - item.low + low}"
        bits = tuple((term.value >> i) & 1 for i in range(size))
        return self._looked_up(bits, np.bool_, digit, low)

    def _looked_up(self, values: tuple[int, ...], dtype: type, index: str, low: int) -> str:
        """Return the text of a look-up in a table.

        It is clipped: among the rows are other systems' and such as a guard leaves out, whose values do not matter.
        """
        position = index if low == 0 else f"{index} - {low}"
        return f"{self._table(values, dtype)}.take({position}, mode='clip')"

    # -- successors -----------------------------------------------------------------------------------------------

    def successor(self, updates: Iterable[Update], rows: Rows) -> tuple[str, ...]:
        """Write the words of the states that the updates lead to, and return their names."""
        clear = [0] * self.packing.words
        offset = [0] * self.packing.words
        dynamic: list[list[str]] = [[] for _ in range(self.packing.words)]
        for slot, low, term in updates:
            place = self.packing.places[slot]
            if place.radix > 1:
                self._update(slot, low, term, place, rows, clear, offset, dynamic)
        return tuple(
            self._word(rows.words[i], clear[i], offset[i] & WORD_MASK, dynamic[i]) for i in range(self.packing.words)
        )

    def _update(
        self,
        slot: int,
        low: int,
        term: Term,
        place: Place,
        rows: Rows,
        clear: list[int],
        offset: list[int],
        dynamic: list[list[str]],
    ) -> None:
        old = rows.digits.get(slot)
        if (
            term.operator == "add"
            and term.args[1].constant is not None
            and term.args[0].operator == "slot"
            and term.args[0].value == slot
        ):
            offset[place.word] += term.args[1].constant * place.weight
            return
        if term.constant is not None:
            offset[place.word] += (term.constant - low) * place.weight
        else:
            dynamic[place.word].append(self._scaled(term, low, place, rows))
        if old is not None:
            offset[place.word] -= old * place.weight
        elif place.shared:
            dynamic[place.word].append(f"-(({self.digit(slot, rows)} * {place.stride}) << {place.shift})")
        else:
            clear[place.word] |= place.field

    def _scaled(self, term: Term, low: int, place: Place, rows: Rows) -> str:
        """Return the text of a new digit in its place, as a word."""
        if term.is_bool:
            return f"where({self.boolean(term, rows)}, {self._unsigned(place.weight)}, {self._unsigned(0)})"
        if term.operator == "ite" and term.args[1].constant is not None and term.args[2].constant is not None:
            then, otherwise = ((c.constant - low) * place.weight for c in term.args[1:] if c.constant is not None)
            return f"where({self.boolean(term.args[0], rows)}, {self._unsigned(then)}, {self._unsigned(otherwise)})"
        value = self.value(term, rows)
        digit = value if low == 0 else f"({value} - {low})"
        scaled = f"({digit} * {place.stride})" if place.stride > 1 else digit
        return f"({scaled} << {place.shift})" if place.shift else scaled

    def _unsigned(self, value: int) -> str:
        return self.constant(np.uint64(value & WORD_MASK))

    def _word(self, word: str, clear: int, offset: int, dynamic: list[str]) -> str:
        if not clear and not offset and not dynamic:
            return word
        name = self.fresh("s")
        if clear:
            self.line(f"{name} = {word} & {WORD_MASK & ~clear}")
            if offset:
                self.line(f"{name} += {self._unsigned(offset)}")
        elif offset:
            self.line(f"{name} = {word} + {self._unsigned(offset)}")
        else:
            self.line(f"{name} = {word}.copy()")
        for part in dynamic:
            part_name = self.fresh("p")
            self.line(f"{part_name} = {part}")
            self.line(f"{name} += {part_name}.view(u8)")
        return name

    # -- the function ---------------------------------------------------------------------------------------------

    def compile(self, name: str, parameters: str, result: str) -> Callable[..., object]:
        """Return the written function. Its text was made here from numbers and fresh names only."""
        text = f"def {name}({parameters}):\n" + "\n".join(self.lines) + f"\n    return {result}\n"
        namespace: dict[str, object] = dict(self.constants)
        exec(compile(text, f"<columns: {name}>", "exec"), namespace)  # noqa: S102 - see the docstring
        function = namespace[name]
        assert callable(function)
        return function


def _tested_slot(condition: Term) -> int | None:
    """Return the slot of a condition that reads one slot only: to select by it costs less than to carry it along."""
    subject = condition.args[0] if condition.operator in ("not", "in") else condition
    return subject.value if subject.operator == "slot" else None
