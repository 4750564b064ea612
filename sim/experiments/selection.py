"""Which system is cheapest among those that meet the target: constrained selection, fully sequential.

Systems are simulated side by side, one replication of each at a time. A system is declared feasible or
infeasible as soon as the sum of its deviations from a limit leaves a triangular region; a pair is
decided as soon as the sum of the differences of their costs does. A system leaves when it is
infeasible, or when one that costs less has been declared feasible; while one that costs less is still
in doubt it sleeps, and costs no replications. So they go where they matter: to limits nearly met and
costs nearly equal.

Sources: Andradottir and Kim (2010), Fully sequential procedures for comparing constrained systems via
simulation, Naval Research Logistics 57(5), 403-421 (the variant that checks feasibility and compares at
the same time, AK+); sleeping: Healey, Andradottir and Kim (2013), Efficient comparison of constrained
systems using dormancy, European Journal of Operational Research 224(2), 340-352. The region is that of
Kim and Nelson (2001), ACM TOMACS 11(3), 251-273, with c = 1:

    R(r; zone, S2) = max(0, h2 S2 / (2 zone) - zone r / 2),  h2 = 2 eta (n0 - 1),
    eta = ((2 beta)^(-2 / (n0 - 1)) - 1) / 2

Far from a limit a narrow zone is wasteful, so each decision is tried at several zones, up to 64 times as
wide, with the limit moved by the difference, each with its part of the error: Zhou, Andradottir and Kim
(2025), Indifference-zone relaxation procedures for finding feasible systems, arXiv 2509.04514.

The chosen system is the best feasible one with at least the confidence asked for, if observations are
normal, the limits are missed or met by at least their zone, and costs differ by at least the zone of
money; within the zones either answer counts as right. The error allowed is shared out by Bonferroni:
beta = (1 - confidence) / (k - 1 + s) for k systems and s limits, because the best system may be lost by
any of its s limits, and to each other system by one way only: by being wrongly declared feasible if it
is not, or by wrongly looking cheaper if it is. It holds with common random numbers too; a pair is
compared over the replications that both have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["ConstrainedSelection", "Limit", "Observation"]

Floats = NDArray[np.float64]
Standing = Literal["open", "feasible", "infeasible"]

LEVELS = (1.0, 4.0, 16.0, 64.0)
"""Widths of the zones at which each decision is tried, in zones."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A line of the target: the mean of a quantity is at most a value (or at least, if so said)."""

    value: float
    zone: float
    """Deviation from the value that does not matter, same unit, above 0."""
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Observation:
    """One replication of one system."""

    cost: float
    quantities: tuple[float, ...]
    """One a limit, in their order."""


