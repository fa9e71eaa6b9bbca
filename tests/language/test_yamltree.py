"""Reading YAML: positions that are right in every style, one tree from both parsers, and files that mean harm."""

from __future__ import annotations

import ast
import re
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from model.diagnostics import Code, Diagnostics
from model.limits import FILE_SIZE_MAX, INTEGER_MAX, NESTING_MAX, NODES_MAX, SCALAR_LENGTH_MAX
from model.scalartext import map_scalar
from model.source import LINE_END, Source, Span
from model.yamltree import Mapping, Node, Scalar, Sequence, decode_source, load_tree, read_source

LOADERS: dict[str, type] = {"python": yaml.SafeLoader}
if hasattr(yaml, "CSafeLoader"):
    LOADERS["c"] = yaml.CSafeLoader
both_loaders = pytest.mark.parametrize("loader", LOADERS.values(), ids=LOADERS.keys())
needs_both = pytest.mark.skipif(len(LOADERS) < 2, reason="PyYAML was built without libyaml")


def read(text: str, loader: type = yaml.SafeLoader) -> Mapping:
    diagnostics = Diagnostics()
    tree = load_tree(Source("x.yaml", text), diagnostics, loader=loader)
    diagnostics.raise_if_errors()
    assert tree is not None
    return tree


def errors(text: str, loader: type = yaml.SafeLoader) -> list[tuple[Code, str, int, int]]:
    diagnostics = Diagnostics()
    load_tree(Source("x.yaml", text), diagnostics, loader=loader)
    return [(d.code, d.message, d.span.line, d.span.column) for d in diagnostics.errors if d.span]


def scalar(tree: Mapping, *path: str) -> Scalar:
    node: Node | None = tree
    for key in path:
        assert isinstance(node, Mapping)
        node = node.get(key)
    assert isinstance(node, Scalar)
    return node


def cut(text: str, span: Span) -> str:
    """Return what stands at a span, counting lines and columns in the text itself."""
    starts = [0, *(match.end() for match in LINE_END.finditer(text))]
    return text[starts[span.line - 1] + span.column - 1 : starts[span.end_line - 1] + span.end_column - 1]


def plain(node: Node) -> object:
    """Return a tree as data with positions, for comparing two trees."""
    if isinstance(node, Scalar):
        return node.text, node.kind, node.style, node.span, node.raw.rstrip()
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items], node.span
    return {key: (plain(entry.key), plain(entry.value)) for key, entry in node.entries.items()}, node.span


# --- Kinds ---


@both_loaders
def test_only_true_and_false_are_booleans_and_only_plain_decimals_are_numbers(loader: type) -> None:
    kinds = {
        "bool": ["true", "false"],
        "int": ["0", "-7", "42"],
        "null": ["", "~", "null"],
        "str": [
            *[
                "True",
                "yes",
                "no",
                "on",
                "off",
                "y",
                "Null",
                "'null'",
                "'1'",
                '"true"',
                "2001-01-01",
                "1:30",
                "=",
                "1..4",
            ],
            *["007", "+1", "0o17", "0x1F", "1_000", "1.5", ".inf", "1e3"],
        ],
    }
    for kind, values in kinds.items():
        for written in values:
            assert scalar(read(f"a: {written}\n", loader), "a").kind == kind, written


def test_integer_is_the_number() -> None:
    assert scalar(read("a: -12\n"), "a").integer == -12


# --- Positions ---

