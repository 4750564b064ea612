"""Measuring: cases, grids, rows and the table that grows, with steps that are made up; needs no torch."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from sim.catalog import load_catalog
from sim.cli import measure as command
from sim.errors import InputError, RunError
from sim.measure import (
    Card,
    Case,
    Done,
    Entry,
    Failed,
    Order,
    Outcome,
    OutOfMemory,
    RowFile,
    Settings,
    check_case,
    find_card,
    machine,
    measure,
    missing_packages,
    process,
    read_grid,
    row_of,
    run_case,
    training,
)
from sim.measure.machine import Found, readable_name
from sim.measure.outcome import OUTCOME
from sim.measure.worker import is_out_of_memory, main

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "facts" / "measurements.csv"
MODELS = load_catalog().models
CARD = Card("A100-SXM4-80GB", "NVIDIA A100-SXM4-80GB 79.3 GiB, driver 550.1")
DAY = date(2026, 3, 4)


def case(**fields: Any) -> Case:
    return Case.model_validate({"model": "llama-2-7b", **fields})


def done(*step_s: float, **fields: Any) -> Done:
    made = {
        "peak_gib": 20.5,
        "allocated_gib": 18.25,
        "mem_kind": "reserved(max)",
        "step_s": step_s or (2.0,),
        "first_loss": 10.4,
        "trained_params": 1,
        "versions": {"torch": "2.7.1", "peft": "0.17.0"},
    }
    return Done.model_validate({**made, **fields})


def row(**fields: Any) -> dict[str, str]:
    chosen = case(**fields)
    return row_of(chosen, MODELS[chosen.model], CARD, done(), DAY)


class Bench:
    """A card that holds so many tokens a step, and what it was asked for."""

    def __init__(self, holds: int, failing: Sequence[int] = ()) -> None:
        self.holds = holds
        self.failing = failing
        self.asked: list[tuple[int, int]] = []
        self.told: list[Entry] = []

    def __call__(self, order: Order) -> Outcome:
        shape = (order.case.micro_batch, order.case.seq_len)
        self.asked.append(shape)
        if order.case.seq_len in self.failing:
            return Failed(message="ended by signal 11")
        fits = shape[0] * shape[1] <= self.holds
        return done() if fits else OutOfMemory(message="CUDA out of memory. Tried to allocate 9 GiB.")

    def measure(self, file: Path, *cases: Case, card: Card = CARD) -> list[str]:
        orders = [Order(case=c, model=MODELS[c.model], settings=Settings()) for c in cases]
        entries = measure(orders, card, RowFile(file), self, self.told.append, lambda: DAY)
        return [entry.what for entry in entries]


def read(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


class TestRows:
    def test_a_row_has_the_columns_and_units_of_the_published_ones(self) -> None:
        cells = row_of(
            case(seq_len=1000, micro_batch=2), MODELS["llama-2-7b"], CARD, done(4.0, 0.5, 1.0), DAY
        )
        # 2 samples of 1,000 tokens in a median step of 1.0 s.
        assert (cells["tokens_per_s_total"], cells["s_per_iter"], cells["samples_per_s"]) == (
            "2000.0",
            "1",
            "2",
        )
        assert (cells["peak_mem_gib"], cells["peak_mem_gb_per_gpu"], cells["mem_unit"]) == (
            "20.500",
            "20.500",
            "GiB",
        )
        assert (cells["mem_kind"], cells["stack"], cells["loss_kernel"]) == ("reserved(max)", "hf", "hf5")
        assert (cells["params_b"], cells["bits"], cells["rank"], cells["target_modules"]) == (
            "6.738",
            "16",
            "16",
            "all-linear",
        )
        assert (cells["grad_ckpt"], cells["flash_attn"], cells["zero_or_fsdp"]) == ("y", "y", "none")
        assert (cells["n_gpus"], cells["grad_accum"], cells["gpu"]) == ("1", "1", "A100-SXM4-80GB")
        assert (cells["fit_mem"], cells["fit_thr"]) == ("1", "1")
        for part in ("allocated peak 18.250 GiB", "torch 2.7.1", "driver 550.1", "2026-03-04", "0.5 to 4 s"):
            assert part in cells["notes"]

    @pytest.mark.skipif(not SHARED.exists(), reason="the published rows are not here")
    def test_the_header_is_that_of_the_published_table(self, tmp_path: Path) -> None:
        file = tmp_path / "rows.csv"
        RowFile(file).append(row())
        assert file.read_text().splitlines()[0] == SHARED.read_text(encoding="utf-8").splitlines()[0]

    @pytest.mark.skipif(not SHARED.exists(), reason="the published rows are not here")
    def test_rows_go_below_published_ones_and_leave_them_as_they_are(self, tmp_path: Path) -> None:
        file = tmp_path / "rows.csv"
        before = SHARED.read_bytes()
        file.write_bytes(before)
        RowFile(file).append(row())
        assert file.read_bytes().startswith(before)
        assert [r["id"] for r in read(file)][-1] == "m-own-0001"

    @pytest.mark.parametrize(
        ("method", "bits", "rank", "targets", "quant"),
        [
            ("lora", "16", "16", "q,v", ""),
            ("full", "16", "", "", ""),
            ("qlora4", "4", "16", "q,v", "nf4dq"),
            ("qlora8", "8", "16", "q,v", "int8"),
        ],
    )
    def test_methods_are_written_as_in_the_published_table(
        self, method: str, bits: str, rank: str, targets: str, quant: str
    ) -> None:
        cells = row(method=method, targets="qv")
        found = tuple(cells[name] for name in ("bits", "rank", "target_modules", "quant_fmt"))
        assert found == (bits, rank, targets, quant)

    def test_a_cpu_says_nothing_of_a_card(self) -> None:
        cpu = Card("CPU", "measured on a CPU (x86_64), not on a card", is_gpu=False)
        result = done(allocated_gib=None, mem_kind="cpu(rss)")
        cells = row_of(case(), MODELS["llama-2-7b"], cpu, result, DAY)
        assert (cells["gpu"], cells["mem_kind"], cells["fit_mem"], cells["fit_thr"]) == (
            "CPU",
            "cpu(rss)",
            "0",
            "0",
        )
        assert "allocated" not in cells["notes"]

    def test_out_of_memory_has_no_figures(self) -> None:
        cells = row_of(case(), MODELS["llama-2-7b"], CARD, OutOfMemory(message="CUDA out of\nmemory."), DAY)
        assert cells["notes"].startswith("OOM; CUDA out of memory.; NVIDIA A100")
        figures = ("peak_mem_gib", "peak_mem_gb_per_gpu", "tokens_per_s_total", "s_per_iter", "samples_per_s")
        assert [cells[name] for name in figures] == [""] * 5
        assert (cells["fit_mem"], cells["fit_thr"], cells["mem_kind"]) == ("0", "0", "reserved(max)")


class TestRowFile:
    def test_ids_count_on_from_call_to_call(self, tmp_path: Path) -> None:
        file = tmp_path / "new" / "rows.csv"
        RowFile(file).append(row())
        assert RowFile(file).append(row(rank=8))["id"] == "m-own-0002"
        assert [r["id"] for r in read(file)] == ["m-own-0001", "m-own-0002"]
        assert [path.name for path in file.parent.iterdir()] == ["rows.csv"]

    def test_a_file_without_a_last_line_end_and_one_of_windows_are_kept_in_form(self, tmp_path: Path) -> None:
        file = tmp_path / "rows.csv"
        RowFile(file).append(row())
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n").rstrip(b"\r\n"))
        RowFile(file).append(row(rank=8))
        assert [r["rank"] for r in read(file)] == ["16", "8"]
        assert file.read_bytes().count(b"\r\n") == file.read_bytes().count(b"\n") == 3

    def test_another_header_is_refused_and_the_file_left_alone(self, tmp_path: Path) -> None:
        file = tmp_path / "rows.csv"
        file.write_text("a,b\n1,2\n")
        with pytest.raises(InputError, match=r"rows\.csv:1: the file has other columns"):
            RowFile(file)
        assert file.read_text() == "a,b\n1,2\n"

    def test_a_short_row_is_refused(self, tmp_path: Path) -> None:
        file = tmp_path / "rows.csv"
        RowFile(file).append(row())
        file.write_text(file.read_text() + "m-own-0002,half\n")
        with pytest.raises(InputError, match="row 2 has 2 cells, not 34"):
            RowFile(file)

    def test_a_folder_that_is_gone_is_an_error_of_the_run(self, tmp_path: Path) -> None:
        folder = tmp_path / "folder"
        folder.mkdir()
        file = RowFile(folder / "rows.csv")
        folder.rmdir()
        folder.write_text("now a file")
        with pytest.raises(RunError, match="the row cannot be written to"):
            file.append(row())

    def test_rows_of_other_sources_and_cards_are_not_ours(self, tmp_path: Path) -> None:
        file = tmp_path / "rows.csv"
        RowFile(file).append({**row(), "source": "somebody's README"})
        assert not list(RowFile(file).known("A100-SXM4-80GB"))
        RowFile(file).append(row())
        assert not list(RowFile(file).known("RTX 4090"))
        [(known, _)] = RowFile(file).known("A100-SXM4-80GB")
        assert known == case()


class TestSession:
    def test_each_case_is_written_at_once(self, tmp_path: Path) -> None:
        file = tmp_path / "rows.csv"
        rows_seen: list[int] = []

        def run(order: Order) -> Outcome:
            rows_seen.append(len(read(file)) if file.exists() else 0)
            if len(rows_seen) == 3:
                raise KeyboardInterrupt
            return done()

        orders = [
            Order(case=case(seq_len=n), model=MODELS["llama-2-7b"], settings=Settings())
            for n in (64, 128, 256)
        ]
        with pytest.raises(KeyboardInterrupt):
            measure(orders, CARD, RowFile(file), run, lambda _: None, lambda: DAY)
        assert rows_seen == [0, 1, 2]
        # The next call goes on with the third.
        bench = Bench(10**9)
        assert bench.measure(file, *(order.case for order in orders)) == ["known", "known", "done"]
        assert bench.asked == [(1, 256)]
        assert [r["seq_len"] for r in read(file)] == ["64", "128", "256"]

    def test_larger_cases_are_skipped_after_one_was_out_of_memory(self, tmp_path: Path) -> None:
        file, bench = tmp_path / "rows.csv", Bench(holds=2048)
        shapes = [(1, 2048), (4, 1024), (4, 2048), (8, 1024), (8, 512), (2, 1024)]
        found = bench.measure(file, *(case(micro_batch=m, seq_len=s) for m, s in shapes))
        # 8 x 512 is shorter than the 4 x 1024 that failed, and is tried; it fails by itself.
        assert found == ["done", "oom", "skipped", "skipped", "oom", "done"]
        assert bench.asked == [(1, 2048), (4, 1024), (8, 512), (2, 1024)]
        notes = [r["notes"].split(";")[0] for r in read(file)]
        skipped = "OOM (skipped: a smaller case was out of memory)"
        assert notes[1:5] == ["OOM", skipped, skipped, "OOM"]
        assert read(file)[2]["peak_mem_gib"] == ""

    @pytest.mark.parametrize(
        "other",
        [
            {"model": "llama-2-13b"},
            {"method": "qlora4"},
            {"checkpointing": False},
            {"attention": "eager"},
            {"targets": "qv"},
            {"rank": 8},
            {"seq_len": 2047},
            {"micro_batch": 1, "seq_len": 8192},
        ],
    )
    def test_a_case_of_another_kind_or_smaller_in_one_way_is_tried(
        self, tmp_path: Path, other: dict[str, Any]
    ) -> None:
        large = case(micro_batch=2, seq_len=2048)
        bench = Bench(holds=0)
        found = bench.measure(tmp_path / "rows.csv", large, large.model_copy(update=other))
        assert found == ["oom", "oom"]

    def test_an_earlier_call_s_out_of_memory_spares_larger_cases_on_that_card_only(
        self, tmp_path: Path
    ) -> None:
        file = tmp_path / "rows.csv"
        assert Bench(0).measure(file, case(seq_len=1024)) == ["oom"]
        assert Bench(10**9).measure(file, case(seq_len=1024), case(seq_len=4096)) == ["known", "skipped"]
        other = Card("H100-SXM5-80GB", "another card")
        assert Bench(10**9).measure(file, case(seq_len=4096), card=other) == ["done"]

    def test_a_crash_leaves_no_row_and_the_others_go_on(self, tmp_path: Path) -> None:
        file = tmp_path / "rows.csv"
        cases = [case(seq_len=n) for n in (256, 512, 1024)]
        bench = Bench(10**9, failing=[512])
        assert bench.measure(file, *cases) == ["done", "failed", "done"]
        assert [r["seq_len"] for r in read(file)] == ["256", "1024"]
        assert [entry.message for entry in bench.told if entry.what == "failed"] == ["ended by signal 11"]
        assert Bench(10**9).measure(file, *cases) == ["known", "done", "known"]

    def test_full_fine_tuning_has_no_rank_to_tell_cases_apart(self, tmp_path: Path) -> None:
        file = tmp_path / "rows.csv"
        full = case(method="full", rank=8)
        assert Bench(0).measure(file, full) == ["oom"]
        found = Bench(0).measure(
            file, case(method="full", rank=4), case(method="full", rank=4, micro_batch=2)
        )
        assert found == ["known", "skipped"]


class TestGrid:
    def write(self, folder: Path, text: str) -> Path:
        file = folder / "grid.yaml"
        file.write_text(text)
        return file

    def problems(self, folder: Path, text: str) -> list[str]:
        with pytest.raises(InputError) as caught:
            read_grid(self.write(folder, text), MODELS)
        return [str(problem).removeprefix(f"{folder}/") for problem in caught.value.problems]

    def test_lists_are_combined_and_small_cases_come_first(self, tmp_path: Path) -> None:
        text = "models: [llama-3-8b, llama-2-7b]\nseq_len: [2048, 512]\nmicro_batch: [4, 1]\n"
        found = [(c.model, c.micro_batch, c.seq_len) for c in read_grid(self.write(tmp_path, text), MODELS)]
        shapes = [(1, 512), (4, 512), (1, 2048), (4, 2048)]
        assert found == [(model, *shape) for model in ("llama-3-8b", "llama-2-7b") for shape in shapes]

    def test_equal_cases_are_measured_once(self, tmp_path: Path) -> None:
        text = (
            "models: [llama-2-7b]\nmethods: [full, lora]\nrank: [8, 16]\n"
            "cases:\n  - {model: llama-2-7b}\n  - {model: llama-2-7b, targets: qv}\n"
        )
        found = [(c.method, c.rank, c.targets) for c in read_grid(self.write(tmp_path, text), MODELS)]
        assert found == [
            ("full", 8, "all-linear"),
            ("lora", 8, "all-linear"),
            ("lora", 16, "all-linear"),
            ("lora", 16, "qv"),
        ]

    def test_a_mistyped_key_is_named_with_its_line(self, tmp_path: Path) -> None:
        [problem] = self.problems(tmp_path, "models: [llama-2-7b]\nseq_length: [512]\n")
        assert problem.startswith("grid.yaml:2: seq_length: unknown key")
        assert "did you mean 'seq_len'" in problem

    def test_an_unknown_model_is_named_once_with_the_known_ones(self, tmp_path: Path) -> None:
        text = "models:\n  - llama-2-7b\n  - llama-2-8b\nseq_len: [512, 1024]\n"
        [problem] = self.problems(tmp_path, text)
        assert problem.startswith("grid.yaml:3: models.1: the base model must be one of the catalogue")
        assert "llama-2-13b" in problem

    def test_wrong_values_are_all_named(self, tmp_path: Path) -> None:
        text = (
            "models: [llama-2-7b]\nmicro_batch: [1, 0]\nmethods: [lora, dora]\n"
            "cases:\n  - model: llama-2-7b\n    rank: -1\n"
        )
        found = self.problems(tmp_path, text)
        places = [problem.split(": ")[:2] for problem in found]
        assert sorted(places) == [
            ["grid.yaml:2", "micro_batch.1"],
            ["grid.yaml:3", "methods.1"],
            ["grid.yaml:6", "cases.0.rank"],
        ]

    def test_an_empty_list_and_a_wrong_item_are_one_problem_each(self, tmp_path: Path) -> None:
        [empty] = self.problems(tmp_path, "models: [llama-2-7b]\nmethods: []\n")
        assert empty == "grid.yaml:2: methods: an empty list leaves nothing to combine"
        [wrong] = self.problems(tmp_path, "models: [llama-2-7b]\nseq_len: [1]\n")
        assert wrong.startswith("grid.yaml:2: seq_len.0: Input should be greater than or equal to 2")

    def test_a_rank_above_the_hidden_size(self, tmp_path: Path) -> None:
        text = "models: [llama-2-7b]\nrank: [16, 5000]\ncases:\n  - {model: llama-2-7b, rank: 4097}\n"
        rule = "the rank may not be above the hidden size of llama-2-7b, 4096"
        assert self.problems(tmp_path, text) == [
            f"grid.yaml:2: rank.1: {rule} (found 5000)",
            f"grid.yaml:4: cases.0.rank: {rule} (found 4097)",
        ]

    def test_an_empty_grid_and_a_missing_file(self, tmp_path: Path) -> None:
        [problem] = self.problems(tmp_path, "seq_len: [512]\n")
        assert problem == "grid.yaml: the grid has no cases: it needs models, cases or both"
        with pytest.raises(InputError, match="the grid cannot be read: No such file"):
            read_grid(tmp_path / "none.yaml", MODELS)

    def test_the_example_of_the_documents(self) -> None:
        cases = read_grid(ROOT / "docs" / "measure-grid.yaml", MODELS)
        assert 18 <= len(cases) <= 24
        assert {c.model for c in cases} == {"llama-2-7b", "llama-3-8b", "llama-2-13b"}
        assert {c.method for c in cases} == {"lora"}
        assert {c.checkpointing for c in cases} == {True, False}
        assert (min(c.seq_len for c in cases), max(c.seq_len for c in cases)) == (512, 8192)
        assert (min(c.micro_batch for c in cases), max(c.micro_batch for c in cases)) == (1, 8)


class TestMachine:
    @pytest.mark.parametrize(
        ("torch_name", "label"),
        [
            ("NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"),
            ("NVIDIA GeForce RTX 3090", "RTX 3090"),
            ("NVIDIA H100 80GB HBM3", "H100-SXM5-80GB"),
            ("Tesla T4", "T4-16GB"),
            ("NVIDIA A10G", "A10G-24GB"),
            ("NVIDIA A100-SXM4-40GB MIG 3g.20gb", "A100-SXM4-40GB MIG 3g.20gb"),
        ],
    )
    def test_cards_are_named_as_in_the_published_table(self, torch_name: str, label: str) -> None:
        assert readable_name(torch_name) == label

    def test_no_card_is_said_plainly(self) -> None:
        with pytest.raises(InputError, match=r"no CUDA card here .* --device cpu"):
            find_card("cuda", None, lambda: Found(cuda=False, torch="2.7.1+cpu"))

    def test_a_name_of_one_s_own_and_a_card_in_use(self) -> None:
        found = Found(cuda=True, name="NVIDIA L40S", memory_gib=44.5, taken_gib=9.0, driver="550.1")
        card = find_card("cuda", "mine", lambda: found)
        assert (card.label, card.is_shared) == ("mine", True)
        assert card.description == "NVIDIA L40S 44.5 GiB, driver 550.1"

    def test_missing_and_old_libraries_are_named_with_the_command(self) -> None:
        here = {"torch": "2.13.0+cpu", "transformers": "4.57.1"}
        error = missing_packages([case()], here.get)
        assert error is not None
        assert "needs transformers 5.0 or newer (here: 4.57.1), peft (not installed here);" in str(error)
        assert "pip install 'fleetsim[measure]'" in str(error)

    def test_bitsandbytes_is_asked_for_by_quantised_cases_only(self) -> None:
        here = {"torch": "2.6.0", "transformers": "5.0.0", "peft": "0.18.0"}
        assert missing_packages([case(), case(method="full")], here.get) is None
        assert "pip install bitsandbytes" in str(missing_packages([case(), case(method="qlora8")], here.get))

    def test_a_model_with_experts_is_refused(self) -> None:
        dense = MODELS["llama-2-7b"]
        sparse = dense.model_copy(update={"id": "sparse", "experts": 8})
        [(field, problem)] = check_case(case(model="sparse"), {"sparse": sparse})
        assert field == "model"
        assert "several experts" in problem.rule


class TestWorker:
    @pytest.mark.parametrize(
        ("error", "full"),
        [
            (RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB."), True),
            (
                RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
                True,
            ),
            (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"), True),
            (MemoryError(), True),
            (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), False),
        ],
    )
    def test_errors_that_mean_a_full_card(self, error: Exception, full: bool) -> None:
        assert is_out_of_memory(error) is full

    def ask(self, monkeypatch: pytest.MonkeyPatch, folder: Path, error: Exception) -> Outcome:
        """What the worker writes when the steps end in an error."""

        def train(order: Order) -> Done:
            assert order.case.seq_len == 512
            raise error

        monkeypatch.setattr(training, "train", train)
        order = Order(case=case(seq_len=512), model=MODELS["llama-2-7b"], settings=Settings())
        (folder / "order.json").write_text(order.model_dump_json())
        assert main(["case", str(folder / "answer.json"), str(folder / "order.json")]) == 0
        return OUTCOME.validate_json((folder / "answer.json").read_bytes())

    def test_a_full_card_is_an_answer(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        error = RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB.\nand more")
        outcome = self.ask(monkeypatch, tmp_path, error)
        assert outcome == OutOfMemory(message="CUDA out of memory. Tried to allocate 2.00 GiB.")

    def test_another_error_is_none(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        with pytest.raises(RuntimeError, match="a wrong shape"):
            self.ask(monkeypatch, tmp_path, RuntimeError("a wrong shape"))
        assert not (tmp_path / "answer.json").exists()

    def test_a_worker_that_dies_is_a_failed_case_with_its_last_words(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        script = "import sys; print('a line'); sys.exit('  the last word')"
        monkeypatch.setattr(process, "_command", lambda *_: [sys.executable, "-c", script])
        outcome = run_case(Order(case=case(), model=MODELS["llama-2-7b"], settings=Settings()))
        assert outcome == Failed(message="ended with code 1: a line | the last word")

    def test_a_worker_that_is_killed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        script = "import os; os.kill(os.getpid(), 9)"
        monkeypatch.setattr(process, "_command", lambda *_: [sys.executable, "-c", script])
        outcome = run_case(Order(case=case(), model=MODELS["llama-2-7b"], settings=Settings()))
        assert isinstance(outcome, Failed)
        assert outcome.message.startswith("ended by signal 9")

    @pytest.mark.skipif(os.name != "posix", reason="signals")
    def test_a_worker_does_not_outlive_its_parent(self, tmp_path: Path) -> None:
        pid_file = tmp_path / "pid"
        child = (
            "import os, pathlib, sys, threading, time; from sim.measure import worker; "
            "threading.Thread(target=worker._end_with_parent, daemon=True).start(); "
            f"pathlib.Path({str(pid_file)!r}).write_text(str(os.getpid())); time.sleep(60)"
        )
        parent = f"from sim.measure import process; process._wait([{sys.executable!r}, '-c', {child!r}], 2)"
        with subprocess.Popen([sys.executable, "-c", parent]) as running:
            wait_for(lambda: pid_file.exists() and pid_file.read_text() != "")
            running.send_signal(signal.SIGKILL)
        wait_for(lambda: not alive(int(pid_file.read_text())))


def wait_for(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be noticed does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


class TestCommand:
    @pytest.fixture
    def call(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tuple[Any, Bench]]:
        """The command on a made-up card; returns what it did and what the card was asked for."""
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(command, "missing_packages", lambda _: None)
        monkeypatch.setattr(command, "find_card", lambda *_: CARD)
        app = typer.Typer()
        app.command()(command.measure)

        def run(*arguments: object, bench: Bench | None = None) -> tuple[Any, Bench]:
            bench = bench or Bench(2048)
            monkeypatch.setattr(command, "run_case", bench)
            return CliRunner().invoke(app, [str(argument) for argument in arguments]), bench

        return run

    def test_one_case_becomes_one_row(self, call: Any, tmp_path: Path) -> None:
        result, _ = call("--model", "mistral-7b", "--seq-len", 1024, "--no-checkpointing", "--targets", "qv")
        assert result.exception is None
        [cells] = read(tmp_path / "measurements.csv")
        # 1,024 tokens in 2 s, by the made-up card.
        assert (cells["model"], cells["tokens_per_s_total"], cells["grad_ckpt"]) == (
            "mistral-7b",
            "512.0",
            "n",
        )
        assert "512.0" in result.stdout

    def test_a_grid_that_is_stopped_and_called_again(self, call: Any, tmp_path: Path) -> None:
        (tmp_path / "grid.yaml").write_text("models: [llama-2-7b]\nseq_len: [1024, 2048, 4096, 8192]\n")
        result, _ = call("--grid", "grid.yaml", "-o", "rows.csv", bench=Bench(2048, failing=[2048]))
        assert isinstance(result.exception, RunError)
        assert "1 of 4 cases ended without a row" in str(result.exception)
        result, bench = call("--grid", "grid.yaml", "-o", "rows.csv")
        assert result.exception is None
        assert bench.asked == [(1, 2048)]
        assert [r["seq_len"] for r in read(tmp_path / "rows.csv")] == ["1024", "4096", "8192", "2048"]

    def test_json_is_one_document(self, call: Any) -> None:
        import json

        result, _ = call("--model", "llama-2-7b", "--micro-batch", 2, "--format", "json")
        document = json.loads(result.stdout)
        [entry] = document["cases"]
        assert (document["gpu"], entry["result"], entry["row"]["peak_mem_gib"]) == (
            "A100-SXM4-80GB",
            "oom",
            "",
        )

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((), "--model: say what to measure"),
            (
                ("--model", "llama-2-9b"),
                "--model: the base model must be one of the catalogue (found 'llama-2-9b')",
            ),
            (
                ("--model", "llama-2-7b", "--rank", "4097"),
                "--rank: the rank may not be above the hidden size",
            ),
            (
                ("--model", "llama-2-7b", "--rank", "0"),
                "rank: Input should be greater than or equal to 1 (found 0)",
            ),
            (
                ("--model", "llama-2-7b", "--seq-len", "-5"),
                "seq_len: Input should be greater than or equal to 2",
            ),
            (("--model", "llama-2-7b", "--micro-batch", "0"), "micro_batch: Input should be greater"),
            (("--model", "llama-2-7b", "--grid", "grid.yaml"), "give either --model or --grid, not both"),
            (
                ("--grid", "grid.yaml", "--rank", "8"),
                "--rank: the cases of a --grid are described in its file",
            ),
            (("--model", "llama-2-7b", "-o", "other.csv"), "other.csv:1: the file has other columns"),
        ],
    )
    def test_wrong_options_are_refused_before_anything_runs(
        self, call: Any, tmp_path: Path, arguments: tuple[str, ...], message: str
    ) -> None:
        (tmp_path / "other.csv").write_text("a,b\n")
        result, bench = call(*arguments)
        assert isinstance(result.exception, InputError)
        assert result.exception.exit_code == 2
        assert message in str(result.exception)
        assert bench.asked == []
        assert not (tmp_path / "measurements.csv").exists()

    def test_without_the_libraries(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(machine, "_version_of", lambda _: None)
        app = typer.Typer()
        app.command()(command.measure)
        result = CliRunner().invoke(app, ["--model", "llama-2-7b"])
        assert isinstance(result.exception, InputError)
        assert "pip install 'fleetsim[measure]'" in str(result.exception)


def test_the_rest_of_the_program_does_without_the_libraries() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('torch', 'transformers', 'peft', 'bitsandbytes'))); "
        "import sim.measure.worker, sim.measure.training, sim.measure.network, sim.measure.quantised"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
