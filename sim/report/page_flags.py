"""The warning lines of the source articles, held against a stored run: each with its threshold and source.

Everything is counted in replication 0, whose records are in the folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from sim.experiments.stored import StoredRun
from sim.experiments.wording import plain, share, span
from sim.model.scenario import Strategy
from sim.report.page_busy import busy_shares, jobs_at_once
from sim.report.page_links import link_shares
from sim.units import hours

__all__ = ["RULES", "Flag", "Rule", "flags_of"]

State = Literal["raised", "clear", "not judged"]

IDLE, LOW, MEMORY, LINK, JOBS = 0.15, 0.70, 0.95, 0.80, 10
"""Thresholds of the articles."""

WORST = 3
"""Ways to run that a flag writes out."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One warning line."""

    title: str
    threshold: str
    source: str
    meaning: str
    """What the article speaks of, and what is counted here."""


@dataclass(frozen=True, slots=True)
class Flag:
    """How a strategy stands to one warning line."""

    rule: str
    """Key of `RULES`."""
    strategy: str
    state: State
    text: str
    """What was found, with its figures; or why it is not judged."""

    def to_json(self) -> dict[str, str]:
        """One row of a document, with threshold and source."""
        rule = RULES[self.rule]
        return {
            "rule": self.rule,
            "strategy": self.strategy,
            "state": self.state,
            "text": self.text,
            "threshold": rule.threshold,
            "source": rule.source,
        }


MONITORING = "article 000 'LoRA multi-task selection' of idc10000 (2026), section 6, question 7"

RULES: Mapping[str, Rule] = {
    "idle": Rule(
        "A card stands idle",
        "busy under 15 %",
        "article 002 'single card or eight cards' of idc10000 (2026), section 5, trap 1",
        "The article tells of eight cards rented for one 7B job, which used them under 15 %. Here: the time "
        "in which a leased card has a job, as a part of the time in which jobs could use it.",
    ),
    "low": Rule(
        "A card is little used",
        "busy under 70 %",
        MONITORING,
        "The article takes the use that a monitor shows: below 70 % data loading or traffic holds the card "
        "back. Here: the time in which a leased card has a job, as a part of the time in which jobs could "
        "use it; low use is also the price of short waits.",
    ),
    "memory": Rule(
        "A card's memory is nearly full",
        "above 95 % of the card",
        MONITORING,
        "Above it the article sees a high risk of running out of memory. Here: the predicted peak of a card, "
        "against the memory of it that a program can have.",
    ),
    "link": Rule(
        "A link is the bottleneck",
        "above 80 %",
        MONITORING,
        "The article takes the use of PCIe or NVLink. Here: the time in which the predicted traffic of one "
        "job fills its link, as a part of a training step; traffic of other jobs on the machine is left out.",
    ),
    "jobs": Rule(
        "Many jobs at once without a scheduler",
        "more than 10 jobs at once",
        "article 000 'LoRA multi-task selection' of idc10000 (2026), section 6, question 5",
        "Up to 10 jobs at once the article keeps order by hand or by a script. First come first served "
        "(policy fifo), without sharing of cards, counts as such here (assumed); every other policy needs a "
        "scheduler anyway.",
    ),
}
"""Key -> warning line, in the order of the page."""


def flags_of(run: StoredRun) -> tuple[Flag, ...]:
    """Every warning line for every strategy, in the order of the scenario."""
    links = link_shares(run)
    found: list[Flag] = []
    for strategy in run.question.scenario.strategies:
        records = _Records.of(run, strategy)
        if isinstance(records, str):
            found += [Flag(rule, strategy.name, "not judged", records) for rule in RULES]
            continue
        found += _busy(records)
        found += _memory(records)
        found += _links(records, links)
        found.append(_jobs(records))
    return tuple(found)