STYLES = {
    "plain": "a: one + two == three\n",
    "plain over lines": "a: one +\n  two\n     == three   \n# end\n",
    "plain with empty lines": "a: one +\n\n\n  two ==\n  three\n",
    "single quotes": "a: 'one + two == three'\n",
    "single quotes with a quote": "a: 'it''s + one + two == three'\n",
    "single quotes over lines": "a: 'one +   \n     two ==\n\n  three'\n",
    "double quotes": 'a: "one + two == three"\n',
    "double quotes with escapes": 'a: "\\x41\\t\\u00e9 \\"one\\" + two == \\\\ three"\n',
    "double quotes over lines": 'a: "one + \\\n     two ==\n\n  three \\\\\n  x"\n',
    "literal": "a: |\n  one +\n  two ==\n    three\n",
    "literal, deeper": "z:\n    a: |\n          one +\n          two == three\nb: 1\n",
    "literal, stripped": "a: |-\n  one +\n\n  two == three\n\n\nb: 1\n",
    "literal, kept": "a: |+\n  one +\n  two == three\n\n\nb: 1\n",
    "literal, indentation named": "a: |2-\n      one +\n   two\n  == three\n",
    "literal, indentation named deeper": "z:\n  a: |1\n     one +\n   two == three\n",
    "literal with a comment in its header": "a: |  # why\n  one + two == three",
    "literal after empty lines": "a: |\n\n\n  one +\n  two == three\n",
    "literal with tabs": "a: |\n  one\t+\ttwo\n  \n  == \t three\n",
    "folded": "a: >\n  one +\n  two ==\n\n  three\n\n\n  four\nb: 1\n",
    "folded with deeper lines": "a: >-\n  one +\n    two ==\n     three\n  four\n  five\n\n    six\n\n  seven\n",
    "beyond ASCII": "a: |\n  é\U0001d4b3漢 one + two == three  # é\n  \U0001d4b3two\n",
    "anchor": "b: &x one\na: &y   'one + two == three'\n",
    "anchor on its own line": "a: &y\n  # why\n  one + two == three\n",
    "in a flow mapping": "z: {a: 'one + two == three', b: [one, two]}\n",
    "Windows": "a: |\r\n  one +\r\n  two == three\r\nb: >\r\n  x\r\n",
    "old Macintosh": "a: |\r  one +\r  two == three\rb: 1\r",
}


@both_loaders
@pytest.mark.parametrize("text", STYLES.values(), ids=STYLES.keys())
def test_a_word_of_a_value_is_located_where_it_stands_in_the_file(text: str, loader: type) -> None:
    tree = read(text, loader)
    value = scalar(tree, "z", "a") if "z" in tree else scalar(tree, "a")
    words = list(re.finditer(r"\w+", value.text))
    assert len(words) >= 3
    for word in words:
        if word.group().isascii() and "\\x41" not in text:
            assert cut(text, value.locate_slice(*word.span())) == word.group()
    line_starts = [0, *(match.end() for match in re.finditer("\n", value.text))]
    for word in words:
        line = sum(start <= word.start() for start in line_starts)
        before = len(value.text[line_starts[line - 1] : word.start()].encode())
        after = before + len(word.group().encode())
        assert value.locate(line, before, line, after) == value.locate_slice(*word.span())


def test_an_escape_is_located_as_a_whole() -> None:
    text = 'a: "x\\u00e9\\ty \\"q\\""\n'
    value = scalar(read(text), "a")
    assert value.text == 'xé\ty "q"'
    pieces = [cut(text, value.locate_slice(at, at + 1)) for at in range(len(value.text))]
    assert pieces == ["x", "\\u00e9", "\\t", "y", " ", '\\"', "q", '\\"']


def test_positions_of_python_syntax_trees_lead_to_the_file() -> None:
    text = "steps:\n  go: |\n    # é: first\n    if run == 'é' and x:\n        goto(there)\n"
    value = scalar(read(text), "steps", "go")
    module = ast.parse(value.text)
    found = {
        ast.unparse(node): cut(text, value.locate(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset))
        for node in ast.walk(module)
        if isinstance(node, ast.expr) and node.end_lineno is not None and node.end_col_offset is not None
    }
    assert found == {shown: shown for shown in found}
    assert "run == 'é' and x" in found


def test_a_span_over_lines_ends_with_its_last_character_not_with_the_indentation_of_the_next_line() -> None:
    text = "a: |\n    one +\n    two\n    three\n"
    value = scalar(read(text), "a")
    assert cut(text, value.locate_slice(0, len("one +\ntwo"))) == "one +\n    two"
    assert cut(text, value.locate_slice(0, len("one +"))) == "one +"


def test_a_position_outside_the_text_is_moved_to_its_end() -> None:
    text = "a: |\n  one\n  two\n"
    value = scalar(read(text), "a")
    assert value.locate(9, 0, 9, 5).line in {3, 4}
    assert value.locate(1, 3, 1, 99) == value.locate(1, 3, 1, 3)
    assert value.locate(0, 0, 0, 0) == Span("x.yaml", 2, 3, 2, 3)


def test_a_scalar_without_raw_text_is_located_as_a_whole() -> None:
    whole = Span("x.yaml", 3, 4, 3, 9)
    assert Scalar("one", "str", whole).locate(1, 0, 1, 1) == whole


def test_a_scalar_whose_raw_text_says_something_else_is_located_as_a_whole() -> None:
    whole = Span("x.yaml", 3, 4, 3, 9)
    assert Scalar("one", "str", whole, "plain", "two").locate(1, 0, 1, 1) == whole


