"""A sensitivity study as tables, as a document and as a folder."""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from sim.experiments.columns import frame_of
from sim.experiments.knobs_table import Knob, titled
from sim.experiments.sensitivity import Bar, Flip, Tornado
from sim.experiments.sensitivity_doubt import Doubt, Spread
from sim.experiments.sensitivity_sobol import Indices, Sobol
from sim.experiments.statistics import Interval
from sim.experiments.store import id_of
from sim.experiments.study_store import write_study

__all__ = [
    "Study",
    "doubt_frame",
    "flips_frame",
    "never",
    "ranges_assumed",
    "save_study",
    "sobol_frame",
    "tornado_frame",
]


@dataclass(frozen=True, slots=True)
class Study:
    """The tornado, where the decision flips; Sobol indices and drawn inputs where they were asked for."""

    tornado: Tornado
    sobol: Sobol | None = None
    doubt: Doubt | None = None

    @property
    def study_id(self) -> str:
        """Twelve hexadecimal digits that stand for all that the study reads."""
        one, scenario = self.tornado, self.tornado.question.scenario
        knobs = [(k.name, k.low, k.base, k.high) for k in (bar.knob for bar in one.bars)]
        version = importlib.metadata.version("fleetsim")
        asked = id_of(one.question, scenario.strategies[0].name, version)
        samples = None if self.sobol is None else self.sobol.samples
        draws = None if self.doubt is None else self.doubt.draws
        read = (asked, sorted(knobs), one.metric, samples, draws)
        return hashlib.blake2b(repr(read).encode(), digest_size=6).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """The document of `fleetsim sensitivity --format json`; nothing in it is NaN or infinite."""
        one = self.tornado
        experiment = one.question.scenario.experiment
        return {
            "scenario": one.question.scenario.name,
            "study": self.study_id,
            "seed": experiment.seed,
            "replications": experiment.replications,
            "confidence": experiment.confidence,
            "metric": one.metric,
            "unit": one.unit,
            "recommendation": one.decision,
            "strategy": one.strategy,
            "rival": one.rival,
            "base": _limits(one.base),
            "base_difference": _limits(one.base_difference),
            "inputs": [_bar(bar) for bar in one.bars],
            "flips": [_flip(flip) for flip in one.flips],
            "never_flips": [name for name, _ in never(one)],
            "sobol": None if self.sobol is None else _sobol(self.sobol),
            "drawn_inputs": None if self.doubt is None else _doubt(self.doubt),
            "assumptions": [*ranges_assumed(one), *one.assumptions],
            "notes": list(one.notes),
        }


def never(found: Tornado) -> list[tuple[str, Knob]]:
    """Inputs at neither end of whose range the decision is another."""
    flipped = {flip.knob.name for flip in found.flips}
    return [(bar.knob.name, bar.knob) for bar in found.bars if bar.knob.name not in flipped]


def ranges_assumed(found: Tornado) -> list[str]:
    """The ranges without a published source, as assumptions."""
    return [
        f"Range of {titled(knob)}, {knob.low:.4g} to {knob.high:.4g} {knob.unit}: {knob.why}."
        for knob in (bar.knob for bar in found.bars)
        if knob.assumed
    ]


def save_study(study: Study, out: Path, charts: Mapping[str, bytes]) -> Path:
    """Write the study below `out`; returns its folder. RunError where it cannot be written."""
    frames = {"tornado": tornado_frame(study.tornado), "flips": flips_frame(study.tornado)}
    if study.sobol is not None:
        frames["sobol"] = sobol_frame(study.sobol)
    if study.doubt is not None:
        frames["drawn_inputs"] = doubt_frame(study.doubt, study.tornado)
    said = {
        "kind": "sensitivity",
        "replications": study.tornado.question.scenario.experiment.replications,
        **study.tornado.wall.to_json(),
    }
    name = f"sensitivity-{study.study_id}"
    document = {"sensitivity.json": study.to_json()}
    return write_study(study.tornado.question, name, out, frames, document, charts, said)


def tornado_frame(found: Tornado) -> pd.DataFrame:
    """One row an input and end: its value, the metric of the recommended strategy, and the difference."""
    rows = []
    for bar in found.bars:
        ends = (
            ("low", bar.knob.low, bar.low, bar.difference_low, bar.decision_low),
            ("base", bar.knob.base, found.base, found.base_difference, found.decision),
            ("high", bar.knob.high, bar.high, bar.difference_high, bar.decision_high),
        )
        for end, value, own, apart, decision in ends:
            rows.append(
                (bar.knob.name, end, value, bar.knob.unit, bar.knob.assumed, bar.knob.why, found.metric,
                 found.strategy, own.mean, own.low, own.high, found.rival,
                 *((None, None, None) if apart is None else (apart.mean, apart.low, apart.high)),
                 own.n, found.unit, decision)
            )  # fmt: skip
    kinds = {
        **dict.fromkeys(("input", "end"), "str"),
        "value": "float64",
        "input_unit": "str",
        "assumed": "bool",
        **dict.fromkeys(("why", "metric", "strategy"), "str"),
        **dict.fromkeys(("mean", "low", "high"), "float64"),
        "rival": "str",
        **dict.fromkeys(("difference", "difference_low", "difference_high"), "float64"),
        "n": "Int64",
        **dict.fromkeys(("unit", "recommended"), "str"),
    }
    return frame_of(kinds, rows)


