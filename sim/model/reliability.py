"""Failures, snapshots, maintenance and checkpoints, as a scenario writes them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from sim.model.base import Strict
from sim.model.values import Duration
from sim.units import DAY, HOUR, MINUTE, SECOND

__all__ = [
    "BadResults",
    "Checkpoint",
    "FailureEvent",
    "Hang",
    "Infant",
    "Lemon",
    "MaintenancePlan",
    "Migration",
    "Reliability",
    "Share",
    "SiteEvents",
    "SnapshotPlan",
    "SparePool",
    "SwitchEvents",
    "WaitForSpare",
]

Share = Annotated[float, Field(ge=0, le=1)]
Sigma = Annotated[float, Field(ge=0, le=5)]
Mean = Annotated[Duration, Field(gt=0)]


class WaitForSpare(Strict):
    """The provider may have no machine in working order left: the move then waits, log-normal (assumed)."""

    probability: Share
    """Share of failures for which no spare machine is there."""
    median: Duration = 24 * HOUR
    """Median time until one is."""
    sigma: Sigma = 0.8
    """Spread of that time: standard deviation of the logarithm (assumed)."""


class SparePool(Strict):
    """Spare machines of each offer; a failed machine is a spare again once it is repaired (assumed)."""

    count: int = Field(ge=0)
    """Spare machines that stand ready."""
    repair: Duration = 5 * DAY
    """Median time of a repair, log-normal."""
    sigma: Sigma = 0.6
    """Spread of the time of repair: standard deviation of the logarithm (assumed)."""


class Migration(Strict):
    """The provider's promise to move a failed machine."""

    within: Duration | None = None
    """Time within which the promise says the machine works again; default: as the offer says."""
    kept: Share | None = None
    """Probability that the promise is kept; default: as the offer says (assumed there: no audit of
    any provider is published)."""
    no_spare: WaitForSpare | None = None
    """Moves that find no spare machine; default: there always is one."""
    spares: SparePool | None = None
    """A limited number of spare machines; default: there always is one."""


class FailureEvent(Strict):
    """A failure at a known time, beside the random ones."""

    at: Duration
    """Time from the scenario's start."""
    kind: Literal[
        "gpu_reset",
        "gpu_fatal",
        "node",
        "network",
        "ecc_uncorrectable",
        "silent_corruption",
        "switch",
        "site",
        "maintenance",
    ] = "node"
    """`switch` and `site` hit all machines of the offer that share it."""
    offer: str
    """Whose machine fails; strategies without this offer are not hit."""
    machine: int = Field(default=0, ge=0)
    """Ordinal of the machine among those of the offer, from 0."""
    card: int = Field(default=0, ge=0)
    """Card of that machine, from 0."""
    down: Duration | None = None
    """Time until it works again; default: drawn as for a random failure."""


class SwitchEvents(Strict):
    """Network or storage events that hit several machines of an offer at once (assumed)."""

    every: Mean
    """Mean time between two events of one switch or disk store."""
    machines: int = Field(default=8, ge=1)
    """Machines that share it, by their ordinal."""
    lasts: Duration = HOUR
    """Median, log-normal."""
    sigma: Sigma = 0.7
    """Spread of the repair time: standard deviation of the logarithm (assumed)."""


class SiteEvents(Strict):
    """Events of power, cooling or network that hit all machines of a site (assumed)."""

    every: Mean = 243 * DAY
    """Mean time between two events; the default is one and a half a year."""
    lasts: Duration = 4 * HOUR
    """Median, log-normal."""
    sigma: Sigma = 0.7
    """Spread of the repair time: standard deviation of the logarithm (assumed)."""


class Lemon(Strict):
    """Machines that fail much more often than the others; the mean over all of them stays as it is."""

    share: Share
    """Part of the machines."""
    rate: float = Field(ge=1)
    """How much more often than the others they fail."""


class Infant(Strict):
    """Machines fail more often just after they were placed or replaced (assumed)."""

    factor: float = Field(default=3.0, ge=1)
    """Times the usual rate."""
    period: Duration = 72 * HOUR
    """How long the higher rate lasts from the start of the lease."""


class Hang(Strict):
    """Failures that show as a job that stands still instead of an error."""

    share: Share
    """Part of the failures of these kinds."""
    detect: Duration = 10 * MINUTE
    """Median time to notice: 10 min is the usual watchdog; people without one take some 30 min."""
    sigma: Sigma = 0.0
    """Spread, log-normal; 0 for a watchdog."""
    kinds: tuple[
        Literal["gpu_reset", "gpu_fatal", "node", "network", "ecc_uncorrectable", "switch", "site"], ...
    ] = ("gpu_reset", "gpu_fatal", "node", "network", "ecc_uncorrectable", "switch", "site")
    """Kinds of failures that hang instead of stopping."""


