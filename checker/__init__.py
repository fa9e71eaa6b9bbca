"""How claims about a protocol are decided: engines, generated code, verdicts and reports."""
