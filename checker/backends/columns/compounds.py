"""Values that take several terms: those of `T?`, and sets.

In the state each of them is one slot, coded by the position in its domain: `None` is 0 and the values of T follow; the
bits of a set say which elements it has. Expressions take them apart, so that values of different types of one kind can
meet, and `fitted` puts together again what is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from checker.backends.columns.terms import Term, Terms
from model.system import BOOL_DOMAIN, Domain


@dataclass(frozen=True, slots=True)
class Maybe:
    """A value of `T?`: whether there is one, and which. Where there is none, `content` means nothing.

    `code` is the position in `domain` where the value was read from a slot of it.
    """

    present: Term
    content: Term
    code: Term | None = None
    domain: Domain | None = None


@dataclass(frozen=True, slots=True)
class Members:
    """A set: for each element that it may have whether it has it, in the order of the elements.

    `code` is the position in `domain` where the set was read from a slot of it.
    """

    present: tuple[tuple[int, Term], ...]
    is_bool: bool
    code: Term | None = None
    domain: Domain | None = None

    def has(self, key: int, terms: Terms) -> Term:
        """Return whether an element is in the set."""
        return dict(self.present).get(key, terms.false)


Compound = Term | Maybe | Members
"""The value of any expression; a `Term` where its type is neither `T?` nor a set."""


class Compounds:
    """What can be done with such values."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms

    # -- from and to slots ----------------------------------------------------------------------------------------

    def read(self, code: Term, domain: Domain) -> Compound:
        """Return the value of a slot of the domain."""
        if domain.inner is not None:
            return self._read_optional(code, domain, domain.inner)
        return code if domain.elements is None else self._read_set(code, domain, domain.elements)

    def _read_optional(self, code: Term, domain: Domain, inner: Domain) -> Maybe:
        terms = self.terms
        present = terms.negation(terms.equal(code, terms.constant(0)))
        if inner is BOOL_DOMAIN:
            content = terms.equal(code, terms.constant(2))
        else:
            content = terms.sum(code, terms.constant(inner.low - 1))
        return Maybe(present, content, code, domain)

    def _read_set(self, code: Term, domain: Domain, elements: Domain) -> Members:
        present = []
        for position in range(elements.size):
            with_it = sum(1 << mask for mask in range(domain.size) if mask >> position & 1)
            # The interval of a code that is known better begins above 0.
            present.append((elements.low + position, self.terms.member(code, with_it >> code.low)))
        return Members(tuple(present), elements is BOOL_DOMAIN, code, domain)

    def fitted(self, value: Compound, domain: Domain) -> tuple[Term, Term]:
        """Return where a value lies outside a domain, and its term in a slot of it, which means nothing there."""
        if domain.inner is not None:
            return self._fitted_optional(self.maybe(value), domain, domain.inner)
        if domain.elements is not None:
            assert isinstance(value, Members)
            return self._fitted_set(value, domain, domain.elements)
        assert not isinstance(value, Members)
        terms = self.terms
        maybe = self.maybe(value)
        outside, content = terms.negation(maybe.present), maybe.content
        if domain.literals is None:
            last = domain.low + domain.size - 1
            outside = terms.any_of((outside, terms.negation(terms.within(content, domain.low, last))))
        return outside, content if domain is BOOL_DOMAIN else self._clamped(content, domain)

    def cut_off(self, value: Compound, domain: Domain) -> Term:
        """Return where a number is one of `nat` beyond the bound of the exploration."""
        number = self.maybe(value)
        last = self.terms.constant(domain.size - 1)
        return self.terms.all_of((number.present, self.terms.negation(self.terms.less_equal(number.content, last))))

    def _fitted_optional(self, value: Maybe, domain: Domain, inner: Domain) -> tuple[Term, Term]:
        terms = self.terms
        if value.code is not None and value.domain == domain:
            return terms.false, value.code
        outside, content = self.fitted(value.content, inner)
        if inner is BOOL_DOMAIN:
            position = terms.choice(content, terms.constant(2), terms.constant(1))
        else:
            position = terms.sum(content, terms.constant(1 - inner.low))
        return terms.all_of((value.present, outside)), terms.choice(value.present, position, terms.constant(0))

    def _fitted_set(self, value: Members, domain: Domain, elements: Domain) -> tuple[Term, Term]:
        terms = self.terms
        if value.code is not None and value.domain == domain:
            return terms.false, value.code
        inside = range(elements.low, elements.low + elements.size)
        outside = terms.any_of([present for key, present in value.present if key not in inside])
        code = terms.constant(0)
        for position, key in enumerate(inside):
            bit = terms.choice(value.has(key, terms), terms.constant(1 << position), terms.constant(0))
            code = terms.sum(code, bit)
        return outside, code

    def _clamped(self, value: Term, domain: Domain) -> Term:
        """Return the value with the interval of its target, which it has wherever the run goes on."""
        if domain.low <= value.low and value.high < domain.low + domain.size:
            return value
        if value.constant is not None:
            return self.terms.constant(domain.low)
        return self.terms.narrowed(value, domain.low, domain.low + domain.size - 1)

    # -- values ---------------------------------------------------------------------------------------------------

    def maybe(self, value: Compound) -> Maybe:
        """Return a value of T as one of `T?`."""
        assert not isinstance(value, Members)
        return value if isinstance(value, Maybe) else Maybe(self.terms.true, value)

    def choice(self, condition: Term, then: Compound, otherwise: Compound) -> Compound:
        """Return `then if condition else otherwise`."""
        terms = self.terms
        if condition.constant is not None:
            return then if condition.constant else otherwise
        if isinstance(then, Term) and isinstance(otherwise, Term):
            return terms.choice(condition, then, otherwise)
        if isinstance(then, Members) and isinstance(otherwise, Members):
            return self._pointwise(then, otherwise, lambda a, b: terms.choice(condition, a, b))
        first, second = self.maybe(then), self.maybe(otherwise)
        # What never has a value has no content either: any of the right kind will do.
        if first.present is terms.false:
            content = second.content
        elif second.present is terms.false:
            content = first.content
        else:
            content = terms.choice(condition, first.content, second.content)
        return Maybe(terms.choice(condition, first.present, second.present), content)

    def equal(self, left: Compound, right: Compound) -> Term:
        """Return `left == right`."""
        terms = self.terms
        if isinstance(left, Term) and isinstance(right, Term):
            return terms.equal(left, right)
        if isinstance(left, Members) or isinstance(right, Members):
            assert isinstance(left, Members)
            assert isinstance(right, Members)
            return self._equal_sets(left, right)
        first, second = self.maybe(left), self.maybe(right)
        if first.code is not None and second.code is not None and first.domain == second.domain:
            return terms.equal(first.code, second.code)
        neither = terms.all_of((terms.negation(first.present), terms.negation(second.present)))
        if first.present is terms.false or second.present is terms.false:
            return neither
        same = terms.all_of((first.present, second.present, terms.equal(first.content, second.content)))
        return terms.any_of((neither, same))

    def _equal_sets(self, left: Members, right: Members) -> Term:
        terms = self.terms
        if left.code is not None and right.code is not None and left.domain == right.domain:
            return terms.equal(left.code, right.code)
        both = self._pointwise(left, right, terms.equal)
        return terms.all_of([same for _, same in both.present])

    def joined(self, operator: str, left: Members, right: Members) -> Members:
        """Return the union or the intersection of two sets."""
        terms = self.terms
        join = terms.any_of if operator == "|" else terms.all_of
        return self._pointwise(left, right, lambda a, b: join((a, b)))

    def without(self, whole: Members, item: Term) -> Members:
        """Return a set without an element."""
        terms = self.terms
        left = [
            (key, terms.all_of((present, terms.negation(terms.equal(item, self.key(key, whole))))))
            for key, present in whole.present
        ]
        return Members(tuple(left), whole.is_bool)

    def contains(self, whole: Members, item: Compound) -> Term:
        """Return whether a value is an element; `None` is none."""
        terms = self.terms
        searched = self.maybe(item)
        if searched.present is terms.false:
            return terms.false
        found = [
            terms.all_of((present, terms.equal(searched.content, self.key(key, whole))))
            for key, present in whole.present
        ]
        return terms.all_of((searched.present, terms.any_of(found)))

    def size(self, whole: Members) -> Term:
        """Return the number of elements."""
        terms = self.terms
        if whole.code is not None:
            codes = range(whole.code.low, whole.code.high + 1)
            return terms.lookup(whole.code, tuple(code.bit_count() for code in codes), is_bool=False)
        total = terms.constant(0)
        for _, present in whole.present:
            total = terms.sum(total, terms.choice(present, terms.constant(1), terms.constant(0)))
        return total

    def key(self, key: int, whole: Members) -> Term:
        """Return an element of a set as a value."""
        return self.terms.truth(bool(key)) if whole.is_bool else self.terms.constant(key)

    def _pointwise(self, left: Members, right: Members, join: Callable[[Term, Term], Term]) -> Members:
        keys = sorted({key for key, _ in (*left.present, *right.present)})
        present = [(key, join(left.has(key, self.terms), right.has(key, self.terms))) for key in keys]
        return Members(tuple(present), left.is_bool)
