"""Expressions over the slots of a packed state, shared and folded as they are built.

A term is an integer or a truth value that depends on one state. Equal terms are the same object, so equality is
identity and work is shared. Each term knows an interval that holds its value; comparisons with constants become
membership in a set of values (`in`), which makes contradictions between conditions visible: of a conjunction that
cannot be true nothing is left.

Integers are those of the specification's values: an enumeration counts its literals from 0, a truth value is 0 or 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

Operator = Literal["const", "slot", "in", "eq", "le", "not", "and", "or", "add", "sub", "mul", "ite", "map"]

SET_SIZE_MAX = 63
"""Sets of values are bit sets in one signed 64-bit word of the generated code."""


class Term:
    """A node; made by `Terms` only.

    `value` is the constant, the number of the slot, or the bit set of an `in`; `values` are the entries of a `map`.
    """

    __slots__ = ("args", "high", "is_bool", "low", "number", "operator", "value", "values")

    def __init__(
        self,
        number: int,
        operator: Operator,
        args: tuple[Term, ...],
        value: int,
        low: int,
        high: int,
        *,
        is_bool: bool,
        values: tuple[int, ...] = (),
    ) -> None:
        self.number = number
        self.operator = operator
        self.args = args
        self.value = value
        self.low = low
        self.high = high
        self.is_bool = is_bool
        self.values = values

    @property
    def constant(self) -> int | None:
        """The value of a constant, else None."""
        return self.value if self.operator == "const" else None

    def __repr__(self) -> str:
        inside = ", ".join(map(repr, self.args))
        match self.operator:
            case "const":
                return str(self.value)
            case "slot":
                return f"s{self.value}"
            case "in":
                return f"({inside} in {{{', '.join(str(v) for v in members(self))}}})"
            case _:
                return f"{self.operator}({inside})"


def members(term: Term) -> Iterator[int]:
    """Yield the values of the set of an `in` term."""
    bits, value = term.value, term.args[0].low
    while bits:
        if bits & 1:
            yield value
        bits >>= 1
        value += 1


class Terms:
    """Makes terms; all terms that meet must come from one maker."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Term] = {}
        self._junctions: dict[tuple[object, ...], Term] = {}
        self._negations: dict[int, Term] = {}
        self.true = self.constant(1, is_bool=True)
        self.false = self.constant(0, is_bool=True)

    def _make(
        self,
        operator: Operator,
        args: tuple[Term, ...],
        value: int,
        low: int,
        high: int,
        *,
        is_bool: bool,
        values: tuple[int, ...] = (),
    ) -> Term:
        # An interval follows from what a term is made of, but for slots and narrowed values.
        numbers = tuple([a.number for a in args])
        key = (operator, value, numbers, values, low, high, is_bool)
        term = self._known.get(key)
        if term is None:
            term = self._known[key] = Term(
                len(self._known), operator, args, value, low, high, is_bool=is_bool, values=values
            )
        return term

    def constant(self, value: int, *, is_bool: bool = False) -> Term:
        """Return a constant."""
        return self._make("const", (), int(value), int(value), int(value), is_bool=is_bool)

    def truth(self, value: bool) -> Term:
        """Return true or false."""
        return self.true if value else self.false

    def slot(self, number: int, low: int, size: int, *, is_bool: bool) -> Term:
        """Return the value of a slot."""
        if size == 1:
            return self.constant(low, is_bool=is_bool)
        return self._make("slot", (), number, low, low + size - 1, is_bool=is_bool)

    # -- truth values ---------------------------------------------------------------------------------------------

    def member(self, item: Term, bits: int) -> Term:
        """Return `item in {…}`, the set as bits counted from the least value of the item."""
        size = item.high - item.low + 1
        bits &= (1 << size) - 1
        if bits == 0:
            return self.false
        if bits == (1 << size) - 1:
            return self.true
        if item.operator == "map":
            index = item.args[0]
            chosen = sum(1 << i for i, entry in enumerate(item.values) if bits >> (entry - item.low) & 1)
            return self.member(index, chosen)
        if item.is_bool:
            return item if bits == 2 else self.negation(item)
        return self._make("in", (item,), bits, 0, 1, is_bool=True)

    def negation(self, item: Term) -> Term:
        """Return `not item`."""
        known = self._negations.get(item.number)
        if known is None:
            known = self._negations[item.number] = self._negated(item)
            self._negations.setdefault(known.number, item)
        return known

    def _negated(self, item: Term) -> Term:
        if item.constant is not None:
            return self.truth(not item.constant)
        if item.operator == "not":
            return item.args[0]
        if item.operator == "in":
            return self.member(item.args[0], ~item.value)
        if item.operator == "and":
            return self.any_of(self.negation(a) for a in item.args)
        if item.operator == "or":
            return self.all_of(self.negation(a) for a in item.args)
        return self._make("not", (item,), 0, 0, 1, is_bool=True)

    def outside(self, item: Term) -> Term:
        """Return `not item` as one piece that conjunctions do not take apart.

        For what is excluded again and again, such as errors: spread out it would be computed again and again.
        """
        if item.operator in ("and", "or"):
            return self._make("not", (item,), 0, 0, 1, is_bool=True)
        return self.negation(item)

    def all_of(self, items: Iterable[Term]) -> Term:
        """Return the conjunction, false where two items contradict each other."""
        return self._junction(items, "and")

    def any_of(self, items: Iterable[Term]) -> Term:
        """Return the disjunction, true where two items exhaust everything."""
        return self._junction(items, "or")

    def _junction(self, items: Iterable[Term], operator: Literal["and", "or"]) -> Term:
        items = tuple(items)
        key = (operator, *[item.number for item in items])
        known = self._junctions.get(key)
        if known is None:
            known = self._junctions[key] = self._joined(items, operator)
        return known

    def _joined(self, items: tuple[Term, ...], operator: Literal["and", "or"]) -> Term:
        neutral, absorbing = (self.true, self.false) if operator == "and" else (self.false, self.true)
        flat: dict[int, Term] = {}
        sets: dict[int, tuple[Term, int]] = {}
        for item in _flattened(items, operator):
            if item is absorbing:
                return absorbing
            if item is neutral:
                continue
            if item.operator == "in":
                subject = item.args[0]
                _, bits = sets.get(subject.number, (subject, item.value))
                bits = bits & item.value if operator == "and" else bits | item.value
                sets[subject.number] = (subject, bits)
                if self.member(subject, bits) is absorbing:
                    return absorbing
                continue
            if self.negation(item).number in flat:
                return absorbing
            flat[item.number] = item
        parts = [self.member(subject, bits) for subject, bits in sets.values()]
        parts = [p for p in parts if p is not neutral] + list(flat.values())
        if not parts:
            return neutral
        if len(parts) == 1:
            return parts[0]
        return self._make(operator, tuple(parts), 0, 0, 1, is_bool=True)

    def equal(self, left: Term, right: Term) -> Term:
        """Return `left == right`."""
        if left is right:
            return self.true
        if left.high < right.low or right.high < left.low:
            return self.false
        if left.constant is not None:
            left, right = right, left
        if right.constant is not None:
            return self._equal_constant(left, right.constant)
        if left.is_bool and right.is_bool:
            return self.choice(left, right, self.negation(right))
        if left.number > right.number:
            left, right = right, left
        return self._make("eq", (left, right), 0, 0, 1, is_bool=True)

    def _equal_constant(self, left: Term, value: int) -> Term:
        if left.constant is not None:
            return self.truth(left.constant == value)
        if left.is_bool:
            return left if value == 1 else self.negation(left)
        if left.operator == "ite" and left.args[1].constant is not None and left.args[2].constant is not None:
            condition, then, otherwise = left.args
            return self.choice(condition, self.truth(then.constant == value), self.truth(otherwise.constant == value))
        if left.operator == "add" and left.args[1].constant is not None:
            return self.equal(left.args[0], self.constant(value - left.args[1].constant))
        if left.high - left.low < SET_SIZE_MAX:
            return self.member(left, 1 << (value - left.low))
        return self._make("eq", (left, self.constant(value)), 0, 0, 1, is_bool=True)

    def less_equal(self, left: Term, right: Term) -> Term:
        """Return `left <= right`."""
        if left is right or left.high <= right.low:
            return self.true
        if left.low > right.high:
            return self.false
        if right.constant is not None and left.high - left.low < SET_SIZE_MAX:
            return self.member(left, (1 << (right.constant - left.low + 1)) - 1)
        if left.constant is not None and right.high - right.low < SET_SIZE_MAX:
            return self.member(right, -1 << (left.constant - right.low))
        return self._make("le", (left, right), 0, 0, 1, is_bool=True)

    # -- any values -----------------------------------------------------------------------------------------------

    def choice(self, condition: Term, then: Term, otherwise: Term) -> Term:
        """Return `then if condition else otherwise`."""
        if condition.constant is not None:
            return then if condition.constant else otherwise
        if then is otherwise:
            return then
        if then.is_bool:
            if then.constant is not None:
                return (
                    self.any_of((condition, otherwise))
                    if then.constant
                    else self.all_of((self.negation(condition), otherwise))
                )
            if otherwise.constant is not None:
                return (
                    self.any_of((self.negation(condition), then))
                    if otherwise.constant
                    else self.all_of((condition, then))
                )
        low, high = min(then.low, otherwise.low), max(then.high, otherwise.high)
        return self._make("ite", (condition, then, otherwise), 0, low, high, is_bool=then.is_bool)

    def lookup(self, index: Term, values: tuple[int, ...], *, is_bool: bool) -> Term:
        """Return the entry of a table of constants, one for each value of the index in order.

        Sets of entries become sets of indices, so that conditions on different columns of one table meet.
        """
        assert len(values) == index.high - index.low + 1
        if len(set(values)) == 1:
            return self.constant(values[0], is_bool=is_bool)
        if is_bool:
            return self.member(index, sum(1 << i for i, entry in enumerate(values) if entry))
        return self._make("map", (index,), 0, min(values), max(values), is_bool=False, values=values)

    def sum(self, left: Term, right: Term) -> Term:
        """Return `left + right`."""
        if left.constant is not None:
            left, right = right, left
        if right.constant is not None:
            if left.constant is not None:
                return self.constant(left.constant + right.constant)
            if right.constant == 0:
                return left
            if left.operator == "add" and left.args[1].constant is not None:
                return self.sum(left.args[0], self.constant(left.args[1].constant + right.constant))
        return self._make("add", (left, right), 0, left.low + right.low, left.high + right.high, is_bool=False)

    def difference(self, left: Term, right: Term) -> Term:
        """Return `left - right`."""
        if left is right:
            return self.constant(0)
        if right.constant is not None:
            return self.sum(left, self.constant(-right.constant))
        return self._make("sub", (left, right), 0, left.low - right.high, left.high - right.low, is_bool=False)

    def product(self, left: Term, right: Term) -> Term:
        """Return `left * right`."""
        if left.constant is not None and right.constant is not None:
            return self.constant(left.constant * right.constant)
        corners = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
        return self._make("mul", (left, right), 0, min(corners), max(corners), is_bool=False)

    def narrowed(self, item: Term, low: int, high: int) -> Term:
        """Return an item that is known to lie in an interval where it is used.

        The caller answers for it: outside the interval the value is meaningless.
        """
        low, high = max(low, item.low), min(high, item.high)
        if (low, high) == (item.low, item.high) or low > high:
            return item
        return self._make("ite", (self.true, item, item), 0, low, high, is_bool=False)

    def within(self, item: Term, low: int, high: int) -> Term:
        """Return `low <= item <= high`."""
        return self.all_of((self.less_equal(self.constant(low), item), self.less_equal(item, self.constant(high))))


def _flattened(items: Iterable[Term], operator: str) -> Iterator[Term]:
    for item in items:
        if item.operator == operator:
            yield from item.args
        else:
            yield item


def conjuncts(term: Term) -> tuple[Term, ...]:
    """Return the items of a conjunction; nothing for true."""
    if term.operator == "and":
        return term.args
    return () if term.constant == 1 else (term,)


def slots_of(term: Term) -> Iterator[int]:
    """Yield the numbers of the slots that a term reads."""
    pending, seen = [term], {term.number}
    while pending:
        node = pending.pop()
        if node.operator == "slot":
            yield node.value
        for part in node.args:
            if part.number not in seen:
                seen.add(part.number)
                pending.append(part)
