"""Recorded jobs: their run times hold as they are, or are scaled between cards by a reference job."""

from __future__ import annotations

from sim.catalog import Catalog
from sim.errors import InputError, Problem
from sim.model.contract import Offer
from sim.model.job import JobShape
from sim.model.rates import Misfit, RunOption
from sim.model.said import said
from sim.model.scenario import Scenario
from sim.physics.lengths import Lengths
from sim.physics.prediction import Ask, Predictor
from sim.physics.split import Layout
from sim.physics.task import Task

__all__ = ["REFERENCE_MODEL", "Recorded"]

REFERENCE_MODEL = "llama-2-7b"
"""Base model of the reference job: LoRA of rank 16, one full sample of 2048 tokens a step."""

_REFERENCE_TOKENS = 2048


class Recorded:
    """Answers for the shapes of a trace; remembers what has to be said about them."""

    def __init__(self, scenario: Scenario, catalog: Catalog, predict: Predictor) -> None:
        trace = scenario.workload.trace
        self._restart_us = 0 if trace is None else trace.restart
        self._catalog = catalog
        self._predict = predict
        self._speeds: dict[str, float] = {}
        self._notes: dict[str, None] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed, each once."""
        return tuple(self._notes)

    def options(self, shape: JobShape, offer: Offer) -> tuple[RunOption, ...] | Misfit:
        """One option a count and arrangement, or why the shape cannot run on the offer."""
        gpu = self._catalog.gpus[offer.gpu]
        if shape.gpu is not None and shape.gpu != gpu.id:
            return Misfit(
                said("the job asks for {gpu}; {offer} has {gpu2}", gpu=shape.gpu, offer=offer.id, gpu2=gpu.id)
            )
        if shape.memory_gib is not None and shape.memory_gib > gpu.memory_gib:
            return Misfit(
                said(
                    "the job needs {needs} GiB a card; {gpu} has {has} GiB",
                    needs=f"{shape.memory_gib:g}",
                    gpu=gpu.name,
                    has=f"{gpu.memory_gib:g}",
                ),
                needs_gib=shape.memory_gib,
                has_gib=gpu.memory_gib,
            )
        places = [
            (gpus, spans)
            for gpus in sorted(shape.gpus or (1,))
            for spans in (False, True)
            if (shape.spans or not spans) and Layout.on(offer, gpus, spans) is not None
        ]
        if not places:
            counts = " or ".join(map(str, shape.gpus))
            return Misfit(
                said(
                    "the job asks for {counts} cards together; one unit of {offer} has {has}",
                    counts=counts,
                    offer=offer.id,
                    has=offer.gpus_per_unit,
                )
            )
        return tuple(self._option(shape, offer, gpus, spans) for gpus, spans in places)

    def _option(self, shape: JobShape, offer: Offer, gpus: int, spans: bool) -> RunOption:
        ratio, support = 1.0, "recorded"
        if shape.runtime_gpu is None:
            self._note(said("Recorded run times are taken to hold on any card: the trace names none."))
        elif shape.runtime_gpu != offer.gpu:
            ratio, support = self._speed(shape.runtime_gpu) / self._speed(offer.gpu), "extrapolated"
            self._note(
                said(
                    "Run times recorded on {gpu} are scaled, start-up included, to other cards by the speed "
                    "of a 7B LoRA job with 2048 tokens (extrapolated).",
                    gpu=shape.runtime_gpu,
                )
            )
        self._note(said("Checkpoints of recorded jobs cost no extra time: run times include what was saved."))
        return RunOption(
            gpus=gpus,
            spans=spans,
            split="recorded",
            startup_us=0,
            restart_us=self._restart_us if shape.restart_us is None else shape.restart_us,
            us_per_work=ratio,
            checkpoint_us=0,
            memory_gib=shape.memory_gib,
            support=support,
        )

    def _note(self, text: str) -> None:
        self._notes[text] = None

    def _speed(self, gpu_id: str) -> float:
        """Tokens a second of the reference job on one card, whether it fits there or not."""
        if gpu_id not in self._speeds:
            known = tuple(self._catalog.gpus)
            if gpu_id not in known:
                rule = "runtime_gpu is a card of the catalogue"
                raise InputError(Problem(rule, key="runtime_gpu", value=gpu_id, known=known))
            tokens = _REFERENCE_TOKENS
            task = Task(self._catalog.models[REFERENCE_MODEL], "lora", 16, 1, tokens, checkpointing=True)
            full = Lengths(float(tokens), float(tokens))
            (answer,) = self._predict([Ask(task, full, self._catalog.gpus[gpu_id], Layout(1, 1))])
            self._speeds[gpu_id] = answer.predictions[0].tokens_per_s
        return self._speeds[gpu_id]
