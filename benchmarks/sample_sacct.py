"""The accounting dump of the tutorial, drawn here: python -m benchmarks.sample_sacct [FILE]

Thirteen weeks of a small team on five A100 cards, first come, first served, as `sacct -P` would print
them. Nobody's real jobs: arrivals follow office hours, run times are log-normal, people ask for round
time limits, some runs fail, some are cancelled while they wait, one was requeued. The same seed gives the
same bytes; a test holds the shipped file to this script.
"""

from __future__ import annotations

import heapq
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

__all__ = ["dump"]

FILE = Path(__file__).parents[1] / "scenarios" / "traces" / "last-quarter.sacct"
START = datetime(2026, 1, 5)  # noqa: DTZ001  # sacct prints local times without a zone
WEEKS, CARDS, SEED = 13, 5, 20260105
HEAD = (
    "JobID|JobName|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|Timelimit|"
    "ReqTRES|AllocTRES|ExitCode"
)

HOURS = np.array([1] * 8 + [3, 9, 12, 11, 5, 7, 11, 12, 10, 9, 6, 4, 3, 2, 2, 1], dtype=float)
DAYS = np.array([1.0, 1.1, 1.1, 1.0, 0.9, 0.2, 0.15])


@dataclass(frozen=True)
class Kind:
    """A kind of job: how many a week, cards, median hours, spread, limits people choose (hours)."""

    account: str
    users: tuple[str, ...]
    names: tuple[str, ...]
    week: float
    gpus: int
    hours: float
    sigma: float
    limits: tuple[int, ...]


KINDS = (
    Kind("service", ("lin", "zhao"), ("bot-lora", "kb-lora"), 40, 1, 3.5, 0.7, (6, 12, 24)),
    Kind("research", ("wu", "sun", "he"), ("try", "sweep"), 34, 1, 0.4, 1.1, (1, 2, 4)),
    Kind("law", ("qian",), ("law-13b",), 3, 4, 9.0, 0.4, (24, 48)),
)


def dump(seed: int = SEED) -> str:
    """The text of the dump."""
    random = np.random.default_rng(seed)
    jobs = sorted(_jobs(random), key=lambda job: job[0])
    lines, free = [HEAD], [0.0] * CARDS
    for number, (submit, kind, user, name, run, limit, fate) in enumerate(jobs, start=4001):
        ready = heapq.nsmallest(kind.gpus, free)
        begin = max(submit, ready[-1])
        if fate == "CANCELLED" and begin > submit + 60:
            lines.append(
                _line(number, name, user, kind, "CANCELLED by 1007", submit, None, submit + 60, limit)
            )
            continue
        took = min(run, limit * 3600.0)
        state = "TIMEOUT" if run > limit * 3600 else {"CANCELLED": "COMPLETED"}.get(fate, fate)
        for _ in range(kind.gpus):
            heapq.heapreplace(free, begin + took)
        lines.append(_line(number, name, user, kind, state, submit, begin, begin + took, limit))
        if number % 50 == 0:  # a step of the job, as sacct prints them without -X
            lines.append(_line(f"{number}.batch", "batch", "", kind, state, begin, begin, begin + took, None))
    return "\n".join(lines) + "\n"


def _jobs(random: np.random.Generator) -> list[tuple[float, Kind, str, str, float, int, str]]:
    found = []
    for kind in KINDS:
        for day in range(7 * WEEKS):
            for _ in range(random.poisson(kind.week * DAYS[day % 7] / DAYS.sum())):
                hour = random.choice(24, p=HOURS / HOURS.sum())
                submit = round(86400.0 * day + 3600.0 * hour + random.uniform(0, 3600))
                run = round(3600 * kind.hours * float(np.exp(kind.sigma * random.standard_normal())))
                limit = int(random.choice(kind.limits))
                fate = str(random.choice(["COMPLETED", "FAILED", "CANCELLED"], p=[0.90, 0.07, 0.03]))
                run = max(20, round(run * float(random.uniform(0.02, 0.3))) if fate == "FAILED" else run)
                user, name = str(random.choice(kind.users)), str(random.choice(kind.names))
                found.append((float(submit), kind, user, name, float(run), limit, fate))
    return found


def _line(
    number: int | str, name: str, user: str, kind: Kind, state: str,
    submit: float, begin: float | None, end: float, limit: int | None,
) -> str:  # fmt: skip
    def at(seconds: float | None) -> str:
        return "Unknown" if seconds is None else (START + timedelta(seconds=round(seconds))).isoformat()

    elapsed = 0 if begin is None else round(end) - round(begin)
    asked = f"cpu=8,gres/gpu:a100={kind.gpus},gres/gpu={kind.gpus},mem=64G,node=1"
    limited = "" if limit is None else f"{limit:02d}:00:00" if limit < 24 else f"{limit // 24}-00:00:00"
    step = isinstance(number, str)
    code = "1:0" if state == "FAILED" else "0:0"
    cells = [
        str(number), name, user, kind.account, "" if step else "a100", state, at(submit), at(begin), at(end),
        str(elapsed), limited, "" if step else asked, asked if begin is not None else "", code,
    ]  # fmt: skip
    return "|".join(cells)


if __name__ == "__main__":
    (Path(sys.argv[1]) if len(sys.argv) > 1 else FILE).write_text(dump(), encoding="utf-8", newline="\n")
