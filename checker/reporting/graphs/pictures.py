"""A projected transition graph as a picture.

`graphlay` says where everything goes and `resvg_py` makes pixels of it; both come as wheels, so that no program has to
be installed beside Python. They are the extra `pictures`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any
from xml.sax.saxutils import escape

from checker.engines.projection import Passage, Projection, Situation
from checker.reporting.graphs.texts import arrows, passage_lines, remark, situation_lines

_LINE, _SMALL_LINE = 16, 12
_LETTER, _SMALL_LETTER = 7.2, 6.0
"""Widths of a letter of the monospaced font, in pixels."""
_MARGIN = 24
_FARTHEST = 70
"""How far what is said may stand from its arrow, in pixels."""
_STYLE = """
  .killpoint-graph text { font: 12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1d2533; }
  .killpoint-graph .title { font-weight: bold; }
  .killpoint-graph .box { fill: #ffffff; stroke: #5b677a; stroke-width: 1.2; }
  .killpoint-graph .initial { stroke-width: 3; }
  .killpoint-graph .breaks { fill: #fdecec; stroke: #c62828; stroke-width: 2; }
  .killpoint-graph .way { fill: none; stroke: #5b677a; stroke-width: 1.4; marker-end: url(#arrow); }
  .killpoint-graph .crash { stroke: #b26a00; stroke-dasharray: 6 4; }
  .killpoint-graph .said { font-size: 10px; fill: #3b4658; }
  .killpoint-graph .under { fill: #ffffff; }
"""


def svg(projection: Projection, title: str, *, loops: bool = False) -> str:
    """Return the graph as one self-contained SVG: boxes for situations, dashed arrows where only a crash leads on.

    Raises:
        ImportError: the extra `pictures` is not installed.
    """
    import graphlay

    drawn = arrows(projection, loops=loops)
    graph = graphlay.Graph()
    for number, situation in enumerate(projection.situations):
        lines = situation_lines(projection, situation)
        graph.node(number, width=_width(lines, _LETTER) + 20, height=_LINE * len(lines) + 14)
    for passage in drawn:
        lines = passage_lines(passage)
        size = {"width": _width(lines, _SMALL_LETTER) + 8, "height": _SMALL_LINE * len(lines) + 4}
        graph.edge(passage.source, passage.target, label_size=size)
    layout = graphlay.layout(graph, options={"direction": "topbottom"})
    low, high = layout.bounds["min"], layout.bounds["max"]
    # The bounds are those of boxes and arrows; what is said on an arrow may stand outside.
    said = [
        (_place(edge)[0], _width(passage_lines(passage), _SMALL_LETTER) / 2)
        for passage, edge in zip(drawn, layout.edges, strict=True)
    ]
    left = min([low["x"], *(centre - half for centre, half in said)]) - _MARGIN
    right = max([high["x"], *(centre + half for centre, half in said)]) + _MARGIN
    top = low["y"] - _MARGIN - 2 * _LINE
    width = max(right - left, len(title) * _LETTER + 2 * _MARGIN)
    height = high["y"] + _MARGIN - top
    body = [
        f'<text class="title" x="{left + _MARGIN:.0f}" y="{top + _MARGIN:.0f}">{escape(title)}</text>',
        *(_arrow(passage, edge) for passage, edge in zip(drawn, layout.edges, strict=True)),
        *(_box(projection, each, node) for each, node in zip(projection.situations, layout.nodes, strict=True)),
        *(_said(passage, edge) for passage, edge in zip(drawn, layout.edges, strict=True)),
    ]
    view = f"{left:.0f} {top:.0f} {width:.0f} {height:.0f}"
    extent = f'width="{width:.0f}" height="{height:.0f}"'
    head = f'<svg class="killpoint-graph" xmlns="http://www.w3.org/2000/svg" viewBox="{view}" {extent}>'
    background = f'<rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>'
    arrow = (
        '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M 0,0 L 10,5 L 0,10 Z" fill="#5b677a"/></marker></defs>'
    )
    return "\n".join([head, f"<style>{_STYLE}</style>", arrow, background, *body, "</svg>", ""])


def png(projection: Projection, title: str, *, loops: bool = False) -> bytes:
    """Return the graph as a PNG image.

    Raises:
        ImportError: the extra `pictures` is not installed.
    """
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg(projection, title, loops=loops)))


def _width(lines: Sequence[str], letter: float) -> float:
    return max(map(len, lines), default=0) * letter


def _box(projection: Projection, situation: Situation, node: Mapping[str, Any]) -> str:
    centre, size = node["center"], node["size"]
    left, top = centre["x"] - size["width"] / 2, centre["y"] - size["height"] / 2
    kind = "box" + " initial" * situation.initial + " breaks" * bool(situation.breaks)
    place = f'x="{left:.1f}" y="{top:.1f}" width="{size["width"]:.1f}" height="{size["height"]:.1f}"'
    lines = "".join(
        f'<text x="{left + 10:.1f}" y="{top + 18 + _LINE * number:.1f}">{escape(line)}</text>'
        for number, line in enumerate(situation_lines(projection, situation))
    )
    return f'<g><title>{escape(remark(situation))}</title><rect class="{kind}" {place} rx="6"/>{lines}</g>'


def _arrow(passage: Passage, edge: Mapping[str, Any]) -> str:
    path = " L ".join(f"{point['x']:.1f},{point['y']:.1f}" for point in edge["points"])
    kind = "way" if passage.steps else "way crash"
    return f'<path class="{kind}" d="M {path}"><title>{escape(_all(passage))}</title></path>'


def _said(passage: Passage, edge: Mapping[str, Any]) -> str:
    lines, (across, down) = passage_lines(passage), _place(edge)
    width, height = _width(lines, _SMALL_LETTER) + 4, _SMALL_LINE * len(lines)
    left, top = across - width / 2, down - height / 2
    under = f'<rect class="under" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"/>'
    return under + "".join(
        f'<text class="said" x="{left + 2:.1f}" y="{top + 10 + _SMALL_LINE * number:.1f}">{escape(line)}</text>'
        for number, line in enumerate(lines)
    )


def _place(edge: Mapping[str, Any]) -> tuple[float, float]:
    """Return where to say what an arrow means: where the layout has room, unless that is too far from the arrow."""
    x, y = edge["label_anchor"]["x"], edge["label_anchor"]["y"]
    points = [(point["x"], point["y"]) for point in edge["points"]]
    pieces = list(pairwise(points))

    def away(piece: tuple[tuple[float, float], tuple[float, float]]) -> float:
        (left, right), (top, bottom) = (sorted(pair) for pair in zip(*piece, strict=True))
        return float(max(left - x, x - right, 0) + max(top - y, y - bottom, 0))

    if min(map(away, pieces)) <= _FARTHEST:
        return x, y
    (x, y), (u, v) = max(pieces, key=lambda ends: abs(ends[0][0] - ends[1][0]) + abs(ends[0][1] - ends[1][1]))
    return (x + u) / 2, (y + v) / 2


def _all(passage: Passage) -> str:
    crashes = [f"crash at {point}" for point in passage.crashes]
    return f"{', '.join([*passage.steps, *crashes])}: {passage.transitions:,} transitions"
