"""Sharing from a scenario file to metrics, records and charts; the example of docs/sharing.md.

`python -m tests.test_sharing_scenario` writes the values of the page's table anew.
"""

from __future__ import annotations

import math
import re
import tempfile
from fractions import Fraction
from pathlib import Path

import pytest

from sim import load
from sim.errors import InputError
from sim.experiments.events import Events
from sim.experiments.sharing_assumptions import sharing_rules
from sim.load import Question
from sim.metrics.facts import Facts
from sim.model.scenario import Sharing
from sim.replication import RunResult, prepare, replicate
from sim.report.plots_gantt import GANTT_COLUMNS, gantt
from sim.report.series import busy_cards
from sim.units import DAY, HOUR

PAGE = Path(__file__).parents[1] / "docs" / "sharing.md"
MARK = "<!-- table: example -->\n\n"


def example() -> str:
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return text


@pytest.fixture(scope="module")
def question(tmp_path_factory: pytest.TempPathFactory) -> Question:
    return asked(tmp_path_factory.mktemp("sharing"), example())


def asked(folder: Path, text: str) -> Question:
    file = folder / "scenario.yaml"
    file.write_text(text, encoding="utf-8")
    return load(file)


@pytest.fixture(scope="module")
def results(question: Question) -> list[RunResult]:
    return runs(question)


def runs(question: Question) -> list[RunResult]:
    prepared = prepare(question)
    return [replicate(prepared, number, 0) for number in range(len(question.scenario.strategies))]


