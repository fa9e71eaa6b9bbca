"""A certificate: everything somebody needs to check again that properties of one scenario hold, as files.

The specification's text, the invariant, witnesses of what is possible, rankings for what is recoverable, the
obligations as SMT-LIB, and a manifest that says what each of them is. All but the first four is computed from these:
whoever checks a certificate computes it once more and compares (`checker.certificates.rechecking`). So a certificate
cannot say of itself more than it shows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, assert_never

from checker.backends.smt.relation import Relation
from checker.certificates.diagram import Diagram, Node
from checker.certificates.inductive import LOGIC as LOGIC_OF_INDUCTION
from checker.certificates.inductive import Induction, induction_document, induction_from, inductive_obligations
from checker.certificates.obligations import INVARIANT_KINDS, LOGIC, Obligation, Obligations, Ranking
from checker.exploration import Finding
from checker.identity import claim_hash, course_of, file_hash
from checker.judgement import asked_properties
from checker.stored import from_finding
from model.source import Source
from model.specification import Property, PropertyKind, Scenario
from model.system import TransitionSystem

FORMAT: Final = 1
"""Counts up when a certificate of before is no longer one."""

MANIFEST: Final = "manifest.json"
SPECIFICATION: Final = "specification.yaml"
INVARIANT: Final = "invariant.json"
WITNESSES: Final = "witnesses.json"
RANKINGS: Final = "rankings.json"
SUFFIX: Final = ".smt2"

STATES_MAX: Final = 2_000_000
"""With more states there is no certificate: beyond, building the diagram takes more than a gigabyte."""

MADE_BY: Final = "made_by"
"""The key of the manifest under which versions stand: nothing else differs from one machine to another."""

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Coverage:
    """Whether a certificate shows a property, and by what, or why not."""

    shown: bool
    how: str


@dataclass(frozen=True)
class Certificate:
    """What is claimed of one scenario, and what shows it."""

    source: Source
    claim: Scenario
    system: TransitionSystem
    invariant: Diagram | Induction
    """The reachable states; where numbers have no end, claims that follow from one another."""
    witnesses: Mapping[str, Finding] = field(default_factory=dict)
    """By `possible` property a trace to where it is true."""
    rankings: Mapping[str, Ranking] = field(default_factory=dict)
    """By `recoverable` property how far states are from its goal, and what leads closer."""
    relation: Relation | None = field(default=None, compare=False, repr=False)
    """The system as terms, if somebody has them already: to make them takes time."""

    @property
    def folder(self) -> str:
        """The name of the folder that holds it, among those of other scenarios and specifications."""
        return folder_name(self.source, self.claim)

    @property
    def means(self) -> str:
        """By what it shows things."""
        if isinstance(self.invariant, Induction):
            most = self.invariant.states
            return f"induction over {'up to ' * (most > 1)}{most} state{'s' * (most != 1)}"
        return "an inductive invariant"

    @property
    def states(self) -> int:
        """How many states are in the invariant; 0 where numbers have no end, and nobody can count them."""
        if isinstance(self.invariant, Induction):
            return 0
        return self.invariant.count([slot.domain.size for slot in self.system.slots])

    @property
    def nodes(self) -> int:
        """How many nodes the invariant has, if it is a diagram."""
        return 0 if isinstance(self.invariant, Induction) else len(self.invariant)

    @cached_property
    def coverage(self) -> dict[str, Coverage]:
        """What is covered of everything that the scenario asks about."""
        return {asked.name: self._coverage(asked) for asked in asked_properties(self.claim)}

    @property
    def shown(self) -> tuple[str, ...]:
        """The properties that hold if the certificate stands."""
        return tuple(name for name, coverage in self.coverage.items() if coverage.shown)

    @cached_property
    def obligations(self) -> tuple[Obligation, ...]:
        """What has to be shown of the invariant."""
        if isinstance(self.invariant, Induction):
            return tuple(inductive_obligations(self.system, self.invariant))
        claimed = [p.name for p in asked_properties(self.claim) if p.kind in INVARIANT_KINDS and self._claims(p)]
        return tuple(Obligations(self.system, self.invariant, claimed, self.rankings, self.relation).all())

    @cached_property
    def digest(self) -> str:
        """A hash of all obligations: certificates with the same one show the same by the same means."""
        return text_hash("".join(f"{each.name} {text_hash(each.text)}\n" for each in self.obligations))

    @cached_property
    def given(self) -> dict[str, str]:
        """The files that everything else is computed from, by their names."""
        return {
            SPECIFICATION: self.source.text,
            INVARIANT: _written(invariant_document(self.invariant)),
            WITNESSES: _written({n: from_finding(self.system, finding) for n, finding in self.witnesses.items()}),
            RANKINGS: _written({name: ranking_document(each) for name, each in self.rankings.items()}),
        }

    def files(self, made_by: Mapping[str, str]) -> dict[str, str]:
        """Return all files by their names; `made_by` are versions of what took part."""
        texts = self.given | {f"{each.name}{SUFFIX}": each.text for each in self.obligations}
        return {MANIFEST: manifest_text(self._manifest(texts, made_by)), **texts}

    def _manifest(self, texts: Mapping[str, str], made_by: Mapping[str, str]) -> Document:
        system = self.system
        return {
            "format": FORMAT,
            MADE_BY: dict(made_by),
            "specification": {"name": self.source.file, "file": SPECIFICATION, "sha256": file_hash(self.source)},
            "scenario": {
                "name": self.claim.name,
                "mutant": self.claim.mutant,
                "variant": self.claim.variant,
                "sha256": claim_hash(self.source, self.claim, system),
            },
            "parameters": dict(system.parameters),
            "faults": {
                name: {
                    "at_most": "unlimited" if budget.limit is None else budget.limit,
                    "at": None if budget.at is None else sorted(budget.at),
                }
                for name, budget in system.budgets.items()
            },
            **({"crashes": course_of(system)} if system.crashes is not None else {}),
            "properties": {
                name: {"kind": self._kind(name), "shown": coverage.shown, "how": coverage.how}
                for name, coverage in self.coverage.items()
            },
            "invariant": {
                "file": INVARIANT,
                "sha256": text_hash(texts[INVARIANT]),
                **self._size(),
                "slots": [slot.name for slot in system.slots],
            },
            "witnesses": {"file": WITNESSES, "sha256": text_hash(texts[WITNESSES])},
            "rankings": {"file": RANKINGS, "sha256": text_hash(texts[RANKINGS])},
            "logic": LOGIC_OF_INDUCTION if isinstance(self.invariant, Induction) else LOGIC,
            "answer": "unsat",
            "obligations": [
                {"file": f"{each.name}{SUFFIX}", "says": each.says, "sha256": text_hash(each.text)}
                for each in self.obligations
            ],
        }

    def _size(self) -> dict[str, int]:
        if isinstance(self.invariant, Induction):
            return {"rounds": len(self.invariant.rounds), "claims": len(self.invariant.claims)}
        return {"states": self.states, "nodes": self.nodes}

    def _kind(self, name: str) -> str:
        return self.claim.specification.properties[name].kind.value

    def _claims(self, asked: Property) -> bool:
        """Tell whether an invariant is to show a property: not one that breaks, nor one that nothing checks."""
        if asked.kind is PropertyKind.CHECKED and asked.name not in self.claim.specification.checked:
            return False
        return asked.name not in self.claim.breaks

    def _coverage(self, asked: Property) -> Coverage:
        if asked.name in self.claim.breaks:
            return Coverage(False, "declared to break")
        match asked.kind:
            case PropertyKind.POSSIBLE if asked.name in self.witnesses:
                return Coverage(True, "a witness that the evaluator replays")
            case PropertyKind.POSSIBLE:
                return Coverage(False, "there is no witness")
            case PropertyKind.RECOVERABLE if asked.name in self.rankings:
                return Coverage(True, "a rank that some fair transition lowers")
            case PropertyKind.RECOVERABLE:
                return Coverage(False, "there is no ranking")
            case PropertyKind.LEADS_TO:
                return Coverage(False, "what every fair run does is not shown by an invariant")
            case PropertyKind.CHECKED if not self._claims(asked):
                return Coverage(False, "no step checks it")
            case PropertyKind.ALWAYS | PropertyKind.STEP | PropertyKind.CHECKED:
                return self._by_invariant(asked)
            case _:
                assert_never(asked.kind)

    def _by_invariant(self, asked: Property) -> Coverage:
        if isinstance(self.invariant, Induction):
            shown = self.invariant.shows(asked.name)
            return Coverage(shown, f"{self.means} shows it" if shown else "it does not follow by induction")
        match asked.kind:
            case PropertyKind.ALWAYS:
                return Coverage(True, "true in every state of an inductive invariant")
            case PropertyKind.STEP:
                return Coverage(True, "true of every transition from a state of an inductive invariant")
            case _:
                return Coverage(True, "no transition from a state of an inductive invariant violates it")


def folder_name(source: Source, claim: Scenario) -> str:
    """Return the name of the folder for the certificate of a scenario."""
    stem = source.file.replace("\\", "/").rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return f"{stem}.{claim.name}"


def text_hash(text: str) -> str:
    """Return the SHA-256 of a file with this text, as `sha256sum` prints it."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def manifest_text(manifest: Document) -> str:
    """Return a manifest as it is written."""
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def invariant_document(invariant: Diagram | Induction) -> Document:
    """Return an invariant as JSON."""
    return induction_document(invariant) if isinstance(invariant, Induction) else diagram_document(invariant)


