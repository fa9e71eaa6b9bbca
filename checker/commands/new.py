"""`killpoint new`: a small, commented specification that checks at once."""

from __future__ import annotations

import re
from pathlib import Path

from checker.commands.answers import say, write_file
from checker.commands.refusal import BadInput
from checker.verdict import ExitCode
from model.diagnostics import Code, Diagnostic, quoted

_TEMPLATE = Path(__file__).resolve().parent.parent / "templates" / "new.yaml"
_NAME = re.compile("[a-z][a-z0-9]*([-_][a-z0-9]+)*")
_NAME_LONGEST = 60


def run(name: str, out: Path | None) -> ExitCode:
    """Write the file, if there is none of that name.

    Raises:
        BadInput: the name is none, or the file exists or cannot be written.
    """
    if not _NAME.fullmatch(name) or len(name) > _NAME_LONGEST:
        help_ = f"up to {_NAME_LONGEST} lower-case letters and digits, with single dashes: `order-payment`"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, f"{quoted(name)} cannot name a protocol", None, help=help_)])
    path = out if out is not None else Path(f"{name.replace('-', '_')}.yaml")
    if path.exists():
        message = f"{quoted(str(path))} exists already"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help="name another file with `--out FILE`")])
    text = _TEMPLATE.read_text(encoding="utf-8")
    write_file(path, text.replace("NAME", name.replace("_", "-")).replace("FILE", str(path)))
    say(f"{path} is written. Now: killpoint check {path}")
    return ExitCode.AS_DECLARED