def rows(found: list[RunResult]) -> list[str]:
    lines = []
    for one in found:
        jobs, m = one.jobs.jobs, one.metrics
        sojourns = [(r.end_us - jobs[r.job].submit_us) / HOUR for r in one.log.jobs if r.end_us is not None]
        cells = [
            one.strategy,
            f"{100 * m['on_time_share']:.1f} %",
            f"{m['wait_mean_h']:.2f} h",
            f"{sum(sojourns) / len(sojourns):.2f} h",
            f"{100 * m['busy_share']:.1f} %",
            f"{100 * m['useful_share'] / m['busy_share']:.1f} %",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


# --- the example ----------------------------------------------------------------------------


def test_the_table_of_the_page_is_what_the_example_gives(results: list[RunResult]) -> None:
    table = PAGE.read_text(encoding="utf-8").split(MARK)[1].split("\n\n")[0].split("\n")
    assert table[2:] == rows(results)


def test_what_the_page_says_of_the_example(results: list[RunResult]) -> None:
    alone, slicing, mps, mig = (one.metrics for one in results)
    assert alone["on_time_share"] < slicing["on_time_share"] < mps["on_time_share"]
    assert mig["on_time_share"] < alone["on_time_share"]
    assert any(stay.card_us is not None and stay.share < 1 for stay in results[1].log.attempts)


def test_even_busy_jobs_gain_because_none_waits_behind_a_long_one(tmp_path: Path) -> None:
    alone, slicing, *_ = runs(asked(tmp_path, example().replace("demand: 0.35", "demand: 0.9")))
    assert slicing.metrics["on_time_share"] > alone.metrics["on_time_share"]


def test_no_share_passes_that_of_the_busy_card(results: list[RunResult]) -> None:
    for one in results:
        m = one.metrics
        parts = [m[f"{name}_gpu_h"] for name in ("useful", "lost", "startup", "checkpoint")]
        assert sum(parts) <= m["busy_gpu_h"] + 1e-6
        assert 0 < m["useful_share"] < m["busy_share"] < 1
        if one.strategy != "mig":
            assert sum(parts) == pytest.approx(m["busy_gpu_h"], abs=1e-6)


def test_useful_time_is_counted_by_the_part_of_the_card(results: list[RunResult], question: Question) -> None:
    one = results[1]
    facts = Facts(one.log, one.ledger, one.jobs, question.scenario, None)
    by_hand = sum(stay.work_us * stay.share for stay in one.log.attempts)
    assert facts.useful_total == pytest.approx(float(by_hand), abs=len(one.log.attempts))


# --- trace, chart, series -------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 3], ids=["time slicing", "mig"])
def test_the_trace_tells_of_a_card_with_several_jobs(results: list[RunResult], number: int, question) -> None:
    one = results[number]
    events = Events(one, question.scenario).table().to_pandas()
    cards = events[events["kind"] == "card"].sort_values(["card", "time_us"], kind="stable")
    until = cards["time_us"].shift(-1)
    busy = cards["state"] == "busy"
    assert (until - cards["time_us"])[busy].sum() == sum(lease.busy_card_us for lease in one.log.leases)
    on_card = 0
    changes = [(a.start_us, 1) for a in one.log.attempts] + [(a.end_us, -1) for a in one.log.attempts]
    free = set(cards.loc[cards["state"] == "free", "time_us"].astype(int)) - {0}
    for time, change in sorted(changes):
        on_card += change
        if on_card == 0 and not any(a.start_us == time for a in one.log.attempts):
            free.discard(time)
    assert not free, "free only where nobody is left"
    named = set(events.loc[busy[busy].index, "job"].astype(int))
    assert named == {a.job for a in one.log.attempts if a.end_us > a.start_us}


def test_the_chart_draws_jobs_of_a_card_side_by_side(results: list[RunResult], question: Question) -> None:
    events = Events(results[1], question.scenario).table(GANTT_COLUMNS).to_pandas()
    figure = gantt(events, "shared", "2026-03-02")
    heights = set()
    for bars in figure.axes[0].collections:
        for path in bars.get_paths():
            ys = path.vertices[:, 1]
            heights.add(round(float(ys.max() - ys.min()), 6))
    assert heights == {0.84, 0.42}, "whole rows without a job, half rows for jobs"


def test_a_shared_card_is_one_busy_card(results: list[RunResult]) -> None:
    for one in results:
        curve = busy_cards(one)
        assert max(curve.y) <= 1
        area = sum(curve.y[:-1] * (curve.x[1:] - curve.x[:-1])) * DAY
        assert area == pytest.approx(sum(lease.busy_card_us for lease in one.log.leases), rel=1e-9)


# --- demand ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "key", "speed"),
    [
        (None, None, Fraction(92, 180)),  # 0.9 + 0.9, the default
        (None, 0.3, Fraction(99, 100) - Fraction(5, 300)),  # 0.6: a third of the way from 0.5 to 0.8
        (0.3, 0.9, Fraction(99, 100) - Fraction(5, 300)),  # the row goes before the trace
        (0.5, None, Fraction(88, 100)),
    ],
)
def test_a_trace_or_its_rows_may_state_the_demand(
    tmp_path: Path, column: float | None, key: float | None, speed: Fraction
) -> None:
    head = "submit_s,gpus,runtime_s,memory_gib" + ("" if column is None else ",demand")
    row = "0,1,36000,15" + ("" if column is None else f",{column}")
    (tmp_path / "jobs.csv").write_text(f"{head}\n{row}\n{row}\n", encoding="utf-8")
    trace = "{file: jobs.csv" + ("}" if key is None else f", demand: {key}}}")
    _, slicing, *_ = runs(asked(tmp_path, with_trace(trace)))
    assert [job.end_us for job in slicing.log.jobs] == [math.ceil(36_000_000_000 / speed)] * 2


def with_trace(trace: str) -> str:
    """The example with recorded jobs in place of its classes."""
    return re.sub(r"  classes:\n.*?(?=reliability)", f"  trace: {trace}\n", example(), flags=re.DOTALL)


@pytest.mark.parametrize("demand", ["0", "1.1", "half"])
def test_a_demand_in_a_row_is_a_share(tmp_path: Path, demand: str) -> None:
    (tmp_path / "jobs.csv").write_text(
        f"submit_s,gpus,runtime_s,demand\n0,1,36000,{demand}\n", encoding="utf-8"
    )
    text = re.sub(
        r"  classes:\n.*?(?=reliability)", "  trace: {file: jobs.csv}\n", example(), flags=re.DOTALL
    )
    with pytest.raises(InputError, match="row 1, demand"):
        asked(tmp_path, text)


