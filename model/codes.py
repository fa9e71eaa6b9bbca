"""The numbered codes of everything that can be wrong with a specification or a command.

The hundreds group them: 0 the YAML and limits, 1 structure, 2 names, 3 types and expressions, 4 steps, 5 tables,
properties and faults, 6 scenarios, variants, mutants, questions and `unused`, 7 the command line, 8 errors that appear
only when the specification runs, 9 warnings. A number is never given to another meaning, because people search for it.

A new code is one line here and one section in `explanations/`, which `killpoint explain` prints; a test compares them.
"""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path

_EXPLANATIONS = Path(__file__).resolve().parent / "explanations"


class Severity(Enum):
    """How bad it is: an error refuses the specification, a warning lets it through."""

    ERROR = "error"
    WARNING = "warning"


class Code(Enum):
    """One thing that can be wrong: a number (`KP201`) and a line of meaning."""

    number: str
    meaning: str

    def __init__(self, number: str, meaning: str) -> None:
        self.number = number
        self.meaning = meaning

    @property
    def severity(self) -> Severity:
        """Tell whether the code is an error or, in the nine hundreds, a warning."""
        return Severity.WARNING if self.number.startswith("KP9") else Severity.ERROR

    # 0xx: the YAML, and limits
    YAML_SYNTAX = "KP001", "the file is not valid YAML"
    NOT_UTF8 = "KP002", "the file is not UTF-8 text"
    HIDDEN_CHARACTER = "KP003", "a character that is invisible or that a terminal would obey"
    EMPTY_FILE = "KP004", "the file holds nothing"
    SEVERAL_DOCUMENTS = "KP005", "the file holds more than one YAML document"
    DUPLICATE_KEY = "KP006", "one mapping has the same key twice"
    KEY_NOT_A_NAME = "KP007", "a key that is not text"
    YAML_TAG = "KP008", "a YAML tag, which would choose a type by itself"
    YAML_ALIAS = "KP009", "an alias or anchor that cannot be resolved"
    MERGE_KEY = "KP010", "the merge key `<<`"
    LIMIT = "KP020", "larger than a limit allows"

    # 1xx: structure
    UNKNOWN_KEY = "KP101", "a key that means nothing in this place"
    MISSING_KEY = "KP102", "a key that this place needs"
    WRONG_SHAPE = "KP103", "a mapping, list or single value where another of them belongs"
    NOT_AN_IDENTIFIER = "KP104", "a name that is no identifier, or is a word of the language"
    LANGUAGE_VERSION = "KP105", "a language version that this killpoint does not read"
    CONFLICTING_KEYS = "KP107", "keys that exclude each other"
    NOTHING_DECLARED = "KP108", "a section that declares nothing"
    NAMED_TWICE = "KP109", "a list that names the same thing twice"
    VALUE_NOT_ALLOWED = "KP110", "a value that is not one of those allowed here"
    PARAMETER_OUT_OF_RANGE = "KP111", "a parameter with a value outside its declaration"

    # 2xx: names
    UNKNOWN_NAME = "KP201", "a name that nothing declares"
    AMBIGUOUS_NAME = "KP202", "a name with two readings"
    DECLARED_TWICE = "KP203", "a name that is declared twice"
    UNKNOWN_TYPE = "KP204", "a type that nothing declares"
    UNKNOWN_LABEL = "KP205", "a label that no step of the process has"
    UNKNOWN_TABLE = "KP206", "a table that nothing declares"
    UNKNOWN_COLUMN = "KP207", "a column that the table does not give"
    UNKNOWN_FAULT = "KP208", "a fault that nothing declares"
    UNKNOWN_PROPERTY = "KP209", "a property that nothing declares"
    UNKNOWN_PARAMETER = "KP210", "a parameter that nothing declares"
    UNKNOWN_PROCESS = "KP211", "a process that nothing declares"
    UNKNOWN_STORE = "KP212", "a store that nothing declares"
    UNKNOWN_MEMBER = "KP213", "a store or process without a variable of this name"
    UNKNOWN_LITERAL = "KP214", "a literal that the type does not have"
    UNKNOWN_FUNCTION = "KP215", "a call of something that is no function or definition"
    UNKNOWN_VARIANT = "KP216", "a variant that nothing declares"
    UNDECLARED_LOCAL = "KP217", "an assignment to a name that is neither variable nor declared local"
    LOCAL_NOT_SET = "KP218", "a local that is read where some path has not set it"
    SHADOWED_NAME = "KP219", "a local or bound variable that hides another name"
    RECURSIVE_DEFINITION = "KP220", "a declaration that needs itself"

    # 3xx: types and expressions
    TYPE_MISMATCH = "KP301", "a value of one type where another is needed"
    EMPTY_TYPE = "KP302", "a type without values"
    TYPE_SYNTAX = "KP303", "a type that cannot be read"
    SYNTAX = "KP304", "an expression or step that cannot be read"
    NOT_IN_LANGUAGE = "KP305", "Python that the language does not have"
    ARGUMENTS = "KP306", "a call with the wrong number or kind of arguments"
    COUNTER_COMPARED_ABOVE = "KP307", "a counter compared with more than it can tell apart"
    COUNTER_USE = "KP308", "a counter used for something other than `+=` and comparison"
    COUNTER_OUTSIDE_GHOSTS = "KP309", "a counter that is not a ghost"
    NOT_ORDERED = "KP310", "an order asked of values that have none"
    VALUE_OUTSIDE_TYPE = "KP311", "a constant outside the type it is given to"
    ARRAY_INDEX = "KP312", "an array without its index, or an index on what is no array"
    NOT_CONSTANT = "KP314", "something other than parameters where the value must be known before a run"
    NEXT_PLACE = "KP315", "`next` outside a `step` property"
    NEXT_NESTED = "KP316", "`next` inside `next`"
    CRASHED_NEVER = "KP317", "`crashed` of a process that is never seen crashed"
    GHOST_READ = "KP318", "a ghost read by behaviour"
    NOT_VISIBLE = "KP319", "a name that may not be read in this place"
    SELF_OUTSIDE_PROCESS = "KP320", "`self` where no process is"
    NO_INITIAL_STATE = "KP321", "an `initially` that no state satisfies"
    NAT_PLACE = "KP322", "`nat` where something would go over all its values"

    # 4xx: steps
    CHOOSE_PLACE = "KP401", "`choose` that is not the whole right-hand side"
    FAULT_PLACE = "KP402", "`fault` where no fault may be drawn"
    UNVERSIONED_STORE = "KP403", "`read` or `fresh` of a store without versions"
    GHOST_DECIDES = "KP404", "a branch on a ghost that does more than assign ghosts"
    NOT_ASSIGNABLE = "KP405", "an assignment to something that is no variable"
    NO_PROGRAM_COUNTER = "KP406", "`goto` or `stop` in an environment process"
    UNREACHABLE_STATEMENT = "KP407", "a statement that no path reaches"
    CRASH_AS_FAULT = "KP408", "`fault` with a crash, which happens between steps"
    STATEMENT_AS_VALUE = "KP409", "a word that is a statement, used as a value, or the reverse"
    LOOP_OVER_NO_TYPE = "KP410", "a loop over something other than a finite type"
    EMPTY_TEXT = "KP411", "a step or an expression without text"
    FRESH_PLACE = "KP412", "`read` or `fresh` where no process remembers it"
    CRASH_PLACE = "KP413", "a word that has no place in what a crash does"

    # 5xx: tables, properties, faults
    ROW_INCOMPLETE = "KP501", "a row that leaves a column open, or has no `when`"
    PROPERTY_KIND = "KP504", "a property with no kind, or with two"
    FAULT_OF = "KP505", "a fault attributed to a process that cannot have it"
    FAULT_BUDGET = "KP506", "an `at_most` that is neither a number nor `unlimited`"
    NO_KILL_POINT = "KP507", "a crash placed where no crash can be"
    NEVER_CHECKED = "KP508", "a `checked` property that no step checks"
    NEVER_CRASHES = "KP509", "`torn` or `on_crash` where no fault crashes the process"
    NO_BOUND = "KP510", "`nat` explored without a bound, or a `bound` that is none"
    CRASHES_TWICE = "KP511", "crashes that both `crashes` and `allow` place or count"
    KILL_POINT_LEFT_OUT = "KP512", "`kill_points` that says nothing of one of them"

    # 6xx: scenarios, variants, mutants, questions, unused
    PATH_NOT_FOUND = "KP601", "a patch of something that does not exist"
    STEP_WITHOUT_PLACE = "KP602", "a new step that does not say where it goes"
    BREAKS_UNKNOWN_PROPERTY = "KP603", "`breaks` with a property that nothing declares"
    BREAKS_NOT_ASKED = "KP604", "`breaks` with a property that `only` leaves out"
    MUTANT_WITHOUT_CLAIM = "KP605", "a mutant that claims neither `breaks` nor `survives`, or both"
    CHANGES_NOTHING = "KP606", "a variant or mutant that changes nothing"
    UNUSED_UNKNOWN = "KP607", "`unused` with something that does not exist"
    UNUSED_STALE = "KP608", "`unused` with something that is used"

    QUESTION_WITHOUT_ANSWER = "KP609", "a question with neither an answer nor a reason why there is none, or with both"
    QUESTION_SCENARIO = "KP610", "a question that speaks of a scenario which nothing declares"
    REPAIR_CONTRADICTED = "KP611", "a repair that breaks what it repairs, or half a repair that breaks nothing"
    NOTHING_TO_CONFORM = "KP612", "`conform` without an implementation, or without situations"
    SWEEP_VALUES = "KP613", "a `sweep` over fewer than two values of something"
    SWEEP_SCENARIO = "KP614", "a `sweep` of a scenario that nothing declares"
    EQUIVALENT_UNKNOWN = "KP620", "`equivalent` with what can be the name of no mutant"
    EQUIVALENT_STALE = "KP621", "`equivalent` with mutants that do not exist, or do not survive"

    # 7xx: the command line
    NO_SUCH_SCENARIO = "KP701", "a scenario that the specification does not have"
    NO_SUCH_PARAMETER = "KP702", "a parameter that the specification does not have"
    NO_SUCH_PROPERTY = "KP703", "a property that the specification does not have"
    NO_SUCH_VARIANT = "KP704", "a variant that the specification does not have"
    NO_SUCH_MUTANT = "KP705", "a mutant that the specification does not have"
    NO_SUCH_CODE = "KP706", "a code that does not exist"
    FILE_UNREADABLE = "KP707", "a file that cannot be read"
    OPTION_VALUE = "KP708", "an option with a value it cannot have"
    OPTIONS_CONFLICT = "KP709", "options that exclude each other"
    ADAPTER_FAILED = "KP710", "an adapter that breaks off, does not answer, or answers what means nothing"
    SETTING_REFUSED = "KP711", "a scenario or defect that an implementation does not know"
    LOG_LINE = "KP712", "a line of a log that means nothing"

    # 8xx: errors that appear only when the specification runs
    ASSIGNED_OUTSIDE_TYPE = "KP801", "an assignment outside the variable's type"
    INDEX_OUTSIDE_ARRAY = "KP802", "an index outside its array"
    NO_ROW_MATCHES = "KP803", "a table with no matching row"
    TWO_ROWS_MATCH = "KP804", "an exclusive table with two matching rows"
    NONE_HAS_NO_VALUE = "KP805", "`None` where a value is needed"

    # 9xx: warnings
    TWO_STORES = "KP901", "a step that changes two stores at once"
    NOT_KNOWN_FRESH = "KP902", "a versioned store used with neither `read` nor `fresh`"
    FRESH_WITHOUT_READ = "KP903", "`fresh` of a store that the process never reads"
    CONDITION_CONSTANT = "KP904", "a condition that is always true or always false"
    STEP_PROPERTY_WITHOUT_NEXT = "KP905", "a `step` property that never says `next`"
    NEVER_USED = "KP906", "a declaration that nothing uses"
    NEVER_ASSIGNED = "KP907", "a variable that no step assigns"
    ROW_NEVER_MATCHES = "KP908", "a row that can never be the one"
    STEP_NEVER_ENTERED = "KP909", "a step that neither falls to nor is gone to"
    BREAKS_WITHOUT_BECAUSE = "KP910", "a scenario that breaks a property and does not say why"


def code_of(number: str) -> Code | None:
    """Return the code with this number, upper or lower case, with or without `KP`; None where there is none."""
    digits = number.strip().upper().removeprefix("KP")
    return next((code for code in Code if code.number == f"KP{digits}"), None)


def explanation(code: Code) -> str:
    """Return the longer explanation of a code, Markdown with a wrong and a right example.

    Raises:
        LookupError: the section is missing, which is a mistake of ours.
    """
    return _sections(code.number[2])[code.number]


def _sections(hundred: str) -> dict[str, str]:
    """Read one file of explanations into its sections, keyed by number."""
    text = (_EXPLANATIONS / f"kp{hundred}xx.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (KP\d{3})\b.*\n", text, flags=re.MULTILINE)
    return {number: body.strip() for number, body in zip(parts[1::2], parts[2::2], strict=True)}
