"""What a scenario may name: checks against the catalogue, the table of policies and the trace.

`name_problems` needs only the tree, so it also speaks when the model has refused something else;
`deep_problems` needs a scenario that the model has accepted. One function a rule.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path as FilePath

from sim.catalog import Catalog
from sim.catalog.workloads import workload_presets
from sim.decisions.placement import PLACEMENTS
from sim.decisions.policies import POLICIES
from sim.errors import InputError, Problem
from sim.load_errors import annotation_at, located
from sim.load_files import is_file
from sim.load_leases import as_written, burst_problems, lease_problems
from sim.load_sharing import sharing_problems
from sim.load_tree import Node, Path
from sim.model.scenario import Burst, FailureEvent, Scenario, Strategy
from sim.model.values import Distribution
from sim.units import DAY
from sim.workload.arrivals import Arriving, clock_of, expected_jobs
from sim.workload.loops import closed, most_runs
from sim.workload.readers import TraceRow

__all__ = ["PERFORMANCES", "deep_problems", "known_names", "name_problems", "trace_problems"]

PERFORMANCES = ("measured", "vendor")
_LONGEST = 20 * 366 * DAY
"""Horizon at most."""
_MOST_JOBS = 2_000_000
"""Expected jobs of a run at most: some gigabyte of memory and minutes of the engine."""
_MOST_UNITS = 10_000
"""Units of a strategy at most, leased and by the hour each."""

Found = Iterator[Problem]


def known_names(catalog: Catalog) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Path with `*` for every entry of a list -> the names that may stand there."""
    rented, gpus = tuple(catalog.offers), tuple(catalog.gpus)
    # A slice is asked for by `profile`, and named by its own id where it has failed.
    offers = tuple(name for name in rented if "/" not in name)
    hourly = tuple(name for name in offers if "hourly" in catalog.offers[name].plans)
    profiles = dict.fromkeys((*catalog.reliability, "none"))
    return {
        ("strategies", "*", "leases", "*", "offer"): offers,
        ("strategies", "*", "leases", "*", "reliability"): tuple(profiles),
        ("strategies", "*", "burst", "offer"): hourly,
        ("strategies", "*", "policy"): tuple(POLICIES),
        ("strategies", "*", "placement"): tuple(PLACEMENTS),
        ("workload", "classes", "*", "model"): tuple(catalog.models),
        ("workload", "trace", "runtime_gpu"): gpus,
        ("workload", "timed", "*", "runtime_gpu"): gpus,
        ("workload", "preset"): tuple(workload_presets()),
        ("reliability", "profile"): tuple(profiles),
        ("reliability", "events", "*", "offer"): rented,
    }


_SUBJECTS: Mapping[str, str] = {
    "offer": "unknown offer",
    "policy": "unknown queue policy",
    "placement": "unknown placement rule",
    "model": "unknown base model",
    "runtime_gpu": "unknown card",
    "preset": "unknown workload preset",
    "profile": "unknown reliability profile",
    "reliability": "unknown reliability profile",
}


def name_problems(tree: Node, catalog: Catalog) -> Found:
    """Names that no table knows, and words where a number belongs."""
    for pattern, known in known_names(catalog).items():
        for path, node in _matches(tree, pattern):
            if isinstance(node.value, str) and node.value not in known:
                rule = _SUBJECTS[str(path[-1])]
                if node.value in catalog.offers:
                    rule = "burst rents by the hour, and this offer has no hourly plan"
                yield located(tree, path, rule, node.value, known)
    yield from _truth_for_numbers(tree, tree, ())


def _matches(tree: Node, pattern: Sequence[str], path: Path = ()) -> Iterator[tuple[Path, Node]]:
    if not pattern:
        yield path, tree
    elif pattern[0] == "*":
        for place, node in enumerate(tree.value if isinstance(tree.value, list) else ()):
            yield from _matches(node, pattern[1:], (*path, place))
    elif (node := tree.child(pattern[0])) is not None:
        yield from _matches(node, pattern[1:], (*path, pattern[0]))


