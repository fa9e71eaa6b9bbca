"""Decision diagrams as SMT-LIB definitions: one function without arguments for each node."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from checker.backends.smt.values import position_width
from checker.certificates.diagram import Diagram
from model.system import BOOL_DOMAIN, TransitionSystem


class DiagramText:
    """A diagram over the slots of a system, with a text for each leaf and the sort of these."""

    def __init__(self, diagram: Diagram, system: TransitionSystem, leaves: Sequence[str], sort: str) -> None:
        self.diagram = diagram
        self.sort = sort
        self._leaves = leaves
        self._domains = [slot.domain for slot in system.slots]
        self._slots_below = _slots_below(diagram)

    @classmethod
    def of_set(cls, diagram: Diagram, system: TransitionSystem) -> DiagramText:
        """Return a set: whether a state is in it."""
        return cls(diagram, system, ("false", "true"), "Bool")

    @classmethod
    def of_ranking(cls, diagram: Diagram, system: TransitionSystem) -> DiagramText:
        """Return a ranking: the rank of a state, as an unsigned vector."""
        width = (diagram.leaves - 1).bit_length()
        leaves = [f"(_ bv{rank} {width})" for rank in range(diagram.leaves)]
        return cls(diagram, system, leaves, f"(_ BitVec {width})")

    def leaf(self, number: int) -> str:
        """Return the text of a leaf."""
        return self._leaves[number]

    def root(self, prefix: str, known: Mapping[int, str] | None = None) -> str:
        """Return what stands for a state's leaf where the nodes are defined under a prefix."""
        return self._name(prefix, self.diagram.root, known or {})

    def unchanged(self, prefix: str, changed: Collection[int]) -> dict[int, str]:
        """Return, with their names under a prefix, the nodes that ask of none of the changed slots, nor does any below.

        They are the same for the states before and after.
        """
        moving = frozenset(changed)
        return {number: self._name(prefix, number, {}) for number, b in self._slots_below.items() if not b & moving}

    def definitions(self, prefix: str, symbols: Sequence[str], known: Mapping[int, str] | None = None) -> Iterator[str]:
        """Yield the definition of every node over the symbols of slots, but for those whose names are known."""
        names = known or {}
        for number, node in self.diagram.numbered():
            if number in names:
                continue
            domain = self._domains[node.slot]
            children = [self._name(prefix, child, names) for child in node.children]
            if domain is BOOL_DOMAIN:
                body = _if(symbols[node.slot], children[1], children[0])
            else:
                body = _cases(children, symbols[node.slot], position_width(domain))
            yield f"(define-fun {prefix}.{number} () {self.sort} {body})"

    def _name(self, prefix: str, number: int, known: Mapping[int, str]) -> str:
        if number < self.diagram.leaves:
            return self._leaves[number]
        return known.get(number) or f"{prefix}.{number}"


def _cases(children: Sequence[str], symbol: str, width: int) -> str:
    """Return what a node of a slot with numbered values is: by the most frequent child, and the others case by case."""
    distinct = list(dict.fromkeys(children))
    usual = max(distinct, key=children.count)
    body = usual
    for child in distinct:
        if child != usual:
            values = [f"(= {symbol} (_ bv{value} {width}))" for value, each in enumerate(children) if each == child]
            body = _if(values[0] if len(values) == 1 else f"(or {' '.join(values)})", child, body)
    return body


def _if(condition: str, then: str, otherwise: str) -> str:
    match then, otherwise:
        case "true", "false":
            return condition
        case "false", "true":
            return f"(not {condition})"
        case "true", _:
            return f"(or {condition} {otherwise})"
        case "false", _:
            return f"(and (not {condition}) {otherwise})"
        case _, "true":
            return f"(or (not {condition}) {then})"
        case _, "false":
            return f"(and {condition} {then})"
        case _:
            return f"(ite {condition} {then} {otherwise})"


def _slots_below(diagram: Diagram) -> dict[int, frozenset[int]]:
    """Return for each node, leaves too, the slots that it and all below it ask for."""
    below: dict[int, frozenset[int]] = {leaf: frozenset() for leaf in range(diagram.leaves)}
    shared: dict[frozenset[int], frozenset[int]] = {}
    for number, node in diagram.numbered():
        slots = frozenset({node.slot}.union(*(below[child] for child in node.children)))
        below[number] = shared.setdefault(slots, slots)
    return below
