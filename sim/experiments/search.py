"""The cheapest fleet that meets the target, found by bounds and racing instead of by trying all.

1. Costs of leases are known before any run; of the plans of one fleet only the cheapest can win.
2. What cannot hold some job, or has less card-time than the work asks for, is ruled out unsimulated.
3. Fleets of one offer, policy and burst are a ladder by size: its lowest rung that meets the target is
   found by halving, and no rung is looked at whose leases alone cost more than the best found so far.
4. Where burst makes the cost random, larger fleets may be cheaper in all: rungs are then looked at until
   their leases alone cost more, and the last choice is by constrained selection.

The confidence is shared out over all judgements by Bonferroni. That a larger fleet of the same kind
serves no worse is an assumption of step 3, and is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from sim.experiments.bounds import least_cards_by_work
from sim.experiments.candidates import Candidate, misfit_of
from sim.experiments.comparison import Condition
from sim.experiments.decision import MONEY, conditions
from sim.experiments.ladder import Judge, lowest
from sim.experiments.runs import Runs
from sim.experiments.stopping import chosen
from sim.experiments.wording import money, value
from sim.model.experiment import Selection
from sim.model.said import said
from sim.replication import Prepared
from sim.streams import Streams
from sim.units import HOUR
from sim.workload import generate

__all__ = ["Found", "Option", "Search", "work_asked"]

Status = Literal["chosen", "dearer", "too slow", "does not fit", "too small", "unsure"]

PILOT_JOBS = 3
"""Replications whose jobs are made, not simulated, to know how much work is asked for."""


@dataclass(frozen=True, slots=True)
class Option:
    """One candidate and what became of it."""

    candidate: Candidate
    status: Status
    reason: str
    replications: int
    cost: float | None
    """Committed cost, mean over its replications with burst, else that of its leases."""
    means: tuple[float | None, ...]
    """Of the target's metrics; empty where it was not simulated."""


@dataclass(frozen=True, slots=True)
class Found:
    """The end of a search."""

    winner: Candidate | None
    options: tuple[Option, ...]
    """Every candidate, in the order of the space."""
    simulated: int
    """Runs that the search asked for."""
    brute: int
    """Runs of every candidate with as many replications as the scenario asks for."""
    sure: bool
    """Whether every judgement that the answer rests on is sure at the confidence asked for."""


