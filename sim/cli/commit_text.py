"""What `fleetsim commit` says: tables for people, one document for programs."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sim.billing.finance.indicators import Indicators
from sim.cli.commit_answer import Answer, refused_a_run
from sim.cli.console import bullets, heading, print_table, say
from sim.experiments.wording import DASH, share, span
from sim.workload.wording import counted

if TYPE_CHECKING:
    from sim.experiments.commitment import TrialCost

__all__ = ["as_json", "print_answer"]


def print_answer(answer: Answer) -> None:
    """The answer first, then demand, costs, indicators, simulation and assumptions."""
    found, unit = answer.found, answer.currency
    best = found.newsvendor
    say(f"Commit {counted(best, 'unit')} of {answer.committed}; beyond that {answer.instead}.", style="bold")
    prices = answer.prices
    say(
        f"A committed unit costs {_money(prices.committed)} {unit} a month, a month of need without one "
        f"{_money(prices.fallback)} {unit}{_size(answer)}: critical ratio {float(found.critical_ratio):.4f}. "
        f"{counted(best, 'unit')} committed cost {_money(found.costs[best])} {unit} a month in all, none "
        f"{_money(found.costs[0])}, and the most that is ever needed ({answer.demand.most}) "
        f"{_money(found.costs[-1])}. Trying every number gives {found.enumerated}."
    )
    heading(f"Demand: {answer.demand.name}")
    _demand(answer)
    heading(f"{counted(best, 'unit')} committed")
    _indicators(answer.indicators(best), unit)
    if answer.trials:
        _trials(answer, answer.simulated)
    bullets("Assumptions", _notes(answer))


def _size(answer: Answer) -> str:
    ratio = answer.prices.ratio
    return "" if ratio == 1 else f" ({float(ratio):g} units of {answer.instead})"


def _demand(answer: Answer) -> None:
    sample = answer.sample
    if sample is not None:
        say(
            f"{sample.periods:,} {answer.period}s of {counted(sample.replications, 'replication')}; "
            f"{float(answer.demand.mean):,.2f} units needed on average (most at once in the "
            f"{answer.period}), {sample.mean_busy:,.2f} busy over time."
        )
    found = answer.found
    shares = answer.shares
    # The tail of a distribution may be long: what is needed less than once in 1,000 periods is not shown.
    shown = [k for k in range(len(shares)) if k <= found.newsvendor + 1 or 1 - _below(answer, k - 1) > 1e-3]
    rows = [
        (
            f"{k}{' *' if k == found.newsvendor else ''}",
            share(shares[k]),
            share(_below(answer, k)),
            DASH if k == 0 else share(1 - _below(answer, k - 1)),
            _money(found.costs[k]),
        )
        for k in shown
        if k < len(found.costs)
    ]
    cost = f"Cost of a month,\n{answer.currency}"
    print_table(("Units", "Needed so\nmany", "At most\nso many", "This one is\nneeded", cost), rows)
    least = float(answer.prices.committed / answer.prices.fallback)
    if least > 1:
        say("* committed. The other way costs less even in full use: no unit is worth committing.")
    else:
        say(f"* committed. A unit is worth committing if it is needed at least {share(least)} of the time.")


def _below(answer: Answer, k: int) -> float:
    return float(answer.demand.cumulative(k))


def _indicators(found: Indicators, unit: str) -> None:
    hour = DASH if found.effective_hour is None else f"{found.effective_hour:,.4f}"
    say(
        f"Coverage {_share(found.coverage)} of the hours needed, utilisation {_share(found.utilisation)} of "
        f"the hours committed, waste {found.waste:,.2f} {unit} a month, {hour} {unit} an hour needed, "
        f"effective savings rate {_share(found.effective_savings_rate)} against nothing committed."
    )


def _trials(answer: Answer, best: TrialCost | None) -> None:
    costs = answer.found.costs
    heading(f"Simulated, {counted(len(answer.trials[0].costs), 'replication')}")
    print_table(
        ("Committed", f"Simulated,\n{answer.currency} a month", f"Newsvendor,\n{answer.currency} a month",
         "Wait,\n95th percentile", "Jobs refused\na run, mean"),
        [
            (
                f"{trial.committed}{' *' if trial is best else ''}",
                f"{trial.mean:,.2f}",
                _money(costs[min(trial.committed, len(costs) - 1)]) if trial.committed < len(costs) else DASH,
                span(trial.wait_p95_h),
                _refused(trial),
            )
            for trial in answer.trials
        ],
    )  # fmt: skip
    if best is None:
        say(
            f"Every number refuses more jobs a run than the target allows ({answer.refused_limit:,}): none "
            "of them is an optimum."
        )
        return
    numbers = [trial.committed for trial in answer.trials]
    at_edge = len(numbers) > 1 and best.committed in (max(numbers), min(numbers)) and best.committed > 0
    more = " It lies at the edge of what was tried: try --around with more." if at_edge else ""
    say(f"* least{_among(answer)}. The simulated optimum is {counted(best.committed, 'unit')}.{more}")


def _refused(trial: TrialCost) -> str:
    """Mean of all runs; whole numbers as such."""
    mean = refused_a_run(trial)
    return f"{mean.numerator:,}" if mean.denominator == 1 else f"{float(mean):,.1f}"


def _among(answer: Answer) -> str:
    """Which numbers were left to choose from, where it is not all."""
    if len(answer.acceptable) == len(answer.trials):
        if answer.wait_limit_h is not None and not any(map(answer.keeps_wait, answer.trials)):
            return f"; none keeps the wait that the target asks for ({span(answer.wait_limit_h)})"
        return ""
    rules = "that refuse the fewest jobs"
    if answer.refused_limit is not None:
        rules = f"that refuse no more jobs a run than the target allows ({answer.refused_limit:,})"
    if answer.wait_limit_h is not None and all(map(answer.keeps_wait, answer.acceptable)):
        rules += f" and keep the wait that the target asks for ({span(answer.wait_limit_h)})"
    return f" among those {rules}"


def _notes(answer: Answer) -> list[str]:
    notes = [
        (
            "The newsvendor takes demand as independent of what is committed, and every unit beyond the "
            "commitment as rented at once, exactly as long as it is needed."
        ),
        "A month has 730 h; prices are those of the first period.",
        *answer.turned,
    ]
    if answer.assumed_fallback:
        notes.append(f"What stands in beyond the commitment is assumed: {answer.instead}; see --fallback.")
    if answer.sample is not None:
        notes.append(
            f"Demand is counted on {answer.sample.fleet} units, where no job waits, over the whole time "
            "after the warm-up: growth within it is part of the spread."
        )
        if answer.sample.refused:
            notes.append(
                f"{answer.sample.refused:,} jobs fit no unit of the offer and are not in the demand."
            )
    if answer.trials:
        notes.append(
            "The simulation orders units by the hour as soon as a job waits (or as the strategy's burst "
            "rule says), with delays, stock-outs and whole increments: queues make small commitments "
            "cheaper, and increments dearer, than the newsvendor thinks."
        )
    return notes


def _money(amount: Fraction) -> str:
    return f"{float(amount):,.2f}"


def _share(value: Any) -> str:
    return DASH if value is None else share(float(value))


def as_json(answer: Answer) -> dict[str, Any]:
    """The document of `--format json`; money in `currency` a month."""
    found, best = answer.found, answer.found.newsvendor
    chosen = answer.indicators(best)
    sample, simulated = answer.sample, answer.simulated
    return {
        "currency": answer.currency,
        "committed": answer.committed,
        "fallback": answer.instead,
        "committed_month": float(answer.prices.committed),
        "fallback_month": float(answer.prices.fallback),
        "demand": {
            "name": answer.demand.name,
            "period": answer.period,
            "mean": float(answer.demand.mean),
            "shares": answer.shares,
            "periods": None if sample is None else sample.periods,
            "fleet": None if sample is None else sample.fleet,
            "mean_busy": None if sample is None else sample.mean_busy,
            "jobs_refused": None if sample is None else sample.refused,
        },
        "critical_ratio": float(found.critical_ratio),
        "newsvendor": best,
        "enumerated": found.enumerated,
        "costs": [float(cost) for cost in found.costs],
        "indicators": {
            name: None if (value := getattr(chosen, name)) is None else float(value)
            for name in ("coverage", "utilisation", "waste", "effective_hour", "effective_savings_rate")
        },
        "simulated": None if simulated is None else simulated.committed,
        "acceptable": [trial.committed for trial in answer.acceptable],
        "wait_limit_h": answer.wait_limit_h,
        "trials": [
            {
                "committed": trial.committed,
                "cost": trial.mean,
                "costs": list(trial.costs),
                "wait_p95_h": trial.wait_p95_h,
                "jobs_refused": trial.refused,
                "jobs_refused_a_run": float(refused_a_run(trial)),
            }
            for trial in answer.trials
        ],
        "assumptions": _notes(answer),
    }
