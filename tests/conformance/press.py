"""A press that can tear its page, as an adapter without any process: what kills mean can be seen in it step by step."""

from __future__ import annotations

from collections.abc import Sequence

from checker.conformance.adapter import Action, Ended, Errand, Launch, Observation, Refused, Setting

TEXT = """\
language: 1
protocol: press
title: A page is printed, or torn and then printed

types:
  Page: [blank, torn, printed]
stores:
  paper:
    holds:
      page: {type: Page}

faults:
  crash: {of: [press]}

processes:
  press:
    restarts: later
    steps:
      rest: pass
      print:
        do: |
          page = printed
          stop()
        torn: page = torn

properties:
  never_torn_for_good: {always: "implies(stopped(press[0]), page == printed)"}
  can_tear: {possible: page == torn}

scenarios:
  baseline: {}
"""


class Press:
    """The adapter. A run comes by `rest`, `print` and the middle of `print`."""

    observes: Sequence[str] = ("page",)
    defects: Sequence[str] = (
        "waits",
        "never_tears",
        "tears_too_soon",
        "forgets_the_middle",
        "takes_turns",
        "stops_early",
    )

    def __init__(self) -> None:
        self.page = "blank"
        self.stopped = False
        self.defect = ""
        self.launches: list[int | None] = []
        self.turns = 0

    def reset(self, setting: Setting) -> None:
        """Take a new page."""
        self.page = "blank"
        self.stopped = False
        self.defect = setting.defect

    def launch(self, launch: Launch, kill_at: int | None) -> Ended:
        """Print, unless killed before or amid."""
        assert launch == Launch("press")
        self.launches.append(kill_at)
        self.turns += 1
        points = ["press.rest", "press.print", "press.print.torn"]
        if self.defect == "forgets_the_middle" or (self.defect == "takes_turns" and self.turns % 2 == 0):
            points.pop()
        if self.stopped:
            return Ended("stopped", ())
        if self.defect == "stops_early":
            return Ended("stopped", tuple(points[:1]))
        for number, point in enumerate(points, start=1):
            if (point.endswith("torn") and self.defect != "never_tears") or self.defect == "tears_too_soon":
                self.page = "torn"
            if number == kill_at:
                return Ended("killed", tuple(points[:number]))
        self.page, self.stopped = "printed", True
        return Ended("waiting" if self.defect == "waits" else "stopped", tuple(points))

    def errands(self) -> Sequence[Errand]:
        """Return the only one."""
        return [Errand("page", (Launch("press"),))]

    def perform(self, action: Action) -> None:
        """Do nothing step by step."""
        raise Refused(action.id)

    def observe(self) -> Observation:
        """Return the page."""
        return {"page": self.page}

    def offers(self) -> Sequence[Action]:
        """Return nothing."""
        return []

    def close(self) -> None:
        """Do nothing."""
