"""What differs between two stored runs: inputs key by key, and the results that followed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sim.experiments.comparison import Comparison, Recommendation
from sim.experiments.run_read import comparison_of
from sim.experiments.statistics import Interval
from sim.experiments.stored import StoredRun

__all__ = ["ABSENT", "Changed", "MetricChange", "RunDiff", "diff"]

ABSENT = None
"""Value of a key that one of the runs does not have."""

FILES = {"trace.csv": "workload.trace.file, what the file holds"}
"""File of a run that is an input -> how it is called; the digest stands for what it holds."""

OUTSIDE = (
    *("scenario.yaml", "comparison.json", "manifest.json", "recommendation.json", "stepup.json"),
    *("options.csv", "steps.csv"),
)
"""Files at the top of a run that are no inputs of their own."""


@dataclass(frozen=True, slots=True)
class Changed:
    """One input that differs."""

    key: str
    """Dotted path as `--set` takes it, with the name of the strategy or class where it has one."""
    before: Any
    after: Any

    def to_json(self) -> dict[str, Any]:
        """One row of the document."""
        return {"key": self.key, "before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True)
class MetricChange:
    """One metric of one strategy, in both runs."""

    strategy: str
    metric: str
    unit: str
    before: Interval
    after: Interval

    @property
    def apart(self) -> bool | None:
        """Whether the intervals have no point in common; None where one of them is not known."""
        ends = (self.before.low, self.before.high, self.after.low, self.after.high)
        if any(end is None for end in ends):
            return None
        low, high, other_low, other_high = (float(end) for end in ends if end is not None)
        return high < other_low or other_high < low

    @property
    def change(self) -> float | None:
        """Mean of the second run less that of the first, in the metric's unit."""
        if self.before.mean is None or self.after.mean is None:
            return None
        return self.after.mean - self.before.mean

    def to_json(self) -> dict[str, Any]:
        """One row of the document."""
        return {
            "strategy": self.strategy,
            "metric": self.metric,
            "unit": self.unit,
            "before": _limits(self.before),
            "after": _limits(self.after),
            "change": self.change,
            "intervals_apart": self.apart,
        }


@dataclass(frozen=True, slots=True)
class RunDiff:
    """Two runs beside each other."""

    before: Comparison
    after: Comparison
    ids: tuple[str, str]
    inputs: tuple[Changed, ...]
    results: tuple[MetricChange, ...]
    """Metrics whose mean, limits or number of values differ, of strategies that both runs have."""
    only_before: tuple[str, ...]
    """Strategies that the second run does not have."""
    only_after: tuple[str, ...]
    same_metrics: int
    """Metrics of common strategies that are the same to the last digit."""

    def to_json(self) -> dict[str, Any]:
        """The document of `fleetsim runs diff --format json`."""
        return {
            "runs": list(self.ids),
            "inputs": [one.to_json() for one in self.inputs],
            "recommendation": {
                "before": _decision(self.before.recommendation),
                "after": _decision(self.after.recommendation),
            },
            "results": [one.to_json() for one in self.results],
            "same_metrics": self.same_metrics,
            "only_before": list(self.only_before),
            "only_after": list(self.only_after),
        }


def diff(first: StoredRun, second: StoredRun) -> RunDiff:
    """The second run against the first."""
    before, after = comparison_of(first), comparison_of(second)
    common = {one.name: one for one in after.strategies}
    results: list[MetricChange] = []
    same = 0
    for one in before.strategies:
        if one.name not in common:
            continue
        other = common[one.name].metrics
        for metric in dict.fromkeys((*one.metrics, *other)):
            old, new = one.metrics.get(metric, _NONE), other.get(metric, _NONE)
            if _figures(old) == _figures(new):
                same += 1
                continue
            unit = before.info(metric).unit or after.info(metric).unit
            results.append(MetricChange(one.name, metric, unit, old, new))
    names = [one.name for one in before.strategies]
    return RunDiff(
        before,
        after,
        (str(first.manifest["run_id"]), str(second.manifest["run_id"])),
        tuple(_inputs(first, second)),
        tuple(results),
        tuple(name for name in names if name not in common),
        tuple(name for name in common if name not in names),
        same,
    )


