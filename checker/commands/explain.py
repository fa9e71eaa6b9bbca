"""`killpoint explain`: what an error or a warning means, with an example of what is wrong and what is right."""

from __future__ import annotations

from checker.commands.answers import print_document
from checker.commands.refusal import BadInput
from checker.reporting.output import standard_output
from checker.verdict import ExitCode
from model.codes import Code, code_of, explanation
from model.diagnostics import Diagnostic, did_you_mean, quoted


def run(text: str, *, as_json: bool) -> ExitCode:
    """Print the explanation of a code, given by its number or its name.

    Raises:
        BadInput: there is no such code.
    """
    code = code_of(text) or _by_name(text)
    if code is None:
        known = [candidate for each in Code for candidate in (each.number, each.name)]
        message = f"there is no code {quoted(text)}"
        raise BadInput([Diagnostic(Code.NO_SUCH_CODE, message, None, help=did_you_mean(text.upper(), known))])
    body = explanation(code)
    if as_json:
        content = {
            "code": code.number,
            "name": code.name,
            "severity": code.severity.value,
            "meaning": code.meaning,
            "explanation": body,
        }
        print_document("explain", ExitCode.AS_DECLARED, content)
        return ExitCode.AS_DECLARED
    output = standard_output()
    output.line((code.severity.value, f"{code.severity.value}[{code.number}]"), ("title", f": {code.meaning}"))
    output.line()
    output.markdown(body)
    return ExitCode.AS_DECLARED


def _by_name(text: str) -> Code | None:
    return Code.__members__.get(text.strip().upper().replace("-", "_"))
