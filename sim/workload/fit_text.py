"""A learned workload as a scenario file that people read and change."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sim.units import DAY, SECOND
from sim.workload.fit import ClassFit, WorkloadFit, plain
from sim.workload.fit_retries import FEWEST
from sim.workload.record import Record
from sim.workload.wording import counted

__all__ = ["remarks", "scenario_text"]

_WIDTH = 110
_SHARE = 0.65
"""Mean load of the fleet that the file starts with."""
_OFFER, _CARDS_A_MACHINE = "a100-40g-8x", 8
_MOST_MACHINES, _MOST_DAYS = 10_000, 7300
_LEAST_GROWTH, _MOST_GROWTH = -0.9, 9.0
"""Bounds of what a scenario may ask for; a workload beyond them is written and told by `fit` as it is."""
_SURE = 2.0
"""A trend is told as one when it is so many standard errors from none."""


def scenario_text(found: WorkloadFit, source: str, *, trend: bool = False) -> str:
    """A scenario with the classes, on the days of the record; `source` is the name of the record's file.

    With `trend` the growth of the record goes on.
    """
    record = found.record
    workload: dict[str, Any] = {"timed": [_class(one) for one in found.classes]}
    growth = _growth(found)
    if trend and growth is not None:
        workload["growth"] = f"{plain(100 * min(max(growth, _LEAST_GROWTH), _MOST_GROWTH))}%/month"
    cards = max(math.ceil(record.load / _SHARE), int(record.gpus.max()))
    machines = min(math.ceil(cards / _CARDS_A_MACHINE), _MOST_MACHINES)
    document = {
        "name": f"Learned from {source}",
        "start": record.start.isoformat(timespec="seconds"),
        "timezone": record.zone,
        "horizon": f"{min(max(1, math.ceil(record.length_s * SECOND / DAY)), _MOST_DAYS)}d",
        "workload": workload,
        "reliability": {"profile": "none"},
        "strategies": [
            {
                "name": f"{machines * _CARDS_A_MACHINE} cards",
                "leases": [{"offer": _OFFER, "count": machines, "plan": "monthly"}],
            }
        ],
    }
    yaml = YAML()
    yaml.width = _WIDTH
    out = io.StringIO()
    yaml.dump(_flowing(document), out)
    head = "\n".join(f"# {line}".rstrip() for line in _head(found, source))
    body = "\n".join(line.rstrip() for line in out.getvalue().splitlines())
    return f"# yaml-language-server: $schema=scenario.schema.json\n#\n{head}\n{body}\n"


def _class(one: ClassFit) -> dict[str, Any]:
    """What differs from the defaults."""
    return one.timed.model_dump(mode="json", exclude_defaults=True, exclude_none=True)


def _flowing(value: Any, depth: int = 0) -> Any:
    """Lists of numbers and small mappings on one line, the rest one key a line."""
    if isinstance(value, dict):
        made = CommentedMap({key: _flowing(below, depth + 1) for key, below in value.items()})
        if _is_small(value):
            made.fa.set_flow_style()
        return made
    if isinstance(value, list):
        items = CommentedSeq([_flowing(below, depth + 1) for below in value])
        if all(isinstance(below, int | float | str) for below in value):
            items.fa.set_flow_style()
        return items
    if isinstance(value, float) and value == int(value) and abs(value) < 1e15:
        return int(value)
    return value


def _is_small(value: dict[str, Any]) -> bool:
    return all(isinstance(below, int | float | str) for below in value.values())


def _head(found: WorkloadFit, source: str) -> list[str]:
    record = found.record
    days = record.length_s / 86_400
    lines = [
        f"Learned from {source}: {counted(len(record))} in {days:.1f} days from",
        f"{record.start:%Y-%m-%d %H:%M} ({record.zone}); were there always a free card,",
        f"{record.load:.1f} cards would be busy on average.",
        "",
        "A class is a team, or the sweeps of a team. Batches start at random, at the hours and weekdays",
        "of `profile`; `busy` says how much weeks, days and hours differ beyond that; `gap_s` is the time",
        "from one job of a batch to the next, `alike` how much they resemble each other. `kinds` are numbers",
        "of cards with their run times in seconds. All may be changed; docs/workloads-fit.md says what each",
        "number does.",
    ]
    return [*lines, "", *(part for line in remarks(found) for part in wrap(line, _WIDTH - 2))]


def remarks(found: WorkloadFit) -> Sequence[str]:
    """What the reader of a learned workload should know."""
    record = found.record
    lines = []
    if record.left_out:
        lines.append(f"{counted(record.left_out, 'row')} without a run left out.")
    cut = int((~record.columns.complete).sum())
    if cut:
        lines.append(f"{counted(cut, 'run')} cut by the end of the record, counted as longer than seen.")
    late = [one.timed.name for one in found.classes if one.timed.since is not None]
    if late:
        lines.append(f"These classes came in later than the record begins (since): {', '.join(late)}.")
    gone = [one.timed.name for one in found.classes if _gone(record, one)]
    if gone:
        lines.append(f"These classes have no job in the last tenth of the record: {', '.join(gone)}.")
    lines.append(_retries(found))
    growth = _growth(found)
    if growth is not None:
        lines.append(
            f"The record {_trend(found)}; growth goes on only if you say so (workload.growth, --trend)."
        )
    return lines


def _retries(found: WorkloadFit) -> str:
    """What is known of failed jobs that were submitted again."""
    seen = {one.timed.team: one.retries for one in found.classes if one.retries is not None}
    if not (found.record.columns.name != "").any():
        return (
            "Retries are not learned: the jobs have no names that come again (a name, or an id), so that "
            "nothing says which one repeats a failed one; they are in the record as jobs like any other."
        )
    failed = sum(one.failed for one in seen.values())
    if not failed:
        return f"Retries are not learned: fewer than {FEWEST} jobs of each team failed that have a name."
    share = sum(one.failed * one.followed for one in seen.values()) / failed
    done = sum(one.failed * one.followed_done for one in seen.values()) / failed
    text = (
        f"Of {counted(failed, 'failed job')} {100 * share:.0f} % were followed within a day by one "
        f"of the same user, name and cards, of done ones {100 * done:.0f} %"
    )
    pauses = np.concatenate([one.pause_s for one in seen.values()])
    if not len(pauses):
        return f"{text}: that is no sign of retries, and none are learned."
    most = max(one.most for one in seen.values())
    return (
        f"{text}: taken as retries (again), after a median of {np.median(pauses) / 60:.3g} min and up to "
        f"{counted(most, 'time')} in a row; `rate` counts first submissions."
    )


def _gone(record: Record, one: ClassFit) -> bool:
    own = record.submit_s[record.columns.team == one.timed.team] if one.timed.team else record.submit_s
    return len(own) > 0 and float(own[-1]) < 0.9 * record.length_s


def _growth(found: WorkloadFit) -> float | None:
    """Growth a month of all classes, weighted by jobs; None where it is not known or not sure."""
    known = [one for one in found.classes if not math.isnan(one.arrivals.growth_month)]
    jobs = sum(one.jobs for one in known)
    if not jobs:
        return None
    growth = sum(one.jobs * one.arrivals.growth_month for one in known) / jobs
    error = math.sqrt(sum((one.jobs * one.arrivals.growth_error) ** 2 for one in known)) / jobs
    return growth if abs(growth) > _SURE * error else None


def _trend(found: WorkloadFit) -> str:
    growth = _growth(found) or 0.0
    return f"{'grows' if growth > 0 else 'shrinks'} by {100 * abs(growth):.0f} % a month"
