"""How many cards at least: bounds by work, and Erlang's formulas as a first guess of the wait.

The bound by work is certain: cards that are asked for more card-time than they have cannot hold the
queue. Erlang's formulas assume random arrivals, one card a job, first come first served and no
failures, so they rank fleets and say where a search begins; they never refuse one.

Sources: Erlang (1917); M/M/c in Gross et al., Fundamentals of Queueing Theory (4th ed.), section 2.3;
the correction for other spreads of arrivals and services, Allen and Cunneen, in Allen, Probability,
Statistics and Queueing Theory (2nd ed.), section 5.3.4.
"""

from __future__ import annotations

import math

__all__ = ["erlang_wait", "erlang_wait_quantile", "least_cards_by_wait", "least_cards_by_work"]


def least_cards_by_work(card_time: float, horizon: float, share: float = 1.0) -> int:
    """Fewest cards that have this much card-time in the horizon (same unit of time).

    `share` of the time of a leased card is usable (windows, failures); above 0, at most 1.
    Raises ValueError for other shares, a horizon that is not above 0 or negative card-time.
    """
    if not 0 < share <= 1 or horizon <= 0 or card_time < 0:
        msg = "card-time is 0 or more, the horizon above 0, the usable share above 0 and at most 1"
        raise ValueError(msg)
    return max(1, math.ceil(card_time / (horizon * share) - 1e-9))


def erlang_wait(offered: float, cards: int, service: float, spread: float = 1.0) -> tuple[float, float]:
    """Probability of waiting, and mean wait in the unit of `service`, of `cards` alike cards.

    `offered` is the mean number of busy cards (arrival rate x mean service), `service` the mean service
    time; `spread` is half the sum of the squared coefficients of variation of the times between
    arrivals and of services (1 for M/M/c, 0.5 for M/D/c). At or above one job a card: (1, infinite).
    """
    if cards < 1 or offered < 0 or service < 0 or spread < 0:
        msg = "cards are 1 or more; load, service time and spread are not negative"
        raise ValueError(msg)
    if offered >= cards:
        return 1.0, math.inf
    blocked = 1.0
    for number in range(1, cards + 1):
        blocked = offered * blocked / (number + offered * blocked)
    load = offered / cards
    waiting = blocked / (1 - load * (1 - blocked))
    return waiting, waiting * service / (cards - offered) * spread


def erlang_wait_quantile(
    offered: float, cards: int, service: float, share: float = 0.95, spread: float = 1.0
) -> float:
    """Quantile of the wait at this share of jobs, in the unit of `service`; infinite without spare cards.

    Exact for M/M/c, where the wait of those that wait is exponential; with another `spread` its mean is
    stretched, its form kept.
    """
    waiting, mean = erlang_wait(offered, cards, service, spread)
    if math.isinf(mean):
        return mean
    if waiting <= 1 - share:
        return 0.0
    return mean / waiting * math.log(waiting / (1 - share))


def least_cards_by_wait(
    offered: float,
    service: float,
    limit: float,
    share: float = 0.95,
    spread: float = 1.0,
    most: int = 100_000,
) -> int | None:
    """Fewest cards at which the quantile of the wait is at most the limit; None if `most` do not do."""
    low, high = max(1, math.floor(offered) + 1), most
    if high < low or erlang_wait_quantile(offered, high, service, share, spread) > limit:
        return None
    while low < high:
        middle = (low + high) // 2
        if erlang_wait_quantile(offered, middle, service, share, spread) <= limit:
            high = middle
        else:
            low = middle + 1
    return low