def test_the_span_of_a_block_ends_with_its_text_and_that_of_a_mapping_with_its_last_value() -> None:
    text = "a:\n  b: |\n    one\n\n# far below\n\nc: [1,\n 2]\nd: {e: 1\n }\n"
    tree = read(text)
    assert cut(text, scalar(tree, "a", "b").span) == "|\n    one"
    found = [cut(text, node.span) for node in (tree.get("a"), tree.get("c"), tree.get("d")) if node]
    assert found == ["b: |\n    one", "[1,\n 2]", "{e: 1\n }"]


def test_an_entry_keeps_the_place_of_its_key() -> None:
    text = "a: 1\n'b c': {d: 2}\n"
    tree = read(text)
    assert [cut(text, entry.key.span) for entry in tree.entries.values()] == ["a", "'b c'"]
    assert list(tree) == ["a", "b c"]
    assert "a" in tree
    assert tree.get("missing") is None


# --- Random blocks ---

LINES = st.lists(st.sampled_from([*"ab é\U0001d4b3#:'\"\\\t-|>", "  "]), max_size=8).map("".join)


@st.composite
def blocks(draw: st.DrawFn) -> str:
    """Draw a document whose key `a` holds a block scalar with whatever header and indentation."""
    base = draw(st.sampled_from(["", "  "]))
    depth = draw(st.integers(1, 4))
    indicator = str(depth) if draw(st.booleans()) else ""
    header = draw(st.sampled_from("|>")) + draw(st.sampled_from([indicator, indicator + "-", "+" + indicator]))
    lines = draw(st.lists(LINES, min_size=1, max_size=6))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    # A line of blanks only may have fewer of them than the indentation.
    # No line has a tab in its indentation, which is refused.
    lines = [line if line.lstrip(" ")[:1] != "\t" else "x" + line for line in lines]
    body = [base + " " * depth + line if line.strip() else " " * draw(st.integers(0, depth)) for line in lines]
    outer = ["z:"] if base else []
    return end.join([*outer, f"{base}a: {header}", *body, "b: 1" if draw(st.booleans()) else ""])


@both_loaders
@given(text=blocks())
def test_every_character_of_any_block_is_located(text: str, loader: type) -> None:
    diagnostics = Diagnostics()
    tree = load_tree(Source("x.yaml", text), diagnostics, loader=loader)
    if tree is None:  # the first line is deeper than the indentation that the next ones have
        return
    value = scalar(tree, "z", "a") if "z" in tree else scalar(tree, "a")
    assert value.text.strip("\n") == "" or map_scalar(value.raw, value.text, value.style) is not None
    for at, character in enumerate(value.text if value.text.strip("\n") else ""):
        found = cut(text, value.locate_slice(at, at + 1))
        assert found == character or (character in " \n" and LINE_END.fullmatch(found)) or (at and not found)
        assert found or character == "\n"


FLOW = st.lists(
    st.sampled_from([*"ab é\U0001d4b3,+=()\t", "\n  ", "\n\n  ", "''", "\n  \n "]), min_size=1, max_size=12
).map("".join)


@both_loaders
@given(words=FLOW, style=st.sampled_from(["'", '"', ""]))
def test_every_letter_of_any_quoted_or_plain_text_is_located(words: str, style: str, loader: type) -> None:
    indented = re.sub(r"(?<=\n)[ \t]+(?=[^ \t\n])", "  ", f"{style}x{words}y{style}\n")
    text = f"a: {indented}"
    diagnostics = Diagnostics()
    tree = load_tree(Source("x.yaml", text), diagnostics, loader=loader)
    if (
        tree is None
    ):  # a tab in the indentation of an empty line, or in a plain text, where one of the parsers refuses it
        assert "\t" in text
        return
    value = scalar(tree, "a")
    assert map_scalar(value.raw, value.text, value.style) is not None
    for at, character in enumerate(value.text):
        found = cut(text, value.locate_slice(at, at + 1))
        assert found in {character, character * 2} or (character in " \n" and not found.strip())


@given(text=blocks())
@needs_both
def test_both_parsers_read_any_block_alike(text: str) -> None:
    one, other = (load_tree(Source("x.yaml", text), Diagnostics(), loader=loader) for loader in LOADERS.values())
    assert (one and plain(one)) == (other and plain(other))


