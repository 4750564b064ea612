"""`fleetsim validate`: is this file a scenario?"""

from __future__ import annotations

from sim.cli.console import print_json, say
from sim.cli.options import FormatOption, OutputFormat, ScenarioFile, SetOption, read_question
from sim.units import format_duration

__all__ = ["validate"]


def validate(file: ScenarioFile, set_: SetOption = None, format_: FormatOption = OutputFormat.TEXT) -> None:
    """Check a scenario without running it: keys, names, dates, trace. Exit code 2 if anything is wrong."""
    question = read_question(file, set_)
    scenario = question.scenario
    workload = scenario.workload
    classes = [one.name for one in workload.classes] + [one.name for one in workload.timed]
    strategies = [strategy.name for strategy in scenario.strategies]
    if format_ is OutputFormat.JSON:
        print_json(
            {
                "scenario": scenario.name,
                "valid": True,
                "strategies": strategies,
                "classes": classes,
                "trace_jobs": len(question.trace),
            }
        )
        return
    say(f"{file}: a valid scenario, {scenario.name}")
    say(f"  {format_duration(scenario.horizon_us)} from {scenario.start.isoformat()}, {scenario.timezone}")
    say(f"  {len(classes)} job classes, {len(question.trace)} recorded jobs")
    say(f"  {len(strategies)} strategies: {'; '.join(strategies)}")
