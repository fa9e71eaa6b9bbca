"""Decision diagrams as SMT-LIB definitions: one function without arguments for each node."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from checker.backends.smt.values import position_width
from checker.certificates.diagram import Diagram, Node
from model.system import BOOL_DOMAIN, TransitionSystem


class DiagramText:
    """A diagram over the slots of a system, with a text for each leaf and the sort of these."""

    def __init__(self, diagram: Diagram, system: TransitionSystem, leaves: Sequence[str], sort: str) -> None:
        self.sort = sort
        self.root = diagram.root
        self._leaves = leaves
        self._domains = [slot.domain for slot in system.slots]
        self._nodes: dict[int, Node] = {}
        self._numbers: dict[Node, int] = {}
        self._slots_below: dict[int, frozenset[int]] = {leaf: frozenset() for leaf in range(diagram.leaves)}
        for number, node in diagram.numbered():
            self._add(number, node)

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

    def name(self, number: int, prefix: str, known: Mapping[int, str] | None = None) -> str:
        """Return what stands for a node or leaf where the nodes are defined under a prefix."""
        if number < len(self._leaves):
            return self._leaves[number]
        return (known or {}).get(number) or f"{prefix}.{number}"

    def where(self, values: Mapping[int, int]) -> int:
        """Return the node from which states are followed whose slots have these values, by their positions.

        It asks for none of these slots.
        """
        if not self._slots_below[self.root] & values.keys():
            return self.root
        below: dict[int, int] = {}
        for number in self._from([self.root]):
            node = self._nodes[number]
            children = tuple(below.get(child, child) for child in node.children)
            if node.slot in values:
                below[number] = children[values[node.slot]]
            else:
                below[number] = children[0] if len(set(children)) == 1 else self._number(Node(node.slot, children))
        return below.get(self.root, self.root)

    def unchanged(self, prefix: str, changed: Collection[int]) -> dict[int, str]:
        """Return, with their names under a prefix, the nodes that ask of none of the changed slots, nor does any below.

        They are the same for the states before and after.
        """
        moving = frozenset(changed)
        return {
            number: self.name(number, prefix)
            for number, below in self._slots_below.items()
            if number >= len(self._leaves) and not below & moving
        }

    def used(self, roots: Iterable[int], known: Collection[int]) -> list[int]:
        """Return the nodes with known names to which those below some roots lead, without what is below them."""
        found = dict.fromkeys(root for root in roots if root in known)
        for number in self._from(roots, known):
            found |= dict.fromkeys(child for child in self._nodes[number].children if child in known)
        return list(found)

    def definitions(
        self, prefix: str, symbols: Sequence[str], roots: Iterable[int], known: Mapping[int, str] | None = None
    ) -> Iterator[str]:
        """Yield the definitions of the nodes below some roots over symbols of slots, without those that are known."""
        names = known or {}
        for number in self._from(roots, names):
            node = self._nodes[number]
            children = [self.name(child, prefix, names) for child in node.children]
            domain = self._domains[node.slot]
            if domain is BOOL_DOMAIN:
                body = _if(symbols[node.slot], children[1], children[0])
            else:
                body = _cases(children, symbols[node.slot], position_width(domain))
            yield f"(define-fun {prefix}.{number} () {self.sort} {body})"

    def _from(self, roots: Iterable[int], known: Collection[int] = ()) -> list[int]:
        """Return the nodes below some roots, children first, stopping at known ones."""
        found: dict[int, None] = {}
        todo = [(root, False) for root in roots]
        while todo:
            number, ready = todo.pop()
            if ready:
                found[number] = None
            elif number >= len(self._leaves) and number not in found and number not in known:
                todo.append((number, True))
                todo += [(child, False) for child in self._nodes[number].children]
        return list(found)

    def _number(self, node: Node) -> int:
        number = self._numbers.get(node)
        if number is None:
            number = len(self._leaves) + len(self._nodes)
            self._add(number, node)
        return number

    def _add(self, number: int, node: Node) -> None:
        self._nodes[number] = node
        self._numbers.setdefault(node, number)
        self._slots_below[number] = frozenset({node.slot}.union(*(self._slots_below[c] for c in node.children)))


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