def _truth_for_numbers(tree: Node, node: Node, path: Path) -> Found:
    """pydantic would read `count: true` as 1."""
    if isinstance(node.value, dict):
        for key, below in node.value.items():
            yield from _truth_for_numbers(tree, below, (*path, key))
    elif isinstance(node.value, list):
        for place, below in enumerate(node.value):
            yield from _truth_for_numbers(tree, below, (*path, place))
    elif isinstance(node.value, bool):
        annotation = str(annotation_at(path))
        if "bool" not in annotation and ("int" in annotation or "float" in annotation):
            yield located(tree, path, "must be a number, not true or false", node.value)


def deep_problems(scenario: Scenario, tree: Node, catalog: Catalog, folder: FilePath | None) -> Found:
    """Rules over several parts of an accepted scenario whose names are all known."""
    yield from _performance(scenario, tree, folder)
    yield from _sizes(scenario, tree)
    yield from _classes(scenario, tree, catalog)
    for place, strategy in enumerate(scenario.strategies):
        at: Path = ("strategies", place)
        yield from _policy(tree, at, strategy)
        yield from sharing_problems(tree, catalog, (*at, "sharing"), strategy)
        for number, lease in enumerate(strategy.leases):
            yield from lease_problems(scenario, tree, catalog, (*at, "leases", number), lease)
        if sum(lease.count for lease in strategy.leases) > _MOST_UNITS:
            rule = f"a strategy may rent at most {_MOST_UNITS:,} units"
            yield located(tree, (*at, "leases"), rule, sum(lease.count for lease in strategy.leases))
        if strategy.burst is not None:
            yield from burst_problems(scenario, tree, catalog, (*at, "burst"), strategy.burst)
            yield from _burst(tree, (*at, "burst"), strategy.burst)
    for place, event in enumerate(scenario.reliability.events):
        yield from _event(scenario, tree, catalog, ("reliability", "events", place), event)


def _performance(scenario: Scenario, tree: Node, folder: FilePath | None) -> Found:
    name = scenario.performance
    if name in PERFORMANCES or (folder is not None and is_file(folder / name)):
        return
    rule = "must be measured or vendor, or a calibration file beside the scenario"
    yield located(tree, ("performance",), rule, name, PERFORMANCES)


def _sizes(scenario: Scenario, tree: Node) -> Found:
    """A slip of the pen may not ask for more than a machine can do."""
    if scenario.horizon_us > _LONGEST:
        rule = "a horizon may be at most 20 years"
        yield as_written(tree, ("horizon",), rule)
        return
    workload = scenario.workload
    try:
        clock = clock_of(scenario) if workload.classes or workload.timed else None
    except InputError as error:
        for problem in error.problems:
            yield located(tree, ("workload", "holidays"), problem.rule, problem.value)
        return
    total = 0.0
    arriving: list[tuple[str, int, Arriving]] = [
        ("classes", place, one) for place, one in enumerate(workload.classes)
    ]
    arriving += [("timed", place, one) for place, one in enumerate(workload.timed)]
    for key, place, one in arriving:
        path: Path = ("workload", key, place)
        size = one.batch_size
        if not isinstance(size, Distribution) and size != int(size):
            yield located(tree, (*path, "batch_size"), "a fixed batch size is a whole number", size)
        try:
            if one.loop is not None and closed(one):
                total += most_runs(one.loop, scenario)
            else:
                total += 0.0 if clock is None else expected_jobs(one, clock)
        except InputError as error:
            for problem in error.problems:
                size_at = ("batch_size",) if one.loop is None else ("loop", "runs")
                yield located(tree, (*path, *size_at), problem.rule)
        yield from _too_early(scenario, tree, path, one)
    if clock is not None and total == 0 and scenario.workload.trace is None:
        yield located(tree, ("workload", "classes"), "no job can arrive: every rate is 0")
    if not total <= _MOST_JOBS:
        rule = (
            f"rates, growth and times to think would make some {total:.3g} jobs; at most {_MOST_JOBS:,} are "
            "drawn (of people in a loop so many as if no run took any time)"
        )
        yield located(tree, ("workload", "classes"), rule)


