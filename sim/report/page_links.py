"""How much of a training step its traffic fills: asked of the physics anew, for the folder keeps rates alone.

Nothing is simulated. The answer is that of the run only while catalogue and program are as they were.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sim.experiments.stored import StoredRun
from sim.model.contract import Offer
from sim.physics.cases import Case, cases_of
from sim.physics.constants import constants_for
from sim.physics.host import host_tokens_per_s
from sim.physics.lengths import lengths_of
from sim.physics.measured import case_of
from sim.physics.options import predictor_for, ways
from sim.physics.prediction import Ask
from sim.physics.split import Layout
from sim.physics.task import task_of
from sim.physics.throughput import step_time
from sim.replication import used_offers

__all__ = ["Way", "link_shares"]

Way = tuple[str, str, int, bool]
"""Class, offer, cards, and whether they stand in several machines."""


def link_shares(run: StoredRun) -> Mapping[Way, float] | str:
    """Way -> time in which its traffic fills the link, as a part of an optimiser step (0 to 1).

    Ways of one card, which have no traffic, and recorded jobs, of which none is known, are left out.
    A sentence where the question cannot be answered.
    """
    question = run.question
    scenario = question.scenario
    if not scenario.workload.classes:
        return "recorded jobs say nothing of their traffic"
    if scenario.performance == "vendor":
        return "the articles' own speeds (performance: vendor) say nothing of traffic"
    if not run.same_catalog:
        return "catalogue or program have changed since the run, so its traffic is not known"
    performance = question.performance_source
    predict, constants = predictor_for(performance), constants_for(performance)
    offers = list(used_offers(question).values())
    names: list[Way] = []
    cases: list[Case] = []
    feeds: list[float] = []
    for job_class in scenario.workload.classes:
        task, lengths = task_of(job_class, question.catalog), lengths_of(job_class)
        everywhere = ways(job_class, task, offers, question.catalog, predict, constants)
        for offer, found in zip(offers, everywhere, strict=True):
            for way in found:
                layout = _layout(offer, way.gpus, way.spans)
                if layout is None or not way.prediction.fits:
                    continue
                ask = Ask(task, lengths, question.catalog.gpus[offer.gpu], layout)
                feed = host_tokens_per_s(offer, way.gpus, constants.host)
                names.append((job_class.name, offer.id, way.gpus, way.spans))
                cases.append(case_of(ask, way.prediction.split))
                # The host counts useful tokens; a step counts places, padding included.
                feeds.append(feed * lengths.padded / (lengths.useful * lengths.per_slot))
    if not cases:
        return {}
    steps = step_time(cases_of(cases), constants.speed, host_tokens_per_s=np.array(feeds))
    moved = steps.gather + steps.gradients + steps.tensor + steps.pipeline
    return {name: float(part) for name, part in zip(names, moved / steps.total, strict=True)}


def _layout(offer: Offer, gpus: int, spans: bool) -> Layout | None:
    return None if gpus == 1 else Layout.on(offer, gpus, spans)