def invariant_from(document: Document, system: TransitionSystem) -> Diagram | Induction:
    """Return the invariant that a document describes; the numbers of the system decide of which kind it is.

    Raises:
        ValueError, KeyError, TypeError: it describes none for this system.
    """
    return induction_from(document, system) if system.naturals else diagram_from(document, system)


def diagram_document(diagram: Diagram) -> Document:
    """Return a diagram as JSON: its order, its root, and for each node its slot and children."""
    return {
        "leaves": diagram.leaves,
        "order": list(diagram.order),
        "root": diagram.root,
        "nodes": [[node.slot, *node.children] for node in diagram.nodes],
    }


def diagram_from(document: Document, system: TransitionSystem) -> Diagram:
    """Return the diagram that a document describes.

    Raises:
        ValueError, KeyError, TypeError: it describes none over the slots of this system.
    """
    nodes = tuple(Node(_number(row[0]), tuple(_number(child) for child in row[1:])) for row in document["nodes"])
    order = tuple(_number(slot) for slot in document["order"])
    diagram = Diagram(nodes, _number(document["root"]), order, _number(document["leaves"]))
    diagram.check([slot.domain.size for slot in system.slots])
    return diagram


def ranking_document(ranking: Ranking) -> Document:
    """Return a ranking as JSON."""
    return {"rank": diagram_document(ranking.rank), "plan": diagram_document(ranking.plan)}


def ranking_from(document: Document, system: TransitionSystem) -> Ranking:
    """Return the ranking that a document describes.

    Raises:
        ValueError, KeyError, TypeError: it describes none over the slots of this system.
    """
    return Ranking(diagram_from(document["rank"], system), diagram_from(document["plan"], system))


def _number(value: object) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r} is no number")
    return value


def _written(document: Document) -> str:
    """Return a document with one line for each of its parts: a diagram stays readable, and not long."""
    lines = [f"  {json.dumps(key)}: {_part(value)}" for key, value in document.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n" if lines else "{}\n"


def _part(value: object) -> str:
    if isinstance(value, dict):
        return "{\n" + ",\n".join(f"  {json.dumps(key)}: {_part(each)}" for key, each in value.items()) + "\n  }"
    if isinstance(value, list) and value and isinstance(value[0], list):
        return "[\n" + ",\n".join(f"    {json.dumps(each, separators=(',', ':'))}" for each in value) + "\n  ]"
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
