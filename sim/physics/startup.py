"""Times around the training itself: fetch, start, load, save."""

from __future__ import annotations

from dataclasses import dataclass

from sim.model.contract import Offer
from sim.physics.constants import StartConstants
from sim.physics.task import Task, adapter_params
from sim.units import Micros, from_seconds

__all__ = ["SideTimes", "side_times"]


@dataclass(frozen=True, slots=True)
class SideTimes:
    """Times of a task on the units of an offer, whatever the number of cards.

    Machines of a job fetch, load and save side by side.
    """

    startup_us: Micros
    """Container, imports, weights from the data disk, first steps."""
    stage_us: Micros
    """Base model over the public network."""
    checkpoint_us: Micros
    """State to the data disk, whose write rate is taken as its read rate."""


def side_times(task: Task, offer: Offer, constants: StartConstants) -> SideTimes:
    """Start-up, staging and checkpoint time, from sizes and rates."""
    model_bytes = constants.model_bytes * task.model.params
    disk = offer.disk_read_gb_s * 1e9
    start = constants.container_s + constants.imports_s + constants.warm_up_s + model_bytes / disk
    if task.method == "full":
        state = constants.full_checkpoint_bytes * task.model.params
    else:
        state = constants.adapter_checkpoint_bytes * adapter_params(task)
    return SideTimes(
        startup_us=from_seconds(start),
        stage_us=from_seconds(model_bytes / (offer.wan_mbps * 1e6 / 8)),
        checkpoint_us=from_seconds(constants.checkpoint_overhead_s + state / disk),
    )
