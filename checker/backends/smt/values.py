"""Truth values and numbers as Z3 terms that cannot overflow.

A number is a signed bit vector that knows the interval in which it lies, and every operation widens it as far as its
result needs. So arithmetic is exact, as it is in `model.evaluate`, though the vectors are short.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import z3

from model.system import BOOL_DOMAIN, Domain


@dataclass(frozen=True, slots=True)
class Number:
    """A signed bit vector just wide enough for `low` to `high`."""

    term: z3.BitVecRef
    low: int
    high: int


Term = Number | z3.BoolRef
"""A number (a literal of an enumeration is its position), or a truth value."""


def width_of(low: int, high: int) -> int:
    """Return how many bits a signed vector needs for every number from `low` to `high`."""
    return max((bound if bound >= 0 else ~bound).bit_length() for bound in (low, high)) + 1


def number(value: int) -> Number:
    """Return a constant."""
    return Number(z3.BitVecVal(value, width_of(value, value)), value, value)


def truth(value: bool) -> z3.BoolRef:
    """Return a constant."""
    return z3.BoolVal(value)


def widened(value: Number, low: int, high: int) -> z3.BitVecRef:
    """Return the vector of a number, wide enough for an interval that holds its own."""
    missing = width_of(min(low, value.low), max(high, value.high)) - value.term.size()
    return z3.SignExt(missing, value.term) if missing > 0 else value.term


def _aligned(left: Number, right: Number) -> tuple[z3.BitVecRef, z3.BitVecRef]:
    low, high = min(left.low, right.low), max(left.high, right.high)
    return widened(left, low, high), widened(right, low, high)


def arithmetic(operator: str, left: Number, right: Number) -> Number:
    """Return the sum, difference or product."""
    if operator == "*":
        corners = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
    elif operator == "+":
        corners = [left.low + right.low, left.high + right.high]
    else:
        corners = [left.low - right.high, left.high - right.low]
    low, high = min(corners), max(corners)
    least, most = min(low, left.low, right.low), max(high, left.high, right.high)
    a, b = widened(left, least, most), widened(right, least, most)
    return narrowed(a * b if operator == "*" else a + b if operator == "+" else a - b, low, high)


def bounded(value: Term, low: int, high: int) -> Term:
    """Return a number with an interval in which it is known to lie; a truth value as it is."""
    if not isinstance(value, Number) or (low <= value.low and value.high <= high):
        return value
    return narrowed(widened(value, low, high), low, high)


def narrowed(term: z3.BitVecRef, low: int, high: int) -> Number:
    """Return a vector as a number of an interval in which it is known to lie."""
    width = width_of(low, high)
    return Number(z3.Extract(width - 1, 0, term) if term.size() > width else term, low, high)


def less_equal(left: Number, right: Number) -> z3.BoolRef:
    """Return whether `left <= right`."""
    if left.high <= right.low:
        return truth(True)
    if left.low > right.high:
        return truth(False)
    a, b = _aligned(left, right)
    return a <= b


def equal(left: Term, right: Term) -> z3.BoolRef:
    """Return whether two values of one kind are equal."""
    if isinstance(left, Number) and isinstance(right, Number):
        if left.high < right.low or right.high < left.low:
            return truth(False)
        a, b = _aligned(left, right)
        return a == b
    assert isinstance(left, z3.BoolRef)
    assert isinstance(right, z3.BoolRef)
    return left == right


def compared(operator: str, left: Term, right: Term) -> z3.BoolRef:
    """Return the truth value of a comparison."""
    if operator == "==":
        return equal(left, right)
    if operator == "!=":
        return negation(equal(left, right))
    assert isinstance(left, Number)
    assert isinstance(right, Number)
    if operator in {">", ">="}:
        left, right, operator = right, left, operator.replace(">", "<")
    return less_equal(left, right) if operator == "<=" else negation(less_equal(right, left))


def choice(condition: z3.BoolRef, then: Term, otherwise: Term) -> Term:
    """Return `then` where the condition is true, else `otherwise`."""
    if z3.is_true(condition) or then is otherwise:
        return then
    if z3.is_false(condition):
        return otherwise
    if isinstance(then, Number) and isinstance(otherwise, Number):
        low, high = min(then.low, otherwise.low), max(then.high, otherwise.high)
        return Number(z3.If(condition, widened(then, low, high), widened(otherwise, low, high)), low, high)
    assert isinstance(then, z3.BoolRef)
    assert isinstance(otherwise, z3.BoolRef)
    return z3.If(condition, then, otherwise)


def negation(item: z3.BoolRef) -> z3.BoolRef:
    """Return the negation, folded where it is constant."""
    if z3.is_true(item) or z3.is_false(item):
        return truth(z3.is_false(item))
    return item.arg(0) if z3.is_not(item) else z3.Not(item)


def all_of(items: Iterable[z3.BoolRef]) -> z3.BoolRef:
    """Return the conjunction, folded where items are constant."""
    kept = [item for item in items if not z3.is_true(item)]
    if any(z3.is_false(item) for item in kept):
        return truth(False)
    return truth(True) if not kept else kept[0] if len(kept) == 1 else z3.And(kept)


def any_of(items: Iterable[z3.BoolRef]) -> z3.BoolRef:
    """Return the disjunction, folded where items are constant."""
    kept = [item for item in items if not z3.is_false(item)]
    if any(z3.is_true(item) for item in kept):
        return truth(True)
    return truth(False) if not kept else kept[0] if len(kept) == 1 else z3.Or(kept)


# --- Values of a domain, as a state holds them ---


def sort_of(domain: Domain) -> z3.SortRef:
    """Return the sort of a slot: a truth value, or the position in the domain as an unsigned vector."""
    return z3.BoolSort() if domain is BOOL_DOMAIN else z3.BitVecSort(max(1, (domain.size - 1).bit_length()))


def held(constant: z3.ExprRef, domain: Domain) -> Term:
    """Return the value that a constant of a slot's sort stands for."""
    if domain is BOOL_DOMAIN:
        assert isinstance(constant, z3.BoolRef)
        return constant
    assert isinstance(constant, z3.BitVecRef)
    position = Number(z3.ZeroExt(1, constant), 0, (1 << constant.size()) - 1)
    value = arithmetic("+", position, number(domain.low)) if domain.low else position
    # Within the domain: whoever uses the constant asserts `well_formed` of it.
    return narrowed(value.term, domain.low, domain.low + domain.size - 1)


def well_formed(constant: z3.ExprRef, domain: Domain) -> z3.BoolRef:
    """Return whether a constant of a slot's sort stands for a value of the domain."""
    if domain is BOOL_DOMAIN:
        return truth(True)
    assert isinstance(constant, z3.BitVecRef)
    if domain.size == 1 << constant.size():
        return truth(True)
    return z3.ULT(constant, z3.BitVecVal(domain.size, constant.size()))


def stored(value: Term, domain: Domain) -> z3.ExprRef:
    """Return a value in the sort of a slot; it must be known to lie in the domain."""
    if isinstance(value, z3.BoolRef):
        return value
    position = arithmetic("-", value, number(domain.low)) if domain.low else value
    width = max(1, (domain.size - 1).bit_length())
    size = position.term.size()
    return z3.Extract(width - 1, 0, position.term) if size > width else z3.ZeroExt(width - size, position.term) if size < width else position.term


def within(value: Number, domain: Domain) -> z3.BoolRef:
    """Return whether a number lies in a domain of integers or of positions."""
    last = domain.low + domain.size - 1
    return all_of((less_equal(number(domain.low), value), less_equal(value, number(last))))
