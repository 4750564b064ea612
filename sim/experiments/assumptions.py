"""What the answer rests on that the scenario did not say, and what the reader must be warned of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sim.billing.penalties import has_penalties
from sim.experiments.comparison import Caution, Condition, StrategyResult
from sim.experiments.decision import MONEY
from sim.experiments.failure_assumptions import failure_features
from sim.experiments.sharing_assumptions import sharing_rules
from sim.experiments.uncertain_words import sentences
from sim.experiments.wording import count, money, quoted, share
from sim.metrics import overload_reasons
from sim.model.contract import Offer
from sim.model.fleet import PolicyParameters
from sim.model.said import said
from sim.model.scenario import Checkpoint, Reliability, Scenario, Strategy
from sim.replication import PREEMPT_AFTER
from sim.units import SECOND, Micros, format_duration, hours

__all__ = ["cautions", "scenario_assumptions"]

RANKING = said(
    "Strategies are ranked by committed cost: what is accrued over the horizon, and what stays owed after "
    "it and cannot be recovered."
)

PENALTIES = said(
    "Strategies are ranked by committed cost and penalties: what is accrued over the horizon, what stays "
    "owed after it and cannot be recovered, and what late and refused jobs cost as the scenario says. Jobs "
    "past their deadline and not done count up to the horizon."
)

SIGNS = frozenset(
    {
        "offered_load",
        "backlog_h",
        "queue_early",
        "queue_late",
        "queue_stretch_h",
        "wait_p95_h",
        "jobs_measured",
    }
)
"""Metrics in which an overload shows."""

LONGER_HORIZON = 0.1
"""Part of the accrued cost above which money owed after the horizon calls for a longer one."""


def scenario_assumptions(
    scenario: Scenario, conditions: Sequence[Condition], offers: Sequence[Offer]
) -> tuple[str, ...]:
    """Sentences on every default that the run used, and on the rules of counting."""
    level = f"{100 * scenario.experiment.confidence:g} %"
    rules = [
        PENALTIES if has_penalties(scenario) else RANKING,
        said("Quantiles are by linear interpolation; a job not yet started counts with its wait so far."),
        _intervals(level),
    ]
    if scenario.target is None:
        rules.append(said("No target is given: no job may be refused and the queue must be stable."))
    if any(condition.metric == "overloaded" for condition in conditions):
        rules.append(said("A queue is stable if it is overloaded in at most half of the replications."))
    return (*_defaults(scenario, offers), *_noise(offers), *sentences(scenario), *rules)


def _intervals(level: str) -> str:
    return said(
        "Intervals are two-sided at {part}: Student's, cut off at 0 (shares: and at 1) where a figure "
        "cannot lie beyond; for shares of replications, Wilson's.",
        part=level,
    )


def _migration(reliability: Reliability, offers: Sequence[Offer]) -> Iterator[str]:
    """The promise to move a failed machine, where the scenario leaves it to the offers."""
    asked = reliability.migration
    if asked.within is not None and asked.kept is not None:
        return
    by_terms: dict[tuple[Micros, float], list[str]] = {}
    for offer in offers:
        within = offer.migration.within_s * SECOND if asked.within is None else asked.within
        kept = offer.migration.kept if asked.kept is None else asked.kept
        by_terms.setdefault((within, kept), []).append(offer.id)
    for (within, kept), names in by_terms.items():
        whose = "" if len(by_terms) == 1 else f"{', '.join(names)}: "
        promise = said(
            "The promise to move a failed machine within {span} is kept with probability {part} (terms of "
            "the offer; assumed where no audit is published, as everywhere).",
            span=format_duration(within),
            part=f"{kept:g}",
        )
        yield f"{whose}{promise}"


def _noise(offers: Sequence[Offer]) -> Iterator[str]:
    for offer in offers:
        if offer.speed_noise:
            yield said(
                "{name}: running times spread by {part} from job to job, for the neighbours on a shared host "
                "(assumed).",
                name=offer.id,
                part=f"{100 * offer.speed_noise:g} %",
            )


def _defaults(scenario: Scenario, offers: Sequence[Offer]) -> Iterator[str]:
    """Values that stand at their default. Who writes the default into the file sees it here as well, so
    that the resolved scenario among the results gives the same answer as the file it came from."""
    reliability, usual = scenario.reliability, Reliability()
    if reliability.profile == usual.profile:
        yield said("Reliability profile {profile} (default).", profile=reliability.profile)
    if reliability.profile != "none":
        yield from _migration(reliability, offers)
        if reliability.data_disk == usual.data_disk:
            disk = reliability.data_disk
            yield said("The data disk is {disk} when a machine moves (default, assumed).", disk=disk)
    every = scenario.checkpoint.every
    if isinstance(every, int) and every == Checkpoint().every:
        yield said("A checkpoint every {span} of work (default).", span=format_duration(every))
    yield from failure_features(scenario)
    yield from sharing_rules(scenario)
    if scenario.experiment.warm_up == 0 and scenario.experiment.steady_state is None:
        yield said("No warm-up: service is measured from the start, on an empty queue.")
    if any(lease.available is not None for strategy in scenario.strategies for lease in strategy.leases):
        yield said(
            "At the end of a window (available) the jobs on its cards are saved and wait again; saving then "
            "takes no time of its own (assumed). Rent goes on outside of the windows."
        )
    for strategy in scenario.strategies:
        yield from _queue_rules(strategy)
        if strategy.burst is not None:
            delay = format_duration(strategy.burst.delay.median)
            yield said(
                "{name}: a card by the hour comes after a log-normal delay with median {span}, and an order "
                "finds nothing with probability {part} (assumed).",
                name=quoted(strategy.name),
                span=delay,
                part=f"{strategy.burst.stock_out.probability:g}",
            )


def _queue_rules(strategy: Strategy) -> Iterator[str]:
    """Parameters of the queue policy that the strategy leaves to their defaults."""
    name, usual = quoted(strategy.name), PolicyParameters()
    if strategy.policy == "fair" and strategy.half_life in (None, usual.half_life_us):
        yield said(
            "{name}: past use of cards counts half after {span} (assumed).",
            name=name,
            span=format_duration(usual.half_life_us),
        )
    if strategy.policy == "conservative" and strategy.look_ahead in (None, usual.look_ahead):
        yield said(
            "{name}: the first {jobs} waiting jobs have reservations (assumed).",
            name=name,
            jobs=usual.look_ahead,
        )
    if strategy.policy == "sjf":
        yield said(
            "{name}: shortest time limit first, or where there is none shortest expected run time, as if it "
            "were known before; a job that does not fit now is passed over, so that wide jobs may wait long.",
            name=name,
        )
    if strategy.policy in ("easy", "conservative"):
        yield said(
            "{name}: reservations rest on time limits, or where there are none on the expected run time; "
            "cards that are down are not reckoned with until they are mended.",
            name=name,
        )
    if strategy.preempt and strategy.preempt_after in (None, PREEMPT_AFTER):
        yield said(
            "{name}: a job runs {span} before it may be preempted (assumed).",
            name=name,
            span=format_duration(PREEMPT_AFTER),
        )


def cautions(results: Sequence[StrategyResult], scenario: Scenario) -> tuple[Caution, ...]:
    """Warnings, the gravest first: overload, refusals, doubt about the target, short horizon."""
    found = [caution for result in results for caution in _overloaded(result, scenario.horizon_us)]
    for check in (_refused, _unsure, _not_judged):
        found += [caution for result in results for caution in check(result)]
    if scenario.experiment.replications == 1 and scenario.experiment.steady_state is None:
        found.append(Caution("one replication", None, said("one replication: no figure has an interval")))
    for result in results:
        found += _horizon(result, scenario.currency)
    return tuple(found)


def _overloaded(result: StrategyResult, horizon_us: Micros) -> Iterator[Caution]:
    """Said with the figures of the first replication in which it is seen: means would blur the signs."""
    seen = result.values.get("overloaded", ())
    first = next((number for number, value in enumerate(seen) if value), None)
    if first is None:
        return
    part = result.mean("overloaded") or 0.0
    text = said("the queue is overloaded")
    if part < 1:
        text = said("the queue is overloaded in {part} of the replications", part=share(part))
    values = {name: numbers[first] for name, numbers in result.values.items()}
    signs = overload_reasons(values, hours(horizon_us)) if values.keys() >= SIGNS else ()
    load, leased = result.mean("offered_load"), result.mean("leased_gpu_h")
    if load is not None and leased is not None:
        text = said(
            "{head}; load {load} on {hours} leased card-hours",
            head=text,
            load=f"{load:.2f}",
            hours=count(leased),
        )
    if signs:
        text = said("{head}; in replication {run} {signs}", head=text, run=first, signs="; ".join(signs))
    text = said("{head}. Its waits grow with the horizon and are no steady state.", head=text)
    yield Caution("overloaded", result.name, text)


def _refused(result: StrategyResult) -> Iterator[Caution]:
    for refusal in result.refusals:
        text = said(
            "refuses {jobs} jobs a run of {name}: {reason}",
            jobs=count(refusal.jobs),
            name=refusal.job_class,
            reason=refusal.reason,
        )
        yield Caution("refused", result.name, text)


def _unsure(result: StrategyResult) -> Iterator[Caution]:
    """Only where it decides: who misses another line for sure, misses the target for sure."""
    names = [verdict.condition.name for verdict in result.verdicts if verdict.status == "unsure"]
    if result.status == "unsure":
        text = said(
            "unsure about {metrics}: the interval straddles the limit; more replications would tell",
            metrics=" and ".join(names),
        )
        yield Caution("unsure", result.name, text)


def _not_judged(result: StrategyResult) -> Iterator[Caution]:
    for verdict in result.verdicts:
        if verdict.status == "not judged":
            name = verdict.condition.name
            text = said("{metric} is not judged, for no job counts towards it", metric=name)
            yield Caution("not judged", result.name, text)


def _horizon(result: StrategyResult, currency: str) -> Iterator[Caution]:
    accrued, committed = result.mean("cost_cny"), result.mean(MONEY)
    if accrued is None or committed is None or committed - accrued <= LONGER_HORIZON * accrued:
        return
    owed = money(committed - accrued, currency)
    yield Caution(
        "short horizon",
        result.name,
        said(
            "{owed} stays owed after the horizon, more than a tenth of the {cost} accrued within it; "
            "a longer horizon compares it more fairly",
            owed=owed,
            cost=money(accrued, currency),
        ),
    )
