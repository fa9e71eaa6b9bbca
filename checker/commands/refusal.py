"""How a command says that its input is wrong; imported by all of them, and light."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from model.diagnostics import Diagnostic
from model.source import Source


class BadInput(Exception):
    """The command or a file that it names was refused; `diagnostics` says why, `sources` shows the lines."""

    def __init__(self, diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source] | None = None) -> None:
        self.diagnostics = tuple(diagnostics)
        self.sources = dict(sources or {})
        super().__init__("\n".join(str(diagnostic) for diagnostic in self.diagnostics))