def flips_frame(found: Tornado) -> pd.DataFrame:
    """One row a change of the decision: between which values of the input, and to what."""
    rows = [
        (flip.knob.name, flip.knob.unit, flip.knob.base, flip.end, flip.before, flip.after, found.decision,
         flip.decision)
        for flip in found.flips
    ]  # fmt: skip
    kinds = {
        "input": "str",
        "input_unit": "str",
        **dict.fromkeys(("base", "end", "before", "after"), "float64"),
        "recommended": "str",
        "recommended_there": "str",
    }
    return frame_of(kinds, rows)


def sobol_frame(found: Sobol) -> pd.DataFrame:
    """One row a result and input: indices (shares) and half the width of their intervals."""
    rows = [
        (one.of, index.knob.name, index.first, index.first_half, index.total, index.total_half)
        for one in found.results
        for index in one.inputs
    ]
    kinds = {
        "result": "str",
        "input": "str",
        **dict.fromkeys(("first", "first_half", "total", "total_half"), "float64"),
    }
    return frame_of(kinds, rows)


def doubt_frame(found: Doubt, tornado: Tornado) -> pd.DataFrame:
    """One row a strategy: luck with the inputs at their base, and the range with the inputs drawn."""
    rows = [
        (one.strategy, tornado.metric, one.luck.mean, one.luck.low, one.luck.high, one.mean, one.low,
         one.high, one.luck_deviation, one.input_deviation, one.cheapest, found.draws, tornado.unit)
        for one in found.spreads
    ]  # fmt: skip
    kinds = {
        **dict.fromkeys(("strategy", "metric"), "str"),
        **dict.fromkeys(("base_mean", "base_low", "base_high"), "float64"),
        **dict.fromkeys(("drawn_mean", "drawn_p5", "drawn_p95"), "float64"),
        **dict.fromkeys(("luck_deviation", "input_deviation", "cheapest_share"), "float64"),
        "n": "Int64",
        "unit": "str",
    }  # fmt: skip
    return frame_of(kinds, rows)


def _bar(bar: Bar) -> dict[str, Any]:
    knob = bar.knob
    return {
        "input": knob.name,
        "title": knob.title,
        "unit": knob.unit,
        "low": knob.low,
        "base": knob.base,
        "high": knob.high,
        "why": knob.why,
        "assumed": knob.assumed,
        "at_low": _limits(bar.low),
        "at_high": _limits(bar.high),
        "difference_at_low": _limits(bar.difference_low),
        "difference_at_high": _limits(bar.difference_high),
        "recommendation_at_low": bar.decision_low,
        "recommendation_at_high": bar.decision_high,
    }


def _flip(flip: Flip) -> dict[str, Any]:
    return {
        "input": flip.knob.name,
        "unit": flip.knob.unit,
        "base": flip.knob.base,
        "end": flip.end,
        "value": flip.value,
        "before": flip.before,
        "after": flip.after,
        "recommendation": flip.decision,
    }


def _doubt(found: Doubt) -> dict[str, Any]:
    return {"draws": found.draws, "strategies": [_drawn(one) for one in found.spreads]}


def _drawn(one: Spread) -> dict[str, Any]:
    return {
        "strategy": one.strategy,
        "at_base": _limits(one.luck),
        "mean": one.mean,
        "p5": one.low,
        "p95": one.high,
        "luck_standard_deviation": one.luck_deviation,
        "input_standard_deviation": one.input_deviation,
        "cheapest_share": one.cheapest,
    }


def _sobol(found: Sobol) -> dict[str, Any]:
    return {
        "samples": found.samples,
        "points": found.points,
        "confidence": found.confidence,
        "results": [_indices(one) for one in found.results],
    }


def _indices(one: Indices) -> dict[str, Any]:
    return {
        "of": one.of,
        "mean": one.mean,
        "standard_deviation": one.deviation,
        "inputs": [
            {
                "input": index.knob.name,
                "first": index.first,
                "first_half_width": index.first_half,
                "total": index.total,
                "total_half_width": index.total_half,
            }
            for index in one.inputs
        ],
    }


def _limits(interval: Interval | None) -> dict[str, float | int | None] | None:
    if interval is None:
        return None
    return {"mean": interval.mean, "low": interval.low, "high": interval.high, "n": interval.n}
