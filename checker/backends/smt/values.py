"""Truth values and numbers as Z3 terms that cannot overflow.

A number is a signed bit vector that knows the interval in which it lies, and every operation widens it as far as its
result needs. So arithmetic is exact, as it is in `model.evaluate`, though the vectors are short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import z3

from model.system import BOOL_DOMAIN, Domain
from model.types import SetValue, Value

Formula: TypeAlias = z3.ExprRef
"""Any term, for those who only hand it on."""


@dataclass(frozen=True, slots=True)
class Number:
    """A signed bit vector just wide enough for `low` to `high`."""

    term: z3.BitVecRef
    low: int
    high: int


Plain: TypeAlias = Number | z3.BoolRef
"""A number (a literal of an enumeration is its position), or a truth value."""


@dataclass(frozen=True, slots=True)
class Maybe:
    """A value of `T?`: whether there is one, and which. Where there is none, `content` means nothing."""

    present: z3.BoolRef
    content: Plain


@dataclass(frozen=True, slots=True)
class Members:
    """A set: for each element that it may have, whether it has it. Elements are numbers; truth values are 0 and 1."""

    has: Mapping[int, z3.BoolRef]


Term: TypeAlias = Plain | Maybe | Members
"""The value of any expression."""


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
    if isinstance(left, Members) and isinstance(right, Members):
        return all_of(_pointwise(left, right, equal).has.values())
    if isinstance(left, Maybe) or isinstance(right, Maybe):
        first, second = maybe(left), maybe(right)
        neither = all_of((negation(first.present), negation(second.present)))
        if z3.is_false(first.present) or z3.is_false(second.present):
            return neither
        return any_of((neither, all_of((first.present, second.present, equal(first.content, second.content)))))
    if isinstance(left, Number) and isinstance(right, Number):
        if left.high < right.low or right.high < left.low:
            return truth(False)
        a, b = _aligned(left, right)
        return a == b
    assert isinstance(left, z3.BoolRef)
    assert isinstance(right, z3.BoolRef)
    if z3.is_true(right) or z3.is_false(right):
        left, right = right, left
    return right if z3.is_true(left) else negation(right) if z3.is_false(left) else left == right


def maybe(value: Term) -> Maybe:
    """Return a value of T as one of `T?`."""
    assert not isinstance(value, Members)
    return value if isinstance(value, Maybe) else Maybe(truth(True), value)


def members(value: Term) -> Members:
    """Return a value that is known to be a set."""
    assert isinstance(value, Members)
    return value


def _pointwise(left: Members, right: Members, combine: Callable[[z3.BoolRef, z3.BoolRef], z3.BoolRef]) -> Members:
    keys = sorted({*left.has, *right.has})
    no = truth(False)
    return Members({key: combine(left.has.get(key, no), right.has.get(key, no)) for key in keys})


def united(left: Members, right: Members) -> Members:
    """Return the elements of either set."""
    return _pointwise(left, right, lambda a, b: any_of((a, b)))


def shared(left: Members, right: Members) -> Members:
    """Return the elements of both sets."""
    return _pointwise(left, right, lambda a, b: all_of((a, b)))


def is_element(value: Term, key: int) -> z3.BoolRef:
    """Return whether a value is the element with this number; `None` is none."""
    item = maybe(value)
    if z3.is_false(item.present):
        return item.present
    same = equal(item.content, number(key) if isinstance(item.content, Number) else truth(bool(key)))
    return all_of((item.present, same))


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
    if isinstance(then, Members) and isinstance(otherwise, Members):
        return _pointwise(then, otherwise, lambda a, b: _either(condition, a, b))
    if isinstance(then, Maybe) or isinstance(otherwise, Maybe):
        first, second = maybe(then), maybe(otherwise)
        present = _either(condition, first.present, second.present)
        # What is never there has no content either: the other one's will do.
        if z3.is_false(first.present) or z3.is_false(second.present):
            return Maybe(present, second.content if z3.is_false(first.present) else first.content)
        content = choice(condition, first.content, second.content)
        assert isinstance(content, Number | z3.BoolRef)
        return Maybe(present, content)
    if isinstance(then, Number) and isinstance(otherwise, Number):
        low, high = min(then.low, otherwise.low), max(then.high, otherwise.high)
        return Number(z3.If(condition, widened(then, low, high), widened(otherwise, low, high)), low, high)
    assert isinstance(then, z3.BoolRef)
    assert isinstance(otherwise, z3.BoolRef)
    return _either(condition, then, otherwise)


def _either(condition: z3.BoolRef, then: z3.BoolRef, otherwise: z3.BoolRef) -> z3.BoolRef:
    if z3.eq(then, otherwise):
        return then
    if z3.is_true(then) or z3.is_false(otherwise):
        return any_of((condition, otherwise)) if z3.is_true(then) else all_of((condition, then))
    if z3.is_true(otherwise) or z3.is_false(then):
        no = negation(condition)
        return any_of((no, then)) if z3.is_true(otherwise) else all_of((no, otherwise))
    return z3.If(condition, then, otherwise)


def is_false(item: z3.BoolRef) -> bool:
    """Tell whether a term is the constant; one that is false for other reasons is not."""
    return bool(z3.is_false(item))


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
    return z3.BoolSort() if domain is BOOL_DOMAIN else z3.BitVecSort(position_width(domain))


def position_width(domain: Domain) -> int:
    """Return how many bits the positions of a domain take."""
    return max(1, (domain.size - 1).bit_length())


def constant_of(domain: Domain, value: Value) -> Term:
    """Return a value of a domain: truth values and integers as they are, literals by their position."""
    if domain.inner is not None:
        return NOTHING if value is None else Maybe(truth(True), _plain(constant_of(domain.inner, value)))
    if domain.elements is not None:
        assert isinstance(value, SetValue)
        return Members(
            {key_of(domain.elements, each): truth(each in value.elements) for each in domain.elements.values()}
        )
    return truth(value) if isinstance(value, bool) else number(domain.low + domain.index(value))


def key_of(domain: Domain, value: Value) -> int:
    """Return the number by which a set knows an element."""
    return int(value) if isinstance(value, bool) else domain.low + domain.index(value)


def held(constant: z3.ExprRef, domain: Domain) -> Term:
    """Return the value that a constant of a slot's sort stands for."""
    if domain is BOOL_DOMAIN:
        assert isinstance(constant, z3.BoolRef)
        return constant
    assert isinstance(constant, z3.BitVecRef)
    if domain.elements is not None:
        keys = [key_of(domain.elements, value) for value in domain.elements.values()]
        return Members({key: z3.Extract(bit, bit, constant) == 1 for bit, key in enumerate(keys)})
    position = Number(z3.ZeroExt(1, constant), 0, (1 << constant.size()) - 1)
    if domain.inner is BOOL_DOMAIN:
        return Maybe(constant != 0, constant == 2)
    if domain.inner is not None:
        return Maybe(constant != 0, _from_position(position, domain.inner.low - 1, domain.inner))
    return _from_position(position, domain.low, domain)


