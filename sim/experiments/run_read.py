"""A stored comparison as a `Comparison` again, from its document: figures and texts, without its runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from sim.errors import InputError, Problem
from sim.experiments.comparison import (
    Caution,
    Comparison,
    Condition,
    Difference,
    MetricInfo,
    Recommendation,
    Refusal,
    StrategyResult,
    Verdict,
    Wall,
)
from sim.experiments.comparison_parts import AtOnce, InputDoubt, Steady
from sim.experiments.statistics import Interval
from sim.experiments.stored import StoredRun

__all__ = ["comparison_of", "interval_of", "sound_document"]

Part = TypeVar("Part")


def comparison_of(stored: StoredRun) -> Comparison:
    """What the run found, as its `comparison.json` says it.

    Details, billables and the values of single replications are left empty: they are in the tables.
    Raises InputError where the document does not hold what it should.
    """
    document = stored.document
    with sound_document(stored.folder / "comparison.json"):
        at_once = document.get("at_once", {})  # runs of earlier days of this version have none
        return Comparison(
            question=stored.question,
            version=document["version"],
            replications=document["replications"],
            seed=document["seed"],
            baseline=document["baseline"],
            strategies=tuple(_strategy(one) for one in document["strategies"]),
            differences=tuple(_difference(one) for one in document["differences"]),
            recommendation=_recommendation(document["recommendation"]),
            metrics=tuple(
                MetricInfo(name, one["unit"], one["description"], one["better"])
                for name, one in document["metrics"].items()
            ),
            conditions=tuple(_condition(one) for one in document["target"]),
            assumptions=tuple(document["assumptions"]),
            notes=tuple(document["notes"]),
            warnings=tuple(
                Caution(one["kind"], one["strategy"], one["text"]) for one in document["warnings"]
            ),
            details={},
            billables={},
            wall=_wall(stored.manifest),
            at_once=tuple(
                AtOnce(one["strategy"], one["metric"], interval_of(one), one["standing"])
                for one in at_once.get("strategies", ())
            ),
            at_once_rule=at_once.get("rule") or "",
            doubt=_read(document, "uncertain", InputDoubt.of_json),
            steady=_read(document, "steady_state", Steady.of_json),
        )


@contextmanager
def sound_document(place: object) -> Iterator[None]:
    """InputError where a document, although it has its digest, does not hold what it should."""
    try:
        yield
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        rule = f"the document is not that of a run: {type(error).__name__} {error}".strip()
        raise InputError(Problem(rule, str(place))) from None


def interval_of(limits: Mapping[str, Any]) -> Interval:
    """Mean and limits as the document writes them."""
    return Interval(limits["mean"], limits["low"], limits["high"], limits["n"], limits.get("reason"))


def _read(document: Mapping[str, Any], key: str, read: Callable[[Mapping[str, Any]], Part]) -> Part | None:
    found = document.get(key)
    return None if found is None else read(found)


def _strategy(one: Mapping[str, Any]) -> StrategyResult:
    return StrategyResult(
        name=one["name"],
        metrics={name: interval_of(limits) for name, limits in one["metrics"].items()},
        values={},
        meets_target=one["meets_target"],
        status=one["target"]["status"],
        verdicts=tuple(
            Verdict(_condition(line), interval_of(line), line["meets"], line["status"])
            for line in one["target"]["lines"]
        ),
        pareto=one["pareto"],
        pareto_note=one["pareto_note"] or "",
        refusals=tuple(
            Refusal(refusal["job_class"], refusal["reason"], refusal["jobs"]) for refusal in one["refused"]
        ),
        wait_quantiles_h=(),
    )


def _difference(one: Mapping[str, Any]) -> Difference:
    return Difference(
        one["strategy"],
        one["baseline"],
        one["metric"],
        interval_of(one),
        one.get("p_value"),
        one.get("p_holm"),
    )


def _recommendation(found: Mapping[str, Any]) -> Recommendation:
    return Recommendation(
        found["strategy"],
        found["reason"],
        found["confidence"],
        found["confidence_method"],
        found["nearest"],
    )


def _wall(manifest: Mapping[str, Any]) -> Wall:
    return Wall(
        str(manifest.get("started")),
        str(manifest.get("finished")),
        float(manifest.get("seconds") or 0.0),
        int(manifest.get("workers") or 1),
    )


def _condition(line: Mapping[str, Any]) -> Condition:
    return Condition(line["name"], line["metric"], line["limit"], line["unit"], line["rule"] == "at least")
