"""The systems that are measured: each a specification, what its parameters are, and the same for SPIN.

`states` and `transitions` are what every checker finds; a run that finds anything else is no measurement.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """One system of a family that grows: the parameters of its specification, and the safety property to look at."""

    family: str
    settings: tuple[tuple[str, int], ...]
    asked: str
    states: int
    transitions: int

    @property
    def name(self) -> str:
        """The family and the sizes."""
        return f"{self.family} {','.join(str(value) for _, value in self.settings)}"

    @property
    def specification(self) -> str:
        """The specification, from the root of the repository."""
        return f"spec/classics/{self.family}.yaml"

    @property
    def promela(self) -> str:
        """The same system for SPIN, from the root of the repository."""
        return f"benchmarks/models/{self.family}.pml"

    @property
    def spin_definitions(self) -> list[str]:
        """What SPIN's preprocessor is told of the sizes."""
        return [f"-D{name.upper()}={value}" for name, value in self.settings]


def _two_phase(managers: int, states: int, transitions: int) -> Case:
    return Case("two_phase_commit", (("managers", managers),), "consistent", states, transitions)


def _killed(coordinators: int, attempts: int, crashes: int, states: int, transitions: int) -> Case:
    settings = (("coordinators", coordinators), ("attempts", attempts), ("crashes", crashes))
    return Case("killed_workflow_benchmark", settings, "one_submission", states, transitions)


GROWING = {
    "two_phase_commit": [
        _two_phase(5, 8_832, 58_145),
        _two_phase(6, 50_816, 402_305),
        _two_phase(7, 296_448, 2_744_705),
        _two_phase(8, 1_745_408, 18_507_777),
        _two_phase(9, 10_340_352, 123_558_401),
    ],
    "killed_workflow_benchmark": [
        _killed(2, 2, 1, 16_887, 50_608),
        _killed(3, 2, 2, 1_171_674, 5_787_290),
        _killed(3, 3, 2, 9_837_759, 51_876_387),
    ],
}
