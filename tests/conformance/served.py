"""An adapter behind JSON lines, in Python: the office, and killing it; or, as its argument says, what goes wrong.

Run as a program; it needs nothing of ours but the office.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from typing import Any

from checker.conformance.adapter import Action, Refused, Setting, UnknownSetting
from tests.conformance.office import Office

ERRAND = {
    "name": "one letter",
    "acts": [{"launch": {"process": "clerk"}}, {"action": {"kind": "step", "process": "chief", "step": "empty"}}],
}


def answered(office: Office, request: dict[str, Any], mood: str) -> Any:
    """Return the answer to a request."""
    match request["do"]:
        case "hello":
            return {"observes": list(office.observes), "defects": list(office.defects), "killable": mood != "plain"}
        case "reset":
            office.reset(Setting(**request["setting"]))
        case "perform":
            action = request["action"]
            office.perform(Action(**{**action, "choices": tuple(action["choices"]), "faults": tuple(action["faults"])}))
        case "observe":
            return office.observe()
        case "offers":
            # What is left out is as it mostly is.
            mostly = asdict(Action("step", "", 0, ""))
            offers = map(asdict, office.offers())
            return [{k: v for k, v in offer.items() if k == "kind" or v != mostly[k]} for offer in offers]
        case "errands":
            return [ERRAND]
        case "launch":
            killed = request["kill_at"] is not None
            return {"how": "killed" if killed else "waiting", "points": ["clerk.rest"] * (request["kill_at"] or 4)}
    return None


def misbehave(mood: str, request: str) -> None:
    """Do what an adapter must not do."""
    if request != "observe" and mood != "dies at once":
        return
    match mood:
        case "dies" | "dies at once":
            sys.stderr.write("out of paper\n")
            sys.stderr.flush()
            sys.exit(7)
        case "sleeps":
            time.sleep(30)
        case "babbles":
            print("debugging: I am here", flush=True)  # noqa: T201
        case "answers nothing":
            print("{}", flush=True)  # noqa: T201
        case "answers otherwise":
            print(json.dumps({"okay": None}), flush=True)  # noqa: T201
        case "answers a number":
            print(json.dumps({"ok": 7}), flush=True)  # noqa: T201
        case "gives up":
            print(json.dumps({"error": "no stamps in the drawer"}), flush=True)  # noqa: T201
        case "nests":
            print("[" * 100_000, flush=True)  # noqa: T201


def main(mood: str) -> None:
    office = Office()
    for line in sys.stdin:
        request = json.loads(line)
        misbehave(mood, request["do"])
        try:
            answer = {"ok": answered(office, request, mood)}
        except Refused as refused:
            answer = {"refused": str(refused)}
        except UnknownSetting as unknown:
            answer = {"unknown": str(unknown)}
        print(json.dumps(answer), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
