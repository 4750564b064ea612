"""`fleetsim run`: one run of one strategy, in detail."""

from __future__ import annotations

from collections import Counter

from sim.cli.console import heading, print_json, print_table, say
from sim.cli.options import (
    FormatOption,
    OutputFormat,
    PriceOption,
    ScenarioFile,
    SeedOption,
    SetOption,
    StrategyOption,
    read_question,
    strategy_number,
)
from sim.cli.options_detail import ReplicationOption
from sim.cli.run_files import EventsOption, GanttOption, check_run_files, write_run_files
from sim.cli.run_json import as_json
from sim.experiments.again import detail
from sim.experiments.wording import money, share, span, value
from sim.metrics import METRICS
from sim.model.ledger import Charge
from sim.model.scenario import Scenario
from sim.replication import RunResult
from sim.units import Micros, hours

__all__ = ["run"]

SHOWN = 20
"""Failures and charges written out; all of them are in the JSON document."""


def run(
    file: ScenarioFile,
    strategy: StrategyOption = None,
    replication: ReplicationOption = 0,
    set_: SetOption = None,
    seed: SeedOption = None,
    price: PriceOption = None,
    format_: FormatOption = OutputFormat.TEXT,
    events: EventsOption = None,
    gantt: GanttOption = None,
) -> None:
    """Make one run of one strategy and show its metrics, charges, failures and the use of its leases."""
    question = read_question(file, set_, price)
    number = strategy_number(question, strategy)
    check_run_files(question, events, gantt)
    result = detail(question, number, replication, seed).run
    written = write_run_files(question, result, events, gantt)
    if format_ is OutputFormat.JSON:
        print_json(as_json(result, question.scenario, seed))
        return
    used = question.scenario.experiment.seed if seed is None else seed
    say(f"{question.scenario.name}: strategy {result.strategy}", style="bold")
    say(f"Replication {replication}, seed {used}: one run, without an interval. To decide, use compare.")
    _print_metrics(result)
    _print_jobs(result)
    _print_leases(result)
    _print_failures(result, question.scenario)
    _print_ledger(result)
    if written:
        heading("Files")
    for sentence in written:
        say(sentence)


def _print_metrics(result: RunResult) -> None:
    heading("Metrics")
    rows = [
        (name, value(number, METRICS[name].unit), METRICS[name].description)
        for name, number in result.metrics.items()
    ]
    print_table(("Metric", "Value", "Meaning"), rows, text=(0, 2))


def _print_jobs(result: RunResult) -> None:
    states = Counter(record.state for record in result.log.jobs)
    heading("Jobs")
    say(", ".join(f"{count:,} {state}" for state, count in states.items()) or "No job was submitted.")


def _print_leases(result: RunResult) -> None:
    heading("Use of leases, up to the horizon")
    found: dict[tuple[str, str], list[int]] = {}
    for lease in result.log.leases:
        label = "by the hour" if lease.lease < 0 else f"lease {lease.lease}"
        total = found.setdefault((label, lease.offer), [0] * 6)
        end = result.log.horizon_us if lease.end_us is None else min(lease.end_us, result.log.horizon_us)
        sums = (
            1,
            lease.gpus * max(0, end - lease.start_us),
            lease.busy_card_us,
            lease.down_card_us,
            lease.away_card_us,
            lease.reserved_card_us,
        )
        for position, part in enumerate(sums):
            total[position] += part
    states = ["Busy", "Down", "Away", "Reserved"]
    if not any(away or reserved for *_, away, reserved in found.values()):
        states = states[:2]  # most leases have neither windows nor a reserve
    rows = [
        (label, offer, units, f"{hours(whole):,.0f}", *(_part(part, whole) for part in parts[: len(states)]))
        for (label, offer), (units, whole, *parts) in found.items()
    ]
    print_table(("Lease", "Offer", "Units", "Card-hours", *states), rows, text=(0, 1))


def _part(part: Micros, whole: Micros) -> str:
    return share(part / whole if whole else None)


def _print_failures(result: RunResult, scenario: Scenario) -> None:
    failures = result.log.failures
    heading(f"Failures: {len(failures):,}")
    rows = [
        (
            f"{scenario.local_time(failure.at_us):%Y-%m-%d %H:%M}",
            failure.kind,
            f"{failure.offer}, machine {failure.machine}",
            span(hours(failure.back_us - failure.at_us)),
            len(failure.jobs),
        )
        for failure in failures[:SHOWN]
    ]
    if rows:
        print_table(("At", "Kind", "Where", "Away", "Jobs hit"), rows, text=(0, 1, 2))
    _say_rest(len(failures))


def _print_ledger(result: RunResult) -> None:
    ledger = result.ledger
    heading(f"Ledger, {ledger.currency}: {len(ledger.charges):,} charges, {len(ledger.invoices):,} invoices")
    rows = [
        (f"{charge.cash_date:%Y-%m-%d}", _what(charge), f"{charge.billed_cost:,}", f"{charge.accrued_cost:,}")
        for charge in ledger.charges[:SHOWN]
    ]
    print_table(("Paid", "What and why", "Billed", "Accrued"), rows, text=(0, 1))
    _say_rest(len(ledger.charges))
    say(
        f"Accrued {money(float(ledger.accrued), ledger.currency)}; committed "
        f"{money(float(ledger.committed), ledger.currency)}; paid within the horizon "
        f"{money(float(ledger.cash), ledger.currency)}."
    )
    for text in ledger.assumptions:
        say(f"- {text}")


def _what(charge: Charge) -> str:
    return f"{charge.lease}, {charge.offer}, {charge.plan}: {charge.rule}"


def _say_rest(count: int) -> None:
    if count > SHOWN:
        say(f"... and {count - SHOWN:,} more; --format json has all of them.")
