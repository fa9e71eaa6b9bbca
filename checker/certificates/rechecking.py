"""Checking a certificate again, without the explorer and without believing anything that the certificate says.

Of the specification's text, the invariant, the witnesses and the rankings that lie in the folder everything else is
computed once more: the list of obligations, their texts, the manifest. What differs, is missing or does not belong
there is found, also where somebody has adapted the manifest. Then solvers are asked for every obligation, from the text
of the file.

This rests on the reading of the language as terms (`checker.backends.smt`), on the evaluator for initial states and
witnesses, and on the solvers; not on `checker.engines` nor on `checker.backends.columns`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any

from checker.backends.smt.solvers import Answer, SolverName, UnreadableText, ask
from checker.certificates.certificate import (
    INVARIANT,
    MADE_BY,
    MANIFEST,
    RANKINGS,
    SPECIFICATION,
    SUFFIX,
    WITNESSES,
    Certificate,
    invariant_from,
    manifest_text,
    ranking_from,
)
from checker.confirm import confirm_property
from checker.exploration import Finding
from checker.identity import claim_hash
from checker.stored import to_finding
from checker.trace import EngineDisagreement
from model.diagnostics import SpecificationError
from model.loader import load
from model.source import Source
from model.specification import PropertyKind, SpecificationFile
from model.system import TransitionSystem

FILE_SIZE_MAX = 256 << 20
"""Bytes of one file that are read."""


class Outcome(Enum):
    """What comes of checking a certificate again; the worst one counts."""

    ACCEPTED = "accepted"
    INCONCLUSIVE = "inconclusive"
    """A solver did not answer in time."""
    REFUTED = "refuted"
    """It is not what it says, or an obligation does not hold."""
    UNREADABLE = "unreadable"
    """It is no certificate at all."""


@dataclass(frozen=True, slots=True)
class Rechecked:
    """What came of one certificate: what is wrong with it, and which obligations each solver did not confirm."""

    folder: str
    scenario: str = ""
    specification: str = ""
    sha256: str = ""
    """The hash of the scenario."""
    digest: str = ""
    means: str = ""
    """By what it shows things."""
    states: int = 0
    """How many states and nodes the invariant has; 0 where numbers have no end."""
    nodes: int = 0
    obligations: int = 0
    shown: tuple[str, ...] = ()
    not_shown: Mapping[str, str] = field(default_factory=dict)
    unreadable: str = ""
    differences: tuple[str, ...] = ()
    refused: Mapping[SolverName, Mapping[str, Answer]] = field(default_factory=dict)
    """By solver that was asked, the obligations that it did not call `unsat`."""

    @property
    def outcome(self) -> Outcome:
        """The worst of it."""
        if self.unreadable:
            return Outcome.UNREADABLE
        answers = {answer for found in self.refused.values() for answer in found.values()}
        if self.differences or Answer.SAT in answers:
            return Outcome.REFUTED
        return Outcome.INCONCLUSIVE if answers or not self.refused else Outcome.ACCEPTED

    def proves(self) -> bool:
        """Tell whether what is shown may be called proved: a solver other than Z3 confirmed every obligation."""
        return self.outcome is Outcome.ACCEPTED and any(solver != "z3" for solver in self.refused)


@dataclass(frozen=True, slots=True)
class RecheckOptions:
    """Which solvers, how long for one obligation, and the specification that it has to be about, if that matters."""

    solvers: tuple[SolverName, ...]
    seconds: float
    specification: Source | None = None


def certificate_folders(directory: Path) -> list[Path]:
    """Return the folders of certificates: the directory itself, or those in it; nothing where there is none."""
    if (directory / MANIFEST).is_file() or any(directory.glob(f"*{SUFFIX}")):
        return [directory]
    return sorted(path for path in directory.iterdir() if path.is_dir())


def recheck(
    folder: Path,
    options: RecheckOptions,
    *,
    executor: Executor | None = None,
    on_answer: Callable[[int, int], None] | None = None,
    made: Certificate | None = None,
) -> Rechecked:
    """Check one certificate again. `executor` shares the obligations out; `on_answer` hears how many are done.

    `made` is the certificate for somebody who has just made it in this very process: if the files that all the rest is
    computed from are still the same, so is the rest, and is not computed a second time.
    """
    try:
        texts = _texts(folder)
        given = _object(texts[MANIFEST])
        certificate = made if made is not None and _same(made, texts, given) else _certificate(texts, given)
    except KeyError as error:
        return Rechecked(folder.name, unreadable=f"{error.args[0]} is missing")
    except (OSError, ValueError, TypeError, LookupError, RecursionError, SpecificationError) as error:
        return Rechecked(folder.name, unreadable=_reason(error))
    differences = tuple(_differences(certificate, texts, given, options.specification))
    refused: dict[SolverName, Mapping[str, Answer]] = {}
    if not differences:
        refused = _asked(certificate, texts, options, executor, on_answer)
    return Rechecked(
        folder=folder.name,
        scenario=certificate.claim.name,
        specification=certificate.source.file,
        sha256=claim_hash(certificate.source, certificate.claim, certificate.system),
        digest=certificate.digest,
        means=certificate.means,
        states=certificate.states,
        nodes=certificate.nodes,
        obligations=len(certificate.obligations),
        shown=certificate.shown,
        not_shown={name: each.how for name, each in certificate.coverage.items() if not each.shown},
        differences=differences,
        refused=refused,
    )


# --- Reading ---


def _texts(folder: Path) -> dict[str, str]:
    texts = {}
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            raise ValueError(f"{path.name} is a folder, where a certificate has files only")
        if path.stat().st_size > FILE_SIZE_MAX:
            raise ValueError(f"{path.name} is larger than {FILE_SIZE_MAX >> 20} MiB")
        texts[path.name] = path.read_bytes().decode("utf-8")
    return texts


def _object(text: str) -> dict[str, Any]:
    document = json.loads(text)
    if not isinstance(document, dict):
        raise TypeError("where an object belongs is none")
    return document


def _certificate(texts: Mapping[str, str], manifest: Any) -> Certificate:
    """Read the files that everything else is computed from; of the manifest, only what they are about."""
    source = Source(str(manifest["specification"]["name"]), texts[SPECIFICATION])
    file = loaded(source)
    name = str(manifest["scenario"]["name"])
    claims = file.mutants if manifest["scenario"]["mutant"] is True else file.scenarios
    if name not in claims:
        raise ValueError(f"the specification has no scenario {name}")
    claim = claims[name]
    system = TransitionSystem.endless(claim)
    invariant = invariant_from(_object(texts[INVARIANT]), system)
    witnesses: dict[str, Finding] = {}
    for asked, document in _object(texts[WITNESSES]).items():
        try:
            witnesses[str(asked)] = to_finding(system, document, str(asked))
        except EngineDisagreement as error:
            raise ValueError(f"the witness of {asked} is no run of the specification: {error}") from error
    rankings = {str(asked): ranking_from(each, system) for asked, each in _object(texts[RANKINGS]).items()}
    return Certificate(source, claim, system, invariant, witnesses, rankings)


def _same(made: Certificate, texts: Mapping[str, str], manifest: Any) -> bool:
    """Tell whether the files that a certificate is read from are those of one that was made."""
    about = (manifest["specification"]["name"], manifest["scenario"]["name"], manifest["scenario"]["mutant"])
    return about == (made.source.file, made.claim.name, made.claim.mutant) and made.given.items() <= texts.items()


@lru_cache(maxsize=4)
def _loaded_text(file: str, text: str) -> SpecificationFile:
    return load(Source(file, text))


def loaded(source: Source) -> SpecificationFile:
    """Load a specification; certificates of several scenarios have the same one."""
    return _loaded_text(source.file, source.text)


def _reason(error: Exception) -> str:
    if isinstance(error, SpecificationError):
        first = error.diagnostics[0]
        return f"{SPECIFICATION} has errors: {first.code.number} {first.message}"
    return f"{type(error).__name__}: {error}" if not isinstance(error, ValueError) else str(error)


# --- Comparing ---


def _differences(
    certificate: Certificate, texts: Mapping[str, str], given: Any, expected: Source | None
) -> Iterator[str]:
    """Yield where the files are not those that belong to the specification, the scenario and the invariant."""
    if expected is not None and expected.text != certificate.source.text:
        yield f"it is about another text than {expected.file} has now"
    made_by = given.get(MADE_BY, {})
    right = certificate.files(made_by if isinstance(made_by, dict) else {})
    for name in sorted(right.keys() - texts.keys()):
        yield f"{name} is missing"
    for name in sorted(texts.keys() - right.keys()):
        yield f"{name} does not belong to it"
    for name in sorted(right.keys() & texts.keys()):
        if name == MANIFEST:
            yield from _manifest_differences(given, json.loads(right[name]))
        elif right[name] != texts[name]:
            yield f"{name} is not what it has to be"
    for name, finding in certificate.witnesses.items():
        yield from _witness_problems(certificate, name, finding)
    for name in certificate.rankings:
        asked = certificate.claim.specification.properties.get(name)
        if asked is None or asked.kind is not PropertyKind.RECOVERABLE:
            yield f"{RANKINGS} has a ranking for {name}, which needs none"


def _manifest_differences(given: Any, right: Any) -> Iterator[str]:
    if manifest_text(given) == manifest_text(right):
        return
    keys = [key for key in {**given, **right} if given.get(key) != right.get(key)]
    yield f"{MANIFEST} is not what it has to be: {', '.join(map(str, keys)) or 'order'}"


def _witness_problems(certificate: Certificate, name: str, finding: Finding) -> Iterator[str]:
    asked = certificate.claim.specification.properties.get(name)
    if asked is None or asked.kind is not PropertyKind.POSSIBLE:
        yield f"{WITNESSES} has a witness of {name}, which needs none"
        return
    try:
        confirm_property(certificate.system, asked, finding)
    except EngineDisagreement as error:
        yield f"the witness of {name} is none: {error}"


# --- Asking ---


def _asked(
    certificate: Certificate,
    texts: Mapping[str, str],
    options: RecheckOptions,
    executor: Executor | None,
    on_answer: Callable[[int, int], None] | None,
) -> dict[SolverName, Mapping[str, Answer]]:
    names = [each.name for each in certificate.obligations]
    questions = [(solver, name) for name in names for solver in options.solvers]
    solvers = [solver for solver, _ in questions]
    scripts = [texts[f"{name}{SUFFIX}"] for _, name in questions]
    seconds = [options.seconds] * len(questions)
    answers = (executor.map if executor is not None else map)(answer_of, solvers, scripts, seconds)
    refused: dict[SolverName, dict[str, Answer]] = {solver: {} for solver in options.solvers}
    for number, ((solver, name), answer) in enumerate(zip(questions, answers, strict=True), start=1):
        if answer is not Answer.UNSAT:
            refused[solver][name] = answer
        if on_answer is not None:
            on_answer(number, len(questions))
    return dict(refused)


def answer_of(solver: SolverName, text: str, seconds: float) -> Answer:
    """Ask one solver; a text that it cannot read proves nothing."""
    try:
        return ask(solver, text, seconds)
    except UnreadableText:
        return Answer.UNKNOWN


def undecided(found: Sequence[Rechecked]) -> list[str]:
    """Return the obligations that some solver left open, with their certificates."""
    return [
        f"{each.folder}/{name}"
        for each in found
        for refused in each.refused.values()
        for name, answer in refused.items()
        if answer is Answer.UNKNOWN
    ]