def _too_early(scenario: Scenario, tree: Node, path: Path, one: Arriving) -> Found:
    for number, at in enumerate(one.at or ()):
        if scenario.elapsed_us(at) < 0:
            rule = (
                f"lies before the start of the scenario, {scenario.start:%Y-%m-%d %H:%M}: no job would come"
            )
            yield as_written(tree, (*path, "at", number), rule)


def _classes(scenario: Scenario, tree: Node, catalog: Catalog) -> Found:
    for place, job_class in enumerate(scenario.workload.classes):
        path: Path = ("workload", "classes", place)
        hidden = catalog.models[job_class.model].hidden
        if job_class.method != "full" and job_class.rank > hidden:
            rule = f"a LoRA rank may not be above the model's hidden size, {hidden}"
            yield located(tree, (*path, "rank"), rule, job_class.rank)


def _policy(tree: Node, path: Path, strategy: Strategy) -> Found:
    """Keys that tune a policy go with that policy alone."""
    own = POLICIES[strategy.policy].parameters
    for key in dict.fromkeys(key for policy in POLICIES.values() for key in policy.parameters):
        if getattr(strategy, key) and key not in own:
            users = ", ".join(name for name, policy in POLICIES.items() if key in policy.parameters)
            rule = f"{key} goes with the queue policy {users}, not with {strategy.policy}"
            yield as_written(tree, (*path, key), rule)
    if strategy.preempt_after is not None and not strategy.preempt:
        yield as_written(tree, (*path, "preempt_after"), "preempt_after goes with preempt: true")


def _burst(tree: Node, path: Path, burst: Burst) -> Found:
    if burst.max > _MOST_UNITS:
        rule = f"a strategy may rent at most {_MOST_UNITS:,} units"
        yield located(tree, (*path, "max"), rule, burst.max)


def _event(scenario: Scenario, tree: Node, catalog: Catalog, path: Path, event: FailureEvent) -> Found:
    cards = catalog.offers[event.offer].gpus_per_unit
    if event.card >= cards:
        rule = f"a unit of {event.offer} has {cards} cards, counted from 0"
        yield located(tree, (*path, "card"), rule, event.card)
    machines = max(_machines(scenario, event.offer))
    if machines == 0:
        yield located(tree, (*path, "offer"), "no strategy rents this offer", event.offer, _rented(scenario))
    elif event.machine >= machines:
        rule = f"the strategies rent at most {machines} units of {event.offer}, counted from 0"
        yield located(tree, (*path, "machine"), rule, event.machine)


def _machines(scenario: Scenario, offer: str) -> list[int]:
    """Units of an offer in each strategy, leases and burst together."""
    counts = []
    for strategy in scenario.strategies:
        count = sum(lease.count for lease in strategy.leases if lease.offer_id == offer)
        burst = strategy.burst
        counts.append(count + (burst.max if burst is not None and burst.offer_id == offer else 0))
    return counts


def _rented(scenario: Scenario) -> Collection[str]:
    names = [lease.offer_id for strategy in scenario.strategies for lease in strategy.leases]
    names += [strategy.burst.offer_id for strategy in scenario.strategies if strategy.burst is not None]
    return dict.fromkeys(names)


def trace_problems(rows: Sequence[TraceRow], file: str, catalog: Catalog) -> Found:
    """Cards that rows name and the catalogue does not know."""
    for row in rows:
        for column, card in (("gpu", row.gpu), ("runtime_gpu", row.runtime_gpu)):
            if card is not None and card not in catalog.gpus:
                key = f"row {row.row}, {column}"
                yield Problem("unknown card", file, row.line, key, card, tuple(catalog.gpus))
