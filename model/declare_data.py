"""Parameters, types, stores, ghosts, faults and definitions: everything that tables, steps and properties speak of."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Hashable, Iterator
from collections.abc import Mapping as Names
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, TypeVar

from model import limits
from model.constants import constant_size
from model.declare_types import TypeReader
from model.diagnostics import Code, Diagnostics, did_you_mean, quoted
from model.expressions import Constant, Expression
from model.failures import Effort, Failed
from model.reader import Reader
from model.resolve import Parsed, describe
from model.scope import Declarations, Definition, Findings, ProcessHeader
from model.source import Span
from model.specification import UNLIMITED, Fault, Parameter, Role, Store, Unrolling, Variable
from model.types import (
    BOOL,
    INT,
    CounterType,
    EnumType,
    NatType,
    OptionalType,
    RangeType,
    SetType,
    Value,
    ValueType,
    whole,
    without_none,
)
from model.words import IDENTIFIER, PYTHON_WORDS, RESERVED
from model.yamlnodes import Entry, Mapping, Node, Scalar, Sequence

T = TypeVar("T")

_PARAMETER_KEYS = ("default", "range", "one_of", "note")
_VARIABLE_KEYS = ("type", "per", "init", "note")
_STORE_KEYS = ("versioned", "holds", "note")
_FAULT_KEYS = ("of", "at_most", "note")
_DATA_SECTIONS = ("parameters", "types", "stores", "ghost", "faults")


@dataclass(slots=True)
class Data:
    """What `DataReader.data` has read; shared by all specifications of a file that do not change it."""

    stores: dict[str, Store]
    ghosts: tuple[Variable, ...]
    declarations: Declarations
    findings: Findings


@dataclass(slots=True)
class DataCache:
    """What the specifications of one file share before anything is elaborated against their names."""

    data: dict[Hashable, Data] = field(default_factory=dict)
    parsed: Parsed = field(default_factory=dict)
    mentioned: dict[int, frozenset[str]] = field(default_factory=dict)
    """All names in the text of a definition, by the identity of its node."""
    alive: list[object] = field(default_factory=list)
    """Keeps the nodes whose identities are keys from being collected."""


class DataReader(TypeReader):
    """Reads the declarations of data of one (patched) YAML tree."""

    def __init__(self, root: Mapping, diagnostics: Diagnostics, cache: DataCache, effort: Effort) -> None:
        super().__init__(root, diagnostics, cache.parsed, effort)
        self._data_cache = cache
        cache.alive.append(root)

    def data(self) -> tuple[dict[str, Store], tuple[Variable, ...]]:
        """Read parameters, types, stores, ghosts and faults into the declarations; returns the stores and ghosts."""
        read = self.reader
        processes = read.section(self.root, "processes", "`processes`")
        self.limited(processes, "processes")
        environments = {name: _is_environment(entry) for name, entry in processes.entries.items()}
        nodes = tuple(id(read.entry(self.root, name)) for name in _DATA_SECTIONS)
        memories = tuple(id(node) for node in self._memories(processes))
        key = (nodes, tuple(environments.items()), memories)
        known = self._data_cache.data.get(key)
        if known is None:
            findings = self.expressions.separate()
            self.declarations.variable_names = frozenset(self._variable_names(processes))
            self.each("parameters", "a parameter", self._parameter, self.declarations.parameters)
            # Instances of a process are a type that other types may use, so the names of processes come first.
            for name in environments:
                self.declarations.processes[name] = _unread(name)
            self._types(environments)
            stores: dict[str, Store] = {}
            self.each("stores", "a store", self._store, stores)
            ghosts = self.variables(read.section(self.root, "ghost", "`ghost`"), "ghost", Role.GHOST)
            self.each("faults", "a fault", partial(self._fault, environments), self.declarations.faults, PYTHON_WORDS)
            # A copy: what later fails to be declared is this specification's own.
            declared = replace(self.declarations, failed=set(self.declarations.failed))
            known = self._data_cache.data[key] = Data(stores, ghosts, declared, findings)
        self._share(known.declarations)
        self.expressions.findings = known.findings
        return known.stores, known.ghosts

    def _share(self, known: Declarations) -> None:
        """Take over what has been declared before; the rest of the declarations is each specification's own."""
        own = self.declarations
        own.parameters, own.types, own.stores = known.parameters, known.types, known.stores
        own.shared, own.faults, own.variable_names = known.shared, known.faults, known.variable_names
        own.processes = dict(known.processes)
        own.failed = set(known.failed)
        own.incomplete = known.incomplete

    # -- helpers --------------------------------------------------------------------------------------------------

    def _memories(self, processes: Mapping) -> Iterator[Node]:
        for entry in processes.entries.values():
            if isinstance(entry.value, Mapping) and (volatile := entry.value.get("volatile")) is not None:
                yield volatile

    def _variable_names(self, processes: Mapping) -> Iterator[str]:
        """Yield all names that the file gives to variables, whether they turn out well or not."""
        places = [self.root.get("ghost"), *self._memories(processes)]
        stores = self.root.get("stores")
        if isinstance(stores, Mapping):
            places += [e.value.get("holds") for e in stores.entries.values() if isinstance(e.value, Mapping)]
        for place in places:
            if isinstance(place, Mapping):
                yield from place.entries

    # -- parameters and types -------------------------------------------------------------------------------------

    def each(
        self,
        key: str,
        what: str,
        read_one: Callable[[str, Entry], T],
        declared: dict[str, T],
        words: frozenset[str] = RESERVED,
    ) -> None:
        """Declare by name what a section has, each of them `what`; of what cannot be read note that it failed.

        `words` are those that cannot be names.
        """
        section = self.reader.section(self.root, key, f"`{key}`")
        self.limited(section, key)
        for name, entry in self.reader.named(section, what, words=words):
            one = self.reader.attempt(partial(read_one, name, entry))
            if one is None:
                self.declarations.failed.add(name)
            else:
                declared[name] = one

    def _parameter(self, name: str, entry: Entry) -> Parameter:
        read = self.reader
        mapping = read.mapping(entry.value, f"the parameter `{name}`")
        read.keys(mapping, _PARAMETER_KEYS, "a parameter", required=("default",), at=entry.key.span)
        default = read.scalar(mapping.entries["default"].value, "`default`")
        bounds, options = mapping.entries.get("range"), mapping.entries.get("one_of")
        if bounds is not None and options is not None:
            read.fail(Code.CONFLICTING_KEYS, "a parameter has `range` or `one_of`, not both", options.key.span)
        value_type: ValueType
        if options is not None:
            value_type = EnumType(name, self._words(options.value, f"`one_of` of `{name}`"))
            self.declarations.types[name] = value_type
        elif bounds is not None:
            value_type = self.range(read.scalar(bounds.value, "`range`"), None)
        elif default.kind == "bool":
            value_type = BOOL
        elif default.kind == "int":
            value_type = INT
        else:
            message = f"the default of `{name}` is neither a number nor `true` or `false`"
            help_text = (
                f"list the possible words: `one_of: [{default.text}, …]`" if IDENTIFIER.match(default.text) else ""
            )
            read.fail(Code.TYPE_MISMATCH, message, default.span, help=help_text)
        return Parameter(name, value_type, parameter_value(read, name, value_type, default), entry.key.span)

    # -- stores and variables -------------------------------------------------------------------------------------

    def _store(self, name: str, entry: Entry) -> Store:
        read = self.reader
        if not isinstance(entry.value, Mapping):
            self.declarations.incomplete = True
        mapping = read.mapping(entry.value, f"the store `{name}`")
        read.keys(mapping, _STORE_KEYS, "a store")
        node = read.entry(mapping, "versioned")
        versioned = node is not None and read.attempt(partial(read.flag, node, "`versioned`")) is not False
        self.declarations.stores[name] = versioned
        variables = self.variables(read.section(mapping, "holds", "`holds`"), name, Role.STORE)
        return Store(name, versioned, variables, entry.key.span)

    def variables(self, section: Mapping, owner: str, role: Role) -> tuple[Variable, ...]:
        """Read the variables of a store or process, or the ghosts."""
        self.limited(section, "variables")
        variables = []
        for name, entry in self.reader.named(section, "a variable"):
            variable = self.reader.attempt(partial(self._variable, name, owner, role, entry))
            if variable is None:
                self.declarations.failed.add(name)
                continue
            variables.append(variable)
            if role is not Role.VOLATILE:
                self.declarations.shared.setdefault(name, []).append(variable)
        return tuple(variables)

    def _variable(self, name: str, owner: str, role: Role, entry: Entry) -> Variable:
        read = self.reader
        mapping = read.mapping(entry.value, f"the variable `{name}`")
        keys = (*_VARIABLE_KEYS, "keep") if role is Role.VOLATILE else _VARIABLE_KEYS
        read.keys(mapping, keys, "a variable", required=("type",), at=entry.key.span)
        keep_node = mapping.get("keep") if role is Role.VOLATILE else None
        keep = keep_node is not None and read.flag(keep_node, "`keep`")
        type_node = mapping.entries["type"].value
        value_type = self.variable_type(type_node)
        if isinstance(value_type, CounterType) and role is not Role.GHOST:
            help_text = "a range counts exactly, up to its end"
            read.fail(Code.COUNTER_OUTSIDE_GHOSTS, "only ghosts are counters", type_node.span, help=help_text)
        per = self._per(read.entry(mapping, "per"))
        init_node = read.entry(mapping, "init")
        if init_node is None:
            return Variable(name, owner, role, value_type, per, None, entry.key.span, keep)
        if isinstance(init_node, Scalar) and init_node.text.strip() == "any":
            if role is Role.VOLATILE:
                message = "volatile memory has one value at the start, which is what a crash leaves behind"
                read.fail(Code.VALUE_NOT_ALLOWED, message, init_node.span, help="`choose` it in the first step")
            values = without_none(value_type)
            if isinstance(values, EnumType) and "any" in values.literals:
                message = f"`any` has two readings here: every value, and the literal of `{values.name}`"
                help_text = f"write `{values.name}.any` for the literal, or call the literal something else"
                read.fail(Code.AMBIGUOUS_NAME, message, init_node.span, help=help_text)
            if isinstance(value_type, NatType):
                message = "a `nat` cannot start with any value: there is no end of them"
                read.fail(Code.NAT_PLACE, message, init_node.span, help="let a step count up to where it should start")
            return Variable(name, owner, role, value_type, per, None, entry.key.span, starts_anywhere=True)
        if isinstance(init_node, Sequence):
            initial = self._initial_set(init_node, value_type)
        else:
            wanted = INT if isinstance(value_type, CounterType) else value_type
            initial = self.constant(init_node, wanted, "`init`")
        self._check_initial(name, value_type, initial)
        return Variable(name, owner, role, value_type, per, initial, entry.key.span, keep)

    def _per(self, node: Node | None) -> tuple[ValueType, ...]:
        if node is None:
            return ()
        nodes = node.items if isinstance(node, Sequence) else (node,)
        per = tuple(self.type_use(item, "`per`") for item in nodes)
        for item, value_type in zip(nodes, per, strict=True):
            if isinstance(value_type, CounterType):
                self.reader.fail(Code.COUNTER_USE, "a counter cannot number the elements of an array", item.span)
            if isinstance(value_type, OptionalType | SetType):
                message = f"{describe(value_type)} cannot number the elements of an array"
                self.reader.fail(Code.TYPE_MISMATCH, message, item.span)
        if not per:
            self.reader.fail(Code.NOTHING_DECLARED, "`per` names no type", node.span)
        self.expressions.findings.unrolled.setdefault(per, node.span)
        return per

    def _initial_set(self, node: Sequence, value_type: ValueType) -> Expression:
        """Read `init: [a, b]`, the elements of a set."""
        if not isinstance(value_type, SetType):
            message = f"a list at the start is the elements of a set, and this is {describe(value_type)}"
            self.reader.fail(Code.TYPE_MISMATCH, message, node.span)
        elements = [self.constant(item, value_type.element, "an element") for item in node.items]
        return self.expressions.set_of(tuple(elements), value_type, node.span)

    def _check_initial(self, name: str, value_type: ValueType, initial: Expression) -> None:
        """Refuse an initial value that is outside its type whatever the parameters are."""
        if not isinstance(initial, Constant) or initial.value is None:
            return
        value_type = without_none(value_type)
        low: Expression | None = None
        high: Expression | None = None
        if isinstance(value_type, CounterType):
            high = value_type.limit
        elif isinstance(value_type, RangeType):
            low, high = value_type.low, value_type.high
        elif isinstance(value_type, NatType):
            low = Constant(0, INT, initial.span)
        value = whole(initial.value) if not isinstance(initial.value, str) else 0
        below = isinstance(low, Constant) and value < whole(low.value)
        if below or (isinstance(high, Constant) and value > whole(high.value)):
            message = f"`{name}` starts with {value}, which is not in its type `{value_type}`"
            self.reader.fail(Code.VALUE_OUTSIDE_TYPE, message, initial.span)

    # -- faults ---------------------------------------------------------------------------------------------------

    def _fault(self, processes: Names[str, bool], name: str, entry: Entry) -> Fault:
        read = self.reader
        mapping = read.mapping(entry.value, f"the fault `{name}`")
        read.keys(mapping, _FAULT_KEYS, "a fault")
        of_node = read.entry(mapping, "of")
        crashes: tuple[str, ...] = ()
        if of_node is not None:
            crashes = tuple(self._crashing(item, processes) for item in read.names(of_node, "`of`"))
            if not crashes:
                read.fail(Code.NOTHING_DECLARED, "`of` names no process", of_node.span)
        elif name == "crash":
            message = "a crash says which processes it kills"
            read.fail(Code.MISSING_KEY, message, entry.key.span, help="add `of: [process]`")
        at_most: Expression | Literal["unlimited"]
        most = read.entry(mapping, "at_most")
        if most is not None:
            at_most = self._at_most(read.scalar(most, "`at_most`"))
        elif crashes:
            # Crashes are unlimited by default; every other fault is off until a scenario allows it.
            at_most = UNLIMITED
        else:
            at_most = Constant(0, INT, mapping.span)
        return Fault(name, crashes, at_most, entry.key.span)

    def _crashing(self, item: Scalar, processes: Names[str, bool]) -> str:
        """Return the name of a process that can crash."""
        if item.text not in processes:
            if self.declarations.excuses(item.text):
                raise Failed
            message = f"no process is named {quoted(item.text)}"
            self.reader.fail(Code.UNKNOWN_PROCESS, message, item.span, help=did_you_mean(item.text, processes))
        if processes[item.text]:
            message = f"{quoted(item.text)} is an environment, and an environment never crashes"
            self.reader.fail(Code.FAULT_OF, message, item.span)
        return item.text

    def _at_most(self, scalar: Scalar) -> Expression | Literal["unlimited"]:
        if scalar.text == UNLIMITED:
            return UNLIMITED
        known = [UNLIMITED, *self.declarations.parameters]
        if IDENTIFIER.match(scalar.text) and scalar.text not in known and not self.declarations.excuses(scalar.text):
            message = f"`at_most` is a number, a parameter or `{UNLIMITED}`, not {quoted(scalar.text)}"
            self.reader.fail(Code.FAULT_BUDGET, message, scalar.span, help=did_you_mean(scalar.text, known))
        at_most = self.expressions.in_constant(scalar, INT)
        if isinstance(at_most, Constant) and not 0 <= whole(at_most.value) <= limits.FAULT_BUDGET_MAX:
            message = f"`at_most` is `{UNLIMITED}` or 0 to {limits.FAULT_BUDGET_MAX:,}, not {at_most.value}"
            self.reader.fail(Code.FAULT_BUDGET, message, scalar.span)
        return at_most

    # -- definitions ----------------------------------------------------------------------------------------------

    def definitions(self) -> None:
        """Read all definitions as texts; what they say is elaborated where they stand."""
        section = self.reader.section(self.root, "definitions", "`definitions`")
        self.limited(section, "definitions")
        known = self.declarations.definitions
        for entry in section.entries.values():
            definition = self.reader.attempt(partial(self._definition, entry))
            if definition is None:
                name = entry.key.text.partition("(")[0].strip()
                self.declarations.failed |= {name, re.sub(r"\W", "_", name)}
            else:
                known[definition.name] = definition
        self._refuse_rings()

    def _definition(self, entry: Entry) -> Definition:
        read = self.reader
        key = entry.key
        found = re.fullmatch(r"\s*([^\s()]+)\s*(?:\(([^()]*)\))?\s*", key.text)
        if found is None:
            message = f"{quoted(key.text)} cannot name a definition"
            read.fail(Code.NOT_AN_IDENTIFIER, message, key.span, help="write `name` or `name(a, b)`")
        name, inside = found.group(1), found.group(2)
        arguments = tuple(word.strip() for word in inside.split(",")) if inside and inside.strip() else ()
        declarations = self.declarations
        for word in (name, *arguments):
            what = "a definition" if word == name else "the argument of a definition"
            if not IDENTIFIER.match(word) or word in RESERVED:
                read.fail(Code.NOT_AN_IDENTIFIER, f"{quoted(word)} cannot name {what}", key.span)
            code = Code.DECLARED_TWICE if word == name else Code.SHADOWED_NAME
            for kind, names in (("a parameter", declarations.parameters), ("a variable", declarations.variable_names)):
                if word in names:
                    message = f"`{word}` is also the name of {kind}"
                    read.fail(code, message, key.span, help="rename one of them")
        if name in declarations.definitions or name in arguments or len(set(arguments)) < len(arguments):
            read.fail(Code.DECLARED_TWICE, f"the definition {quoted(key.text)} declares a name twice", key.span)
        text = read.scalar(entry.value, f"the definition `{name}`")
        definition = Definition(name, arguments, text, key.span)
        self.expressions.parsed(definition)
        return definition

    def mentioned(self, definition: Definition) -> frozenset[str]:
        """Return all names in the text of a definition."""
        names = self._data_cache.mentioned.get(id(definition.text))
        if names is None:
            tree, _ = self.expressions.parsed(definition)
            names = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
            self._data_cache.mentioned[id(definition.text)] = names
        return names

    def _refuse_rings(self) -> None:
        """Refuse definitions that use themselves, directly or by way of others."""
        known = self.declarations.definitions
        uses = {name: self.mentioned(definition) & known.keys() for name, definition in known.items()}
        done: set[str] = set()
        for start in known:
            path: list[str] = []
            # Depth first, without recursion: a long chain of definitions is no reason to fail.
            stack: list[tuple[str, Iterator[str]]] = []
            if start not in done:
                stack.append((start, iter(sorted(uses[start]))))
                path.append(start)
            while stack:
                name, following = stack[-1]
                nearby = next(following, None)
                if nearby is None:
                    done.add(name)
                    stack.pop()
                    path.pop()
                elif nearby in path:
                    self._refuse_ring(path[path.index(nearby) :])
                elif nearby not in done:
                    stack.append((nearby, iter(sorted(uses[nearby]))))
                    path.append(nearby)

    def _refuse_ring(self, ring: list[str]) -> None:
        known = self.declarations.definitions
        first = min(ring, key=lambda name: (known[name].span.line, known[name].span.column))
        at = ring.index(first)
        way = " → ".join([*ring[at:], *ring[:at], first])
        message = f"the definition `{first}` uses itself: {way}"
        self.diagnostics.report(Code.RECURSIVE_DEFINITION, message, known[first].span)
        self.declarations.failed.update(ring)


