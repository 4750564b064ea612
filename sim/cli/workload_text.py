"""The report of an import, for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim.cli.console import bullets, heading, print_table, say
from sim.experiments.wording import DASH
from sim.workload.wording import counted

if TYPE_CHECKING:
    from sim.workload.imports import Report

__all__ = ["print_report"]

_SHOWN = 12
_LINES = 20


def print_report(report: Report, file: Path, out: Path | None, about: Mapping[str, Any]) -> None:
    """Print what was read, what became of it, and what to look at."""
    tally = report.tally
    encoding = f", {report.encoding}" if report.encoding else ""
    say(f"{file}: {report.title} ({report.format}{encoding}).")
    heading("Rows and jobs")
    print_table(("", "Count"), _accounts(report))
    if report.left_out:
        heading("Jobs that a replay leaves out")
        print_table(("Reason", "Jobs"), [(reason, f"{count:,}") for reason, count in report.left_out.items()])
    if tally.asides:
        heading("Rows set aside")
        shown = tally.listed()[:_LINES]
        print_table(
            ("Line", "Kind", "Reason"), [(f"{a.line:,}", a.kind, a.reason) for a in shown], text=(1, 2)
        )
        if tally.set_aside > len(shown):
            kinds = ", ".join(f"{count:,} {kind}" for kind, count in tally.kinds.items())
            say(f"In all {tally.set_aside:,}: {kinds}.")
    _contents(report)
    if tally.oddities:
        heading("Suspicious values")
        rows = [
            (kind, f"{odd.count:,}", ", ".join(f"{line:,}" for line in odd.lines))
            for kind, odd in tally.oddities.items()
        ]
        print_table(("What", "Rows", "Lines, such as"), rows, text=(0, 2))
    bullets("Inferred and assumed", tally.remarks)
    _ending(report, out, about)


def _accounts(report: Report) -> Iterable[tuple[str, str]]:
    """The rows, and what became of them; the last line is the sum of those above it."""
    tally = report.tally
    yield "rows read", f"{tally.rows:,}"
    yield "set aside", f"-{tally.set_aside:,}" if tally.set_aside else "0"
    for kinds, sign in ((tally.merged, "-"), (tally.added, "+"), (tally.filtered, "-")):
        for kind, count in kinds.items():
            if count:
                yield kind, f"{sign}{count:,}"
    yield "jobs", f"{report.jobs:,}"
    yield "of these, fit for a replay", f"{report.replayable:,}"


def _contents(report: Report) -> None:
    heading("What is in it")
    span = report.span
    rows = [
        ("first submission", _moment(span["first_submit"])),
        ("last submission", _moment(span["last_submit"])),
        ("last end", _moment(span["last_end"])),
        (
            "days between the first and last submission",
            DASH if span["days"] is None else f"{span['days']:,.1f}",
        ),
        ("card-hours used", f"{report.card_hours:,.1f}"),
    ]
    if report.lost_card_hours:
        rows.append(("of these, by earlier attempts of requeued jobs", f"{report.lost_card_hours:,.1f}"))
    if report.part_cards:
        rows.append(("jobs on a part of a card (a replay gives each a whole one)", f"{report.part_cards:,}"))
    rows += [(f"no submission from {g['from']} to {g['until']}", f"{g['hours']:,.1f} h") for g in report.gaps]
    print_table(("", ""), rows)
    widths = {counted(width, "card"): count for width, count in report.widths.items()}
    parts = (
        ("Cards of a job", widths),
        ("Kind of card", report.cards),
        ("State", report.states),
        ("Team", report.teams),
        ("Run time not complete", report.censored),
    )
    for title, counts in parts:
        if counts:
            print_table((title, "Jobs"), _first(counts))


def _first(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """The most frequent, and the others in one row."""
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    rows = [(name or DASH, f"{count:,}") for name, count in ordered[:_SHOWN]]
    rest = ordered[_SHOWN:]
    if rest:
        rows.append((f"{len(rest)} others", f"{sum(count for _, count in rest):,}"))
    return rows


def _moment(value: object) -> str:
    if value is None:
        return DASH
    return f"{value:,.0f} s" if isinstance(value, float) else str(value)


def _ending(report: Report, out: Path | None, about: Mapping[str, Any]) -> None:
    say()
    if out is None:
        say("Nothing was written; -o JOBS.parquet writes the jobs.")
        return
    say(f"{out} holds the jobs.")
    if report.replayable:
        start = f"start: {about['origin']}, " if about["origin"] else ""
        zone = f"timezone: {about['timezone']}, " if about["timezone"] else ""
        say(f"A scenario replays them by: {start}{zone}workload: {{trace: {{file: {out.name}}}}}")
