"""Who costs what: the accrued cost by job, class and team, with what nobody used as lines of its own.

Every card-hour of a lease costs the same, so a job costs what the card-hours it held cost (average
cost). Idle time stays a line of its own unless a sharing rule puts it on the jobs, in proportion to
the card-hours that they held, or that were useful, over the whole fleet and run. Time that cards were
down, outside of their windows or kept back is never put on jobs. All of it sums to the accrued cost of
the ledger, to the cent.

Marginal cost is another question: what would not have been paid without the job. Prepaid cards and
leases by the hour stand anyway, so it is the cost of the cards rented in bursts, each rental divided
over the jobs that ran on it by the time they held it. What the standing cards of a job would have cost
by the hour elsewhere is its opportunity cost, and is paid to nobody.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal, get_args

from sim.billing.cardtime import BUSY, NOBODY, State, cells
from sim.billing.penalties import Penalty
from sim.billing.placing import place
from sim.billing.shares import PLACES, divide, in_cents, money
from sim.model.job import JobSet
from sim.model.ledger import Ledger
from sim.model.records import JobState, RunLog
from sim.model.scenario import Scenario
from sim.units import HOUR, Micros

__all__ = ["SHARING", "Allocation", "CostGroup", "JobCost", "Sharing", "allocate"]

Sharing = Literal["none", "busy", "useful"]

SHARING: tuple[Sharing, ...] = get_args(Sharing)

UNUSED: tuple[State, ...] = ("idle", "down", "away", "reserved")
ZERO = Decimal("0.00")


@dataclass(frozen=True, slots=True)
class JobCost:
    """One job's cost, currency of the ledger, whole cents."""

    job: int
    name: str
    job_class: str
    team: str
    ended: JobState
    card_us: Mapping[State, Micros]
    """Card-time it held, by what became of it."""
    cost: Mapping[State, Decimal]
    """Cost of that card-time."""
    shared_idle: Decimal
    """Idle cost that the sharing rule puts on it."""
    marginal: Decimal
    """Accrued cost of burst cards rented for it: what would not have been paid without it."""
    opportunity: Decimal | None
    """What its time on standing cards would have cost by the hour; None without such a price."""
    penalty: Decimal
    """What being late or refused costs, as the scenario says; no part of the ledger."""

    @property
    def busy_us(self) -> Micros:
        """Card-time it held."""
        return sum(self.card_us.values())

    @property
    def direct(self) -> Decimal:
        """Cost of the card-time it held."""
        return sum(self.cost.values(), ZERO)

    @property
    def total(self) -> Decimal:
        """Average cost: of the card-time it held and of its share of the idle time."""
        return self.direct + self.shared_idle


@dataclass(frozen=True, slots=True)
class CostGroup:
    """The jobs of a team or class together."""

    name: str
    jobs: tuple[JobCost, ...]

    def sum(self, amount: Callable[[JobCost], Decimal]) -> Decimal:
        """Sum of an amount over the jobs."""
        return sum((amount(job) for job in self.jobs), ZERO)

    def state(self, state: State) -> Decimal:
        """Cost of their card-time in one state."""
        return self.sum(lambda job: job.cost.get(state, ZERO))

    @property
    def busy_us(self) -> Micros:
        """Card-time that they held."""
        return sum(job.busy_us for job in self.jobs)

    @property
    def opportunity(self) -> Decimal | None:
        """Sum of the opportunity costs; None where a job has none."""
        found = [job.opportunity for job in self.jobs]
        return None if None in found else sum((cost for cost in found if cost is not None), ZERO)


@dataclass(frozen=True, slots=True)
class Allocation:
    """The accrued cost of one run, divided."""

    currency: str
    sharing: Sharing
    accrued: Decimal
    """What all lines sum to."""
    jobs: tuple[JobCost, ...]
    unused: Mapping[State, Decimal]
    """Cost of idle (what the sharing rule left), down, away and reserved time."""
    no_cards: Decimal
    """Cost of time without cards, such as the disks of stopped ones."""
    unused_us: Mapping[State, Micros]
    burst_unused: Decimal
    """Accrued cost of burst rentals on which no job ran; marginal to nobody, and part of the lines above."""

    def by(self, key: Callable[[JobCost], str]) -> tuple[CostGroup, ...]:
        """The jobs in groups, in the order of their names."""
        groups: dict[str, list[JobCost]] = defaultdict(list)
        for job in self.jobs:
            groups[key(job)].append(job)
        return tuple(CostGroup(name, tuple(jobs)) for name, jobs in sorted(groups.items()))

    @property
    def everything(self) -> CostGroup:
        """All jobs together."""
        return CostGroup("all jobs", self.jobs)

    def state(self, state: State) -> Decimal:
        """Cost of a state: of all jobs, or of unused time."""
        return self.everything.state(state) if state in BUSY else self.unused.get(state, ZERO)


