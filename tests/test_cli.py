"""The command line: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sim.errors import RunError
from tests.conftest import TWO_JOBS, Outcome

Command = Callable[..., Outcome]


def process(*arguments: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The command line in a process of its own, with its output in pipes."""
    return subprocess.run(
        [sys.executable, "-m", "sim", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )


def compare(fleetsim: Command, file: Path, *more: object) -> Outcome:
    return fleetsim("compare", file, "--jobs", 1, "--out", file.parent / "out", *more)


class TestCompare:
    @pytest.mark.usefixtures("no_charts")
    def test_json_is_one_document_with_the_agreed_names(self, fleetsim: Command, two_jobs: Path) -> None:
        done = compare(fleetsim, two_jobs, "--format", "json")
        assert (done.code, done.err) == (0, "")
        document = json.loads(done.out)
        assert document["scenario"] == "Two jobs, one card"
        assert (document["seed"], document["replications"]) == (1, 2)
        one, two = document["strategies"]
        assert one["metrics"]["committed_cost_cny"]["mean"] == 26_880
        assert two["metrics"]["committed_cost_cny"]["mean"] == 5_600
        # Waits of 0 h and 1 h: the 95th percentile, by linear interpolation, is 0.95 h.
        assert one["metrics"]["wait_p95_h"]["mean"] == pytest.approx(0.95)
        assert two["metrics"]["wait_p95_h"]["mean"] == 0
        assert document["recommendation"]["strategy"] == "two cards, monthly"
        difference = {(d["strategy"], d["metric"]): d for d in document["differences"]}
        assert difference["two cards, monthly", "committed_cost_cny"]["mean"] == 5_600 - 26_880

    def test_text_ends_with_where_the_files_are(self, fleetsim: Command, two_jobs: Path) -> None:
        done = compare(fleetsim, two_jobs)
        assert done.code == 0
        assert "26,880 CNY" in done.out
        assert "'two cards, monthly' is the cheapest strategy that meets the target" in done.out
        last = " ".join(done.out.split("Files")[-1].split())
        folder = Path(last.split(" holds ")[0])
        assert (folder / "comparison.json").is_file()
        assert list(folder.glob("charts/*.png"))

    @pytest.mark.usefixtures("no_charts")
    def test_options_change_the_question(self, fleetsim: Command, two_jobs: Path) -> None:
        changed = ("--set", "strategies.0.leases.0.plan=monthly", "--seed", 7, "--replications", 3)
        done = compare(fleetsim, two_jobs, "--format", "json", *changed, "--baseline", "two cards, monthly")
        document = json.loads(done.out)
        assert (document["seed"], document["replications"]) == (7, 3)
        assert document["strategies"][0]["metrics"]["committed_cost_cny"]["mean"] == 2_800
        assert {d["baseline"] for d in document["differences"]} == {"two cards, monthly"}

    @pytest.mark.usefixtures("no_charts")
    def test_the_price_option_picks_an_end_of_the_range(self, fleetsim: Command, two_jobs: Path) -> None:
        machine = ("--set", "strategies.0.leases.0.offer=a100-40g-8x")
        found = []
        for price in ("low", "mid", "high"):
            done = compare(fleetsim, two_jobs, "--format", "json", *machine, "--price", price)
            found.append(json.loads(done.out)["strategies"][0]["metrics"]["committed_cost_cny"]["mean"])
        # 25,000 to 35,000 CNY a month, 12 months, annual 0.85.
        assert found == [255_000, 306_000, 357_000]

    @pytest.mark.parametrize("command", [("compare",), ("sweep", "--vary", "seed=1,2"), ("sensitivity",)])
    def test_more_replications_than_a_file_may_ask_for_are_refused(
        self, fleetsim: Command, two_jobs: Path, command: tuple[str, ...]
    ) -> None:
        done = fleetsim(command[0], two_jobs, *command[1:], "--replications", 100_001)
        assert (done.code, done.out) == (2, "")
        assert "100000" in done.err

    @pytest.mark.usefixtures("no_charts")
    def test_progress_as_json_lines_goes_to_stderr(self, fleetsim: Command, two_jobs: Path) -> None:
        done = compare(fleetsim, two_jobs, "--format", "json", "--progress", "json")
        lines = [json.loads(line) for line in done.err.splitlines()]
        assert [lines[-1][key] for key in ("done", "total")] == [4, 4]
        assert json.loads(done.out)["replications"] == 2

    def test_an_interrupt_ends_with_130_and_a_line(
        self, fleetsim: Command, two_jobs: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("sim.experiments.compare.compare", interrupted)
        done = compare(fleetsim, two_jobs)
        assert (done.code, done.out) == (130, "")
        assert "interrupted" in done.err

    def test_results_that_cannot_be_written_end_with_1(
        self, fleetsim: Command, two_jobs: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # the folder was fine before the runs, and the disk is full after them
        def full(*_: object, **__: object) -> None:
            msg = "the results cannot be written: No space left on device"
            raise RunError(msg)

        monkeypatch.setattr("sim.report.save.save", full)
        done = compare(fleetsim, two_jobs)
        assert (done.code, done.out) == (1, "")
        assert "No space left on device" in done.err


class TestBadInput:
    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (("horizon: 30d", "horizonn: 30d"), ("horizonn", "unknown key", ":4")),
            (("a100-40g-custom, count: 1", "a100-41g, count: 1"), ("a100-41g", "a100-40g-custom")),
            (("count: 2", "count: -2"), ("count", "-2")),
            (("horizon: 30d", "horizon: 0d"), ("horizon",)),
            (("file: two.csv", "file: three.csv"), ("three.csv", "two.csv")),
        ],
    )
    @pytest.mark.parametrize("command", ["compare", "run", "explain", "validate"])
    def test_one_message_code_2_nothing_written(
        self, fleetsim: Command, two_jobs: Path, command: str, change: tuple[str, str], said: tuple[str, ...]
    ) -> None:
        two_jobs.write_text(TWO_JOBS.replace(*change))
        before = sorted(two_jobs.parent.rglob("*"))
        out = ("--out", two_jobs.parent / "out") if command == "compare" else ()
        done = fleetsim(command, two_jobs, "--format", "json", *out)
        assert (done.code, done.out) == (2, "")
        assert "Traceback" not in done.err
        assert two_jobs.name in done.err
        for part in said:
            assert part in done.err
        assert sorted(two_jobs.parent.rglob("*")) == before

    @pytest.mark.parametrize(
        "arguments",
        [
            ("compare", "absent.yaml"),
            ("compare", "two.yaml", "--set", "horizon"),
            ("compare", "two.yaml", "--baseline", "nobody"),
            ("compare", "two.yaml", "--replications", "0"),
            ("compare", "two.yaml", "--price", "cheap"),
            ("compare",),
            ("nonsense",),
            ("run", "two.yaml", "--strategy", "nobody"),
            ("explain", "two.yaml", "--job", "nobody"),
            ("fit", "--model", "qwen-9b"),
            ("fit",),
            ("fit", "--model", "qwen-7b", "--rank", "0"),
            ("fit", "--model", "qwen-7b", "--gpus", "many"),
            ("fit", "--model", "qwen-7b", "--scenario", "two.yaml"),
            ("fit", "--scenario", "two.yaml"),
            ("catalog", "prices"),
        ],
    )
    def test_wrong_options_end_with_2(
        self, fleetsim: Command, two_jobs: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
    ) -> None:
        monkeypatch.chdir(two_jobs.parent)
        done = fleetsim(*arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err
        assert "Traceback" not in done.err
        assert sorted(path.name for path in two_jobs.parent.iterdir()) == ["two.csv", "two.yaml"]

    def test_known_names_are_told(self, fleetsim: Command, two_jobs: Path) -> None:
        done = fleetsim("run", two_jobs, "--strategy", "one card")
        assert "one card, annual" in done.err
        assert "two cards, monthly" in done.err


class TestExplain:
    def test_tells_what_a_job_waited_for(self, fleetsim: Command, two_jobs: Path) -> None:
        done = fleetsim("explain", two_jobs, "--job", "b", "--format", "json")
        (story,) = json.loads(done.out)["jobs"]
        assert (story["state"], story["wait_h"], story["run_h"]) == ("done", 1, 1)
        texts = [event["text"] for event in story["events"]]
        assert [event["at_h"] for event in story["events"]] == [0, 0, 1, 1, 2]
        assert "1 of 1 cards of a100-40g-custom busy with a (job 0)" in texts[1]
        assert "worked on a (job 0) 1.0 card-h; 0.0 % of their time was free" in texts[2]
        assert "starts on 1 card of a100-40g-custom after 1.00 h in the queue" in texts[3]

    def test_without_a_job_shows_the_longest_waits(self, fleetsim: Command, two_jobs: Path) -> None:
        done = fleetsim("explain", two_jobs)
        assert "2 jobs: 1 waited, 0 were refused" in done.out
        assert "b (job 1)" in done.out

    def test_a_refused_job_gets_its_shortfall_and_the_cheapest_offer(
        self, fleetsim: Command, two_jobs: Path
    ) -> None:
        trace = two_jobs.with_name("two.csv")
        trace.write_text("id,submit_s,gpus,runtime_s,memory_gib\na,0,1,3600,60\nb,0,1,3600,8\n")
        (refused,) = json.loads(fleetsim("explain", two_jobs, "--format", "json").out)["refused"]
        assert refused["jobs"] == 1
        assert refused["lacks"][0]["offer"] == "a100-40g-custom"
        assert refused["lacks"][0]["shortfall_gib"] == pytest.approx(20)
        # One whole H100 at (12,000 + 18,000) / 2 / 720 h is cheaper than a machine of eight cards.
        assert refused["would_fit"]["offer"] == "h100-mig"
        assert "20.0 GiB" in fleetsim("explain", two_jobs, "--job", "a").out

    def test_a_failure_is_named_as_the_cause(self, fleetsim: Command, two_jobs: Path) -> None:
        event = "{at: 30min, kind: node, offer: a100-40g-custom, down: 2h}"
        text = TWO_JOBS.replace("{profile: none}", f"{{profile: none, events: [{event}]}}")
        two_jobs.write_text(text.replace("\nstrategies:", "\ncheckpoint: {every: never}\nstrategies:"))
        (story,) = json.loads(fleetsim("explain", two_jobs, "--job", "a", "--format", "json").out)["jobs"]
        told = next(event for event in story["events"] if "interrupted" in event["text"])
        assert told["at_h"] == 0.5
        assert "the machine failed" in told["text"]
        assert "back after 2.00 h" in told["text"]
        assert "0.50 h of work lost" in told["text"]


class TestRun:
    def test_shows_metrics_with_units_charges_and_leases(self, fleetsim: Command, two_jobs: Path) -> None:
        done = fleetsim("run", two_jobs, "--strategy", "two cards, monthly")
        assert done.code == 0
        assert "committed_cost_cny" in done.out
        assert "5,600 CNY" in done.out
        assert "2 done" in done.out

    def test_json_holds_the_ledger(self, fleetsim: Command, two_jobs: Path) -> None:
        document = json.loads(fleetsim("run", two_jobs, "--format", "json").out)
        assert document["strategy"] == "one card, annual"
        assert document["ledger"]["committed"] == "26880.00"
        assert [job["state"] for job in document["jobs"]] == ["done", "done"]
        total = sum(float(invoice["total"]) for invoice in document["ledger"]["invoices"])
        assert total == 26_880


class TestFit:
    def test_money_is_hours_times_the_price_of_an_hour(self, fleetsim: Command) -> None:
        done = fleetsim("fit", "--model", "qwen-7b", "--samples", 10_000, "--epochs", 1, "--format", "json")
        rows = {row["offer"]: row for row in json.loads(done.out)["offers"]}
        card = rows["a100-40g-custom"]
        assert card["fits"]
        assert card["price_per_hour"] == pytest.approx(2_800 / 730)
        assert card["run_cost"] == pytest.approx(card["hours"] * 2_800 / 730)
        # A machine is paid whole: (25,000 + 35,000) / 2 a month, however few of its cards are used.
        assert rows["a100-40g-8x"]["price_per_hour"] == pytest.approx(30_000 / 730)

    def test_a_plan_changes_the_price(self, fleetsim: Command) -> None:
        done = fleetsim("fit", "--model", "qwen-7b", "--plan", "annual", "--format", "json")
        rows = {row["offer"]: row for row in json.loads(done.out)["offers"]}
        assert rows["a100-40g-custom"]["price_per_hour"] == pytest.approx(2_800 * 0.8 / 730)
        assert rows["h100-mig"]["price_per_hour"] is None

    def test_what_does_not_fit_says_by_how_much(self, fleetsim: Command) -> None:
        options = ("fit", "--model", "llama-2-70b", "--method", "full", "--gpus", 1)
        rows = json.loads(fleetsim(*options, "--format", "json").out)["offers"]
        assert not any(row["fits"] for row in rows)
        for row in rows:
            # Weights and gradients in 16 bits alone: 4 bytes x 69e9 = 257 GiB; the largest card has 80.
            assert row["shortfall_gib"] is None or row["shortfall_gib"] > 257 - 80
        text = fleetsim(*options).out
        assert "Does not fit" in text
        assert "Short by" in text


class TestCatalogue:
    def test_offers_have_prices_and_sources(self, fleetsim: Command) -> None:
        done = fleetsim("catalog")
        assert "a100-40g-custom" in done.out
        assert "2,800" in done.out
        assert "Sources" in done.out

    @pytest.mark.parametrize("part", ["offers", "gpus", "models", "reliability"])
    def test_every_part_prints_as_text_and_json(self, fleetsim: Command, part: str) -> None:
        assert fleetsim("catalog", part).code == 0
        entries = json.loads(fleetsim("catalog", part, "--format", "json").out)[part]
        assert entries

    def test_find_narrows(self, fleetsim: Command) -> None:
        entries = json.loads(fleetsim("catalog", "--find", "3090", "--format", "json").out)["offers"]
        assert [entry["id"] for entry in entries] == ["rtx3090-24g-cloud"]

    def test_find_looks_at_values_not_at_names_of_fields(self, fleetsim: Command) -> None:
        done = fleetsim("catalog", "gpus", "--find", "usable_gib")
        assert done.out == "No entry of gpus has the text 'usable_gib'.\n"


class TestOutput:
    def test_help_and_version(self, fleetsim: Command) -> None:
        done = fleetsim("--help")
        assert done.code == 0
        for name in ("compare", "explain", "run", "fit", "catalog", "validate", "schema", "app"):
            assert name in done.out
        assert fleetsim("--version").out.startswith("fleetsim 0.")

    def test_validate_and_schema(self, fleetsim: Command, two_jobs: Path) -> None:
        assert "valid scenario" in fleetsim("validate", two_jobs).out
        assert json.loads(fleetsim("schema").out)["type"] == "object"

    def test_texts_of_users_are_never_markup_nor_control_signs(
        self, fleetsim: Command, two_jobs: Path
    ) -> None:
        name = r'"[bold]one[/bold] \e[31mred"'
        two_jobs.write_text(TWO_JOBS.replace("Two jobs, one card", name))
        done = fleetsim("run", two_jobs)
        assert "[bold]one[/bold]" in done.out
        assert "\x1b" not in done.out

    def test_a_pipe_gets_plain_text_in_any_language(self, two_jobs: Path) -> None:
        two_jobs.write_text(TWO_JOBS.replace("Two jobs", "Zwei Aufträge 两个"), encoding="utf-8")
        for environment in ({"LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}, {"NO_COLOR": "1"}):
            done = process("run", "two.yaml", cwd=two_jobs.parent, **environment)
            assert done.returncode == 0, done.stderr
            assert b"\x1b" not in done.stdout
            assert b"26,880" in done.stdout

    @pytest.mark.parametrize("columns", [80, 120])
    def test_no_line_is_wider_than_the_terminal(
        self, fleetsim: Command, two_jobs: Path, monkeypatch: pytest.MonkeyPatch, columns: int
    ) -> None:
        monkeypatch.setattr("sim.cli.console.PIPE_WIDTH", columns)
        for command in (
            ("catalog",),
            ("fit", "--model", "qwen-7b"),
            ("run", two_jobs),
            ("explain", two_jobs),
        ):
            assert max(map(len, fleetsim(*command).out.splitlines())) <= columns
        long_names = TWO_JOBS.replace("one card, annual", "one card for a whole year, paid in advance")
        two_jobs.write_text(long_names)
        done = compare(fleetsim, two_jobs)
        assert max(map(len, done.out.splitlines())) <= columns
        # Nothing is cut: no sign of it, and the last column of the first table is whole.
        assert "\N{HORIZONTAL ELLIPSIS}" not in done.out
        assert "26,880 CNY" in done.out
        assert "Pareto" in done.out

    def test_python_m_sim_is_the_same_command(self, tmp_path: Path) -> None:
        done = process("--version", cwd=tmp_path)
        assert done.stdout.startswith(b"fleetsim ")


def test_a_folder_for_results_that_cannot_be_one_is_refused_before_any_run(
    fleetsim: Command, two_jobs: Path
) -> None:
    taken = two_jobs.parent / "taken"
    taken.write_text("a file, not a folder")
    for out in (taken, taken / "below"):
        done = fleetsim("compare", two_jobs, "--out", out)
        assert (done.code, done.out) == (2, "")
        assert "--out: results cannot be written below this folder: Not a directory (found " in done.err
    assert sorted(path.name for path in two_jobs.parent.iterdir()) == ["taken", "two.csv", "two.yaml"]


def test_a_wrong_baseline_names_file_option_and_strategies(fleetsim: Command, two_jobs: Path) -> None:
    done = fleetsim("compare", two_jobs, "--baseline", "zzz")
    assert done.code == 2
    assert f"{two_jobs}: --baseline: " in done.err.replace("\n", "")
    assert "known: one card, annual, two cards, monthly" in done.err


def test_a_workload_in_which_no_job_can_arrive_is_refused(fleetsim: Command, two_jobs: Path) -> None:
    classes = "classes: [{name: a, model: qwen-7b, method: lora, samples: 9, rate: 0/day}]"
    two_jobs.write_text(two_jobs.read_text().replace("trace: {file: two.csv}", classes))
    done = fleetsim("compare", two_jobs)
    assert (done.code, done.out) == (2, "")
    assert "no job can arrive: every rate is 0" in done.err