_NONE = Interval(None, None, None, 0)


def _figures(interval: Interval) -> tuple[object, ...]:
    return interval.mean, interval.low, interval.high, interval.n


def _inputs(first: StoredRun, second: StoredRun) -> Iterator[Changed]:
    """Keys of the scenario, then what the command line gave, then files, catalogue and program."""
    old, new = (run.question.scenario.model_dump(mode="json", exclude_none=True) for run in (first, second))
    yield from _tree(old, new, "")
    for key in ("price", "baseline"):
        yield from _leaf(f"--{key}", first.manifest.get(key), second.manifest.get(key))
    for key in ("replications", "seed"):
        # A rule may stop at another number than the scenario asks for.
        asked = [run["experiment"].get(key) for run in (old, new)]
        done = [run.document.get(key) for run in (first, second)]
        if asked != done:
            yield from _leaf(f"{key}, as run", *done)
    for name in _input_files(first, second):
        digests = [run.manifest["files"].get(name) for run in (first, second)]
        yield from _leaf(FILES.get(name, f"{name}, what the file holds"), *map(_short, digests))
    yield from _leaf("catalogue and program as they are now", *map(_state, (first, second)))
    for key in ("fleetsim", "python"):
        yield from _leaf(key, first.manifest.get(key), second.manifest.get(key))
    packages = [run.manifest.get("packages", {}) for run in (first, second)]
    yield from _tree(packages[0], packages[1], "packages")


def _input_files(first: StoredRun, second: StoredRun) -> list[str]:
    """Trace and calibration: files at the top of a run that are neither tables nor documents of results."""
    names = {*first.manifest["files"], *second.manifest["files"]}
    tables = {name.removesuffix(".parquet") for name in names if name.endswith(".parquet")}
    return sorted(
        name
        for name in names
        if "/" not in name
        and name not in OUTSIDE
        and name.removesuffix(".parquet").removesuffix(".csv") not in tables
    )


def _short(digest: str | None) -> str | None:
    return ABSENT if digest is None else f"sha256 {digest[:12]}"


def _state(run: StoredRun) -> str:
    return "as at the run" if run.same_catalog else "changed since the run"


def _tree(old: Any, new: Any, path: str) -> Iterator[Changed]:
    """Paths at which two trees of mappings, lists and values differ; items with names go by their names."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            yield from _tree(old.get(key), new.get(key), f"{path}.{key}".strip("."))
    elif _named(old) and _named(new):
        yield from _by_name(old, new, path)
    elif isinstance(old, list) and isinstance(new, list):
        for number in range(max(len(old), len(new))):
            one = old[number] if number < len(old) else ABSENT
            other = new[number] if number < len(new) else ABSENT
            yield from _tree(one, other, f"{path}.{number}")
    else:
        yield from _leaf(path, old, new)


def _by_name(old: Sequence[Any], new: Sequence[Any], path: str) -> Iterator[Changed]:
    ours, theirs = ({item["name"]: item for item in items} for items in (old, new))
    places = {name: number for items in (theirs, ours) for number, name in enumerate(items)}
    for name in dict.fromkeys((*ours, *theirs)):
        yield from _tree(ours.get(name), theirs.get(name), f"{path}.{places[name]} ({name})")
    orders = [[name for name in items if name in ours and name in theirs] for items in (ours, theirs)]
    yield from _leaf(f"{path}, order", *(", ".join(order) for order in orders))


def _named(items: Any) -> bool:
    if not isinstance(items, list) or not items:
        return False
    names = [item.get("name") if isinstance(item, Mapping) else None for item in items]
    return None not in names and len(set(names)) == len(names)


def _leaf(key: str, old: Any, new: Any) -> Iterator[Changed]:
    if old != new:
        yield Changed(key, old, new)


def _limits(interval: Interval) -> dict[str, float | int | None]:
    return {"mean": interval.mean, "low": interval.low, "high": interval.high, "n": interval.n}


def _decision(found: Recommendation) -> dict[str, Any]:
    return {
        "strategy": found.strategy,
        "nearest": found.nearest,
        "reason": found.reason,
        "confidence": found.confidence,
    }