def allocate(
    ledger: Ledger,
    log: RunLog,
    jobs: JobSet,
    scenario: Scenario,
    sharing: Sharing = "none",
    hourly: Mapping[str, Fraction] | None = None,
    penalties: Mapping[int, Penalty] | None = None,
) -> Allocation:
    """Divide the accrued cost of a run.

    `hourly`: offer -> price of a card by the hour, for the opportunity cost; `penalties`: by job.
    """
    times = _Times(log)
    costs, nowhere, rentals = _costs(ledger, log, scenario)
    idle_shares = _idle_shares(costs[NOBODY, "idle"], times, sharing)
    costs[NOBODY, "idle"] -= sum(idle_shares.values())
    found = _in_money(log, times, costs, idle_shares, nowhere)
    marginal = _marginal(rentals, times)
    burst = {job: money(cent) for job, cent in zip(marginal, in_cents([*marginal.values()]), strict=True)}
    rows: list[JobCost] = []
    for record in log.jobs:
        job = jobs.jobs[record.job]
        shape = jobs.shapes[job.shape]
        penalty = (penalties or {}).get(job.id)
        mine = {state: times.by_state[job.id, state] for state in BUSY if times.by_state[job.id, state]}
        rows.append(
            JobCost(
                job=job.id,
                name=job.name,
                job_class=shape.job_class or shape.name,
                team=job.team,
                ended=record.state,
                card_us=mine,
                cost={state: found[job.id, state] for state in mine},
                shared_idle=found.get((job.id, "shared"), ZERO),
                marginal=burst.get(job.id, ZERO),
                opportunity=None if hourly is None else _opportunity(times.standing[job.id], hourly),
                penalty=ZERO if penalty is None else penalty.cost,
            )
        )
    return Allocation(
        currency=ledger.currency,
        sharing=sharing,
        accrued=ledger.accrued,
        jobs=tuple(rows),
        unused={state: found[NOBODY, state] for state in UNUSED},
        no_cards=found[NOBODY, "nowhere"],
        unused_us={state: times.by_state[NOBODY, state] for state in UNUSED},
        burst_unused=burst.get(NOBODY, ZERO),
    )


class _Times:
    """Card-time of a run: by job and state, by record and job, and on standing cards by offer."""

    def __init__(self, log: RunLog) -> None:
        self.by_state: Counter[tuple[int, State]] = Counter()
        self.on_record: dict[int, Counter[int]] = defaultdict(Counter)
        self.standing: dict[int, Counter[str]] = defaultdict(Counter)
        for cell in cells(log, lambda _lease, _machine: (0, log.horizon_us)):
            offer = log.leases[cell.record].offer
            for (job, state), card_us in cell.parts.items():
                self.by_state[job, state] += card_us
                if job == NOBODY:
                    continue
                self.on_record[cell.record][job] += card_us
                if cell.lease >= 0:
                    self.standing[job][offer] += card_us

    def weights(self, states: Iterable[State]) -> Counter[int]:
        """Card-time of each job in these states, by rising job."""
        found: Counter[int] = Counter()
        for (job, state), card_us in sorted(self.by_state.items()):
            if job != NOBODY and state in states:
                found[job] += card_us
        return found


def _costs(
    ledger: Ledger, log: RunLog, scenario: Scenario
) -> tuple[Counter[tuple[int, State]], int, Counter[int]]:
    """Accrued cost in units: by job and state, of time without cards, and by record of a burst rental."""
    costs: Counter[tuple[int, State]] = Counter()
    rentals: Counter[int] = Counter()
    nowhere = 0
    for _, places in place(ledger, log, scenario):
        for one in places:
            if one.cell is None:
                nowhere += one.units
                continue
            costs[one.part] += one.units
            if one.cell.lease < 0:
                rentals[one.cell.record] += one.units
    return costs, nowhere, rentals


def _in_money(
    log: RunLog,
    times: _Times,
    costs: Counter[tuple[int, State]],
    idle_shares: Mapping[int, int],
    nowhere: int,
) -> dict[tuple[int, State | Literal["shared", "nowhere"]], Decimal]:
    """All costs, rounded together, so that the whole cents sum to what the units sum to."""
    order: list[tuple[int, State | Literal["shared", "nowhere"]]] = []
    amounts: list[int] = []
    for record in log.jobs:
        for state in BUSY:
            if times.by_state[record.job, state] or costs[record.job, state]:
                order.append((record.job, state))
                amounts.append(costs[record.job, state])
        if idle_shares.get(record.job):
            order.append((record.job, "shared"))
            amounts.append(idle_shares[record.job])
    order += [*((NOBODY, state) for state in UNUSED), (NOBODY, "nowhere")]
    amounts += [*(costs[NOBODY, state] for state in UNUSED), nowhere]
    return {place: money(cent) for place, cent in zip(order, in_cents(amounts), strict=True)}


def _idle_shares(idle: int, times: _Times, sharing: Sharing) -> dict[int, int]:
    """The idle cost that a sharing rule puts on each job; nothing where no job has held a card."""
    if sharing == "none":
        return {}
    weights = times.weights(BUSY if sharing == "busy" else ("useful",))
    if not weights.total():
        return {}
    return dict(zip(weights, divide(idle, [*weights.values()]), strict=True))


def _marginal(rentals: Mapping[int, int], times: _Times) -> Counter[int]:
    """Cost of burst rentals by the jobs that ran on them; `NOBODY`: of those on which none did."""
    found: Counter[int] = Counter()
    for record, cost in rentals.items():
        held = times.on_record.get(record)
        if not held:
            found[NOBODY] += cost
            continue
        for job, part in zip(held, divide(cost, [*held.values()]), strict=True):
            found[job] += part
    return found


def _opportunity(standing: Mapping[str, Micros], hourly: Mapping[str, Fraction]) -> Decimal | None:
    """Card-hours on standing cards at the hourly price of each offer, to the cent."""
    if any(offer not in hourly for offer in standing):
        return None
    exact = sum((hourly[offer] * card_us / HOUR for offer, card_us in standing.items()), Fraction(0))
    return money(in_cents([round(exact * 10**PLACES)])[0])
