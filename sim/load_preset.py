"""A workload preset written out as timed classes; what a scenario asks of its trace, held against it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sim.catalog.workloads import preset_class, workload_presets
from sim.errors import Problem
from sim.load_errors import located
from sim.load_tree import Node, Path
from sim.model.scenario import Scenario
from sim.workload.readers import TraceRow

__all__ = ["demand_problems", "preset_problems", "with_preset"]


def with_preset(scenario: Scenario) -> Scenario:
    """The scenario with the classes of its preset; itself without one, or with an unknown one."""
    workload = scenario.workload
    found = None if workload.preset is None else workload_presets().get(workload.preset)
    if found is None or workload.rate is None:
        return scenario
    timed = (*workload.timed, preset_class(found, workload.rate))
    written = workload.model_copy(update={"timed": timed, "preset": None, "rate": None})
    return scenario.model_copy(update={"workload": written})


def preset_problems(scenario: Scenario, tree: Node) -> Iterator[Problem]:
    """Classes that have the name of the preset."""
    workload = scenario.workload
    found = None if workload.preset is None else workload_presets().get(workload.preset)
    classes: list[tuple[Path, str]] = [
        *((("workload", "classes", place), one.name) for place, one in enumerate(workload.classes)),
        *((("workload", "timed", place), one.name) for place, one in enumerate(workload.timed)),
    ]
    for at, name in classes:
        if found is not None and name == found.name:
            rule = "a class has the name of the preset, and random numbers go by names: give it another"
            yield located(tree, (*at, "name"), rule, name)


def demand_problems(scenario: Scenario, tree: Node, rows: Sequence[TraceRow]) -> Iterator[Problem]:
    """Teams that the trace does not know, and a window in which no job is submitted."""
    trace = scenario.workload.trace
    if trace is None or trace.as_recorded:
        return
    known = dict.fromkeys(row.team for row in rows)
    at: Path = ("workload", "trace")
    wrong = [team for team in trace.teams or () if team not in known]
    for place, team in enumerate(trace.teams or ()):
        if team in wrong:
            rule = "no job of the trace belongs to this team"
            yield located(tree, (*at, "teams", place), rule, team, tuple(known)[:50])
    end = scenario.horizon_us + trace.since if trace.until is None else trace.until
    inside = (
        trace.since <= row.submit_us < end and (trace.teams is None or row.team in trace.teams)
        for row in rows
    )
    if not wrong and not any(inside):
        yield located(tree, at, "no job of the trace is submitted in this window")
