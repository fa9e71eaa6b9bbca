"""Random step bodies: statements of every kind, with few enough paths to enumerate."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.strategies.formulas import Formulas
from tests.strategies.words import BOOLEAN, INTEGER, Dice, ProcessWords, Var, View, Words

# The most paths through one step that its choices and faults may make.
PATHS = 12
DEPTH = 2


@dataclass(frozen=True, slots=True)
class Block:
    """Some statements: their lines, whether no path leaves them, and whether they do more than count history."""

    lines: tuple[str, ...]
    ended: bool = False
    behaves: bool = False


class Bodies:
    """Writes the body of one step after the other."""

    def __init__(self, dice: Dice, words: Words, formulas: Formulas, padding: tuple[Var, ...]) -> None:
        self.dice = dice
        self.words = words
        self.formulas = formulas
        self.padding = padding
        self.process: ProcessWords
        self.label = ""
        self.crash = ""
        self.paths = 1
        self.repeated = 1
        self.fresh_names = 0

    def body(self, process: ProcessWords, label: str) -> str:
        """Write the body of a step."""
        self.process, self.label, self.crash = process, label, ""
        self.paths, self.repeated, self.fresh_names = 1, 1, 0
        view = View(process=process, processes=process.environment, step=True)
        opening: list[str] = []
        if self.words.versioned and not process.environment:
            store = self.dice.one(self.words.versioned)
            if label == process.labels[0]:
                opening = [f"read({store})"] if self.dice.chance(60) else []
            elif self.dice.chance(40):
                opening = [f"if not fresh({store}): goto({self.dice.one(process.labels)})"]
        if process.environment or self.dice.chance(8):
            lines, view = self._guard(view)
            opening += lines
        block = self.block(view, DEPTH, most=4)
        if label == process.labels[-1]:
            # A table that reads the memory of a process is well formed only where that process consults it.
            tables = [table for table in self.words.tables if table.process == process.name]
            opening += [
                f"if {table.name}.{table.columns[0].text} in {{{table.name}.{table.columns[0].text}}}: pass"
                for table in tables
            ]
        return "\n".join([*opening, *self._pad(view), *block.lines])

    def crash_body(self, process: ProcessWords, crash: str) -> str:
        """Write the body of a `torn` or an `on_crash`; in most cases it does something beside losing memory."""
        self.process, self.crash = process, crash
        self.paths, self.repeated, self.fresh_names = 4, 1, 0
        view = View(process=process, step=True)
        return "\n".join(self.block(view, 1, most=2).lines)

    def block(self, view: View, depth: int, most: int) -> Block:
        """Write one to `most` statements."""
        lines: list[str] = []
        behaves = False
        for _ in range(self.dice.number(1, most)):
            block, view = self.statement(view, depth)
            lines += block.lines
            behaves = behaves or block.behaves
            if block.ended:
                return Block(tuple(lines), ended=True, behaves=True)
        return Block(tuple(lines), behaves=behaves)

    def statement(self, view: View, depth: int) -> tuple[Block, View]:
        """Write one statement; the view knows a local more where it declares one."""
        options = [
            (10, self._assign),
            (3, self._augmented),
            (6, self._choose),
            (3, self._ghost),
            (1, self._pass),
            (4, self._change_set),
        ]
        options += [(3, self._check)] if self.words.checked else []
        if self.crash != "on_crash":
            options.append((1, self._when))
        if not self.crash:
            options.append((1, self._fault))
        if not self.process.environment and not self.crash:
            options += [(3, self._leave), (1, self._read)]
        if depth > 0:
            options += [(6, self._if), (3, self._for)]
        if self.dice.chance(12):
            return self._declare(view)
        return self.dice.weighted(options)(view, depth), view

    # -- assignments ------------------------------------------------------------------------------------------------

    def _targets(self, view: View) -> list[Var]:
        return [*self.words.variables, *self.process.volatile, *view.locals]

    def _assign(self, view: View, depth: int) -> Block:
        var = self.dice.one(self._targets(view))
        value = (
            self.formulas.advanced(var, view)
            if self.dice.chance(35)
            else self.formulas.value(var.kind, view, min(depth, 2))
        )
        return self._behaviour(f"{self.formulas.element(var, view)} = {value}")

    def _augmented(self, view: View, depth: int) -> Block:
        numbers = [var for var in self._targets(view) if var.kind.kind == INTEGER]
        if not numbers:
            return self._assign(view, depth)
        var = self.dice.one(numbers)
        target = self.formulas.element(var, view)
        operator = self.dice.weighted([(5, "+="), (5, "-="), (1, "*=")])
        amount = "1" if self.dice.chance(80) else self.formulas.integer(view, 0)
        if operator == "*=" or self.dice.chance(5):
            return self._behaviour(f"{target} {operator} {amount}")
        bound = f"{target} < {var.kind.bounds[1]}" if operator == "+=" else f"{target} > {var.kind.bounds[0]}"
        return self._behaviour(f"if {bound}: {target} {operator} 1")

    def _choose(self, view: View, depth: int) -> Block:
        var = self.dice.one(self._targets(view))
        target = self.formulas.element(var, view)
        if self.dice.chance(40) and (line := self._chosen_from(var, target, view)):
            return self._behaviour(line)
        domains = [kind for kind in self.words.domains(4) if var.kind.holds(kind) and self._affordable(kind.size)]
        if domains and self.dice.chance(50):
            kind = self.dice.one(domains)
            self._spend(kind.size)
            if self.crash != "on_crash" and self.dice.chance(40):
                condition = f"each {self.dice.one(('==', '!='))} {self.formulas.value(kind, view, 1)}"
                return self._behaviour(f"{target} = choose(each for each in {kind.text} if {condition})")
            return self._behaviour(f"{target} = choose({kind.text})")
        most = next((size for size in (3, 2) if self._affordable(size)), 0)
        if not most:
            return self._assign(view, depth)
        elements = [self.formulas.value(var.kind, view, 1) for _ in range(self.dice.number(2, most))]
        self._spend(len(elements))
        if self.dice.chance(15):
            elements.append(elements[0])
        return self._behaviour(f"{target} = choose({{{', '.join(elements)}}})")

    def _chosen_from(self, var: Var, target: str, view: View) -> str:
        """Write a choice from a set that the run decides; nothing where there is none, or it may have too many."""
        wanted = var.kind.inner or var.kind
        sets = [other for other in self._targets(view) if other.kind.element and wanted.holds(other.kind.element)]
        sets = [other for other in sets if other.kind.element and self._affordable(other.kind.element.size)]
        if not sets:
            return ""
        source = self.dice.one(sets)
        assert source.kind.element is not None
        self._spend(source.kind.element.size)
        return f"{target} = choose({self.formulas.element(source, view)})"

    def _change_set(self, view: View, depth: int) -> Block:
        """Write an addition to a set, or a removal from it."""
        sets = [var for var in self._targets(view) if var.kind.element is not None]
        if not sets:
            return self._assign(view, depth)
        var = self.dice.one(sets)
        assert var.kind.element is not None
        value = self.formulas.value(var.kind.element, view, 1)
        return self._behaviour(f"{self.formulas.element(var, view)}.{self.dice.one(['add', 'remove'])}({value})")

    def _fault(self, view: View, depth: int) -> Block:
        truths = [var for var in self._targets(view) if var.kind is BOOLEAN]
        if not truths or not self.words.faults or not self._affordable(2):
            return self._assign(view, depth)
        self._spend(2)
        return self._behaviour(
            f"{self.formulas.element(self.dice.one(truths), view)} = fault({self.dice.one(self.words.faults)})"
        )

    def _declare(self, view: View) -> tuple[Block, View]:
        kind = self.dice.one(self.words.domains())
        name = self._name("local")
        if kind is BOOLEAN and self.words.faults and not self.crash and self.dice.chance(30) and self._affordable(2):
            self._spend(2)
            value = f"fault({self.dice.one(self.words.faults)})"
        elif kind.size <= 4 and self.dice.chance(40) and self._affordable(kind.size):
            self._spend(kind.size)
            value = f"choose({kind.text})"
        else:
            value = self.formulas.value(kind, view, 1)
        return self._behaviour(f"{name}: {kind.text} = {value}"), view.knowing(Var(name, kind))

    def _ghost(self, view: View, depth: int) -> Block:
        if not self.words.ghosts:
            return self._assign(view, depth)
        var = self.dice.one(self.words.ghosts)
        target = self.formulas.element(var, view)
        if var.kind.element is not None and self.dice.chance(50):
            value = self.formulas.value(var.kind.element, replace(view, ghosts=True, processes=True), 0)
            return Block((f"{target}.{self.dice.one(['add', 'remove'])}({value})",))
        if var.kind.counter:
            return Block((f"{target} += {self.dice.weighted([(6, '1'), (1, '2'), (1, '0')])}",))
        seeing = replace(view, ghosts=True, processes=True)
        return Block((f"{target} = {self.formulas.value(var.kind, seeing, min(depth, 1))}",))

    # -- control ----------------------------------------------------------------------------------------------------

    def _guard(self, view: View) -> tuple[list[str], View]:
        """Write the opening of an environment step: often a choice of whom it concerns, and when it happens."""
        lines: list[str] = []
        domains = [kind for kind in self.words.domains(3) if kind.kind == INTEGER]
        if self.process.environment and domains and self.dice.chance(50):
            kind = self.dice.one(domains)
            name = self._name("whom")
            self._spend(kind.size)
            lines.append(f"{name}: {kind.text} = choose({kind.text})")
            view = view.knowing(Var(name, kind))
        return [*lines, f"when({self._condition(view, 1)})"], view

    def _when(self, view: View, depth: int) -> Block:
        return self._behaviour(f"when({self._condition(view, min(depth, 1))})")

    def _condition(self, view: View, depth: int) -> str:
        """Write a condition in which faults may be drawn and fresh bits tested."""
        plain = self.formulas.boolean(view, depth)
        tests = self.words.versioned and not self.process.environment and self.crash != "on_crash"
        if tests and self.dice.chance(20):
            fresh = f"fresh({self.dice.one(self.words.versioned)})"
            plain = self.dice.one([fresh, f"(not {fresh})", f"({fresh} and {plain})", f"({plain} or {fresh})"])
        if not self.words.faults or self.crash or not self.dice.chance(25) or not self._affordable(2):
            return plain
        self._spend(2)
        draw = f"fault({self.dice.one(self.words.faults)})"
        forms = [
            draw,
            f"{plain} and {draw}",
            f"{plain} or {draw}",
            f"not {draw}",
            f"{draw} and {plain}",
            f"not ({plain} or {draw})",
        ]
        if self._affordable(2) and self.dice.chance(20):
            self._spend(2)
            second = f"fault({self.dice.one(self.words.faults)})"
            forms = [f"{draw} and {second}", f"{draw} or {plain} and {second}", f"not {second} and ({plain} or {draw})"]
        return self.dice.one(forms)

    def _if(self, view: View, depth: int) -> Block:
        arms = [self.block(view, depth - 1, most=2) for _ in range(self.dice.weighted([(5, 1), (3, 2), (1, 3)]))]
        last = self.block(view, depth - 1, most=2) if self.dice.chance(40) else None
        blocks = [*arms, *([last] if last else [])]
        lines: list[str] = []
        for position, arm in enumerate(arms):
            word = "if" if position == 0 else "elif"
            # Only where nothing but history depends on it may a condition read history, and then it draws no fault.
            behaves = any(block.behaves for block in blocks[position:])
            condition = (
                self._condition(view, 1)
                if behaves
                else self.formulas.boolean(replace(view, ghosts=True, processes=True), 1)
            )
            lines += self._compound(f"{word} {condition}:", arm)
        if last:
            lines += self._compound("else:", last)
        ended = last is not None and all(block.ended for block in blocks)
        return Block(tuple(lines), ended=False, behaves=ended or any(block.behaves for block in blocks))

    def _for(self, view: View, depth: int) -> Block:
        domains = self.words.domains(3)
        kind = self.dice.one(domains)
        name = self._name("each")
        outer = self.repeated
        self.repeated = outer * kind.size
        block = self.block(view.knowing(Var(name, kind)), depth - 1, most=2)
        self.repeated = outer
        return Block(tuple(self._compound(f"for {name} in {kind.text}:", block)), behaves=block.behaves)

    def _leave(self, view: View, depth: int) -> Block:
        del view
        if depth == DEPTH and self.dice.chance(50):
            return self._behaviour("pass")
        if self.dice.chance(15):
            return Block(("stop()",), ended=True, behaves=True)
        return Block((f"goto({self.dice.one(self.process.labels)})",), ended=True, behaves=True)

    def _read(self, view: View, depth: int) -> Block:
        if not self.words.versioned:
            return self._assign(view, depth)
        return self._behaviour(f"read({self.dice.one(self.words.versioned)})")

    def _pass(self, view: View, depth: int) -> Block:
        del view, depth
        return Block(("pass",))

    def _check(self, view: View, depth: int) -> Block:
        seeing = replace(view, ghosts=True, processes=True)
        return self._behaviour(
            f"check({self.dice.one(self.words.checked)}, {self.formulas.boolean(seeing, min(depth, 1))})"
        )

    # -- helpers ----------------------------------------------------------------------------------------------------

    def _behaviour(self, line: str) -> Block:
        return Block((line,), behaves=True)

    def _compound(self, head: str, block: Block) -> list[str]:
        if len(block.lines) == 1 and block.lines[0].split(" ")[0] not in {"if", "for"} and self.dice.chance(40):
            return [f"{head} {block.lines[0]}"]
        return [head, *(f"    {line}" for line in block.lines)]

    def _name(self, stem: str) -> str:
        self.fresh_names += 1
        return f"{stem}{self.fresh_names}"

    def _affordable(self, answers: int) -> bool:
        return bool(self.paths * answers**self.repeated <= PATHS)

    def _spend(self, answers: int) -> None:
        self.paths *= answers**self.repeated

    def _pad(self, view: View) -> list[str]:
        """Write to the wide variables, if there are any: something that depends on a narrow one."""
        if not self.padding or not self.dice.chance(60):
            return []
        lines = []
        for var in self.dice.some(self.padding, 1, 3):
            first, second = self.dice.number(var.kind.low, var.kind.high), self.dice.number(var.kind.low, var.kind.high)
            lines.append(
                f"{self.formulas.element(var, view)} = {first} if {self.formulas.boolean(view, 0)} else {second}"
            )
        return lines
