"""What an import found, as data: counts that add up, spans, shares, and what somebody should look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sim.units import DAY, HOUR, SECOND
from sim.workload.imports.cells import BAD, NA, Ints
from sim.workload.imports.clock import Clock
from sim.workload.imports.columns import ints, texts
from sim.workload.imports.finish import LEFT_OUT
from sim.workload.imports.tally import Tally

__all__ = ["Report", "report_of"]

MOST_NAMES = 50
"""Teams and kinds of cards that are listed, the largest first."""
GAP = DAY
"""A stretch without a submission is told from this length on."""
MOST_GAPS = 5
_ROWS = 250_000
"""Rows summed at a time."""


@dataclass(frozen=True, slots=True)
class Report:
    """The report of one import."""

    format: str
    title: str
    encoding: str
    tally: Tally
    jobs: int
    replayable: int
    left_out: Mapping[str, int]
    """Jobs that cannot be replayed, by reason."""
    span: Mapping[str, Any]
    widths: Mapping[int, int]
    """Cards -> jobs."""
    cards: Mapping[str, int]
    teams: Mapping[str, int]
    states: Mapping[str, int]
    censored: Mapping[str, int]
    gaps: tuple[Mapping[str, Any], ...]
    card_hours: float
    """Cards times run time of all jobs, earlier attempts included."""
    lost_card_hours: float
    """Of these, of earlier attempts."""
    part_cards: int
    """Jobs that ask for a part of a card."""

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data for JSON."""
        tally = self.tally
        return {
            "format": self.format,
            "encoding": self.encoding or None,
            "rows_read": tally.rows,
            "jobs": self.jobs,
            "replayable": self.replayable,
            "set_aside": [{"line": a.line, "kind": a.kind, "reason": a.reason} for a in tally.listed()],
            "set_aside_count": tally.set_aside,
            "set_aside_by_kind": dict(tally.kinds),
            "merged": _some(tally.merged),
            "added": _some(tally.added),
            "filtered": _some(tally.filtered),
            "left_out_of_replays": dict(self.left_out),
            "span": dict(self.span),
            "jobs_by_cards": {str(width): count for width, count in self.widths.items()},
            "jobs_by_kind_of_card": dict(self.cards),
            "jobs_by_team": dict(self.teams),
            "jobs_by_state": dict(self.states),
            "censored": dict(self.censored),
            "gaps": [dict(gap) for gap in self.gaps],
            "card_hours": round(self.card_hours, 6),
            "lost_card_hours": round(self.lost_card_hours, 6),
            "jobs_on_a_part_of_a_card": self.part_cards,
            "suspicious": {
                kind: {"count": odd.count, "lines": odd.lines} for kind, odd in tally.oddities.items()
            },
            "remarks": list(tally.remarks),
        }


def _some(counts: Mapping[str, int]) -> dict[str, int]:
    return {kind: count for kind, count in counts.items() if count}


def report_of(
    jobs: pa.Table, codes: Ints, name: str, title: str, encoding: str, tally: Tally, clock: Clock
) -> Report:
    """The report of these jobs; `codes` say which of them can be replayed."""
    ran_hours, lost_hours = _card_hours(jobs, "runtime"), _card_hours(jobs, "lost")
    gpus = ints(jobs, "gpus")
    numbers, counts = np.unique(gpus[gpus != NA], return_counts=True)
    share = jobs.column("card_share").to_numpy() if "card_share" in jobs.column_names else np.array([])
    return Report(
        format=name,
        title=title,
        encoding=encoding,
        tally=tally,
        jobs=len(jobs),
        replayable=int((codes == 0).sum()),
        left_out={
            LEFT_OUT[code]: int((codes == code).sum())
            for code in range(1, len(LEFT_OUT))
            if (codes == code).any()
        },
        span=_span(jobs, tally, clock),
        widths=dict(zip(numbers.tolist(), counts.tolist(), strict=True)),
        cards=_counted(jobs, "card"),
        teams=_counted(jobs, "team"),
        states=_counted(jobs, "state"),
        censored=_counted(jobs, "censored"),
        gaps=_gaps(ints(jobs, "submit"), tally, clock),
        card_hours=ran_hours + lost_hours,
        lost_card_hours=lost_hours,
        part_cards=int((share < 1).sum()),
    )


def _card_hours(jobs: pa.Table, name: str) -> float:
    """Cards times a time of each job, in all."""
    total = 0.0
    for first in range(0, len(jobs), _ROWS):
        part = jobs.slice(first, _ROWS)
        time, gpus = ints(part, name), ints(part, "gpus")
        total += float((np.maximum(gpus, 0).astype(float) * np.where(time > BAD, time, 0)).sum())
    return total / HOUR


def _counted(jobs: pa.Table, name: str) -> dict[str, int]:
    """Text -> jobs, the most frequent first; the rest of a long list in one."""
    codes, names = texts(jobs, name)
    counts = np.bincount(codes[codes >= 0], minlength=len(names)).tolist()
    ordered = sorted(
        ((c, n) for n, c in zip(names, counts, strict=True) if c), key=lambda item: (-item[0], item[1])
    )
    found = {name: count for count, name in ordered[:MOST_NAMES]}
    if len(ordered) > MOST_NAMES:
        rest = ordered[MOST_NAMES:]
        found[f"{len(rest)} others"] = sum(count for count, _ in rest)
    return found


def _span(jobs: pa.Table, tally: Tally, clock: Clock) -> dict[str, Any]:
    submit, end = ints(jobs, "submit"), ints(jobs, "end")
    submit, end = submit[submit > BAD], end[end > BAD]
    if not len(submit):
        return {"first_submit": None, "last_submit": None, "last_end": None, "days": None}
    first, last = int(submit.min()), int(submit.max())
    return {
        "first_submit": _moment(first, tally, clock),
        "last_submit": _moment(last, tally, clock),
        "last_end": _moment(int(end.max()), tally, clock) if len(end) else None,
        "days": round((last - first) / DAY, 6),
    }


def _moment(micros: int, tally: Tally, clock: Clock) -> str | float:
    """Local time, or seconds since the unknown start."""
    if not tally.calendar:
        return micros / SECOND
    return clock.local(micros).isoformat(sep=" ", timespec="seconds")


def _gaps(submit: Ints, tally: Tally, clock: Clock) -> tuple[dict[str, Any], ...]:
    """The longest stretches without a submission."""
    ordered = np.sort(submit[submit > BAD])
    lengths = np.diff(ordered)
    places = np.flatnonzero(lengths >= GAP)
    longest = sorted(places.tolist(), key=lambda place: (-lengths[place], place))[:MOST_GAPS]
    return tuple(
        {
            "from": _moment(int(ordered[place]), tally, clock),
            "until": _moment(int(ordered[place + 1]), tally, clock),
            "hours": round(float(lengths[place]) / HOUR, 6),
        }
        for place in sorted(longest)
    )