class SnapshotPlan(Strict):
    """Images of disks, at equal distances from the start of the scenario."""

    per_day: int = Field(default=3, ge=1, le=1440)
    """Snapshots a day, evenly spaced."""
    rollback: Duration = 30 * SECOND
    """Time to restore one, on top of the move."""
    disk: Literal["system", "data"] = "system"
    """`data`: checkpoints and base models on the data disk come back as they were at the last snapshot."""


class MaintenancePlan(Strict):
    """Planned work on each machine in turn: jobs save their state, leave, and wait for other cards."""

    every: Mean
    """From one round to the next."""
    lasts: Mean = 2 * HOUR
    """Time that a machine is away."""
    first: Duration | None = None
    """When the first machine's turn comes; default: after one interval."""
    notice: Duration = 24 * HOUR
    """Announced so long before; with 0s nobody saves, and work since the last checkpoint is lost."""
    together: int = Field(default=1, ge=1)
    """Machines of an offer that are away at one time."""


class BadResults(Strict):
    """What becomes of jobs hit by silent data corruption."""

    found: Share = 0.5
    """Probability that the bad result is seen at the end of the job, which is then done again
    from the beginning (assumed)."""


class Reliability(Strict):
    """How often cards and machines fail, and what then happens."""

    profile: str = "datacentre"
    """Preset in the catalogue, by card class; `none`: no random failures."""
    migration: Migration = Migration()
    """What a provider promises when a machine fails, and how often it is kept."""
    data_disk: Literal["kept", "lost"] = "lost"
    """Whether checkpoints and base models survive the move to another machine (assumed lost:
    only snapshots of the system disk are promised)."""
    gpu_fatal: Duration | None = None
    """Mean time between fatal failures of a card; default: from the profile."""
    gpu_reset: Duration | None = None
    """Mean time between failures of a card that a reset mends; default: from the profile."""
    node: Duration | None = None
    """Mean time between failures of a machine; default: from the profile."""
    network: Duration | None = None
    """Mean time between network or storage failures that stop a machine; default: from the profile."""
    ecc_uncorrectable: Duration | Literal["preset"] | None = None
    """Mean time between uncorrectable memory errors of a card with ECC: shown as a kind of their own;
    `preset`: from the profile, and taken out of its resets and fatal failures, which include them."""
    silent_corruption: Duration | Literal["preset"] | None = None
    """Mean time between errors of a card that nobody notices and that spoil the result; `preset`:
    from the profile; default: none."""
    bad_results: BadResults = BadResults()
    """What becomes of results that a silent error has spoiled."""
    switch: SwitchEvents | None = None
    """Events of a switch that hit several machines at once; default: none."""
    site: SiteEvents | None = None
    """Events that hit the whole site; default: none."""
    lemons: Lemon | Literal["preset"] | None = None
    """Machines that fail more often than others; `preset`: as the profile says for the card class."""
    infant: Infant | None = None
    """Higher failure rates at the beginning of a card's life; default: none."""
    shape: float = Field(default=1.0, ge=0.3, le=5)
    """Shape of the Weibull times between failures of one card or machine: 1 is exponential, below 1
    failures come in clusters after the start of the scenario; the mean stays."""
    hangs: Hang | None = None
    """Jobs that stand still until somebody notices; default: none."""
    snapshots: SnapshotPlan | None = None
    """Disk images made so many times a day, to which a machine can be rolled back; default: none."""
    maintenance: MaintenancePlan | None = None
    """Planned upkeep, by machine; default: none."""
    events: tuple[FailureEvent, ...] = ()
    """Failures at known times."""

    @model_validator(mode="after")
    def _one_rule_for_spares(self) -> Reliability:
        if self.migration.no_spare is not None and self.migration.spares is not None:
            msg = "migration has either no_spare (a probability) or spares (a number), not both"
            raise ValueError(msg)
        return self


class Checkpoint(Strict):
    """When jobs save their state."""

    every: Duration | Literal["never", "young", "daly"] = 20 * MINUTE
    """Work between two checkpoints, or `never`; `young` and `daly` take the interval at which the least
    time is lost, by the time one takes and the mean time between interruptions of the job's cards."""
    cost: Duration | None = None
    """Time that one takes; default: by the size of the state and the rate of the disk."""