@dataclass(frozen=True)
class _Records:
    """What the folder keeps of one strategy."""

    run: StoredRun
    strategy: Strategy
    leases: pd.DataFrame
    attempts: pd.DataFrame
    """With the class of each job, and whether its cards stand in several machines."""
    rates: pd.DataFrame

    @classmethod
    def of(cls, run: StoredRun, strategy: Strategy) -> _Records | str:
        """The records, or why there are none."""
        files = run.manifest["files"]
        for name in ("leases", "attempts", "jobs", "rates"):
            if f"{name}.parquet" not in files:
                return f"the run has no table {name}"
        leases = run.table("leases")
        attempts, jobs = run.attempts(strategy.name), run.jobs(strategy.name)
        offers = run.question.catalog.offers
        attempts["job_class"] = attempts["job"].map(jobs.set_index("job")["job_class"])
        attempts["several"] = [
            offer in offers and len({int(card) // offers[offer].gpus_per_unit for card in cards.split()}) > 1
            for offer, cards in zip(attempts["offer"], attempts["cards"], strict=True)
        ]
        own = leases[leases["strategy"] == strategy.name].reset_index(drop=True)
        return cls(run, strategy, own, attempts, run.table("rates"))

    @property
    def horizon_h(self) -> float:
        """Length of the run, hours."""
        return hours(self.run.question.scenario.horizon_us)

    def flag(self, rule: str, state: State, text: str) -> Flag:
        """A flag of this strategy."""
        return Flag(rule, self.strategy.name, state, text)

    def ways(self) -> list[dict[str, Any]]:
        """Ways in which jobs ran: class, offer, cards, whether in several machines, stays, and the rate."""
        columns = [self.attempts[name].tolist() for name in ("job_class", "offer", "gpus", "several")]
        counted = Counter(zip(*columns, strict=True))
        found = []
        for (shape, offer, gpus, several), stays in sorted(counted.items()):
            rows = self.rates[
                (self.rates["shape"] == shape) & (self.rates["offer"] == offer) & (self.rates["gpus"] == gpus)
            ]
            exact = rows[rows["several_machines"] == several]
            rate = (exact if len(exact) else rows).head(1).to_dict("records")
            way = {"shape": shape, "offer": offer, "gpus": int(gpus), "several": bool(several)}
            found.append({**way, "stays": int(stays), "rate": rate[0] if rate else None})
        return found


# -- Cards busy --------------------------------------------------------------------------------------


def _busy(records: _Records) -> Iterator[Flag]:
    shares = busy_shares(records.leases, records.attempts, records.horizon_h)
    whole = sum(len(cards) for cards in shares.values())
    for rule, limit in (("idle", IDLE), ("low", LOW)):
        texts = []
        for name, cards in shares.items():
            under = [one for one in cards if one < limit]
            if under:
                who = f"{_of(len(under), len(cards))} of {name} {_is(len(under))}"
                texts.append(f"{who} {RULES[rule].threshold}: {_range(under)}")
        if not whole:
            yield records.flag(rule, "not judged", "no card could be used")
        elif texts:
            yield records.flag(rule, "raised", "; ".join(texts))
        else:
            lowest = min(one for cards in shares.values() for one in cards)
            yield records.flag(rule, "clear", f"the least used card is busy {share(lowest)}")


def _of(number: int, whole: int) -> str:
    if number == whole:
        return "the card" if whole == 1 else f"all {whole} cards"
    return f"{number} of {whole} cards"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _range(shares: Sequence[float]) -> str:
    low, high = share(min(shares)), share(max(shares))
    return low if low == high else f"{low} to {high}"


# -- Memory, links, jobs -----------------------------------------------------------------------------


def _memory(records: _Records) -> Iterator[Flag]:
    sharing = records.strategy.sharing
    if sharing is not None:
        why = "cards are shared: jobs fill a card together, and how far is not in the folder"
        yield records.flag("memory", "not judged", why)
        return
    catalog = records.run.question.catalog
    found: list[tuple[float, str]] = []
    unknown = 0
    for way in records.ways():
        need = None if way["rate"] is None else way["rate"]["memory_gib"]
        offer = catalog.offers.get(way["offer"])
        if offer is None or need is None or need != need:
            unknown += way["stays"]
            continue
        has = catalog.gpus[offer.gpu].usable_gib
        cards = "1 card" if way["gpus"] == 1 else f"{way['gpus']} cards"
        told = (
            f"{way['shape']} on {cards} of {way['offer']}: {need:.1f} of {has:.1f} GiB a card, "
            f"{share(need / has)}, {way['rate']['memory_support']}"
        )
        found.append((need / has, told))
    yield _result(records, "memory", found, MEMORY, unknown, "state no memory")


def _links(records: _Records, links: Mapping[tuple[str, str, int, bool], float] | str) -> Iterator[Flag]:
    ways = [way for way in records.ways() if way["gpus"] > 1]
    if not ways:
        yield records.flag("link", "clear", "no job ran over a link")
        return
    if isinstance(links, str):
        yield records.flag("link", "not judged", links)
        return
    found: list[tuple[float, str]] = []
    unknown = 0
    for way in ways:
        part = links.get((way["shape"], way["offer"], way["gpus"], way["several"]))
        if part is None:
            unknown += way["stays"]
            continue
        where = "over several machines" if way["several"] else "in one machine"
        split = "" if way["rate"] is None else f", {way['rate']['split']}"
        told = f"{way['shape']} on {way['gpus']} cards of {way['offer']} {where}{split}: {share(part)}"
        found.append((part, told))
    yield _result(records, "link", found, LINK, unknown, "say nothing of their traffic")


def _result(
    records: _Records, rule: str, found: Sequence[tuple[float, str]], limit: float, unknown: int, why: str
) -> Flag:
    """The flag of shares with their texts, the highest first; `unknown` stays could not be judged."""
    rest = f"; {unknown:,} stays of recorded jobs {why}" if unknown else ""
    over = sorted((one for one in found if one[0] > limit), key=lambda one: -one[0])
    if over:
        more = f"; and {len(over) - WORST:,} more ways to run" if len(over) > WORST else ""
        return records.flag(rule, "raised", "; ".join(told for _, told in over[:WORST]) + more + rest)
    if found:
        return records.flag(rule, "clear", f"at most {share(max(part for part, _ in found))}{rest}")
    if unknown:
        return records.flag(rule, "not judged", f"recorded jobs {why}")
    return records.flag(rule, "clear", "no job ran")


def _jobs(records: _Records) -> Flag:
    most, since = jobs_at_once(records.attempts)
    strategy = records.strategy
    told = f"up to {most:,} jobs at once, first {span(since)} after the start"
    if most <= JOBS:
        return records.flag("jobs", "clear", f"up to {most:,} jobs at once")
    if strategy.policy == "fifo" and strategy.sharing is None:
        return records.flag("jobs", "raised", f"{told}, first come first served")
    return records.flag("jobs", "clear", f"{told}; policy {plain(strategy.policy)} needs a scheduler")