@needs_both
@pytest.mark.parametrize(
    "text",
    [
        *STYLES.values(),
        "a:\n- 1\n- [2, {b: 3}]\n- - 4\n  - 5\n-\n  c: 6\n  d:\n# x\n",
        "a: {b: 1, c: [], d: {}, e: , f: 'x'}\n\n\n",
        "? a\n: b\n? c\n",
        "a: &x {b: [1, 2]}\nc: *x\nd: [*x, *x]\n",
        "---\na: 1\n...\n",
        "# first\n\na:\n  b:\n    c: 1\n\n  # between\nd: 2\n# last",
    ],
)
def test_both_parsers_give_the_same_tree_and_positions(text: str) -> None:
    assert plain(read(text, yaml.SafeLoader)) == plain(read(text, yaml.CSafeLoader))


# --- Aliases ---


@both_loaders
def test_an_alias_is_the_node_it_names(loader: type) -> None:
    tree = read("a: &x {b: 1}\nc: *x\n", loader)
    assert tree.get("a") is tree.get("c")


@both_loaders
def test_an_alias_bomb_is_refused_with_the_limit_that_it_exceeds(loader: type) -> None:
    lines = ["l0: &l0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 20)]
    started = time.perf_counter()
    assert errors("\n".join(lines), loader) == [
        (Code.LIMIT, f"the file has more than {NODES_MAX:,} values, each alias counted as what it stands for", 5, 45)
    ]
    assert time.perf_counter() - started < 1


@both_loaders
def test_aliases_that_only_nest_deeply_are_refused_too(loader: type) -> None:
    lines = ["l0: &l0 [x]", *(f"l{n}: &l{n} [*l{n - 1}]" for n in range(1, 60))]
    assert errors("\n".join(lines), loader) == [
        (Code.LIMIT, f"mappings and lists are nested more than {NESTING_MAX} deep", NESTING_MAX, 12)
    ]


@both_loaders
@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("a: *x\n", "no anchor `&x` comes before this", (1, 4)),
        ("a: &x\n  b: *x\n", "the alias `*x` stands inside what it means", (2, 6)),
        ("a: &x [*x]\n", "the alias `*x` stands inside what it means", (1, 8)),
        ("a: &x 1\nb: &x 2\n", "the anchor `&x` is given twice", (2, 7)),
    ],
)
def test_an_alias_that_cannot_be_resolved_is_an_error(
    text: str, message: str, place: tuple[int, int], loader: type
) -> None:
    assert errors(text, loader) == [(Code.YAML_ALIAS, message, *place)]


# --- What is refused ---


@both_loaders
def test_a_duplicate_key_is_an_error_that_points_at_both(loader: type) -> None:
    diagnostics = Diagnostics()
    tree = load_tree(Source("x.yaml", "a: 1\nb: 2\n'a': 3\n"), diagnostics, loader=loader)
    (error,) = diagnostics.errors
    assert error.code is Code.DUPLICATE_KEY
    assert error.span == Span("x.yaml", 3, 1, 3, 4)
    assert error.notes[0].span == Span("x.yaml", 1, 1, 1, 2)
    assert tree is not None
    assert scalar(tree, "a").text == "1"


