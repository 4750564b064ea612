"""Seconds of one micro-step: compute, launches, unpacking of weights, optimiser and traffic."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sim.model.hardware import Gpu
from sim.physics.constants import Constants, SpeedConstants
from sim.physics.task import ONE_CARD, ZERO3, Layout, Split, Task

__all__ = ["Step", "step_time"]


@dataclass(frozen=True, slots=True)
class Step:
    """One micro-step of every card at once; all times in seconds."""

    compute_s: float
    """Arithmetic at the reachable share of the peak."""
    launch_s: float
    """Floor by kernel launches."""
    dequantise_s: float
    optimizer_s: float
    traffic_s: float
    """Between cards, as if nothing else ran."""
    total_s: float
    """With what of the traffic hides behind the rest."""

    @property
    def limited_by(self) -> str:
        """What takes most of the step."""
        parts = {
            "compute": self.compute_s,
            "launch": self.launch_s,
            "dequantisation": self.dequantise_s,
            "optimizer": self.optimizer_s,
            "network": self.traffic_s,
        }
        return max(parts, key=parts.__getitem__)


def step_time(
    task: Task, tokens_per_sample: float, gpu: Gpu, layout: Layout, split: Split, constants: Constants
) -> Step:
    """Time of a micro-step in which each of `micro_batch` samples has `tokens_per_sample` tokens.

    The length counts padding. Source: form and constants fitted to published throughputs.
    """
    speed = constants.speed
    tokens = task.micro_batch * tokens_per_sample
    reach = speed.efficiency * task.model.hidden / (task.model.hidden + speed.half_hidden)
    # No card may be fitted to more than its peak.
    rate = gpu.tflops * 1e12 * min(1.0, reach * gpu.efficiency)
    compute = tokens * _flops_per_token(task, tokens_per_sample, speed) / rate
    launch = _launch_floor(task, split, speed)
    dequantise = _dequantisation(task, gpu, speed)
    shards = layout.gpus if split == ZERO3 else 1
    optimizer = speed.optimizer_bytes * task.trained_params / shards / (gpu.bandwidth_gb_s * 1e9)
    optimizer /= constants.lengths.accumulation
    traffic = _traffic(task, layout, split, constants)
    work = math.hypot(compute, launch) + dequantise + optimizer
    total = max(work, traffic) + speed.overlap * min(work, traffic)
    return Step(compute, launch, dequantise, optimizer, traffic, total)


def _flops_per_token(task: Task, length: float, speed: SpeedConstants) -> float:
    """Floating-point operations of one token, all passes.

    Forward is 2 a weight; backward 2 for the activations and, when the weights are trained, 2 for
    them; checkpointing repeats the forward. Attention looks at half the sequence on average (4
    operations a pair and head dimension) and always needs both parts of its backward pass.
    """
    model = task.model
    again = 1 if task.checkpointing else 0
    passes = (3 if task.method == "full" else 2) + again
    dense = 2.0 * passes * (model.params_linear + model.vocab * model.hidden)
    attention = 2.0 * length * model.heads * model.head_dim * model.layers * (3 + again)
    adapters = 1.0 if task.method == "full" else 1 + (speed.adapter_cost - 1) * _adapted(task)
    return (dense + attention) * adapters


def _adapted(task: Task) -> float:
    return 1.0 if task.adapted == "all" else 0.5


def _launch_floor(task: Task, split: Split, speed: SpeedConstants) -> float:
    floor = speed.floor_s_per_layer * task.model.layers
    if task.method != "full":
        floor *= 1 + (speed.floor_adapter - 1) * (task.adapted == "all")
    if split == ZERO3:
        floor *= speed.floor_zero
    return floor if task.checkpointing else floor * speed.floor_plain


def _dequantisation(task: Task, gpu: Gpu, speed: SpeedConstants) -> float:
    """Seconds to unpack all quantised weights once a pass, whatever the batch."""
    if task.method not in ("qlora4", "qlora8"):
        return 0.0
    four = task.method == "qlora4"
    factor = speed.dequant4 * speed.dequant4_bytes if four else speed.dequant8 * speed.dequant8_bytes
    passes = 3 if task.checkpointing else 2
    return factor * task.model.params_linear * passes / (gpu.bandwidth_gb_s * 1e9)


def _traffic(task: Task, layout: Layout, split: Split, constants: Constants) -> float:
    """Seconds that cards talk in a micro-step, first between machines, then within each.

    ZeRO-3 gathers the weights for each pass; data parallel sums the gradients of what is trained
    once an optimiser step (a ring moves 2 (n - 1) / n of them).
    """
    if split == ONE_CARD or layout.gpus == 1:
        return 0.0
    memory = constants.memory
    if split == ZERO3:
        weights = memory.weight_bytes * task.model.params
        if task.method in ("qlora4", "qlora8"):
            per_weight = memory.nf4_bytes if task.method == "qlora4" else memory.int8_bytes
            weights = per_weight * task.model.params_linear + memory.weight_bytes * task.outer_params
        moved = constants.speed.zero_traffic * weights
    else:
        per_param = memory.gradient_bytes if task.method == "full" else memory.adapter_gradient_bytes
        moved = 2 * per_param * task.trained_params / constants.lengths.accumulation
    seconds = 0.0
    for count, link in ((layout.machines, layout.network), (layout.per_machine, layout.link)):
        if count > 1:
            rate = constants.links.rate(link)
            seconds += math.inf if rate is None else moved * (count - 1) / count / (rate * 1e9)
    return seconds