def _from_position(position: Number, offset: int, domain: Domain) -> Number:
    value = arithmetic("+", position, number(offset)) if offset else position
    # Within the domain: whoever uses the constant asserts `well_formed` of it, or that something is present.
    return narrowed(value.term, domain.low, domain.low + domain.size - 1)


def well_formed(constant: z3.ExprRef, domain: Domain) -> z3.BoolRef:
    """Return whether a constant of a slot's sort stands for a value of the domain."""
    if domain is BOOL_DOMAIN:
        return truth(True)
    assert isinstance(constant, z3.BitVecRef)
    if domain.size == 1 << constant.size():
        return truth(True)
    return z3.ULT(constant, z3.BitVecVal(domain.size, constant.size()))


def outside(value: Term, domain: Domain) -> z3.BoolRef:
    """Return where a value of the domain's kind does not lie in the domain."""
    if domain.inner is not None:
        item = maybe(value)
        return all_of((item.present, outside(item.content, domain.inner)))
    if isinstance(value, Members):
        assert domain.elements is not None
        keys = {key_of(domain.elements, each) for each in domain.elements.values()}
        return any_of(present for key, present in value.has.items() if key not in keys)
    if isinstance(value, Maybe):
        return any_of((negation(value.present), outside(value.content, domain)))
    if isinstance(value, z3.BoolRef):
        return truth(False)
    last = domain.low + domain.size - 1
    return negation(all_of((less_equal(number(domain.low), value), less_equal(value, number(last)))))


def fitted(value: Term, domain: Domain) -> Term:
    """Return a value as one of the domain, in which it is known to lie."""
    if domain.inner is not None:
        item = maybe(value)
        return item if z3.is_false(item.present) else Maybe(item.present, _plain(fitted(item.content, domain.inner)))
    if isinstance(value, Members):
        assert domain.elements is not None
        keys = (key_of(domain.elements, each) for each in domain.elements.values())
        return Members({key: value.has.get(key, truth(False)) for key in keys})
    return bounded(value.content if isinstance(value, Maybe) else value, domain.low, domain.low + domain.size - 1)


def stored(value: Term, domain: Domain) -> z3.ExprRef:
    """Return a value in the sort of a slot; it must be known to lie in the domain."""
    width = position_width(domain)
    if domain.inner is not None:
        item = maybe(value)
        nothing = z3.BitVecVal(0, width)
        if z3.is_false(item.present):
            return nothing
        if isinstance(item.content, Number):
            position = _sized(arithmetic("-", item.content, number(domain.inner.low - 1)), width)
        else:
            position = z3.If(item.content, z3.BitVecVal(2, width), z3.BitVecVal(1, width))
        return z3.If(item.present, position, nothing)
    if isinstance(value, Members):
        assert domain.elements is not None
        keys = [key_of(domain.elements, each) for each in domain.elements.values()]
        bits = [z3.If(value.has[key], z3.BitVecVal(1, 1), z3.BitVecVal(0, 1)) for key in reversed(keys)]
        return bits[0] if len(bits) == 1 else z3.Concat(*bits)
    if isinstance(value, z3.BoolRef):
        return value
    assert isinstance(value, Number)
    return _sized(arithmetic("-", value, number(domain.low)) if domain.low else value, width)


def _sized(value: Number, width: int) -> z3.BitVecRef:
    missing = width - value.term.size()
    return z3.ZeroExt(missing, value.term) if missing > 0 else z3.Extract(width - 1, 0, value.term)


def _plain(value: Term) -> Plain:
    assert isinstance(value, Number | z3.BoolRef)
    return value


NOTHING = Maybe(z3.BoolVal(False), number(0))
"""`None`, of any type."""
