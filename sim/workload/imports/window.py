"""Which jobs of a dump are taken: a window of time, teams, a share of the demand, arrivals shuffled."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa

from sim.errors import InputError, Problem
from sim.streams import Streams
from sim.units import DAY, WEEK
from sim.workload.imports.cells import BAD, NA, Bools, Ints
from sim.workload.imports.columns import changed, ints, texts
from sim.workload.imports.settings import Settings, zone_of
from sim.workload.imports.tally import Tally

__all__ = ["instant", "selected"]

_ZERO = datetime(1970, 1, 1, tzinfo=UTC)
_EVER = 2**62


def instant(moment: datetime, settings: Settings) -> int:
    """A local time of the user as microseconds on the table's line of time."""
    zone = zone_of(settings.timezone) or UTC
    return (moment.replace(tzinfo=zone) - _ZERO) // timedelta(microseconds=1)


def selected(jobs: pa.Table, settings: Settings, tally: Tally) -> pa.Table:
    """The jobs that the options ask for; those left are counted in `tally.filtered` by kind."""
    jobs = _in_window(jobs, settings, tally)
    if settings.teams:
        codes, names = texts(jobs, "team")
        unknown = [team for team in settings.teams if team not in names]
        if unknown:
            rule = "the dump has no job of this team"
            raise InputError(Problem(rule, key="--team", value=unknown[0], known=tuple(sorted(names)[:60])))
        wanted = [place for place, name in enumerate(names) if name in settings.teams]
        jobs = _kept(jobs, np.isin(codes, wanted), "jobs of other teams", tally)
    streams = Streams(settings.seed)
    if settings.thin is not None:
        drawn = streams.generator("import", "thin").random(len(jobs)) < settings.thin
        jobs = _kept(jobs, drawn, f"jobs thinned out (seed {settings.seed})", tally)
    if settings.thicken is not None:
        jobs = _thickened(jobs, settings.thicken, streams, tally)
    if settings.shuffle:
        jobs = _shuffled(jobs, streams, tally)
    return jobs


def _kept(jobs: pa.Table, wanted: Bools, kind: str, tally: Tally) -> pa.Table:
    tally.filtered[kind] += int((~wanted).sum())
    return jobs.filter(pa.array(wanted))


def _in_window(jobs: pa.Table, settings: Settings, tally: Tally) -> pa.Table:
    """Hours outside of the window are cut off, and a job that lost some is marked: its run time is no longer
    that of the whole job. A job without a recorded start is taken by its submission, whole."""
    if settings.since is None and settings.until is None:
        return jobs
    if not tally.calendar:
        rule = "the file's times have no date, so that no window of dates can be cut out"
        raise InputError(Problem(rule, key="--from" if settings.since else "--until"))
    since = -_EVER if settings.since is None else instant(settings.since, settings)
    until = _EVER if settings.until is None else instant(settings.until, settings)
    if since >= until:
        raise InputError(
            Problem("the window ends before it begins", key="--until", value=str(settings.until))
        )
    submit, start, end, runtime = (ints(jobs, name) for name in ("submit", "start", "end", "runtime"))
    ran = (start > BAD) & (end > BAD) & (runtime > BAD)
    inside = np.clip(np.minimum(end, until) - np.maximum(start, since), 0, None)
    asked = (submit >= since) & (submit < until) & (submit > BAD)
    late = ran & (start >= until) & asked
    empty = ran & (end <= start) & (start >= since) & (start < until)
    wanted = np.where(ran, (inside > 0) | late | empty, asked)
    cut = ran & wanted & ((start < since) | (end > until)) & ~empty
    length = np.maximum(end - start, 1)
    share = np.where(cut & ~late, inside / length, 1.0)
    runtime = np.where(cut, np.rint(np.where(runtime > BAD, runtime, 0) * share).astype(np.int64), runtime)
    runtime = np.where(late, NA, runtime)
    old = jobs.column("censored").to_pylist()
    columns = {
        "submit": np.where((submit > BAD) & (submit < since), since, submit),
        "start": np.where(late, NA, np.where(ran, np.maximum(start, since), start)),
        "end": np.where(late, NA, np.where(ran, np.minimum(end, until), end)),
        "runtime": runtime,
        "censored": ["window" if is_cut else word for is_cut, word in zip(cut.tolist(), old, strict=True)],
    }
    unknown = int((wanted & ~ran & (runtime > BAD)).sum())
    if unknown:
        tally.remark(
            f"{unknown:,} jobs have no recorded start: taken by submission, with their whole run time."
        )
    if cut.any():
        tally.remark(
            f"{int(cut.sum()):,} jobs reach over the window's edges: cut there and marked (censored)."
        )
    return _kept(changed(jobs, columns), wanted, "jobs outside of the window", tally)


def _thickened(jobs: pa.Table, times: float, streams: Streams, tally: Tally) -> pa.Table:
    """Copies at the same time of another day of the record; of another week where it has two weeks or more.

    Where it has no other such time (a record of a day), a copy comes with its job.
    """
    generator = streams.generator("import", "thicken")
    copies = np.full(len(jobs), int(times) - 1, dtype=np.int64)
    copies += generator.random(len(jobs)) < times - int(times)
    source = np.repeat(np.arange(len(jobs)), copies)
    submit = ints(jobs, "submit")[source]
    known = ints(jobs, "submit")
    known = known[known > BAD]
    if len(known) and len(source):
        first, span = int(known.min()), int(known.max() - known.min())
        step = WEEK if span >= 2 * WEEK else DAY
        at, within = np.divmod(np.where(submit > BAD, submit - first, 0), step)
        others = (span - within) // step
        other = generator.integers(0, np.maximum(others, 1))
        other = np.where(others > 0, other + (other >= at), at)
        submit = np.where(submit > BAD, first + other * step + within, submit)
    added = jobs.take(pa.array(source, type=pa.int64()))
    number = np.arange(len(source)) - np.repeat(np.cumsum(copies) - copies, copies) + 1
    names = [f"{name}+{n}" for name, n in zip(added.column("id").to_pylist(), number.tolist(), strict=True)]
    nothing = np.full(len(source), NA, dtype=np.int64)
    bare = {"id": names, "submit": submit, "start": nothing, "end": nothing, "wait": nothing}
    tally.added[f"copies of jobs, for {100 * times:g} % demand (seed {streams.seed})"] += len(source)
    both = pa.concat_tables([jobs, changed(added, bare)], promote_options="default")
    return both.unify_dictionaries().combine_chunks()


def _shuffled(jobs: pa.Table, streams: Streams, tally: Tally) -> pa.Table:
    """The same moments of submission in another order of jobs; recorded starts and waits no longer hold."""
    submit = ints(jobs, "submit")
    places = np.flatnonzero(submit > BAD)
    submit[places] = submit[streams.generator("import", "shuffle").permutation(places)]
    nothing: Ints = np.full(len(jobs), NA, dtype=np.int64)
    tally.remark(
        f"Moments of submission were shuffled among the jobs (seed {streams.seed}); recorded waits are gone."
    )
    return changed(jobs, {"submit": submit, "start": nothing, "end": nothing, "wait": nothing})