# --- what is asked, and refused -------------------------------------------------------------


def test_assumptions_say_what_is_assumed(question: Question) -> None:
    said = " ".join(sharing_rules(question.scenario))
    for text in (
        "'time slicing': up to 2 jobs",
        "90 % of the time",
        "but for 'trial'",
        "Lucid",
        "0.97",
        "30s",
    ):
        assert text in said


def test_without_sharing_nothing_is_said(tmp_path: Path) -> None:
    text = re.sub(r"    sharing: .*\n", "", example())
    question = asked(tmp_path, text)
    assert not list(sharing_rules(question.scenario))
    one, *others = runs(question)
    assert all(list(other.log.jobs) == list(one.log.jobs) for other in others)
    assert all(stay.card_us is None for stay in one.log.attempts)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{kind: time-slicing}", "{kind: slicing}", "kind"),
        ("{kind: time-slicing}", "{kind: time-slicing, jobs: 1}", "at least 2"),
        ("{kind: time-slicing}", "{kind: time-slicing, demand: 1.2}", "at most 1"),
        ("{kind: time-slicing}", "{kind: time-slicing, reconfigure: 10s}", "goes with the kind mig"),
        ("{kind: mig, jobs: 2}", "{kind: mig, demand: 0.5}", "goes with the kind time-slicing"),
        ("{kind: mig, jobs: 2}", "{kind: mig, jobs: 8}", "at most 7"),
        ("{kind: mps}", "{kind: mps, curve: [[1, 0.9], [0.5, 0.8]]}", "rise in demand"),
        ("{kind: mps}", "{kind: mps, jobs: 12, per_job: 0.1}", "standstill"),
        ("{kind: mps}", "{kind: mps, offers: [a100-40g-8x]}", "offers that the strategy leases"),
        ("{kind: mps}", "{kind: mps}\n    policy: easy", "sharing does not go with policy easy"),
        ("{kind: mps}", "{kind: mps}\n    policy: fair", "sharing does not go with policy fair"),
        (
            "{kind: mps}",
            "{kind: mps}\n    policy: priority\n    preempt: true",
            "sharing does not go with preempt",
        ),
    ],
)
def test_what_sharing_does_not_go_with_is_refused_at_its_place(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        asked(tmp_path, example().replace(old, new))
    (problem,) = caught.value.problems
    assert message in str(problem)
    assert problem.line is not None
    assert problem.key is not None
    assert re.match(r"strategies\.[1-3]\.sharing", problem.key), problem.key


def test_cards_without_mig_are_not_partitioned(tmp_path: Path) -> None:
    text = example().replace("a100-40g-custom", "rtx3090-24g-cloud")
    with pytest.raises(InputError, match="none of the leased cards can be partitioned"):
        asked(tmp_path, text)


def test_cards_by_the_hour_alone_are_not_shared(tmp_path: Path) -> None:
    before = "    sharing: {kind: mps}\n    leases: [{offer: a100-40g-custom, plan: monthly}]"
    after = "    sharing: {kind: mps}\n    burst: {offer: h100-mig, max: 1, rent_when_wait_over: 1h}"
    with pytest.raises(InputError, match="cards by the hour are not shared"):
        asked(tmp_path, example().replace(before, after))


def test_defaults_by_kind() -> None:
    assert [Sharing(kind=kind).most for kind in ("time-slicing", "mps", "mig")] == [2, 2, 7]
    assert [Sharing(kind=kind).left for kind in ("time-slicing", "mps")] == [0.92, 0.97]


def write_the_table() -> None:
    """Put the values of now into the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(MARK)
    table, rest = after.split("\n\n", 1)
    with tempfile.TemporaryDirectory() as folder:
        lines = [*table.split("\n")[:2], *rows(runs(asked(Path(folder), example())))]
    PAGE.write_text(before + MARK + "\n".join(lines) + "\n\n" + rest, encoding="utf-8")


if __name__ == "__main__":
    write_the_table()
