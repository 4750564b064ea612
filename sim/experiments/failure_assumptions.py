"""What the answer rests on in failures and in ends by users: sentences on what a scenario switched on."""

from __future__ import annotations

from collections.abc import Iterator

from sim.experiments.wording import quoted
from sim.model.reliability import Reliability
from sim.model.said import said
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
        yield said(
            "Checkpoints at the interval of {law} for the mean rate of interruptions of a job's cards; "
            "lemons and new machines are not known to the job.",
            law=str(scenario.checkpoint.every).capitalize(),
        )
    classes: list[JobClass | TimedClass] = [*scenario.workload.classes, *scenario.workload.timed]
    for job_class in classes:
        if job_class.ends is not None:
            yield _ends(job_class)


def _ends(job_class: JobClass | TimedClass) -> str:
    if isinstance(job_class.ends, str):
        return said(
            "{name}: users cancel jobs, and jobs fail by errors of their own, preset {profile}; each "
            "submission is drawn alike, and when in a run it ends is assumed.",
            name=quoted(job_class.name),
            profile=job_class.ends,
        )
    return said(
        "{name}: users cancel jobs, and jobs fail by errors of their own; each submission is drawn alike, "
        "and when in a run it ends is assumed.",
        name=quoted(job_class.name),
    )


def _more_failures(reliability: Reliability) -> Iterator[str]:
    if reliability.silent_corruption is not None:
        yield said(
            "Silent corruption of data spoils results; a bad one is seen at the end of a job with "
            "probability {part} (assumed), and the job is done again.",
            part=f"{reliability.bad_results.found:g}",
        )
    switch, site = reliability.switch, reliability.site
    if switch is not None:
        yield said(
            "Events of a switch or store hit {machines} machines at once, every {span} on average (assumed).",
            machines=switch.machines,
            span=format_duration(switch.every),
        )
    if site is not None:
        yield said(
            "Events of a site hit all its machines, every {span} on average (assumed).",
            span=format_duration(site.every),
        )
    if reliability.lemons is not None:
        yield said(
            "Some machines fail more often than the others, each failure rate on average over all machines "
            "as it would be without them; a replaced machine is no better than the one before (assumed)."
        )
    if reliability.infant is not None:
        yield said(
            "Machines fail {times} times as often in the first {span} in their place (assumed).",
            times=f"{reliability.infant.factor:g}",
            span=format_duration(reliability.infant.period),
        )
    if reliability.shape != 1:
        yield said(
            "Times between failures of one card or machine follow a Weibull of shape {shape}, counted from "
            "the start of the scenario (assumed).",
            shape=f"{reliability.shape:g}",
        )


def _longer_outages(reliability: Reliability) -> Iterator[str]:
    hangs, spares, rare = reliability.hangs, reliability.migration.spares, reliability.migration.no_spare
    if hangs is not None:
        yield said(
            "A share of {part} of the failures shows as a hang and is noticed after {span} (assumed).",
            part=f"{hangs.share:g}",
            span=format_duration(hangs.detect),
        )
    if rare is not None:
        yield said(
            "With probability {part} there is no spare machine, and a move waits for one, {span} in the "
            "median (assumed).",
            part=f"{rare.probability:g}",
            span=format_duration(rare.median),
        )
    if spares is not None:
        yield said(
            "There are {machines} spare machines of each offer; a repair takes {span} in the median "
            "(assumed).",
            machines=spares.count,
            span=format_duration(spares.repair),
        )
    snapshots = reliability.snapshots
    if snapshots is not None:
        yield said(
            "Snapshots of the {disk} disk {times} times a day, at equal distances from the start; only those "
            "of the system disk are promised by providers.",
            disk=snapshots.disk,
            times=snapshots.per_day,
        )
