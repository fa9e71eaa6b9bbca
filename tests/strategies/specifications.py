"""Random small specifications in the whole kernel language, well typed by construction.

The text is nearly always accepted, its space is nearly always small, and once in a while it errs at run time: an
assignment outside a type, an index outside an array, a table gap.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.strategies.bodies import Bodies
from tests.strategies.formulas import Formulas
from tests.strategies.words import (
    BOOLEAN,
    INTEGER,
    DefinitionWords,
    Dice,
    Kind,
    ProcessWords,
    TableWords,
    Var,
    View,
    Words,
    between,
    optional,
    set_of,
)

# The most combinations of values of all variables, labels and bits, reachable or not, under the default parameters.
ROOM = 3_000

# The most initial states, before `initially` is asked about them.
STARTS = 40


def specifications(*, wide: bool = False) -> SearchStrategy[str]:
    """Return a strategy for the YAML text of a specification.

    `wide` adds variables of a million values each, so that a state takes several machine words; few of their values can
    be reached.
    """
    return st.randoms(use_true_random=False).map(lambda random: _Writer(Dice(random), wide=wide).text())


class _Writer:
    def __init__(self, dice: Dice, *, wide: bool) -> None:
        self.dice = dice
        self.wide = wide
        self.words = Words()
        self.formulas = Formulas(dice, self.words)
        self.padding: tuple[Var, ...] = ()
        self.bound = dice.number(1, 3)
        self.natural = False
        self.room = ROOM
        self.starts = STARTS
        self.lines: list[str] = []

    def text(self) -> str:
        """Write the whole file."""
        self.lines = ["language: 1", "protocol: random", ""]
        self._parameters()
        self._types()
        self._process_words()
        self._stores()
        self._ghosts()
        self._volatile()
        faults = self._fault_words()
        self._section("faults", faults)
        self._restarts()
        self._definitions()
        self._tables()
        self.words.checked += [f"checked{number}" for number in range(self.dice.weighted([(3, 0), (3, 1), (2, 2)]))]
        bodies = Bodies(self.dice, self.words, self.formulas, self.padding)
        self._processes(bodies)
        self._initially()
        properties = self._properties()
        self._scenarios(bodies, properties)
        return "\n".join(self.lines) + "\n"

    def _section(self, name: str, lines: list[str]) -> None:
        if lines:
            self.lines += [f"{name}:", *(f"  {line}" for line in lines), ""]

    # -- parameters, types, processes -------------------------------------------------------------------------------

    def _parameters(self) -> None:
        lines, words = [], self.words
        if self.dice.chance(60):
            lines.append("n: {default: 2, range: 1..3}")
            words.parameters.append(Var("n", between("1", "3", 1, 3)))
        if self.dice.chance(25):
            lines.append("shift: {default: -1, range: -1..1}")
            words.parameters.append(Var("shift", between("-1", "1", -1, 1)))
        if self.dice.chance(40):
            lines.append(f"flag: {{default: {self.dice.one(['true', 'false'])}}}")
            words.parameters.append(Var("flag", BOOLEAN))
        if self.dice.chance(30):
            mode = Kind("mode", "mode", literals=("lazy", "eager"))
            lines.append("mode: {default: eager, one_of: [lazy, eager]}")
            words.parameters.append(Var("mode", mode))
            words.types.append(mode)
        self._section("parameters", lines)

    def _has(self, name: str) -> bool:
        return any(var.text == name for var in self.words.parameters)

    def _types(self) -> None:
        lines = ["Colour: [red, green, blue]"]
        kinds = [Kind("Colour", "Colour", literals=("red", "green", "blue"))]
        if self.dice.chance(40):
            lines.append("Mood: [calm, red]")
            kinds.append(Kind("Mood", "Mood", literals=("calm", "red")))
        lines.append("Small: 0..2")
        kinds.append(between("0", "2", 0, 2, "Small"))
        if self.dice.chance(40):
            lines.append("Signed: -1..1")
            kinds.append(between("-1", "1", -1, 1, "Signed"))
        if self._has("n") and self.dice.chance(60):
            low, first = self.dice.one([("1", 1), ("0", 0), ("1 - n", -1)])
            lines.append(f"Sized: {low}..n")
            kinds.append(between(low, "n", first, 2, "Sized"))
        if self._has("shift") and self.dice.chance(60):
            lines.append("Shifted: shift..shift + 1")
            kinds.append(between("shift", "shift + 1", -1, 0, "Shifted"))
        if self.dice.chance(20):
            inner = self.dice.one(kinds)
            lines.append(f"Perhaps: {inner.text}?")
            kinds.append(optional(inner, "Perhaps"))
        if self.dice.chance(20):
            element = self.dice.one([kind for kind in [*kinds, BOOLEAN] if kind.inner is None])
            lines.insert(0, f"Some: set of {element.text}")
            kinds.append(set_of(element, "Some"))
        self.words.types += kinds
        self._section("types", lines)

    def _process_words(self) -> None:
        for name in ["worker", "helper"][: self.dice.weighted([(3, 1), (2, 2)])]:
            count = 2 if name == "worker" and self.dice.chance(35) else 1
            text = "n" if count == 2 and self._has("n") else str(count)
            letter = name[0]
            labels = tuple(f"{letter}{number}" for number in range(self.dice.number(2, 4 if name == "worker" else 3)))
            self.words.processes[name] = ProcessWords(
                name, environment=False, count=count, count_text=text, labels=labels
            )
            if self.dice.chance(20):
                self.words.processes[name].boot = self.dice.one(labels)
            self.room //= len(labels) ** count
        if self.dice.chance(50):
            count = 2 if self.dice.chance(10) else 1
            labels = ("happen", "other")[: self.dice.number(1, 2)]
            self.words.processes["world"] = ProcessWords(
                "world", environment=True, count=count, count_text=str(count), labels=labels
            )

    # -- variables --------------------------------------------------------------------------------------------------

    def _variable_kind(self) -> Kind:
        roll = self.dice.number(0, 9)
        if roll < 8:
            return self._plain_kind()
        plain = self._plain_kind()
        if plain.inner is not None or plain.element is not None or plain.text == "nat":
            return plain
        return optional(plain) if roll == 8 else set_of(plain)

    def _plain_kind(self) -> Kind:
        kinds = [*self.words.types, *(process.kind for process in self.words.sequential if process.count > 1)]
        if self.dice.chance(12):
            self.natural = True
            return Kind("nat", INTEGER, 0, self.bound, named=False, bounds=("0", "1"))
        if self.dice.chance(25):
            choices = [between("0", "1", 0, 1), between("-2", "0", -2, 0), between("1", "3", 1, 3)]
            choices += [between("0", "n", 0, 2), between("-n", "-1", -2, -1)] if self._has("n") else []
            return self.dice.one(choices)
        return self.dice.one(kinds)

    def _index_kinds(self) -> tuple[Kind, ...]:
        kinds = [kind for kind in self.words.numbering(3) if kind.kind == INTEGER] + [
            between("0", "1", 0, 1),
            between("-1", "0", -1, 0),
        ]
        if self.dice.chance(15):
            literal = self.words.numbering(2)
            return (self.dice.one(kinds), self.dice.one(literal)) if self.dice.chance(50) else (self.dice.one(literal),)
        return (self.dice.one(kinds),)

    def _variable(self, name: str, owner: str, instances: int, *, text: str = "") -> tuple[Var, str] | None:
        """Draw a variable and its declaration; None where there is no room for it."""
        kind = self._variable_kind()
        per = self._index_kinds() if self.dice.chance(30) else ()
        var = Var(text or name, kind, per, owner)
        states = var.states**instances
        if states > self.room and per:
            var = Var(text or name, kind, (), owner)
            states = var.states**instances
        if states > self.room:
            return None
        self.room //= states
        parts = [f"type: {_quoted(kind)}"]
        if var.per:
            parts.append(
                f"per: {var.per[0].text}" if len(var.per) == 1 else f"per: [{', '.join(k.text for k in var.per)}]"
            )
        free = owner not in self.words.processes and var.states <= self.starts
        if free and kind.text != "nat" and self.dice.chance(12):
            self.starts //= var.states
            parts.append("init: any")
        elif self.dice.chance(30):
            parts.append(f"init: {self._initial(kind)}")
        return var, f"{name}: {{{', '.join(parts)}}}"

    def _initial(self, kind: Kind) -> str:
        if kind.inner is not None:
            return "None" if self.dice.chance(30) else self._initial(kind.inner)
        if kind.element is not None:
            return f"[{', '.join(self._initial(kind.element) for _ in range(self.dice.number(0, 2)))}]"
        if kind.kind == "bool":
            return "flag" if self._has("flag") and self.dice.chance(40) else self.dice.one(["true", "false"])
        if kind.kind == INTEGER:
            return self.dice.one(kind.bounds)
        if kind.text == "mode" and self.dice.chance(40):
            return "parameters.mode"
        return self.dice.one(kind.literals)

    def _stores(self) -> None:
        lines: list[str] = []
        both = self.dice.chance(15)
        for store in ["left", "right"][: self.dice.number(1, 2)]:
            self.words.stores[store] = self.dice.chance(70 if store == "left" else 30)
            lines += [f"{store}:", *(["  versioned: true"] if self.words.stores[store] else []), "  holds:"]
            for number in range(self.dice.number(1, 3)):
                short = f"{store[0]}{number}" if not both else f"v{number}"
                qualified = both or self.dice.chance(10)
                made = self._variable(short, store, 1, text=f"{store}.{short}" if qualified else "")
                if made is not None:
                    self.words.variables.append(made[0])
                    lines.append(f"    {made[1]}")
            if lines[-1] == "  holds:":
                lines.append("    spare: {type: bool}")
                self.words.variables.append(Var("spare" if store == "left" else "right.spare", BOOLEAN, (), store))
        if self.wide:
            lines += self._padding()
        self._section("stores", lines)

    def _padding(self) -> list[str]:
        padding = [Var(f"pad{number}", self._pad_kind(), (), "filler") for number in range(self.dice.number(3, 10))]
        if self.dice.chance(50):
            padding.append(Var("pads", self._pad_kind(), (between("0", "2", 0, 2),), "filler"))
        self.padding = tuple(padding)
        lines = ["filler:", "  holds:"]
        for var in padding:
            initial = self.dice.number(var.kind.low, var.kind.high)
            per = ", per: 0..2" if var.per else ""
            lines.append(f"    {var.text}: {{type: {var.kind.text}{per}, init: {initial}}}")
        return lines

    def _pad_kind(self) -> Kind:
        return self.dice.one(
            [
                between("0", "999999", 0, 999_999),
                between("-500000", "499999", -500_000, 499_999),
                between("-3", "65532", -3, 65_532),
            ]
        )

    def _ghosts(self) -> None:
        lines: list[str] = []
        if self.dice.chance(50) and self.room >= 4:
            most = self.dice.number(1, 2)
            kind = Kind(f"counter {most}", INTEGER, 0, most, named=False, bounds=("0", str(most)), counter=True)
            per = self._index_kinds() if self.dice.chance(30) and self.room >= 27 else ()
            var = Var("g0", kind, per, "ghost")
            self.room //= min(self.room, var.states)
            self.words.ghosts.append(var)
            over = f", per: [{', '.join(k.text for k in per)}]" if per else ""
            lines.append(f"g0: {{type: {kind.text}{over}}}")
        if self.dice.chance(25) and (made := self._variable("g1", "ghost", 1)) is not None:
            self.words.ghosts.append(made[0])
            lines.append(made[1])
        self._section("ghost", lines)

    def _volatile(self) -> None:
        self.volatile_lines: dict[str, list[str]] = {}
        for process in self.words.sequential:
            self.volatile_lines[process.name] = lines = []
            for number in range(self.dice.number(0, 2)):
                made = self._variable(f"m{number}", process.name, process.count)
                if made is not None:
                    process.volatile.append(made[0])
                    keep = self.dice.chance(25)
                    process.kept = process.kept or keep
                    lines.append(f"{made[1][:-1]}, keep: true}}" if keep else made[1])

    # -- faults, definitions, tables --------------------------------------------------------------------------------

    def _fault_words(self) -> list[str]:
        lines: list[str] = []
        self.crashes: dict[str, list[str]] = {}
        sequential = [process.name for process in self.words.sequential]
        for name in ["crash", "power_cut"][: self.dice.weighted([(3, 0), (5, 1), (1, 2)])]:
            self.crashes[name] = self.dice.some(sequential, 1, 2)
            most = self.dice.one(
                ["", ", at_most: unlimited", ", at_most: 1", ", at_most: 0", ", at_most: n" if self._has("n") else ""]
            )
            lines.append(f"{name}: {{of: [{', '.join(self.crashes[name])}]{most}}}")
        for name in ["lost", "late"][: self.dice.number(0, 2)]:
            self.words.faults.append(name)
            most = self.dice.one(["{at_most: unlimited}", "{at_most: 1}", "{at_most: 2}", "{at_most: 0}", "{}"])
            lines.append(f"{name}: {most}")
        return lines

    def _restarts(self) -> None:
        """Let some of the processes that crash stay down."""
        for name in sorted({name for victims in self.crashes.values() for name in victims}):
            process = self.words.processes[name]
            process.crashes = True
            process.torn = [label for label in process.labels if self.dice.chance(20)]
            if self.dice.chance(40):
                process.restarts = self.dice.weighted([(3, "later"), (1, "never")])

    def _definitions(self) -> None:
        lines: list[str] = []
        for number in range(self.dice.number(0, 3)):
            arguments = tuple(self.dice.one(self.words.domains(3)) for _ in range(self.dice.number(0, 2)))
            owners = [p for p in self.words.sequential if p.volatile]
            owner = self.dice.one(owners) if owners and self.dice.chance(25) else None
            kind = self.dice.one(
                [BOOLEAN, BOOLEAN, self.words.types[1], Kind("number", INTEGER, -1_000, 1_000, bounds=("0", "1"))]
            )
            view = View(process=owner, tables=False)
            view = view.knowing(*(Var(f"given{place}", argument) for place, argument in enumerate(arguments)))
            body = self.formulas.any_value(kind, view, 2)
            name = f"d{number}"
            head = f"{name}({', '.join(f'given{place}' for place in range(len(arguments)))})" if arguments else name
            lines.append(f'{head}: "{body}"')
            self.words.definitions.append(DefinitionWords(name, arguments, kind, owner.name if owner else None))
        self._section("definitions", lines)

    def _tables(self) -> None:
        lines: list[str] = []
        tables: list[TableWords] = []
        for name in ["plan", "verdict"][: self.dice.weighted([(4, 0), (4, 1), (1, 2)])]:
            owners = [p for p in self.words.sequential if p.volatile]
            owner = self.dice.one(owners) if owners and self.dice.chance(40) else None
            columns = tuple(
                Var(f"c{number}", self.dice.one(self.words.types)) for number in range(self.dice.number(1, 2))
            )
            view = View(process=owner, tables=False)
            lines += [f"{name}:", *(f"  {line}" for line in self._table(columns, view))]
            tables.append(TableWords(name, columns, owner.name if owner else None))
        # Known only now: no row may consult a table.
        self.words.tables += tables
        self._section("tables", lines)

    def _table(self, columns: tuple[Var, ...], view: View) -> list[str]:
        plain = [var for var in self.formulas.readable(view) if not var.per and var.kind.literals]
        first = not plain or self.dice.chance(50)
        conditions: list[str] = []
        if first:
            conditions = [self.formulas.boolean(view, 1) for _ in range(self.dice.number(1, 3))]
            conditions += ["True"] if self.dice.chance(90) else []
        else:
            var = self.dice.one(plain)
            conditions = [
                f"{var.text} == {literal}" if var.kind is BOOLEAN else f"{var.text} == {var.kind.text}.{literal}"
                for literal in var.kind.literals
            ]
            if self.dice.chance(10):
                conditions[0] += f" and {self.formulas.boolean(view, 0)}"
            if self.dice.chance(10):
                conditions.append(self.formulas.boolean(view, 0))
        default = self.dice.chance(40)
        lines = ["match: first" if first else "match: exclusive"] if first or self.dice.chance(50) else []
        lines.append(f"gives: {{{', '.join(f'{column.text}: {_quoted(column.kind)}' for column in columns)}}}")
        if default:
            lines.append(f'defaults: {{{columns[0].text}: "{self.formulas.value(columns[0].kind, view, 0)}"}}')
        lines.append("rows:")
        for number, condition in enumerate(conditions):
            left_out = default and self.dice.chance(30)
            given = columns[1:] if left_out else columns
            cells = [f'when: "{condition}"', *(f'{c.text}: "{self.formulas.value(c.kind, view, 1)}"' for c in given)]
            lines.append(f"  row{number}: {{{', '.join(cells)}}}")
        return lines

    # -- processes, properties, scenarios ---------------------------------------------------------------------------

    def _processes(self, bodies: Bodies) -> None:
        lines: list[str] = []
        for process in self.words.processes.values():
            lines.append(f"{process.name}:")
            if process.environment:
                lines.append("  environment: true")
            if process.count != 1 or self.dice.chance(20):
                lines.append(f"  count: {process.count_text}")
            if self.dice.chance(5):
                lines.append("  fair: false")
            lines += [f"  boot: {process.boot}"] if process.boot else []
            if process.restarts != "at_once" or (not process.environment and self.dice.chance(5)):
                lines.append(f"  restarts: {process.restarts}")
            if self.volatile_lines.get(process.name):
                lines += ["  volatile:", *(f"    {line}" for line in self.volatile_lines[process.name])]
            if process.crashes and self.dice.chance(35):
                body = bodies.crash_body(process, "on_crash")
                lines += ["  on_crash: |", *(f"    {line}" for line in body.split("\n"))]
            lines.append("  steps:")
            for label in process.labels:
                torn = bodies.crash_body(process, "torn") if label in process.torn else ""
                lines += self._step(label, bodies.body(process, label), "    ", torn)
        self._section("processes", lines)

    def _step(self, label: str, body: str, indent: str, torn: str) -> list[str]:
        if torn or self.dice.chance(15):
            settings = self.dice.one([["fair: false"], ["atomic: true"], ["fair: true", "atomic: true"]])
            if torn:
                settings = [*settings[:1], "torn: |", *(f"  {line}" for line in torn.split("\n"))]
            head = [f"{label}:", *(f"  {line}" for line in settings), "  do: |"]
            return [indent + line for line in [*head, *(f"    {line}" for line in body.split("\n"))]]
        return [indent + line for line in [f"{label}: |", *(f"  {line}" for line in body.split("\n"))]]

    def _initially(self) -> None:
        if self.starts < STARTS and self.dice.chance(70):
            view = View(ghosts=True, processes=True)
            self.lines += [f'initially: "{self.formulas.boolean(view, self.dice.number(0, 2))}"', ""]

    def _properties(self) -> list[str]:
        lines: list[str] = []
        names: list[str] = []
        # One that the bodies happen not to check would be refused.
        self.words.checked = [n for n in self.words.checked if any(f"check({n}," in line for line in self.lines)]
        for name in self.words.checked:
            names.append(name)
            lines.append(f"{name}: {{checked: it was drawn}}")
        for number in range(self.dice.number(1, 5)):
            kind = self.dice.one(["always", "step", "possible", "recoverable", "leads_to"])
            view = View(ghosts=True, processes=True, transitions=kind == "step")
            names.append(f"{kind}{number}")
            if kind == "leads_to":
                premise, goal = (self.formulas.boolean(view, self.dice.number(0, 2)) for _ in range(2))
                lines.append(f'{names[-1]}: {{leads_to: ["{premise}", "{goal}"]}}')
                continue
            lines.append(f'{names[-1]}: {{{kind}: "{self.formulas.boolean(view, self.dice.number(1, 3))}"}}')
        self._section("properties", lines)
        return names

    def _scenarios(self, bodies: Bodies, properties: list[str]) -> None:
        if self.natural:
            self.lines += [f"bound: {self.bound}", ""]
        names = self._variant(bodies)
        lines = ["baseline: {}"]
        for number in range(self.dice.number(0, 2)):
            parts = [f"variant: {names[0]}"] if names and self.dice.chance(50) else []
            if setting := self._settings():
                parts.append(f"set: {{{', '.join(setting)}}}")
            course = self._crash_course()
            parts += [f"crashes: [{', '.join(course)}]"] if course is not None else []
            if allowed := self._allowances(placed=course is not None):
                parts.append(f"allow: {{{', '.join(allowed)}}}")
            if self.natural and self.dice.chance(20):
                parts.append(f"bound: {self.dice.number(1, 4)}")
            if self.dice.chance(20):
                parts.append(f"breaks: [{properties[0]}]")
                parts.append("because: it was drawn")
            lines.append(f"scenario-{number}: {{{', '.join(parts)}}}")
        self._section("scenarios", lines)

    def _variant(self, bodies: Bodies) -> list[str]:
        if not self.dice.chance(30):
            return []
        process = self.dice.one(self.words.sequential)
        label = self.dice.one(process.labels[:-1])
        lines = ["changed:", "  processes:", f"    {process.name}:"]
        if process.restarts != "at_once" and self.dice.chance(50):
            lines.append(f"      restarts: {self.dice.one(['later', 'never'])}")
        lines += ["      steps:", f"        {label}: |"]
        self._section("variants", [*lines, *(f"          {line}" for line in bodies.body(process, label).split("\n"))])
        return ["changed"]

    def _settings(self) -> list[str]:
        values = {"n": ["1", "2", "3"], "shift": ["0", "1", "-1"], "flag": ["true", "false"], "mode": ["lazy", "eager"]}
        # A third worker squares the space once more than there is room for.
        if any(process.count_text == "n" for process in self.words.processes.values()):
            values["n"] = ["1", "2"]
        return [
            f"{var.text}: {self.dice.one(values[var.text])}" for var in self.words.parameters if self.dice.chance(50)
        ]

    def _kill_points(self, process: ProcessWords) -> list[str]:
        matters = process.restarts != "at_once" or (process.kept and not process.boot)
        labels = [label for label in process.labels if label != process.start or matters]
        return [f"{process.name}.{label}" for label in labels] + [
            f"{process.name}.{label}.torn" for label in process.torn
        ]

    def _crash_course(self) -> list[str] | None:
        """Draw where the crashes of a run fall in turn; None where that is not said."""
        if not self.crashes or self.dice.chance(65):
            return None
        victims = [victim for victims in self.crashes.values() for victim in victims]
        points = [point for victim in victims for point in self._kill_points(self.words.processes[victim])]
        return [self.dice.one(["anywhere", *points]) for _ in range(self.dice.number(0, 3))]

    def _allowances(self, *, placed: bool) -> list[str]:
        allowed = [
            f"{name}: {self.dice.one(['0', '1', '2', 'unlimited'])}"
            for name in self.words.faults
            if self.dice.chance(50)
        ]
        for name, victims in self.crashes.items():
            if placed:
                allowed += [f"{name}: {self.dice.one(['0', 'unlimited'])}"] if self.dice.chance(30) else []
                continue
            points = [point for victim in victims for point in self._kill_points(self.words.processes[victim])]
            if self.dice.chance(40):
                at = ", ".join(self.dice.some(points, 1, 2))
                most = self.dice.one([", at_most: 1", ", at_most: unlimited", ""])
                allowed.append(f"{name}: {{at: [{at}]{most}}}")
            elif self.dice.chance(50):
                allowed.append(f"{name}: {self.dice.one(['0', '1', 'unlimited'])}")
        return allowed


def _quoted(kind: Kind) -> str:
    """Write a type inside braces, where one of the two parsers of YAML takes no bare `?`."""
    return f'"{kind.text}"' if kind.text.endswith("?") else kind.text
