"""A projected transition graph for other tools: DOT, GraphML, Mermaid."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from checker.engines.projection import Passage, Projection, Situation

_GRAPHML = "http://graphml.graphdrawing.org/xmlns"


def situation_lines(projection: Projection, situation: Situation) -> list[str]:
    """Return what is written into the box of a situation."""
    return [f"{name}={value}" for name, value in zip(projection.slots, map(_word, situation.values), strict=True)]


def passage_lines(passage: Passage) -> list[str]:
    """Return what is written beside an arrow: the steps, and that a crash leads there too."""
    return [*passage.steps, *(["crash"] if passage.crashes else [])]


def arrows(projection: Projection, *, loops: bool) -> list[Passage]:
    """Return the passages to draw: what stays in its situation only where it is asked for."""
    return [passage for passage in projection.passages if loops or passage.source != passage.target]


def dot(projection: Projection, title: str, *, loops: bool = False) -> str:
    """Return the graph in the language of Graphviz."""
    lines = ["digraph killpoint {", f"  label={_dotted(title)}; labelloc=t;", "  node [shape=box, style=rounded];"]
    for number, situation in enumerate(projection.situations):
        marks = ", penwidth=2" * situation.initial + ', color=red, xlabel="breaks"' * bool(situation.breaks)
        label = _dotted("\n".join(situation_lines(projection, situation)))
        tooltip = _dotted(remark(situation))
        lines.append(f"  s{number} [label={label}, tooltip={tooltip}{marks}];")
    for passage in arrows(projection, loops=loops):
        dashed = "" if passage.steps else ", style=dashed"
        label = _dotted("\n".join(passage_lines(passage)))
        lines.append(f"  s{passage.source} -> s{passage.target} [label={label}{dashed}];")
    return "\n".join([*lines, "}", ""])


def mermaid(projection: Projection, title: str, *, loops: bool = False) -> str:
    """Return the graph as Mermaid, which forges draw inside Markdown."""
    lines = ["---", f"title: {_mermaid(title)}", "---", "flowchart TD"]
    for number, situation in enumerate(projection.situations):
        label = "<br/>".join(map(_mermaid, situation_lines(projection, situation)))
        kind = ":::breaks" if situation.breaks else ":::initial" if situation.initial else ""
        lines.append(f'  s{number}["{label}"]{kind}')
    for passage in arrows(projection, loops=loops):
        arrow = "-->" if passage.steps else "-.->"
        label = "<br/>".join(map(_mermaid, passage_lines(passage)))
        lines.append(f'  s{passage.source} {arrow}|"{label}"| s{passage.target}')
    lines += ["  classDef initial stroke-width:3px", "  classDef breaks stroke:#c00,stroke-width:3px", ""]
    return "\n".join(lines)


def graphml(projection: Projection, title: str, *, loops: bool = False) -> str:
    """Return the graph as GraphML, with everything known of it as typed attributes."""
    root = ET.Element("graphml", xmlns=_GRAPHML)
    of_nodes = {"states": "int", "initial": "boolean", "breaks": "string"}
    of_edges = {"steps": "string", "crashes": "string", "transitions": "int"}
    attributes = [("graph", "title", "string"), *(("node", name, "string") for name in projection.slots)]
    attributes += [("node", name, kind) for name, kind in of_nodes.items()]
    attributes += [("edge", name, kind) for name, kind in of_edges.items()]
    keys: dict[tuple[str, str], str] = {}
    for where, name, kind in attributes:
        keys[where, name] = f"k{len(keys)}"
        about = {"id": keys[where, name], "for": where, "attr.name": name, "attr.type": kind}
        ET.SubElement(root, "key", about)
    graph = ET.SubElement(root, "graph", edgedefault="directed")

    def say(element: ET.Element, where: str, values: dict[str, object]) -> None:
        for name, value in values.items():
            ET.SubElement(element, "data", key=keys[where, name]).text = _word(value)

    say(graph, "graph", {"title": title})
    for number, situation in enumerate(projection.situations):
        node = ET.SubElement(graph, "node", id=f"s{number}")
        say(node, "node", dict(zip(projection.slots, situation.values, strict=True)))
        found = {"states": situation.states, "initial": situation.initial, "breaks": " ".join(situation.breaks)}
        say(node, "node", found)
    for passage in arrows(projection, loops=loops):
        edge = ET.SubElement(graph, "edge", source=f"s{passage.source}", target=f"s{passage.target}")
        steps, crashes = " ".join(passage.steps), " ".join(passage.crashes)
        say(edge, "edge", {"steps": steps, "crashes": crashes, "transitions": passage.transitions})
    ET.indent(root)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{ET.tostring(root, encoding='unicode')}\n"


def remark(situation: Situation) -> str:
    """Return how many states a situation stands for, and what breaks in it."""
    states = f"{situation.states:,} state{'s' * (situation.states != 1)}"
    return f"{states}; breaks {', '.join(situation.breaks)}" if situation.breaks else states


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _dotted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _mermaid(text: str) -> str:
    return text.replace("#", "#35;").replace('"', "#quot;").replace("[", "#91;").replace("]", "#93;")