REFUSED = {
    "empty": ("", Code.EMPTY_FILE, 1, 1),
    "only a comment": ("# nothing\n", Code.EMPTY_FILE, 1, 1),
    "null": ("---\n", Code.EMPTY_FILE, 1, 1),
    "a list": ("\n- a\n", Code.WRONG_SHAPE, 2, 1),
    "a word": ("hello\n", Code.WRONG_SHAPE, 1, 1),
    "two documents": ("a: 1\n---\nb: 1\n", Code.SEVERAL_DOCUMENTS, 2, 1),
    "key is a number": ("a: {1: x}\n", Code.KEY_NOT_A_NAME, 1, 5),
    "key is a boolean": ("true: x\n", Code.KEY_NOT_A_NAME, 1, 1),
    "key is a list": ("a: 1\n? [b]\n: 1\n", Code.KEY_NOT_A_NAME, 2, 3),
    "key is a mapping": ("{{b: 1}: 1}\n", Code.KEY_NOT_A_NAME, 1, 2),
    "no key": ("?\n: 1\n", Code.KEY_NOT_A_NAME, 1, 2),
    "Python tag": ("a: !!python/object/apply:os.system ['x']\n", Code.YAML_TAG, 1, 4),
    "string tag": ("a: !!str 1\n", Code.YAML_TAG, 1, 10),
    "local tag": ("a: !x {b: 1}\n", Code.YAML_TAG, 1, 4),
    "undefined tag handle": ("a: !e!f x\n", Code.YAML_TAG, 1, 4),
    "merge key": ("a: &x {b: 1}\nc:\n  <<: *x\n", Code.MERGE_KEY, 3, 3),
    "no space after a colon": ("a: {b:1}\n", Code.YAML_SYNTAX, 1, 5),
    "number": (f"a: {INTEGER_MAX + 1}\n", Code.LIMIT, 1, 4),
    "number of a million digits": (f"a: -{'9' * 40_000}\n", Code.LIMIT, 1, 4),
    "huge text": (f"a: {'x ' * SCALAR_LENGTH_MAX}\n", Code.LIMIT, 1, 4),
    "huge file": (" " * (FILE_SIZE_MAX + 1), Code.LIMIT, 1, 1),
    "many values": (f"a: [{'1,' * (NODES_MAX + 1)}]", Code.LIMIT, 1, 2 * NODES_MAX + 3),
    "NUL": ("a: 1\nb: x\0y\n", Code.HIDDEN_CHARACTER, 2, 5),
    "terminal escape": ("a: '\x1b[31mred'\n", Code.HIDDEN_CHARACTER, 1, 5),
    "escaped terminal escape": ('a: "\\e[31mred"\n', Code.HIDDEN_CHARACTER, 1, 4),
    "escaped NUL": ('a: "\\0"\n', Code.HIDDEN_CHARACTER, 1, 4),
    "direction override": ("a: 1 # \u202e txt\n", Code.HIDDEN_CHARACTER, 1, 8),
    "line separator": ("a: x\u2028b: y\n", Code.HIDDEN_CHARACTER, 1, 5),
    "next line": ("a: x\x85b: y\n", Code.HIDDEN_CHARACTER, 1, 5),
    "lone surrogate": ("a: \ud800\n", Code.HIDDEN_CHARACTER, 1, 4),
    "byte order mark within": ("a: x\ufeff\n", Code.HIDDEN_CHARACTER, 1, 5),
}