@dataclass(slots=True)
class Search:
    """One search. `runs` are those of the question whose strategies are the candidates."""

    runs: Runs
    candidates: Sequence[Candidate]
    rule: Selection
    cost: str = MONEY
    lost: dict[int, tuple[Status, str]] = field(default_factory=dict)
    asked: Sequence[Condition] = ()
    judge: Judge = field(init=False)

    def __post_init__(self) -> None:
        self.asked = conditions(self.runs.question.scenario.target)
        ladders = {(c.offer, c.policy, c.burst) for c in self.candidates}
        rungs = len({c.fleet for c in self.candidates}) / max(1, len(ladders))
        judgements = len(ladders) * (math.ceil(math.log2(max(2.0, rungs))) + 1)
        each = 1 - (1 - self.rule.confidence) / judgements
        self.judge = Judge(self.runs, self.asked, self.rule.model_copy(update={"confidence": each}))

    def run(self) -> Found:
        """Search, and say of every candidate why it won or lost."""
        left = self._fitting(self._cheapest_plans(self.candidates))
        best: Candidate | None = None
        finalists: list[Candidate] = []
        ladders: dict[tuple[str, str, bool], list[Candidate]] = {}
        for one in left:
            ladders.setdefault((one.offer, one.policy, one.burst), []).append(one)
        # Ladders whose smallest fleet costs least come first: they soon set a price to beat.
        for rungs in sorted(
            ladders.values(), key=lambda rungs: (min(r.cost for r in rungs), rungs[0].position)
        ):
            for one in self._climb(sorted(rungs, key=lambda r: (r.units, r.position)), best):
                finalists.append(one)
                if best is None or self._mean_cost(one) < self._mean_cost(best):
                    best = one
        winner = self._choose(finalists)
        return self._found(winner)

    def _cheapest_plans(self, all_of_them: Iterable[Candidate]) -> list[Candidate]:
        best: dict[object, Candidate] = {}
        for one in all_of_them:
            rival = best.get(one.fleet)
            if rival is None or one.cost < rival.cost:
                best[one.fleet] = one
        for one in self.candidates:
            rival = best[one.fleet]
            if rival is not one:
                text = said(
                    "the same cards under the {plan} plan cost {cost}",
                    plan=rival.plan,
                    cost=self._money(rival.cost),
                )
                self.lost[one.position] = "dearer", text
        return list(best.values())

    def _fitting(self, left: Iterable[Candidate]) -> list[Candidate]:
        prepared: Prepared = self.runs.prepared
        allowed = next(line.limit for line in self.asked if line.metric == "jobs_refused")
        kept: list[Candidate] = []
        work = {
            offer: work_asked(prepared, offer) for offer in dict.fromkeys(c.offer for c in self.candidates)
        }
        for one in left:
            misfit = misfit_of(prepared, one.position)
            needed = self._needed(work[one.offer])
            if misfit is not None and allowed == 0:
                self.lost[one.position] = "does not fit", misfit
            elif not one.burst and one.cards < needed:
                text = said("the work alone needs {cards} cards of this kind", cards=needed)
                self.lost[one.position] = "too small", text
            else:
                kept.append(one)
        return kept

    def _needed(self, work_us: float) -> int:
        """Fewest cards whose backlog at the end is not by itself beyond every limit on the wait.

        Cards that lack a share x of the work leave its last jobs waiting about x of the horizon; twice
        the limit, at the 95th percentile of jobs, is left as a margin.
        """
        horizon = self.runs.question.scenario.horizon_us
        waits = [line.limit * HOUR for line in self.asked if line.metric in ("wait_p95_h", "wait_mean_h")]
        slack = 1 + 2 * max(waits, default=0.02 * horizon) / (0.95 * horizon)
        return least_cards_by_work(work_us, horizon * slack)

    def _climb(self, rungs: Sequence[Candidate], best: Candidate | None) -> list[Candidate]:
        """The rungs of one ladder that may be the answer."""
        limit = math.inf if best is None else self._mean_cost(best)
        open_ = [one for one in rungs if float(one.cost) < limit]
        for one in rungs[len(open_) :]:
            self._dearer(one, best)
        where = lowest(self.judge, [one.position for one in open_], self._note(open_))
        if where is None:
            top = open_[-1:]
            for one in open_[:-1]:
                self._smaller(one, top[0])
            return []
        for one in open_[:where]:
            if one.position not in self.judge.found:
                self._smaller(one, self._misses(open_[:where]))
        answer = [open_[where]]
        if open_[where].burst:
            answer += self._larger(open_[where + 1 :], open_[where])
        for one in open_[where + 1 :]:
            if one not in answer:
                self._dearer(one, open_[where])
        return answer

    def _larger(self, rungs: Sequence[Candidate], first: Candidate) -> list[Candidate]:
        """Larger fleets that may cost less in all, because they rent less by the hour."""
        found: list[Candidate] = []
        cheapest = self._mean_cost(first)
        for one in rungs:
            if float(one.cost) >= cheapest:
                break
            if self.judge.of(one.position, self._note(rungs)).meets:
                found.append(one)
                cheapest = min(cheapest, self._mean_cost(one))
        return found

    def _misses(self, rungs: Sequence[Candidate]) -> Candidate:
        """The largest rung that was judged to miss."""
        judged = [one for one in rungs if one.position in self.judge.found]
        return judged[-1]

    def _choose(self, finalists: Sequence[Candidate]) -> Candidate | None:
        if not finalists:
            return None
        cheapest = min(finalists, key=lambda one: (self._mean_cost(one), one.position))
        in_doubt = [one for one in finalists if one.burst or one is cheapest]
        if not any(one.burst for one in in_doubt) or len(in_doubt) == 1:
            return cheapest
        procedure = chosen(self.runs, self.rule, (), self.cost, [one.position for one in in_doubt])
        place = procedure.best
        return cheapest if place is None else in_doubt[place]

    def _mean_cost(self, one: Candidate) -> float:
        if not one.burst:
            return float(one.cost)
        judged = self.judge.of(one.position)
        samples = self.runs.ask([(one.position, number) for number in range(judged.replications)])
        return math.fsum(sample.metrics[self.cost] or 0.0 for sample in samples) / len(samples)

    def _dearer(self, one: Candidate, than: Candidate | None) -> None:
        if than is not None:
            cost = self._money(one.cost)
            text = said("its leases alone cost {cost}, more than all of {than}", cost=cost, than=than.name)
            if not than.burst and not one.burst:
                more = self._money(one.cost - than.cost)
                text = said("costs {cost}, {more} more than {than}", cost=cost, more=more, than=than.name)
            self.lost.setdefault(one.position, ("dearer", text))

    def _smaller(self, one: Candidate, than: Candidate) -> None:
        text = said("smaller than {than}, which misses the target", than=than.name)
        self.lost.setdefault(one.position, ("too slow", text))

    def _money(self, amount: Decimal | float) -> str:
        return money(float(amount), self.runs.question.scenario.currency)

    def _note(self, rungs: Sequence[Candidate]) -> str:
        return f"{rungs[0].offer}, {rungs[0].policy}" if rungs else ""

    def _found(self, winner: Candidate | None) -> Found:
        options = tuple(self._option(one, winner) for one in self.candidates)
        replications = self.runs.question.scenario.experiment.replications
        judged = self.judge.found
        return Found(
            winner=winner,
            options=options,
            simulated=len(self.runs.made),
            brute=len(self.candidates) * replications,
            sure=winner is not None and all(one.standing != "unsure" for one in judged.values()),
        )

    def _option(self, one: Candidate, winner: Candidate | None) -> Option:
        judged = self.judge.found.get(one.position)
        status, reason = self.lost.get(one.position, ("dearer", ""))
        if judged is not None:
            status, reason = self._judged(one, winner)
        if winner is not None and one.position == winner.position:
            status, reason = "chosen", said("the cheapest that meets the target")
        cost = None if one.burst and judged is None else self._mean_cost(one)
        return Option(
            one,
            status,
            reason,
            0 if judged is None else judged.replications,
            cost,
            () if judged is None else judged.means,
        )

    def _judged(self, one: Candidate, winner: Candidate | None) -> tuple[Status, str]:
        judged = self.judge.found[one.position]
        if not judged.meets:
            lines = [
                said(
                    "{metric} {value}, limit {limit}",
                    metric=line.name,
                    value=value(mean, line.unit),
                    limit=value(line.limit, line.unit),
                )
                for line, mean in zip(self.asked, judged.means, strict=True)
                if mean is not None and (mean < line.limit if line.at_least else mean > line.limit)
            ]
            status: Status = "too slow" if judged.standing == "misses" else "unsure"
            return status, "; ".join(lines) or said("misses the target")
        if winner is None:
            return "unsure", said("meets the target by its mean")
        more = self._mean_cost(one) - self._mean_cost(winner)
        return "dearer", said(
            "meets the target, and costs {more} more than {than}", more=self._money(more), than=winner.name
        )


def work_asked(prepared: Prepared, offer: str) -> float:
    """Card-time that the jobs of a run ask of an offer at the least, microseconds: a mean over a few.

    Of the ways to run a shape the one with the least card-time counts; shapes that do not fit count
    nothing, nor do start-ups and failures, nor jobs that wait for another's end, so it is a lower bound.
    """
    question = prepared.question
    cheapest: dict[int, float] = {}
    for index, _ in enumerate(prepared.shapes):
        options = prepared.rates.options.get((index, offer), ())
        if options:
            cheapest[index] = min(option.us_per_work * option.gpus for option in options)
    seed = question.scenario.experiment.seed
    totals: list[float] = []
    for number in range(PILOT_JOBS):
        jobs = generate(question.scenario, question.trace, Streams(seed, number))
        totals.append(math.fsum(job.work * cheapest.get(job.shape, 0.0) for job in jobs.independent))
    return math.fsum(totals) / len(totals)
