"""What the answer rests on in failures and in ends by users: sentences on what a scenario switched on."""

from __future__ import annotations

from collections.abc import Iterator

from sim.experiments.wording import quoted
from sim.model.reliability import Reliability
from sim.model.scenario import Scenario
from sim.model.timed import TimedClass
from sim.model.work import JobClass
from sim.units import format_duration

__all__ = ["failure_features"]


def failure_features(scenario: Scenario) -> Iterator[str]:
    """One sentence for each rule without a published figure that the scenario asks for."""
    reliability = scenario.reliability
    yield from _more_failures(reliability)
    yield from _longer_outages(reliability)
    if scenario.checkpoint.every in ("young", "daly"):
        yield (
            f"Checkpoints at the interval of {str(scenario.checkpoint.every).capitalize()} for the mean "
            "rate of interruptions of a job's cards; lemons and new machines are not known to the job."
        )
    classes: list[JobClass | TimedClass] = [*scenario.workload.classes, *scenario.workload.timed]
    for job_class in classes:
        if job_class.ends is not None:
            named = f", preset {job_class.ends}" if isinstance(job_class.ends, str) else ""
            yield (
                f"{quoted(job_class.name)}: users cancel jobs, and jobs fail by errors of their own{named}; "
                "each submission is drawn alike, and when in a run it ends is assumed."
            )


def _more_failures(reliability: Reliability) -> Iterator[str]:
    if reliability.silent_corruption is not None:
        yield (
            "Silent corruption of data spoils results; a bad one is seen at the end of a job with "
            f"probability {reliability.bad_results.found:g} (assumed), and the job is done again."
        )
    switch, site = reliability.switch, reliability.site
    if switch is not None:
        yield (
            f"Events of a switch or store hit {switch.machines} machines at once, every "
            f"{format_duration(switch.every)} on average (assumed)."
        )
    if site is not None:
        every = format_duration(site.every)
        yield f"Events of a site hit all its machines, every {every} on average (assumed)."
    if reliability.lemons is not None:
        yield (
            "Some machines fail more often than the others, each failure rate on average over all machines "
            "as it would be without them; a replaced machine is no better than the one before (assumed)."
        )
    if reliability.infant is not None:
        yield (
            f"Machines fail {reliability.infant.factor:g} times as often in the first "
            f"{format_duration(reliability.infant.period)} in their place (assumed)."
        )
    if reliability.shape != 1:
        yield (
            f"Times between failures of one card or machine follow a Weibull of shape {reliability.shape:g}, "
            "counted from the start of the scenario (assumed)."
        )


def _longer_outages(reliability: Reliability) -> Iterator[str]:
    hangs, spares, rare = reliability.hangs, reliability.migration.spares, reliability.migration.no_spare
    if hangs is not None:
        yield (
            f"A share of {hangs.share:g} of the failures shows as a hang and is noticed after "
            f"{format_duration(hangs.detect)} (assumed)."
        )
    if rare is not None:
        yield (
            f"With probability {rare.probability:g} there is no spare machine, and a move waits for one, "
            f"{format_duration(rare.median)} in the median (assumed)."
        )
    if spares is not None:
        yield (
            f"There are {spares.count} spare machines of each offer; a repair takes "
            f"{format_duration(spares.repair)} in the median (assumed)."
        )
    snapshots = reliability.snapshots
    if snapshots is not None:
        yield (
            f"Snapshots of the {snapshots.disk} disk {snapshots.per_day} times a day, at equal distances "
            "from the start; only those of the system disk are promised by providers."
        )