@both_loaders
@pytest.mark.parametrize(("text", "code", "line", "column"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_in_the_language_is_refused_where_it_stands(
    text: str, code: Code, line: int, column: int, loader: type
) -> None:
    assert [(error[0], *error[2:]) for error in errors(text, loader)] == [(code, line, column)]


@both_loaders
@pytest.mark.parametrize("opening", ["[", "{a: ", "[{a: ", "- ", "? "], ids=["lists", "mappings", "both", "-", "?"])
@pytest.mark.parametrize("depth", [NESTING_MAX + 1, 500, 100_000])
def test_nesting_is_refused_whatever_its_depth_and_without_recursion(opening: str, depth: int, loader: type) -> None:
    text = ("a: " if opening[0] in "[{" else "") + opening * depth
    started = time.perf_counter()
    (error,) = errors(text[:FILE_SIZE_MAX], loader)
    assert error[:2] == (Code.LIMIT, f"mappings and lists are nested more than {NESTING_MAX} deep")
    assert time.perf_counter() - started < 5


@both_loaders
def test_the_deepest_nesting_that_is_allowed_is_read(loader: type) -> None:
    # The root is one of the levels.
    read("a: " + "[" * (NESTING_MAX - 1) + "]" * (NESTING_MAX - 1), loader)


MALFORMED = {
    "a: 'x\nb: 1\n": ("the quote that opens here is never closed", 1, 4),
    'a: "x\nb: 1\n': ("the quote that opens here is never closed", 1, 4),
    "a:\n\tb: 1\n": ("a tab stands in the indentation", 2, 1),
    "a: 1\n\tb: 1\n": ("a tab stands in the indentation", 2, 1),
    "a: |\n  x\n \tx\n": ("a tab stands in the indentation", 3, 2),
    "a: 1\r\r\tb: 1\r": ("a tab stands in the indentation", 3, 1),
    "a: [1,\n  \t2]\n": ("a tab stands in the indentation", 2, 3),
    "a: @x\n": ("a value cannot begin with `@`", 1, 4),
    "a: %x\n": ("a value cannot begin with `%`", 1, 4),
    "a: b: c\n": ("a `:` makes a key here, where no key can be", 1, 5),
    "a: 1\n  b: 2\n": ("a `:` makes a key here, where no key can be", 2, 4),
    "a: 1\nb\n": ("this line is neither a key with `:` nor part of the value before it", 2, 1),
    "a: [1, 2\nb: 3\n": ("a comma or the closing `]` is missing here", 2, 2),
    "a: {b: 1\n": ("a comma or the closing `}` is missing here", 1, 9),
    "a: {b: x[i], c: 1}\n": ("a comma or the closing `}` is missing here", 1, 9),
    "a:\n    b: 1\n  c: 2\n": ("this does not belong to the mapping it stands in", 3, 3),
    "a: 'x' y\n": ("this does not belong to the mapping it stands in", 1, 8),
    "- a\nb: 1\n": ("this line does not belong to the list above it", 2, 1),
    "a: - b\n": ("a list cannot begin behind its key", 1, 4),
    "a: ]\n": ("a value is missing here", 1, 4),
    "a: *\n": ("`*` and `&` begin an alias or an anchor, and a name must follow", 1, 5),
    "a: |x\n  y\n": ("after `|` or `>` the text begins on the next line", 1, 5),
    "%YAML 2.0\n---\na: 1\n": ("a YAML directive (`%`) is not part of the language", 1, 1),
}


@both_loaders
@pytest.mark.parametrize(("text", "expected"), MALFORMED.items())
def test_yaml_that_does_not_parse_is_explained_in_a_sentence(
    text: str, expected: tuple[str, int, int], loader: type
) -> None:
    assert errors(text, loader) == [(Code.YAML_SYNTAX, *expected)]


@both_loaders
@pytest.mark.parametrize("text", ['a: "\\q"\n', 'a: "\\U00110000"\n', 'a: "\\ud800"\n'])
def test_an_escape_that_is_no_character_is_an_error(text: str, loader: type) -> None:
    (error,) = errors(text, loader)
    assert error[0] in {Code.YAML_SYNTAX, Code.HIDDEN_CHARACTER}


@both_loaders
@given(text=st.text(st.sampled_from(list("ab:-[]{}|>'\"#&*!,?%@ \n\t\\0")), max_size=30))
def test_no_text_whatever_raises_anything(text: str, loader: type) -> None:
    diagnostics = Diagnostics()
    tree = load_tree(Source("x.yaml", text), diagnostics, loader=loader)
    assert tree is not None or diagnostics.has_errors


# --- Files ---


def test_bytes_that_are_not_utf8_are_reported_where_they_stand() -> None:
    diagnostics = Diagnostics()
    assert decode_source("x.yaml", b"\xef\xbb\xbfa: 1\r\nb: \xc3\xa9\xff\n", diagnostics) is None
    (error,) = diagnostics.errors
    assert (error.code, error.message) == (Code.NOT_UTF8, "the byte 0xff is not UTF-8 text")
    assert error.span == Span("x.yaml", 2, 5, 2, 6)


def test_a_byte_order_mark_at_the_beginning_is_not_part_of_the_text() -> None:
    source = decode_source("x.yaml", b"\xef\xbb\xbfa: 1\n", Diagnostics())
    assert source is not None
    assert source.text == "a: 1\n"


def test_a_file_is_read_under_the_name_that_messages_shall_use(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"a: 1\r\n")
    assert read_source(path, Diagnostics(), file="spec/x.yaml") == Source("spec/x.yaml", "a: 1\r\n")


@pytest.mark.parametrize("name", ["missing.yaml", ".", "nul\0"])
def test_a_file_that_cannot_be_read_is_reported(tmp_path: Path, name: str) -> None:
    diagnostics = Diagnostics()
    assert read_source(tmp_path / name, diagnostics) is None
    assert [error.code for error in diagnostics.errors] == [Code.FILE_UNREADABLE]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="the system has no endless device")
def test_what_may_never_end_is_not_read() -> None:
    diagnostics = Diagnostics()
    assert read_source(Path("/dev/zero"), diagnostics) is None
    assert [error.message for error in diagnostics.errors] == ["`/dev/zero` is not a file"]


def test_a_file_beyond_the_limit_is_refused_without_being_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b" " * (FILE_SIZE_MAX + 1))
    diagnostics = Diagnostics()
    assert read_source(path, diagnostics) is None
    assert [error.code for error in diagnostics.errors] == [Code.LIMIT]


def test_a_question_mark_inside_braces_is_read_or_the_help_says_to_quote_it() -> None:
    diagnostics = Diagnostics()
    load_tree(Source("x.yaml", "seat: {type: Seat?, init: None}\n"), diagnostics, loader=yaml.SafeLoader)

    assert [d.help for d in diagnostics.errors] == ["put quotes around a type that ends with `?`"]