def unrollings(findings: list[Findings], diagnostics: Diagnostics) -> tuple[Unrolling, ...]:
    """Return what quantifiers, loops and arrays go over; what is too large whatever the parameters are is refused."""
    found: dict[tuple[ValueType, ...], Span] = {}
    for each in findings:
        for domains, span in each.unrolled.items():
            found.setdefault(domains, span)
    open_ones = []
    for domains, span in found.items():
        sizes = [constant_size(domain) for domain in domains]
        product = 1
        for size in sizes:
            product *= size or 1
        if product > limits.ARRAY_SIZE_MAX:
            message = f"this goes over {product:,} elements; at most {limits.ARRAY_SIZE_MAX:,} are allowed"
            diagnostics.report(Code.LIMIT, message, span)
        elif None in sizes:
            open_ones.append(Unrolling(domains, span))
    return tuple(open_ones)


def parameter_value(
    read: Reader, name: str, value_type: ValueType, scalar: Scalar, code: Code = Code.PARAMETER_OUT_OF_RANGE
) -> Value:
    """Read the value of a parameter and check it against the declaration.

    Raises:
        Failed: it has the wrong kind or lies outside; reported.
    """
    match value_type:
        case EnumType(literals=literals):
            if scalar.text not in literals:
                message = f"`{name}` is one of {', '.join(f'`{word}`' for word in literals)}, not {quoted(scalar.text)}"
                read.fail(code, message, scalar.span, help=did_you_mean(scalar.text, literals, known="there are"))
            return scalar.text
        case RangeType(low=low, high=high):
            if scalar.kind != "int":
                read.fail(Code.TYPE_MISMATCH, f"`{name}` is a number, not {quoted(scalar.text)}", scalar.span)
            value = int(scalar.text)
            below = isinstance(low, Constant) and value < whole(low.value)
            if below or (isinstance(high, Constant) and value > whole(high.value)):
                read.fail(code, f"`{name}` lies in `{value_type}`, and {value} does not", scalar.span)
            return value
        case _:
            if scalar.kind != "bool":
                message = f"`{name}` is `true` or `false`, not {quoted(scalar.text)}"
                read.fail(Code.TYPE_MISMATCH, message, scalar.span)
            return scalar.text == "true"


def _unread(name: str) -> ProcessHeader:
    return ProcessHeader(name, environment=False, volatile={}, labels=())


def _is_environment(entry: Entry) -> bool:
    flag = entry.value.get("environment") if isinstance(entry.value, Mapping) else None
    return isinstance(flag, Scalar) and flag.kind == "bool" and flag.text == "true"
