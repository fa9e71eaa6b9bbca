"""Random expressions, of the kind that was asked for and reading only what may be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.strategies.words import (
    BOOLEAN,
    INTEGER,
    DefinitionWords,
    Dice,
    Kind,
    ProcessWords,
    Var,
    View,
    Words,
    optional,
)

# Of a hundred integers in a place that only takes some, so many may be any.
UNSAFE = 4
QUANTIFIED = ("i", "j", "k")


class Formulas:
    """Writes expressions as text."""

    def __init__(self, dice: Dice, words: Words) -> None:
        self.dice = dice
        self.words = words

    # -- by kind ----------------------------------------------------------------------------------------------------

    def value(self, kind: Kind, view: View, depth: int) -> str:
        """Write a value of a type; an integer is nearly always one of its range."""
        if kind.kind == "bool":
            return self.boolean(view, depth)
        if kind.kind == INTEGER:
            return self.within(kind, view, depth)
        if kind.inner is not None:
            return self.optional(kind, kind.inner, view, depth)
        if kind.element is not None:
            return self.set(kind, kind.element, view, depth)
        return self.literal(kind, view, depth)

    def optional(self, kind: Kind, inner: Kind, view: View, depth: int) -> str:
        """Write a value of `T?`."""
        roll = self.dice.number(0, 9)
        if roll >= 6 and (read := self._read(lambda var: var.kind.kind == kind.kind and kind.holds(var.kind), view)):
            return read
        if roll >= 5 and depth > 0:
            sides = [self.value(inner, view, 0), "None"]
            if self.dice.chance(50):
                sides.reverse()
            return f"({sides[0]} if {self.boolean(view, 0)} else {sides[1]})"
        return "None" if roll >= 3 else self.value(inner, view, depth)

    def set(self, kind: Kind, element: Kind, view: View, depth: int) -> str:
        """Write a set, of elements that are nearly always of its type."""
        roll = self.dice.number(0, 9)
        if roll >= 6 and (read := self._read(lambda var: var.kind.kind == kind.kind and kind.holds(var.kind), view)):
            return read
        if roll == 5 and depth > 0:
            sides = [self.set(kind, element, view, depth - 1), self.set(kind, element, view, 0)]
            return f"({sides[0]} if {self.boolean(view, 0)} else {sides[1]})"
        if roll >= 4 and depth > 0:
            operator = self.dice.one(["|", "&"])
            return f"({self.set(kind, element, view, depth - 1)} {operator} {self.set(kind, element, view, 0)})"
        if roll == 3:
            return "set()"
        elements = [self.value(element, view, 0) for _ in range(self.dice.number(1, 2))]
        return f"{{{', '.join(elements)}}}"

    def any_value(self, kind: Kind, view: View, depth: int) -> str:
        """Write a value of the kind, whatever its range."""
        return self.integer(view, depth) if kind.kind == INTEGER else self.value(kind, view, depth)

    def boolean(self, view: View, depth: int) -> str:
        """Write a truth value."""
        options: list[tuple[int, Callable[[View, int], str]]] = [
            (8, self._comparison),
            (3, self._plain),
            (3, self._member),
        ]
        if view.processes and self.words.sequential:
            options.append((4, self._life))
        if depth > 0:
            options += [
                (3, self._junction),
                (2, self._negation),
                (3, self._implication),
                (4, self._quantified),
                (1, self._choice),
            ]
        return self.dice.weighted(options)(view, depth)

    def integer(self, view: View, depth: int) -> str:
        """Write an integer."""
        options: list[tuple[int, Callable[[View, int], str]]] = [(4, self._integer_constant), (6, self._integer_read)]
        if depth > 0:
            options += [
                (1, self._size),
                (3, self._arithmetic),
                (2, self._extremum),
                (1, self._integer_choice),
                (1, self._counted),
            ]
        return self.dice.weighted(options)(view, depth)

    def literal(self, kind: Kind, view: View, depth: int) -> str:
        """Write a value of an enumeration."""
        roll = self.dice.number(0, 9)
        if depth > 0 and roll == 9:
            return (
                f"({self.literal(kind, view, 0)} if {self.boolean(view, 0)} else {self.literal(kind, view, depth - 1)})"
            )
        if roll >= 6:
            return self._read(lambda var: var.kind.kind == kind.kind, view) or self._bare(kind)
        return self._bare(kind)

    def within(self, kind: Kind, view: View, depth: int) -> str:
        """Write an integer of a range, except once in a while."""
        if self.dice.chance(UNSAFE):
            return self.integer(view, depth)
        roll = self.dice.number(0, 9)
        if roll >= 5 and (read := self._read(lambda var: kind.holds(var.kind), view)):
            return read
        if roll >= 3 and depth > 0:
            low, high = kind.bounds
            inside = self.integer(view, depth - 1)
            return (
                f"min(max({inside}, {low}), {high})" if self.dice.chance(70) else f"max({low}, min({high}, {inside}))"
            )
        return self._constant_of(kind)

    def advanced(self, var: Var, view: View) -> str:
        """Write the value that comes after the present one, the first after the last."""
        present = self.element(var, view)
        if var.kind.inner is not None:
            if var.kind.inner.kind != INTEGER:
                return f"None if {present} != None else {self.value(var.kind.inner, view, 0)}"
            low, high = var.kind.inner.bounds
            return f"{low} if {present} in {{None, {high}}} else {present} + 1"
        if var.kind.element is not None:
            word = self.dice.one(["| ", "& "])
            return f"{present} {word}{self.set(var.kind, var.kind.element, view, 0)}"
        if var.kind.kind == "bool":
            return f"not {present}"
        if var.kind.kind == INTEGER:
            low, high = var.kind.bounds
            return f"{low} if {present} == {high} else {present} + 1"
        first, second = self._bare(var.kind), self._bare(var.kind)
        return f"{second} if {present} == {first} else {first}"

    # -- reading ----------------------------------------------------------------------------------------------------

    def readable(self, view: View) -> list[Var]:
        """Return what can be read by its bare name."""
        found = [*view.locals]
        if view.state:
            found += self.words.variables
            if view.process is not None:
                found += view.process.volatile
            if view.ghosts:
                found += self.words.ghosts
        return found + self.words.parameters

    def element(self, var: Var, view: View) -> str:
        """Write a variable with as many indices as it needs."""
        if not var.per:
            return var.text
        return f"{var.text}[{', '.join(self.index(kind, view) for kind in var.per)}]"

    def index(self, kind: Kind, view: View) -> str:
        """Write an index of an array, nearly always one that it has."""
        if kind.kind == INTEGER and self.dice.chance(UNSAFE):
            return self.integer(view, 1)
        wanted = optional(kind) if self.dice.chance(UNSAFE) else kind
        names = [var.text for var in self.readable(view) if not var.per and wanted.holds(var.kind)]
        if view.process is not None and view.process.name == kind.text:
            names.insert(0, "self")
        if names and self.dice.chance(70):
            return self.dice.one(names)
        return self._constant_of(kind) if kind.kind == INTEGER else self._constant(kind)

    def instance(self, process: ProcessWords, view: View) -> str:
        """Write which instance of a process; once in a while one that it has not."""
        if self.dice.chance(UNSAFE):
            return str(process.count)
        names = [var.text for var in view.locals if var.kind.text == process.name]
        if view.process is process:
            names.append("self")
        return self.dice.one(names) if names and self.dice.chance(80) else str(self.dice.number(0, process.count - 1))

    def _read(self, fits: Callable[[Var], bool], view: View) -> str:
        """Write a variable, column, definition or another instance's memory that fits; nothing where there is none."""
        options: list[tuple[int, Callable[[], str]]] = []
        perhaps = [v for v in self.readable(view) if v.kind.inner is not None and fits(Var("", v.kind.inner))]
        if perhaps:
            options.append((2, lambda: self._given(self.dice.one(perhaps), view)))
        plain = [var for var in self.readable(view) if fits(var) and not var.kind.counter]
        if plain:
            options.append((8, lambda: self.element(self.dice.one(plain), view)))
        if view.state:
            definitions = [
                d for d in self.words.definitions if fits(Var("", d.kind)) and d.process in (None, self._own(view))
            ]
            if definitions:
                options.append((3, lambda: self._call(self.dice.one(definitions), view)))
        if view.state and view.tables:
            columns = [
                f"{table.name}.{column.text}"
                for table in self.words.tables
                if table.process in (None, self._own(view))
                for column in table.columns
                if fits(column)
            ]
            if columns:
                options.append((3, lambda: self.dice.one(columns)))
        others = [
            (p, var)
            for p in self.words.sequential
            if view.processes or (view.state and view.process is p)
            for var in p.volatile
            if fits(var)
        ]
        if others:
            options.append((3, lambda: self._of_instance(*self.dice.one(others), view)))
        if not options:
            return ""
        text = self.dice.weighted(options)()
        return f"next({text})" if view.transitions and "next(" not in text and self.dice.chance(50) else text

    def _given(self, var: Var, view: View) -> str:
        """Write the value of a `T?` where a T is wanted, mostly with another for `None`."""
        text = self.element(var, view)
        assert var.kind.inner is not None
        if self.dice.chance(20):
            return text
        inner = var.kind.inner
        instead = self._constant_of(inner) if inner.kind == INTEGER else self._constant(inner)
        return f"({instead} if {text} == None else {text})"

    def _own(self, view: View) -> str | None:
        return view.process.name if view.process is not None else None

    def _call(self, definition: DefinitionWords, view: View) -> str:
        if not definition.arguments:
            return definition.name
        inner = replace(view, transitions=False)
        return f"{definition.name}({', '.join(self.value(kind, inner, 0) for kind in definition.arguments)})"

    def _of_instance(self, process: ProcessWords, var: Var, view: View) -> str:
        instance = self.instance(process, view) if view.processes else "self"
        return self.element(replace(var, text=f"{process.name}[{instance}].{var.text}"), view)

    # -- truth values -----------------------------------------------------------------------------------------------

    def _plain(self, view: View, depth: int) -> str:
        del depth
        return self._read(lambda var: var.kind is BOOLEAN, view) or ("True" if self.dice.chance(70) else "False")

    def _comparison(self, view: View, depth: int) -> str:
        kinds = [var.kind for var in self.readable(view)]
        if not kinds:
            return "True"
        kind = self.dice.one(kinds)
        if kind.counter:
            return self._told_apart(view)
        if kind.inner is not None:
            return self._about_none(kind, kind.inner, view)
        if kind.element is not None:
            return self._about_set(kind, kind.element, view)
        left = self._read(lambda var: var.kind.kind == kind.kind, view)
        if not left:
            return "False"
        if kind.kind != INTEGER:
            read = "" if self.dice.chance(60) else self._read(lambda var: var.kind.kind == kind.kind, view)
            right = read or self._constant(kind)
            if right == left:
                right = self._constant(kind)
            operator = self.dice.one(["==", "!="])
            return f"({right} {operator} {left})" if self.dice.chance(15) else f"({left} {operator} {right})"
        right = self._small(kind) if self.dice.chance(60) else self.within(kind, view, max(depth - 1, 0))
        if right == left:
            right = self._small(kind)
        if self.dice.chance(10):
            return f"({self._small(kind)} <= {left} {self.dice.one(['<', '<=', '!='])} {right})"
        return f"({left} {self.dice.one(['==', '<=', '>', '!=', '<', '>='])} {right})"

    def _about_none(self, kind: Kind, inner: Kind, view: View) -> str:
        """Write something about a `T?`; an order is mostly asked only where there is a value."""
        left = self._read(lambda var: var.kind.kind == kind.kind, view) or "None"
        roll = self.dice.number(0, 9)
        if left == "None" or roll < 3:
            return f"({left} {self.dice.one(['==', '!='])} None)"
        if roll < 5:
            return f"({left} {self.dice.one(['==', '!='])} {self.value(kind, view, 0)})"
        if roll < 7:
            return f"({left} {self.dice.one(['in', 'not in'])} {{None, {self.value(inner, view, 0)}}})"
        if inner.kind != INTEGER:
            return f"({self.value(inner, view, 0)} == {left})"
        order = f"{left} {self.dice.one(['<', '<=', '>'])} {self._small(inner)}"
        guard = self.dice.one(["{} != None and {}", "{} == None or {}"]) if self.dice.chance(80) else "{1}"
        return f"({guard.format(left, order)})" if guard != "{1}" else f"({order})"

    def _about_set(self, kind: Kind, element: Kind, view: View) -> str:
        """Write something about a set."""
        left = self._read(lambda var: var.kind.kind == kind.kind, view)
        if not left:
            return "True"
        roll = self.dice.number(0, 9)
        if roll < 5:
            item = self.value(optional(element) if self.dice.chance(20) else element, view, 0)
            return f"({item} {self.dice.one(['in', 'not in'])} {left})"
        if roll < 7:
            return f"({left} {self.dice.one(['==', '!='])} {self.set(kind, element, view, 1)})"
        if roll < 8:
            return f"({self.set(kind, element, view, 0)} == {left})"
        return f"(size({left}) {self.dice.one(['==', '<', '>='])} {self.dice.number(0, 2)})"

    def _told_apart(self, view: View) -> str:
        """Write a comparison of a counter with a number that it can tell from what is above."""
        counter = self.dice.one([var for var in self.readable(view) if var.kind.counter])
        left = self.element(counter, view)
        if view.transitions and "next(" not in left and self.dice.chance(50):
            left = f"next({left})"
        operator = self.dice.one(["==", "!=", "<", "<=", ">", ">="])
        right = self.dice.number(0, counter.kind.high - (operator in {"<=", ">"}))
        return f"({left} {operator} {right})"

    def _member(self, view: View, depth: int) -> str:
        kinds = [var.kind for var in self.readable(view) if var.kind is not BOOLEAN]
        if not kinds:
            return "True"
        kind = self.dice.one(kinds)
        if kind.counter:
            return self._told_apart(view)
        if kind.inner is not None:
            return self._about_none(kind, kind.inner, view)
        if kind.element is not None:
            return self._about_set(kind, kind.element, view)
        item = self._read(lambda var: var.kind.kind == kind.kind, view)
        if not item:
            return "True"
        word = "not in" if self.dice.chance(20) else "in"
        ranges = [other.text for other in self.words.types if other.kind == kind.kind and other.named]
        if ranges and self.dice.chance(15):
            return f"({item} {word} {self.dice.one(ranges)})"
        elements = [self.value(kind, view, min(depth, 1)) for _ in range(self.dice.number(1, 3))]
        return f"({item} {word} {{{', '.join(elements)}}})"

    def _life(self, view: View, depth: int) -> str:
        del depth
        process = self.dice.one(self.words.sequential)
        instance = f"{process.name}[{self.instance(process, view)}]"
        text = f"stopped({instance})" if self.dice.chance(25) else f"{instance}.at({self.dice.one(process.labels)})"
        if process.restarts != "at_once" and self.dice.chance(60):
            text = f"crashed({instance})"
        return f"next({text})" if view.transitions and self.dice.chance(40) else text

    def _junction(self, view: View, depth: int) -> str:
        word = self.dice.one([" and ", " or "])
        return f"({word.join(self.boolean(view, depth - 1) for _ in range(self.dice.number(2, 3)))})"

    def _negation(self, view: View, depth: int) -> str:
        return f"(not {self.boolean(view, depth - 1)})"

    def _implication(self, view: View, depth: int) -> str:
        return f"implies({self.boolean(view, depth - 1)}, {self.boolean(view, depth - 1)})"

    def _choice(self, view: View, depth: int) -> str:
        return f"({self.boolean(view, 0)} if {self.boolean(view, 0)} else {self.boolean(view, depth - 1)})"

    def _quantified(self, view: View, depth: int) -> str:
        word = self.dice.one(["all", "any"])
        clauses, inner = self._clause(view)
        if self.dice.chance(15):
            more, inner = self._clause(inner)
            clauses += more
        return f"{word}({self.boolean(inner, depth - 1)}{clauses})"

    def _clause(self, view: View) -> tuple[str, View]:
        free = [name for name in QUANTIFIED if all(name != var.text for var in view.locals)]
        if not free:
            return " for unused in bool", view
        kind = self.dice.one(self.words.domains())
        inner = view.knowing(Var(free[0], kind))
        condition = f" if {self.boolean(inner, 0)}" if self.dice.chance(20) else ""
        return f" for {free[0]} in {kind.text}{condition}", inner

    # -- integers ---------------------------------------------------------------------------------------------------

    def _integer_constant(self, view: View, depth: int) -> str:
        del view, depth
        return str(self.dice.one([0, 1, 2, -1, 3]))

    def _integer_read(self, view: View, depth: int) -> str:
        return self._read(lambda var: var.kind.kind == INTEGER, view) or self._integer_constant(view, depth)

    def _arithmetic(self, view: View, depth: int) -> str:
        operator = self.dice.weighted([(5, "+"), (4, "-"), (1, "*")])
        return f"({self.integer(view, depth - 1)} {operator} {self.integer(view, 0)})"

    def _size(self, view: View, depth: int) -> str:
        read = self._read(lambda var: var.kind.element is not None, view)
        return f"size({read})" if read else self._integer_read(view, depth)

    def _extremum(self, view: View, depth: int) -> str:
        items = [self.integer(view, depth - 1) for _ in range(self.dice.number(2, 3))]
        return f"{self.dice.one(['min', 'max'])}({', '.join(items)})"

    def _integer_choice(self, view: View, depth: int) -> str:
        return f"({self.integer(view, 0)} if {self.boolean(view, 0)} else {self.integer(view, depth - 1)})"

    def _counted(self, view: View, depth: int) -> str:
        clause, inner = self._clause(view)
        return f"count({self.boolean(inner, depth - 1)}{clause})"

    # -- constants --------------------------------------------------------------------------------------------------

    def _constant(self, kind: Kind) -> str:
        return self.dice.one(kind.literals) if kind.kind == "bool" else self._bare(kind)

    def _bare(self, kind: Kind) -> str:
        literal = self.dice.one(kind.literals)
        return f"{kind.text}.{literal}" if literal in self.words.shared_literals() or self.dice.chance(10) else literal

    def _constant_of(self, kind: Kind) -> str:
        roll = self.dice.number(0, 9)
        return kind.bounds[0] if roll < 3 else kind.bounds[1] if roll < 5 else self._small(kind)

    def _small(self, kind: Kind) -> str:
        return str(self.dice.number(kind.low, kind.high))
