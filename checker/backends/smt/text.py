"""Terms as SMT-LIB 2.6 text.

Written here and not by the solver that built the terms, so that the text does not depend on its version: what a
certificate says must come out the same when somebody makes it again. A term that occurs more than once becomes a
definition of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import z3

from checker.backends.smt.values import Formula

_NAMES: Final = {
    z3.Z3_OP_TRUE: "true",
    z3.Z3_OP_FALSE: "false",
    z3.Z3_OP_AND: "and",
    z3.Z3_OP_OR: "or",
    z3.Z3_OP_NOT: "not",
    z3.Z3_OP_IMPLIES: "=>",
    z3.Z3_OP_EQ: "=",
    z3.Z3_OP_DISTINCT: "distinct",
    z3.Z3_OP_ITE: "ite",
    z3.Z3_OP_BADD: "bvadd",
    z3.Z3_OP_BSUB: "bvsub",
    z3.Z3_OP_BMUL: "bvmul",
    z3.Z3_OP_BNEG: "bvneg",
    z3.Z3_OP_SLEQ: "bvsle",
    z3.Z3_OP_SLT: "bvslt",
    z3.Z3_OP_SGEQ: "bvsge",
    z3.Z3_OP_SGT: "bvsgt",
    z3.Z3_OP_ULEQ: "bvule",
    z3.Z3_OP_ULT: "bvult",
    z3.Z3_OP_CONCAT: "concat",
    z3.Z3_OP_ADD: "+",
    z3.Z3_OP_SUB: "-",
    z3.Z3_OP_UMINUS: "-",
    z3.Z3_OP_MUL: "*",
    z3.Z3_OP_LE: "<=",
    z3.Z3_OP_LT: "<",
    z3.Z3_OP_GE: ">=",
    z3.Z3_OP_GT: ">",
}
_INDEXED: Final = {
    z3.Z3_OP_EXTRACT: "extract",
    z3.Z3_OP_SIGN_EXT: "sign_extend",
    z3.Z3_OP_ZERO_EXT: "zero_extend",
}


@dataclass(frozen=True, slots=True)
class _Node:
    """The operator of a term, or the whole of a leaf; its arguments by number; its sort."""

    head: str
    arguments: tuple[int, ...]
    sort: str


class Writer:
    """Turns terms of one relation into text; what it has read of a term it keeps for the next text."""

    def __init__(self) -> None:
        self._nodes: dict[int, _Node] = {}
        self._kept: list[Formula] = []
        """A term's number is its own only for as long as the term lives."""

    def declaration(self, constant: Formula) -> str:
        """Return the declaration of a free constant."""
        node = self._read(constant)
        return f"(declare-const {node.head} {node.sort})"

    def declarations(self) -> list[str]:
        """Return the declarations of all free constants of the terms that were read, in the order of their names."""
        heads = {(node.head, node.sort) for node in self._nodes.values() if node.head.startswith("|")}
        return [f"(declare-const {head} {sort})" for head, sort in sorted(heads)]

    def symbol(self, constant: Formula) -> str:
        """Return the text of a leaf."""
        return self._read(constant).head

    def sort(self, term: Formula) -> str:
        """Return the sort of a term."""
        return self._read(term).sort

    def texts(self, terms: Iterable[Formula], prefix: str = "t") -> tuple[list[str], list[str]]:
        """Return definitions of what the terms use more than once, and the text of each term with these.

        Texts that stand in one script need different prefixes for the names of what they define.
        """
        roots = list(terms)
        for root in roots:
            self._read(root)
        numbers = [root.get_id() for root in roots]
        order, uses = self._reachable(numbers)
        texts: dict[int, str] = {}
        definitions: list[str] = []
        for number in order:
            node = self._nodes[number]
            if not node.arguments:
                texts[number] = node.head
                continue
            text = f"({node.head} {' '.join(texts[argument] for argument in node.arguments)})"
            if uses[number] > 1 and len(text) > 12:
                symbol = f"{prefix}.{len(definitions)}"
                definitions.append(f"(define-fun {symbol} () {node.sort} {text})")
                text = symbol
            texts[number] = text
        return definitions, [texts[number] for number in numbers]

    def _reachable(self, roots: list[int]) -> tuple[list[int], dict[int, int]]:
        """Return the numbers of all terms in these, arguments first, and how often each occurs as an argument."""
        uses: dict[int, int] = {}
        order: list[int] = []
        done: set[int] = set()
        todo = [(root, False) for root in reversed(roots)]
        while todo:
            number, ready = todo.pop()
            if ready:
                order.append(number)
                continue
            uses[number] = uses.get(number, 0) + 1
            if number in done:
                continue
            done.add(number)
            todo.append((number, True))
            todo += [(argument, False) for argument in reversed(self._nodes[number].arguments)]
        return order, uses

    def _read(self, term: Formula) -> _Node:
        """Read a term and everything in it; without recursion, for terms nest deeply."""
        todo = [term]
        while todo:
            each = todo.pop()
            number = each.get_id()
            if number in self._nodes:
                continue
            arguments = each.children()
            self._nodes[number] = _Node(_head(each), tuple(a.get_id() for a in arguments), _sort(each))
            self._kept.append(each)
            todo += arguments
        return self._nodes[term.get_id()]


def _head(term: Formula) -> str:
    if z3.is_bv_value(term):
        return f"(_ bv{term.as_long()} {term.size()})"
    if z3.is_int_value(term):
        return str(term.as_long()) if term.as_long() >= 0 else f"(- {-term.as_long()})"
    kind = term.decl().kind()
    if kind in _INDEXED:
        return f"(_ {_INDEXED[kind]} {' '.join(str(p) for p in term.decl().params())})"
    if kind == z3.Z3_OP_UNINTERPRETED:
        return f"|{term.decl().name()}|"
    return _NAMES[kind]


def _sort(term: Formula) -> str:
    if z3.is_bool(term):
        return "Bool"
    return "Int" if z3.is_int(term) else f"(_ BitVec {term.size()})"