class ConstrainedSelection:
    """The procedure as a conversation: `wanted` says what to simulate next, `tell` takes the results."""

    def __init__(
        self,
        systems: int,
        limits: Sequence[Limit],
        cost_zone: float,
        confidence: float = 0.95,
        first: int = 10,
    ) -> None:
        """`systems` compete; `cost_zone` is a difference in cost that does not matter; every system
        gets `first` replications before anything is decided.

        Raises ValueError for a zone that is not above 0, fewer than 2 first replications, or no system.
        """
        if systems < 1 or first < 2:
            msg = "constrained selection needs a system, and 2 or more first replications"
            raise ValueError(msg)
        if cost_zone <= 0 or any(limit.zone <= 0 for limit in limits):
            msg = "an indifference zone must be above 0"
            raise ValueError(msg)
        self.first = first
        self.standing: list[Standing] = ["open"] * systems
        self.beaten_by: list[int | None] = [None] * systems
        """The feasible system that costs less, for those that left because of it."""
        beta = (1 - confidence) / max(1, systems - 1 + len(limits)) / len(LEVELS)
        eta = ((2 * beta) ** (-2 / (first - 1)) - 1) / 2
        self._h2 = float(2 * eta * (first - 1))
        self._limits = tuple(limits)
        self._cost_zone = cost_zone
        self._costs: list[list[float]] = [[] for _ in range(systems)]
        self._cost_sums: list[list[float]] = [[] for _ in range(systems)]
        self._gaps: list[list[Floats]] = [[] for _ in range(systems)]
        self._gap_sums = np.zeros((systems, len(limits)))
        self._met = np.zeros((systems, len(limits)), dtype=bool)
        self._cheaper = np.zeros((systems, systems), dtype=bool)
        """[i, j]: the pair is decided, and i costs less than j."""

    @property
    def survivors(self) -> tuple[int, ...]:
        """Systems that may still be the answer."""
        return tuple(
            i
            for i, standing in enumerate(self.standing)
            if standing != "infeasible" and self.beaten_by[i] is None
        )

    @property
    def done(self) -> bool:
        """Whether the answer stands."""
        left = self.survivors
        return not left or (len(left) == 1 and self.standing[left[0]] == "feasible")

    @property
    def best(self) -> int | None:
        """The answer once `done`; None: no system is feasible. Before: the cheapest survivor so far,
        one that is known to be feasible if there is any."""
        left = self.survivors
        feasible = [i for i in left if self.standing[i] == "feasible"] or list(left)
        return min(feasible, key=lambda i: (self._mean_cost(i), i), default=None)

    @property
    def wanted(self) -> tuple[int, ...]:
        """Systems of which the next replication is to be told: the survivors that do not sleep."""
        if self.done:
            return ()
        left = self.survivors
        awake = tuple(j for j in left if not any(self._cheaper[i, j] for i in left))
        # Wrong decisions may run in a circle, in which each sleeps because of the next: then none does.
        return awake or left

    @property
    def spent(self) -> int:
        """Replications of all systems together."""
        return sum(map(len, self._costs))

    def replications(self, system: int) -> int:
        """Replications of one system so far: its next one has this number, counted from 0."""
        return len(self._costs[system])

    def tell(self, found: Mapping[int, Observation]) -> None:
        """Take the next replication of every wanted system.

        Raises ValueError if they are not exactly those.
        """
        if tuple(sorted(found)) != self.wanted:
            msg = f"wanted are the systems {self.wanted}, told were {tuple(sorted(found))}"
            raise ValueError(msg)
        for i, observation in found.items():
            sums = self._cost_sums[i]
            self._costs[i].append(observation.cost)
            sums.append((sums[-1] if sums else 0.0) + observation.cost)
            gaps = [
                (limit.value - value) if limit.at_least else (value - limit.value)
                for limit, value in zip(self._limits, observation.quantities, strict=True)
            ]
            self._gaps[i].append(np.array(gaps))
            self._gap_sums[i] += gaps
        for i in sorted(found):
            if self.standing[i] == "open" and self.replications(i) >= self.first:
                self._check_limits(i)
        self._compare()

    def _mean_cost(self, system: int) -> float:
        return float(np.mean(self._costs[system])) if self._costs[system] else np.inf

    def _side(self, total: float, s2: float, zone: float, replications: int) -> int:
        """-1: the mean of so many values with this sum is below 0, 1: above; 0: not yet known.

        A wide zone decides below 0 only against a mean that lies as much higher, so that a mean at the
        edge of the narrow zone is at the edge of the wide one too. A sum of 0 is below.
        """
        for level in LEVELS:
            wide = zone * level
            region = max(0.0, self._h2 * s2 / (2 * wide) - wide * replications / 2)
            moved = (wide - zone) * replications
            if total + moved <= -region:
                return -1
            if total - moved >= region:
                return 1
        return 0

    def _check_limits(self, i: int) -> None:
        s2 = np.var(self._gaps[i][: self.first], axis=0, ddof=1)
        for number, limit in enumerate(self._limits):
            if self._met[i, number]:
                continue
            side = self._side(
                float(self._gap_sums[i, number]), float(s2[number]), limit.zone, self.replications(i)
            )
            if side < 0:
                self._met[i, number] = True
            elif side > 0:
                self.standing[i] = "infeasible"
                return
        if self._met[i].all():
            self.standing[i] = "feasible"

    def _compare(self) -> None:
        for i, j in combinations(self.survivors, 2):
            both = min(self.replications(i), self.replications(j))
            if both < self.first or self._cheaper[i, j] or self._cheaper[j, i]:
                continue
            pairs = np.array(self._costs[i][: self.first]) - np.array(self._costs[j][: self.first])
            difference = self._cost_sums[i][both - 1] - self._cost_sums[j][both - 1]
            # Of two that cost the same, the first in order is the better.
            side = self._side(difference, float(pairs.var(ddof=1)), self._cost_zone, both)
            if side < 0:
                self._cheaper[i, j] = True
            elif side > 0:
                self._cheaper[j, i] = True
        for i in self.survivors:
            if self.standing[i] == "feasible" and self.beaten_by[i] is None:
                for j in map(int, np.flatnonzero(self._cheaper[i])):
                    if self.beaten_by[j] is None:
                        self.beaten_by[j] = i
