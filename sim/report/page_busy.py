"""How busy each card is, and how many jobs run at once, counted from the tables of a stored run."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

__all__ = ["busy_shares", "jobs_at_once"]


def busy_shares(leases: pd.DataFrame, attempts: pd.DataFrame, horizon_h: float) -> dict[str, list[float]]:
    """Of every card: time with a job over the time in which jobs could use it, by lease.

    Cards that jobs could never use are left out. `leases` and `attempts` are the tables of one strategy.
    """
    busy = _busy_hours(attempts, horizon_h)
    usable: dict[tuple[str, bool, int], float] = {}
    label: dict[tuple[str, bool, int], str] = {}
    for row in leases.to_dict("records"):
        end = row["end_h"]
        length = (horizon_h if end is None or end != end else min(end, horizon_h)) - row["start_h"]
        if length <= 0:
            continue
        cards, burst = int(row["gpus"]), row["lease"] == "burst"
        reserved = round(row["reserved_card_h"] / length)
        open_cards = cards - reserved
        for place in range(open_cards):
            card = (row["offer"], burst, int(row["machine"]) * cards + place)
            usable[card] = usable.get(card, 0.0) + length - row["away_card_h"] / open_cards
            label[card] = f"{'the burst' if burst else row['lease']} ({row['offer']})"
    found: dict[str, list[float]] = {}
    for card, time in usable.items():
        if time > 0:
            found.setdefault(label[card], []).append(busy.get(card, 0.0) / time)
    return found


def _busy_hours(attempts: pd.DataFrame, horizon_h: float) -> dict[tuple[str, bool, int], float]:
    """Hours in which each card has at least one job."""
    until: dict[tuple[str, bool, int], float] = {}
    total: dict[tuple[str, bool, int], float] = {}
    for offer, burst, cards, start, end in _stays(attempts):
        for card in cards:
            key = (offer, burst, card)
            begin, stop = max(start, until.get(key, 0.0)), min(end, horizon_h)
            if stop > begin:
                total[key] = total.get(key, 0.0) + stop - begin
                until[key] = stop
    return total


def _stays(attempts: pd.DataFrame) -> Iterator[tuple[str, bool, list[int], float, float]]:
    """Offer, whether by the hour, cards, start and end (hours) of every stay, by start."""
    rows = attempts.sort_values(["start_h", "end_h"], kind="stable")
    for offer, burst, cards, start, end in zip(
        rows["offer"], rows["burst"], rows["cards"], rows["start_h"], rows["end_h"], strict=True
    ):
        yield offer, bool(burst), [int(card) for card in cards.split()], float(start), float(end)


def jobs_at_once(attempts: pd.DataFrame) -> tuple[int, float]:
    """Most jobs on cards at the same time, and from when (hours): who leaves goes before who comes."""
    steps = [(float(end), -1) for end in attempts["end_h"]] + [(float(at), 1) for at in attempts["start_h"]]
    most, since, now = 0, 0.0, 0
    for moment, step in sorted(steps):
        now += step
        if now > most:
            most, since = now, moment
    return most, since
