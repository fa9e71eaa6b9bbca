"""Questions: what somebody wanted to know about the protocol, and which scenarios answer it.

A question is answered by scenarios (or mutants), whose declared verdicts `killpoint check` tests anyway, or by a
sentence that says why the model cannot answer. What is said of repairs is checked here against those declarations: a
repair asks about everything that the answer breaks and breaks nothing of it, half a repair breaks that, or something
else instead.
"""

from __future__ import annotations

from collections.abc import Mapping as Dictionary
from functools import partial

from model.diagnostics import Code, Diagnostics, did_you_mean, quoted
from model.failures import Failed
from model.reader import Reader
from model.specification import Question, Scenario
from model.yamlnodes import Entry, Mapping, Scalar

QUESTION_KEYS = ("asks", "shown_by", "lesson", "repaired_by", "not_repaired_by", "unanswered", "note")
_ANSWER = ("shown_by", "lesson", "repaired_by", "not_repaired_by")


class QuestionReader:
    """Reads the questions of a file whose scenarios and mutants have been read."""

    def __init__(
        self,
        reader: Reader,
        diagnostics: Diagnostics,
        claims: Dictionary[str, Scenario],
        named: frozenset[str],
    ) -> None:
        """Take the claims that could be read, and the names of all that the file has, also of those with errors."""
        self.reader = reader
        self.diagnostics = diagnostics
        self.claims = claims
        self.named = named

    def questions(self, section: Mapping) -> dict[str, Question]:
        """Read all of them; what is wrong with one is reported, and the others are still read."""
        read = (self.reader.attempt(partial(self._question, entry)) for entry in section.entries.values())
        return {question.name: question for question in read if question is not None}

    def _question(self, entry: Entry) -> Question:
        read = self.reader
        name = read.title_name(entry.key, "a question")
        mapping = read.mapping(entry.value, f"the question {quoted(name)}")
        read.keys(mapping, QUESTION_KEYS, "a question", ("asks",))
        self._check_answered(name, mapping, entry)
        shown_by, repaired_by, not_repaired_by = (
            self._claims_named(mapping, key) for key in ("shown_by", "repaired_by", "not_repaired_by")
        )
        if not self.diagnostics.has_errors:
            # A property that could not be read is asked about by nobody, which is no further error.
            self._check_repairs(mapping, shown_by, repaired_by, not_repaired_by)
        return Question(
            name=name,
            asks=read.text(mapping.entries["asks"].value, "`asks`"),
            shown_by=shown_by,
            lesson=self._sentence(mapping, "lesson"),
            repaired_by=repaired_by,
            not_repaired_by=not_repaired_by,
            unanswered=self._sentence(mapping, "unanswered"),
            span=entry.key.span,
        )

    def _sentence(self, mapping: Mapping, key: str) -> str:
        node = mapping.get(key)
        return "" if node is None else self.reader.text(node, f"`{key}`")

    def _check_answered(self, name: str, mapping: Mapping, entry: Entry) -> None:
        given = [key for key in _ANSWER if key in mapping]
        if "unanswered" in mapping:
            if given:
                message = f"the question {quoted(name)} has `{given[0]}` and is `unanswered`"
                self.reader.fail(Code.QUESTION_WITHOUT_ANSWER, message, mapping.entries[given[0]].key.span)
            return
        missing = [key for key in ("shown_by", "lesson") if key not in mapping]
        if missing:
            message = f"the question {quoted(name)} has no {' and no '.join(f'`{key}`' for key in missing)}"
            help_text = "name the scenarios that show the answer and say what they teach, or say why it is `unanswered`"
            self.reader.fail(Code.QUESTION_WITHOUT_ANSWER, message, entry.key.span, help=help_text)

    def _claims_named(self, mapping: Mapping, key: str) -> tuple[str, ...]:
        node = mapping.get(key)
        if node is None:
            return ()
        items = self.reader.names(node, f"`{key}`")
        if not items:
            self.reader.fail(Code.NOTHING_DECLARED, f"`{key}` names nothing", node.span)
        unknown = [item for item in items if item.text not in self.named]
        for item in unknown:
            message = f"no scenario or mutant is named {quoted(item.text)}"
            self.diagnostics.report(
                Code.QUESTION_SCENARIO, message, item.span, help=did_you_mean(item.text, sorted(self.named))
            )
        if unknown or any(item.text not in self.claims for item in items):
            raise Failed
        return tuple(item.text for item in items)

    # -- repairs --------------------------------------------------------------------------------------------------

    def _check_repairs(
        self,
        mapping: Mapping,
        shown_by: tuple[str, ...],
        repaired_by: tuple[str, ...],
        not_repaired_by: tuple[str, ...],
    ) -> None:
        broken = {name for shown in shown_by for name in self.claims[shown].breaks}
        if (repaired_by or not_repaired_by) and not broken:
            key = "repaired_by" if repaired_by else "not_repaired_by"
            message = f"nothing breaks in {', '.join(f'`{name}`' for name in shown_by)}, so there is nothing to repair"
            self.reader.fail(Code.REPAIR_CONTRADICTED, message, mapping.entries[key].key.span)
        for item in self._items(mapping, "repaired_by"):
            claim = self.claims[item.text]
            still = sorted(broken & set(claim.breaks))
            silent = sorted(broken - set(claim.specification.properties if claim.only is None else claim.only))
            if still or silent:
                message = f"{quoted(item.text)} breaks `{still[0]}` as well, and repairs nothing" if still else ""
                message = message or f"{quoted(item.text)} does not ask about `{silent[0]}`, which it is to repair"
                self.reader.fail(Code.REPAIR_CONTRADICTED, message, item.span)
        for item in self._items(mapping, "not_repaired_by"):
            if not self.claims[item.text].breaks:
                message = f"{quoted(item.text)} breaks nothing"
                self.reader.fail(Code.REPAIR_CONTRADICTED, message, item.span, help="then it belongs to `repaired_by`")

    def _items(self, mapping: Mapping, key: str) -> list[Scalar]:
        node = mapping.get(key)
        return [] if node is None else self.reader.names(node, f"`{key}`")
