"""What a trial broke in `fit`, `predict` and `calibrate`: each case once, so that it stays mended."""

from __future__ import annotations

import csv
import json
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from sim.cli import fit_text
from sim.physics.calibration import calibrate
from sim.physics.constants import load_constants
from sim.physics.predict import predict_rows
from tests.conftest import Outcome

Run = Callable[..., Outcome]

BASE = {
    "model": "qwen-14b",
    "method": "lora",
    "rank": "64",
    "micro_batch": "1",
    "seq_len": "2048",
    "gpu": "A100-SXM4-80GB",
    "n_gpus": "1",
    "peak_mem_gib": "37",
    "tokens_per_s_total": "1900",
}
SHAPE = {"layers": "40", "hidden": "5120", "heads": "40", "intermediate": "13696", "vocab": "152064"}
SCENARIO = """\
name: One class
start: 2026-01-01
horizon: 30d
workload:
  classes:
    - {name: tune, model: qwen-7b, method: lora, seq_len: 1024, samples: 2000, rate: 6/day}
strategies:
  - {name: monthly, leases: [{offer: a100-40g-custom, count: 2, plan: monthly}]}
"""


def answer(**cells: str) -> tuple[float | None, float | None, str]:
    (found,) = predict_rows([{**BASE, **cells}], load_constants())
    return found.peak_mem_gib, found.tokens_per_s, found.reason


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of one measured run."""
    path = tmp_path / "in.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([BASE, BASE.values()])
    return path


@pytest.mark.parametrize("command", ["predict", "calibrate"])
def test_the_measured_table_is_never_written_over(fleetsim: Run, table: Path, command: str) -> None:
    before = table.read_bytes()
    link = table.with_name("link.csv")
    link.symlink_to(table)
    for out in (table, link):
        done = fleetsim(command, table, "-o", out)
        assert (done.code, done.out) == (2, "")
        assert "would replace the table" in done.err
        assert str(out)[:60] in done.err
    assert table.read_bytes() == before


def test_a_pipe_is_written_into_and_stays_one(fleetsim: Run, table: Path) -> None:
    # As a device: run by an administrator, a file put in the place of /dev/null harms all programs.
    pipe = table.with_name("pipe")
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text("utf-8")))
    reader.start()
    done = fleetsim("predict", table, "-o", pipe)
    reader.join(timeout=30)
    assert done.code == 0
    assert pipe.is_fifo()
    assert "predicted_fits" in got[0]


def test_a_link_leads_to_the_file_that_is_written(fleetsim: Run, table: Path) -> None:
    link, target = table.with_name("link.yaml"), table.with_name("target.yaml")
    link.symlink_to(target)
    assert fleetsim("calibrate", table, "-o", link).code == 0
    assert link.is_symlink()
    assert "memory" in target.read_text("utf-8")


def test_a_name_that_is_too_long_or_goes_in_circles_is_a_message(fleetsim: Run, table: Path) -> None:
    one, two = table.with_name("one"), table.with_name("two")
    one.symlink_to(two)
    two.symlink_to(one)
    done = fleetsim("predict", table, "-o", one)
    assert (done.code, done.out) == (1, "")
    assert "the answer cannot be written to" in done.err
    assert "Too many levels of symbolic links" in done.err
    done = fleetsim("predict", table, "-o", table.with_name("a" * 300))
    assert (done.code, done.out) == (2, "")
    assert "--out: this file cannot be written: File name too long" in done.err


@pytest.mark.parametrize("command", ["predict", "calibrate"])
def test_the_articles_answer_no_rows(fleetsim: Run, table: Path, command: str) -> None:
    out = table.with_name("out")
    done = fleetsim(command, table, "-o", out, "--performance", "vendor")
    assert done.code == 2
    assert "--performance" in done.err
    assert not out.exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace(",", ";"), ("commas", "semicolons", "in.csv:1")),
        (lambda text: text.replace(",", "\t"), ("commas", "tabs")),
        (lambda text: text.replace("\nqwen", '\n"qwen'), ("no CSV", "in.csv:2")),
    ],
)
def test_what_only_looks_like_the_table_is_refused(
    fleetsim: Run, table: Path, change: Callable[[str], str], words: tuple[str, ...]
) -> None:
    table.write_text(change(table.read_text("utf-8")), encoding="utf-8")
    done = fleetsim("predict", table, "-o", table.with_name("out.csv"))
    assert done.code == 2
    assert done.err.count("\n") == 1
    for word in words:
        assert word in done.err


@pytest.mark.parametrize(
    ("cells", "word"),
    [
        ({"micro_batch": "1e308"}, "micro_batch"),
        ({"seq_len": "1e308"}, "seq_len"),
        ({"n_gpus": "1e308"}, "n_gpus"),
        ({"mean_len": "1e308"}, "mean_len"),
        ({**SHAPE, "layers": "0.5"}, "layers"),
        ({**SHAPE, "layers": "1e308"}, "layers"),
        ({**SHAPE, "hidden": "1.5"}, "hidden"),
        ({**SHAPE, "vocab": "1e308"}, "vocab"),
        ({**SHAPE, "kv_heads": "-1"}, "kv_heads"),
        ({"tp": "8"}, "8 cards; n_gpus is 1"),
        ({"tp": "9" * 400}, "n_gpus is 1"),
        ({"n_gpus": "6", "tp": "4"}, "n_gpus is 6"),
        ({"n_gpus": "3", "tp": "3"}, "40 attention heads do not divide by 3"),
        ({"n_gpus": "64", "pp": "64"}, "64 stages, but the model has 40 layers"),
    ],
)
def test_sizes_and_divisions_that_cannot_be_have_a_reason(cells: Mapping[str, str], word: str) -> None:
    memory, speed, reason = answer(**cells)
    assert (memory, speed) == (None, None)
    assert word in reason
    found = calibrate([{**BASE, **cells}, BASE], load_constants())
    assert [position for position, _ in found.skipped] == [0]


def test_words_with_endless_digits_break_nothing() -> None:
    for words in ("9" * 5000 + " nodes of 8", "global batch " + "9" * 5000):
        memory, speed, _ = answer(notes=words)
        assert memory is not None
        assert speed is not None
    assert answer(n_gpus="1,000", zero_or_fsdp="zero3")[2] == ""
    assert answer(grad_accum="1e308")[1] is not None


def test_a_division_without_a_count_of_cards_gives_it() -> None:
    assert answer(n_gpus="", tp="8") == answer(n_gpus="8", tp="8")


def test_absurd_constants_are_refused(fleetsim: Run, table: Path) -> None:
    own = table.with_name("own.yaml")
    own.write_text("memory: {stacks: {hf: {state: 1e308, working: 1e308, fixed_gib: 0}}}\n", encoding="utf-8")
    done = fleetsim("predict", table, "-o", table.with_name("out.csv"), "--performance", own)
    assert done.code == 2
    assert "own.yaml:1: memory.stacks.hf.state" in done.err
    assert not table.with_name("out.csv").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--samples", 0), ("--samples", "above 0")),
        (("--samples", "nan"), ("--samples", "above 0")),
        (("--epochs", -1), ("--epochs", "above 0")),
        (("--samples", "1e308"), ("--samples", "at most")),
        (("--gpus", 0), ("--gpus", "at least 1")),
        (("--gpus", "9" * 400), ("--gpus", "at most")),
        (("--micro-batch", "9" * 400), ("--micro-batch", "at most")),
        (("--seq-len", "9" * 400), ("--seq-len", "at most")),
        (("--set", "horizon=90d"), ("--set", "--scenario")),
        (("--performance", ""), ("performance",)),
    ],
)
def test_fit_refuses_with_one_line(
    fleetsim: Run, options: tuple[object, ...], words: tuple[str, ...]
) -> None:
    done = fleetsim("fit", "--model", "qwen-7b", *options)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    for word in words:
        assert word in done.err


def test_an_option_that_the_scenario_would_drown_is_refused(fleetsim: Run, tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(SCENARIO, encoding="utf-8")
    done = fleetsim("fit", "--scenario", file, "--micro-batch", 8)
    assert (done.code, done.out) == (2, "")
    assert "--micro-batch" in done.err
    assert fleetsim("fit", "--scenario", file, "--set", "workload.classes.0.micro_batch=8").code == 0


def test_both_takes_the_calibration_that_was_asked_for(fleetsim: Run, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(f"memory: {{context_gib: {load_constants().memory.context_gib + 2}}}\n", encoding="utf-8")

    def held(*more: object) -> tuple[str, float]:
        done = fleetsim("fit", "--model", "qwen-7b", "--gpus", 1, "--both", "--format", "json", *more)
        found = json.loads(done.out)
        return found["performance"], found["offers"]["measured"][0]["total_gib"]

    name, more = held("--performance", own)
    assert name == f"{own} and vendor"
    assert more - held()[1] == pytest.approx(2)


def test_no_remedy_takes_more_memory_than_the_step_before(fleetsim: Run) -> None:
    for model in ("qwen-7b", "llama-3-8b"):
        done = fleetsim("fit", "--model", model, "--gpus", 1, "--format", "json")
        ladders = [entry["remedies"] for entry in json.loads(done.out)["offers"]]
        assert any(ladders)
        for step in (step for ladder in ladders for step in ladder):
            assert step["saves_gib"] >= 0 or "larger card" in step["change"]


def test_ways_that_the_job_forbids_are_not_listed(fleetsim: Run) -> None:
    done = fleetsim("fit", "--model", "qwen-7b", "--gpus", 4, "--split", "tensor")
    assert "the job asks for" not in done.out
    # One machine and several of one offer can be told apart.
    assert "several" in done.out.split("Ways not taken")[1].split("Memory of one card")[0]


def test_the_table_of_parts_names_offers_whole_and_once(fleetsim: Run) -> None:
    text = fleetsim("fit", "--model", "qwen-7b", "--gpus", 4).out.split("Memory of one card by part, GiB")[1]
    assert "rtx2080ti-11g-cloud" in text
    (line,) = [line for line in text.split("\n(") if "h100-80g-8x" in line][:1]
    assert " ".join(line.split()).count("h100-80g-8x") == 1
    for part in fit_text.PARTS.values():
        assert part in text


@pytest.mark.parametrize("options", [(), ("--both",)])
def test_a_terminal_of_80_signs_cuts_no_number(
    fleetsim: Run, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    wide = fleetsim("fit", "--model", "qwen1.5-110b", "--method", "full", *options)
    monkeypatch.setattr("sim.cli.console.PIPE_WIDTH", 80)
    for module in ("fit_text", "fit_both"):
        monkeypatch.setattr(f"sim.cli.{module}.is_narrow", lambda: True)
    done = fleetsim("fit", "--model", "qwen1.5-110b", "--method", "full", *options)
    assert max(map(len, done.out.splitlines())) <= 80
    numbers = [word for word in wide.out.split() if word.replace(",", "").replace(".", "").isdigit()]
    shown = set(done.out.split())
    assert [
        number for number in numbers if number.strip(",.") not in {word.strip(",.") for word in shown}
    ] == []
    assert "rtx2080ti-11g-cloud" in done.out


@pytest.mark.parametrize(
    "options",
    [
        ("--model", "qwen-7b", "--gpus", "7", "--split", "tensor"),
        ("--model", "qwen-7b", "--gpus", "3", "--split", "pipeline"),
        ("--model", "llama-2-7b", "--method", "qlora4", "--gpus", "2", "--split", "tensor"),
    ],
)
def test_a_split_that_cannot_be_is_an_answer(fleetsim: Run, options: tuple[str, ...]) -> None:
    done = fleetsim("fit", *options)
    assert done.code == 0
    assert "no way to divide" in " ".join(done.out.split())
