"""What a scenario may name: checks against the catalogue, the table of policies and the trace.

`name_problems` needs only the tree, so it also speaks when the model has refused something else;
`deep_problems` needs a scenario that the model has accepted. One function a rule.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path as FilePath

from sim.catalog import Catalog
from sim.decisions.policies import POLICIES
from sim.errors import InputError, Problem
from sim.load_errors import annotation_at, located
from sim.load_tree import Node, Path
from sim.model.scenario import Burst, FailureEvent, Lease, Scenario
from sim.model.values import Distribution
from sim.units import DAY
from sim.workload.arrivals import clock_of, expected_jobs
from sim.workload.readers import TraceRow

__all__ = ["PERFORMANCES", "deep_problems", "known_names", "name_problems", "trace_problems"]

PERFORMANCES = ("measured", "vendor")
_LONGEST = 20 * 366 * DAY
_MOST_JOBS = 2_000_000
_MOST_UNITS = 10_000

Found = Iterator[Problem]


def known_names(catalog: Catalog) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Path with `*` for every entry of a list -> the names that may stand there."""
    offers, gpus = tuple(catalog.offers), tuple(catalog.gpus)
    hourly = tuple(offer.id for offer in catalog.offers.values() if "hourly" in offer.plans)
    profiles = dict.fromkeys((*catalog.reliability, "none"))
    return {
        ("strategies", "*", "leases", "*", "offer"): offers,
        ("strategies", "*", "burst", "offer"): hourly,
        ("strategies", "*", "policy"): tuple(POLICIES),
        ("workload", "classes", "*", "model"): tuple(catalog.models),
        ("workload", "trace", "runtime_gpu"): gpus,
        ("reliability", "profile"): tuple(profiles),
        ("reliability", "events", "*", "offer"): offers,
    }


_SUBJECTS: Mapping[str, str] = {
    "offer": "unknown offer",
    "policy": "unknown queue policy",
    "model": "unknown base model",
    "runtime_gpu": "unknown card",
    "profile": "unknown reliability profile",
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
        for number, lease in enumerate(strategy.leases):
            yield from _lease(scenario, tree, catalog, (*at, "leases", number), lease)
        if sum(lease.count for lease in strategy.leases) > _MOST_UNITS:
            rule = f"a strategy may rent at most {_MOST_UNITS:,} units"
            yield located(tree, (*at, "leases"), rule, sum(lease.count for lease in strategy.leases))
        if strategy.burst is not None:
            yield from _burst(tree, (*at, "burst"), strategy.burst)
    for place, event in enumerate(scenario.reliability.events):
        yield from _event(scenario, tree, catalog, ("reliability", "events", place), event)


def _performance(scenario: Scenario, tree: Node, folder: FilePath | None) -> Found:
    name = scenario.performance
    if name in PERFORMANCES or (folder is not None and (folder / name).is_file()):
        return
    rule = "must be measured or vendor, or a calibration file beside the scenario"
    yield located(tree, ("performance",), rule, name, PERFORMANCES)


def _sizes(scenario: Scenario, tree: Node) -> Found:
    """A slip of the pen may not ask for more than a machine can do."""
    if scenario.horizon_us > _LONGEST:
        rule = "a horizon may be at most 20 years"
        yield _as_written(tree, ("horizon",), rule)
        return
    clock = clock_of(scenario) if scenario.workload.classes else None
    total = 0.0
    for place, job_class in enumerate(scenario.workload.classes):
        path: Path = ("workload", "classes", place)
        size = job_class.batch_size
        if not isinstance(size, Distribution) and size != int(size):
            yield located(tree, (*path, "batch_size"), "a fixed batch size is a whole number", size)
        try:
            total += 0.0 if clock is None else expected_jobs(job_class, clock)
        except InputError as error:
            for problem in error.problems:
                yield located(tree, (*path, "batch_size"), problem.rule)
    if clock is not None and total == 0 and scenario.workload.trace is None:
        yield located(tree, ("workload", "classes"), "no job can arrive: every rate is 0")
    if not total <= _MOST_JOBS:
        rule = f"the rates and growth would make some {total:.3g} jobs; at most {_MOST_JOBS:,} are simulated"
        yield located(tree, ("workload", "classes"), rule)


def _classes(scenario: Scenario, tree: Node, catalog: Catalog) -> Found:
    for place, job_class in enumerate(scenario.workload.classes):
        path: Path = ("workload", "classes", place)
        hidden = catalog.models[job_class.model].hidden
        if job_class.method != "full" and job_class.rank > hidden:
            rule = f"a LoRA rank may not be above the model's hidden size, {hidden}"
            yield located(tree, (*path, "rank"), rule, job_class.rank)


def _lease(scenario: Scenario, tree: Node, catalog: Catalog, path: Path, lease: Lease) -> Found:
    offer = catalog.offers[lease.offer]
    if lease.plan not in offer.plans:
        rule = f"{offer.id} is not rented under this plan"
        yield located(tree, (*path, "plan"), rule, lease.plan, offer.plans)
    for number, option in enumerate(lease.options):
        at = (*path, "options", number)
        if option not in offer.options:
            has = "unknown option of" if offer.options else "no options are sold with"
            yield located(tree, at, f"{has} {offer.id}", option, offer.options)
        elif option in lease.options[:number]:
            yield located(tree, at, "an option is taken once", option)
    if lease.start is not None and lease.start < scenario.start:
        rule = f"a lease may not start before the scenario does, {scenario.start:%Y-%m-%d %H:%M}"
        yield _as_written(tree, (*path, "start"), rule)
    if lease.start is None and lease.end is not None and lease.end <= scenario.start:
        rule = f"a lease must end after it starts, here with the scenario, {scenario.start:%Y-%m-%d %H:%M}"
        yield _as_written(tree, (*path, "end"), rule)


def _as_written(tree: Node, path: Path, rule: str) -> Problem:
    node = tree.find(path)
    return located(tree, path, rule, None if node is None else node.value)


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
        count = sum(lease.count for lease in strategy.leases if lease.offer == offer)
        burst = strategy.burst
        counts.append(count + (burst.max if burst is not None and burst.offer == offer else 0))
    return counts


def _rented(scenario: Scenario) -> Collection[str]:
    names = [lease.offer for strategy in scenario.strategies for lease in strategy.leases]
    names += [strategy.burst.offer for strategy in scenario.strategies if strategy.burst is not None]
    return dict.fromkeys(names)


def trace_problems(rows: Sequence[TraceRow], file: str, catalog: Catalog) -> Found:
    """Cards that rows name and the catalogue does not know."""
    for row in rows:
        for column, card in (("gpu", row.gpu), ("runtime_gpu", row.runtime_gpu)):
            if card is not None and card not in catalog.gpus:
                key = f"row {row.row}, {column}"
                yield Problem("unknown card", file, row.line, key, card, tuple(catalog.gpus))
