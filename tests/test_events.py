"""The trace of events: what it says, that it tiles time, and that every metric follows from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import get_args

import pandas as pd
import pyarrow.parquet as pq
import pytest
from matplotlib.figure import Figure

from sim import load, prepare, replicate
from sim.errors import RunError
from sim.experiments.event_rows import STATES
from sim.experiments.events import SCHEMA, Events, write_events
from sim.model.fleet import CheckpointSpec, ForcedFailure, LeaseSpan
from sim.model.job import UserEnd
from sim.model.records import JobState
from sim.report.plots_gantt import GANTT_COLUMNS, gantt
from sim.report.plots_style import png
from sim.units import HOUR, MINUTE
from tests.build import OFFER, failures, job_set, option, plan, pool, rates
from tests.conftest import Outcome
from tests.event_checks import agrees, made, tiles
from tests.event_metrics import LASTING, Row, rows_of

SCENARIOS = Path(__file__).parents[1] / "scenarios"
DOCS = Path(__file__).parents[1] / "docs" / "events.md"

Command = Callable[..., Outcome]


class TestByHand:
    """One card, a pencil: the trace in full."""

    def test_two_jobs_on_one_card(self) -> None:
        table = rates(option(1, startup_us=6 * MINUTE))
        _, rows = made(plan(pool(1), hours=3), job_set([(0, 1), (0.5, 5)]), table)
        assert told(rows) == [
            (0, "leased", None, 0), (0, "submitted", 0, None), (0, "queued", 0, None),
            (0, "started", 0, None), (0, "busy", 0, 0),
            (6, "running", 0, None),
            (30, "submitted", 1, None), (30, "queued", 1, None),
            (66, "done", 0, None), (66, "started", 1, None), (66, "busy", 1, 0),
            (72, "running", 1, None),
            (180, "unfinished", 1, None), (180, "kept", None, 0),
        ]  # fmt: skip
        done = next(row for row in rows if row.state == "done")
        assert (done.startup_us, done.work_us, done.lost_us) == (6 * MINUTE, HOUR, 0)
        assert (rows[-2].cause, rows[-2].work_us, rows[-2].startup_us) == (
            "running",
            108 * MINUTE,
            6 * MINUTE,
        )

    def test_a_failure_that_is_noticed_late(self) -> None:
        quarter = (15 * MINUTE, 15 * MINUTE)
        # At 1 h the machine fails; at 1.25 h somebody sees it; at 1.5 h another stands there.
        fleet = plan(
            pool(1, per_machine=2, model=failures(detect_us=quarter, migration_us=quarter)),
            hours=4,
            forced=(ForcedFailure(HOUR, "node", OFFER, 0),),
        )  # fmt: skip
        result, rows = made(fleet, job_set([(0, 2)]), rates())
        assert told(rows) == [
            (0, "leased", None, 0), (0, "leased", None, 1), (0, "free", None, 1),
            (0, "submitted", 0, None), (0, "queued", 0, None), (0, "started", 0, None),
            (0, "running", 0, None), (0, "busy", 0, 0),
            (60, "broken", None, None), (60, "stalled", 0, None), (60, "down", None, 1),
            (75, "interrupted", 0, None), (75, "down", None, 0), (75, "queued", 0, None),
            (90, "free", None, 1), (90, "started", 0, None), (90, "running", 0, None), (90, "busy", 0, 0),
            (210, "done", 0, None), (210, "free", None, 0),
            (240, "kept", None, 0), (240, "kept", None, 1),
        ]  # fmt: skip
        torn = next(row for row in rows if row.state == "interrupted")
        assert (torn.cause, torn.work_us, torn.lost_us, torn.gpus) == ("node", 0, 75 * MINUTE, 1)
        assert {row.cause for row in rows if row.state in {"broken", "stalled", "down"}} == {"node"}
        agrees(result, rows)

    def test_a_machine_that_moves_takes_its_broken_card_along(self) -> None:
        # The reset of card 1 would last until 3 h; the machine fails at 1 h and is back at 2 h.
        forced = (
            ForcedFailure(HOUR // 2, "gpu_reset", OFFER, 0, 1, 5 * HOUR // 2),
            ForcedFailure(HOUR, "node", OFFER, 0, 0, HOUR),
        )
        result, rows = made(plan(pool(1, per_machine=2), hours=4, forced=forced), job_set([]), rates())
        assert told(rows) == [
            (0, "leased", None, 0), (0, "leased", None, 1), (0, "free", None, 0), (0, "free", None, 1),
            (30, "broken", None, 1), (30, "down", None, 1),
            (60, "broken", None, None), (60, "down", None, 0),
            (120, "free", None, 0), (120, "free", None, 1),
            (240, "kept", None, 0), (240, "kept", None, 1),
        ]  # fmt: skip
        agrees(result, rows)

    def test_the_end_of_a_lease(self) -> None:
        # The lease ends at 1 h with the job on it: it moves to the other card in the same instant.
        leases = [LeaseSpan(0, 1, 0, HOUR), LeaseSpan(1, 1, HOUR, 2 * HOUR)]
        fleet = plan(pool(0, leases=leases), hours=4, checkpoint=CheckpointSpec(None))
        result, rows = made(fleet, job_set([(0, 3)]), rates())
        assert told(rows) == [
            (0, "leased", None, 0), (0, "submitted", 0, None), (0, "queued", 0, None),
            (0, "started", 0, None), (0, "running", 0, None), (0, "busy", 0, 0),
            (60, "interrupted", 0, None), (60, "returned", None, 0), (60, "leased", None, 1),
            (60, "queued", 0, None), (60, "started", 0, None), (60, "running", 0, None), (60, "busy", 0, 1),
            (120, "interrupted", 0, None), (120, "returned", None, 1), (120, "refused", 0, None),
        ]  # fmt: skip
        assert [row.cause for row in rows if row.state == "interrupted"] == ["lease_end", "lease_end"]
        assert rows[-1].cause == "the last lease that could hold it has ended"
        agrees(result, rows)

    def test_windows_and_a_reserved_card(self) -> None:
        # Open from 1 h to 3 h; the machine fails at 2.5 h for two hours, of which half an hour counts.
        span = LeaseSpan(0, 1, 0, None, windows=((HOUR, 3 * HOUR),), reserve=1)
        forced = (ForcedFailure(5 * HOUR // 2, "node", OFFER, 0, 0, 2 * HOUR),)
        fleet = plan(pool(0, per_machine=2, leases=[span]), hours=5, forced=forced)
        result, rows = made(fleet, job_set([(0, 1)]), rates())
        assert told(row for row in rows if row.kind == "card") == [
            (0, "leased", None, 0), (0, "leased", None, 1), (0, "away", None, 0), (0, "reserved", None, 1),
            (60, "busy", 0, 0), (120, "free", None, 0),
            (150, "broken", None, None), (150, "down", None, 0),
            (180, "away", None, 0), (300, "kept", None, 0), (300, "kept", None, 1),
        ]  # fmt: skip
        assert next(row.back_us for row in rows if row.state == "broken") == 9 * HOUR // 2
        agrees(result, rows)

    def test_a_job_that_fails_by_itself_and_comes_again(self) -> None:
        # It fails halfway, at 1 h; half an hour later it is submitted again, and then runs to its end.
        ends = (UserEnd("failed", 0.5, retry_after_us=HOUR // 2),)
        result, rows = made(plan(pool(1), hours=5), job_set([(0, 2)], ends=ends), rates())
        assert told(row for row in rows if row.kind == "job") == [
            (0, "submitted", 0, None), (0, "queued", 0, None),
            (0, "started", 0, None), (0, "running", 0, None),
            (60, "retried", 0, None), (60, "paused", 0, None),
            (90, "queued", 0, None), (90, "started", 0, None), (90, "running", 0, None),
            (210, "done", 0, None),
        ]  # fmt: skip
        agrees(result, rows)

    def test_planned_work_stalls_nobody_and_a_limit_kills(self) -> None:
        # The machine is away from 1 h to 2 h, announced; each stay of the job may take 1.5 h.
        forced = (ForcedFailure(HOUR, "maintenance", OFFER, 0, 0, HOUR),)
        jobs = job_set([(0, 4)], limit_us=3 * HOUR // 2)
        result, rows = made(plan(pool(1), hours=5, forced=forced), jobs, rates())
        assert told(rows)[4:] == [
            (0, "running", 0, None), (0, "busy", 0, 0),
            (60, "broken", None, None), (60, "interrupted", 0, None), (60, "down", None, 0),
            (60, "queued", 0, None),
            (120, "started", 0, None), (120, "running", 0, None), (120, "busy", 0, 0),
            (210, "killed", 0, None), (210, "free", None, 0), (300, "kept", None, 0),
        ]  # fmt: skip
        torn, killed = (
            next(row for row in rows if row.state == state) for state in ("interrupted", "killed")
        )
        assert (torn.cause, torn.work_us, torn.lost_us) == ("maintenance", HOUR, 0)
        assert (killed.cause, killed.work_us, killed.lost_us) == ("ran into its time limit", 0, 3 * HOUR // 2)
        agrees(result, rows)

    def test_nothing_at_all(self) -> None:
        result, rows = made(plan(pool(0, leases=[]), hours=1), job_set([]), rates())
        assert rows == []
        agrees(result, rows)


def told(rows: Iterable[Row]) -> list[tuple[float, str, int | None, int | None]]:
    """Minute, state, job and card of each row."""
    return [(row.time_us / MINUTE, row.state, row.job, row.card) for row in rows]


HARD = [
    "reliability.gpu_fatal=30d",
    "reliability.node=20d",
    "reliability.gpu_reset=5d",
]
"""Failures some hundred times as often as in a data centre, so that a short run has many of each kind."""


@pytest.mark.parametrize(
    ("file", "strategy", "changes"),
    [
        ("four-to-eight.yaml", 3, ["horizon=40d", *HARD]),  # burst and failures
        ("four-to-eight.yaml", 2, ["horizon=40d", *HARD]),  # one machine of eight cards
        ("three-teams.yaml", 0, ["horizon=30d", *HARD]),  # gangs on three offers
        ("probe-then-scale.yaml", 2, ["horizon=230d", *HARD]),  # a lease ends as another begins
        ("probe-then-scale.yaml", 5, ["horizon=60d", *HARD]),  # by the hour alone
        ("replay.yaml", 0, []),  # a trace with time limits
    ],
)
def test_shipped_scenarios(file: str, strategy: int, changes: list[str]) -> None:
    question = load(SCENARIOS / file, changes)
    result = replicate(prepare(question), strategy, 0)
    rows = rows_of(Events(result, question.scenario).table())
    tiles(rows, result.log.horizon_us)
    agrees(result, rows, question.scenario.experiment.warm_up)
    if changes:
        assert result.log.failures


def test_leased_and_hourly_cards_of_one_offer_are_told_apart(tmp_path: Path) -> None:
    both = {
        "name": "both",
        "leases": [{"offer": "h100-mig", "count": 1, "plan": "hourly"}],
        "burst": {"offer": "h100-mig", "max": 2, "rent_when_wait_over": "1h"},
    }
    question = load(
        SCENARIOS / "four-to-eight.yaml",
        [
            "horizon=60d",
            f"strategies={json.dumps([both])}",
            *HARD,
        ],
    )
    result = replicate(prepare(question), 0, 0)
    rows = rows_of(Events(result, question.scenario).table())
    assert {failure.burst for failure in result.log.failures} == {False, True}
    tiles(rows, result.log.horizon_us)
    agrees(result, rows, question.scenario.experiment.warm_up)


class TestFiles:
    def events(self, changes: Sequence[str] = ("horizon=20d",)) -> Events:
        question = load(SCENARIOS / "four-to-eight.yaml", changes)
        return Events(replicate(prepare(question), 3, 0), question.scenario)

    def test_the_same_run_gives_the_same_bytes(self, tmp_path: Path) -> None:
        for suffix in (".parquet", ".csv"):
            digests = set()
            for number in range(2):
                path = tmp_path / str(number) / f"events{suffix}"
                write_events(self.events(), path)
                digests.add(hashlib.sha256(path.read_bytes()).hexdigest())
            assert len(digests) == 1
        left = [path.name for path in tmp_path.rglob("*") if path.is_file()]
        assert sorted(left) == ["events.csv"] * 2 + ["events.parquet"] * 2

    def test_parquet_and_csv_say_the_same(self, tmp_path: Path) -> None:
        events = self.events()
        for suffix in (".parquet", ".csv"):
            write_events(events, tmp_path / f"e{suffix}")
        table = pq.read_table(tmp_path / "e.parquet")
        assert table.schema.equals(SCHEMA, check_metadata=True)
        kinds = {f.name: "Int64" if str(f.type) == "int64" else None for f in SCHEMA}
        kinds = {name: kind for name, kind in kinds.items() if kind}
        empty = {name: [""] for name in [*kinds, "progress"]}
        frame = pd.read_csv(tmp_path / "e.csv", dtype=kinds, keep_default_na=False, na_values=empty)
        assert list(frame.columns) == SCHEMA.names
        for name in SCHEMA.names:
            cells = table.column(name).to_pylist()
            texts = [None if pd.isna(cell) or cell == "" else cell for cell in frame[name].tolist()]
            assert texts == [None if cell == "" else cell for cell in cells], name

    def test_pieces_make_no_difference(self, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = self.events().table()
        monkeypatch.setattr("sim.experiments.events.PIECE", 17)
        assert self.events().table().combine_chunks().equals(whole.combine_chunks())

    def test_local_time_follows_the_clocks(self) -> None:
        # Berlin, 2026: the clocks go forward on 29 March at 02:00 and back on 25 October at 03:00.
        events = self.events(["horizon=310d", "timezone=Europe/Berlin", "start=2026-01-01"])
        table = events.table(["time_us", "time"])
        question = load(SCENARIOS / "four-to-eight.yaml", ["timezone=Europe/Berlin"])
        for at_us, text in zip(*(table.column(n).to_pylist() for n in ("time_us", "time")), strict=True):
            assert question.scenario.local_time(at_us).isoformat(timespec="seconds") == text
        assert {text[-6:] for text in table.column("time").to_pylist()} == {"+01:00", "+02:00"}

    def test_a_full_disk_is_a_message(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("sim.experiments.events._write_parquet", full)
        with pytest.raises(RunError, match="No space left on device"):
            write_events(self.events(), tmp_path / "e.parquet")
        assert list(tmp_path.iterdir()) == []


class TestCommand:
    @pytest.mark.parametrize("suffix", [".parquet", ".csv", ".CSV"])
    def test_writes_the_trace_of_the_run(self, fleetsim: Command, two_jobs: Path, suffix: str) -> None:
        path = two_jobs.parent / "new" / f"events{suffix}"
        done = fleetsim("run", two_jobs, "--events", path)
        assert done.code == 0
        assert "15 rows" in " ".join(done.out.split())
        table = pq.read_table(path) if suffix == ".parquet" else None
        states = table.column("state").to_pylist() if table else pd.read_csv(path)["state"].tolist()
        assert states == [
            "leased", "submitted", "submitted", "queued", "queued", "started", "running", "busy",
            "done", "started", "running", "busy", "done", "free", "kept",
        ]  # fmt: skip

    def test_json_stays_one_document(self, fleetsim: Command, two_jobs: Path) -> None:
        path = two_jobs.parent / "events.csv"
        plain = fleetsim("run", two_jobs, "--format", "json")
        traced = fleetsim("run", two_jobs, "--format", "json", "--events", path)
        assert json.loads(traced.out) == json.loads(plain.out)
        assert path.is_file()

    @pytest.mark.parametrize(
        ("option", "name", "said"),
        [
            ("--events", "events.xlsx", ".parquet, .csv"),
            ("--events", "events", ".parquet, .csv"),
            ("--events", "two.yaml/events.csv", "Not a directory"),
            ("--events", "folder.csv", "folder"),
            ("--events", "two.csv", "the scenario reads"),
            ("--gantt", "chart.pdf", ".png"),
            ("--gantt", "folder.png", "folder"),
        ],
    )
    def test_a_bad_place_ends_with_2_before_the_run(
        self,
        fleetsim: Command,
        two_jobs: Path,
        monkeypatch: pytest.MonkeyPatch,
        option: str,
        name: str,
        said: str,
    ) -> None:
        for folder in ("folder.csv", "folder.png"):
            (two_jobs.parent / folder).mkdir()
        before = sorted(two_jobs.parent.rglob("*"))
        monkeypatch.setattr("sim.cli.run.detail", lambda *_: pytest.fail("the run was made"))
        done = fleetsim("run", two_jobs, option, two_jobs.parent / name)
        assert (done.code, done.out) == (2, "")
        assert option in done.err
        assert said in done.err
        assert sorted(two_jobs.parent.rglob("*")) == before

    def test_draws_the_run(self, fleetsim: Command, two_jobs: Path) -> None:
        path = two_jobs.parent / "chart.png"
        done = fleetsim("run", two_jobs, "--gantt", path)
        assert done.code == 0
        assert path.read_bytes().startswith(b"\x89PNG")
        again = two_jobs.parent / "again.png"
        fleetsim("run", two_jobs, "--gantt", again)
        assert again.read_bytes() == path.read_bytes()


def test_the_page_names_every_column_and_state() -> None:
    page = DOCS.read_text(encoding="utf-8")
    sections = page.split("\n## ")
    columns = next(part for part in sections if part.startswith("Columns"))
    states = next(part for part in sections if part.startswith("States"))

    def named(text: str) -> list[str]:
        return [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]

    assert named(columns) == SCHEMA.names
    assert named(states) == [state.name for state in STATES]
    for state in STATES:
        line = next(line for line in states.splitlines() if line.startswith(f"| `{state.name}`"))
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[1:] == [state.kind, "lasts" if state.lasts else "moment", state.meaning]


def test_every_end_of_a_job_is_a_state() -> None:
    known = {state.name for state in STATES}
    assert set(get_args(JobState)) - {"running", "waiting"} <= known
    assert {state.name for state in STATES if state.lasts} == LASTING


class TestGantt:
    """The chart is what the trace says, cut where there is more than it can show."""

    def chart(self, cards: int, jobs: int) -> Figure:
        fleet = plan(pool(cards), hours=jobs)
        _, rows = made(fleet, job_set([(n // cards, 0.5) for n in range(jobs * cards)]), rates())
        frame = pd.DataFrame({name: [getattr(row, name, "trace") for row in rows] for name in GANTT_COLUMNS})
        return gantt(frame, "title", "2026-01-01")

    def test_small_runs_are_shown_whole(self) -> None:
        (axes,) = self.chart(3, 10).axes
        assert [label.get_text() for label in axes.get_yticklabels()] == [f"{OFFER}, {n}" for n in range(3)]
        assert axes.get_xlim() == (0, 10 / 24)
        assert axes.get_title(loc="left") == "title\nnumbers are jobs"

    def test_big_fleets_and_long_runs_are_cut_with_a_note(self) -> None:
        (axes,) = self.chart(60, 100).axes
        assert len(axes.get_yticklabels()) == 40
        title = axes.get_title(loc="left")
        assert (
            title
            == "title\nshown: the first 40 of 60 cards and the first 2.08 of 4.167 days; numbers are jobs"
        )
        assert axes.get_xlim() == (0, 50 / 24)

    def test_no_card_and_no_job(self) -> None:
        figure = gantt(pd.DataFrame({name: [] for name in GANTT_COLUMNS}), "nothing", "2026-01-01")
        assert png(figure).startswith(b"\x89PNG")
