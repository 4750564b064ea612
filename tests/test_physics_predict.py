"""`fleetsim predict`: a table of runs in, the same table with five more columns out, or one clear message."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.physics.constants import load_constants
from sim.physics.predict import predict_rows
from sim.physics.table import carried
from tests.conftest import Outcome
from tests.physics_cases import case, speed, total

Run = Callable[..., Outcome]

SHIPPED = load_constants()
ADDED = ["predicted_peak_mem_gib", "predicted_tokens_per_s", "predicted_fits", "support", "reason"]
BASE = {
    "model": "qwen-14b",
    "method": "lora",
    "rank": "64",
    "micro_batch": "1",
    "seq_len": "2048",
    "gpu": "A100-SXM4-80GB",
    "n_gpus": "1",
    "stack": "hf",
}


def write(path: Path, rows: Sequence[dict[str, Any]], columns: Sequence[str] = ()) -> Path:
    """A table in the order of the columns."""
    names = list(columns or dict.fromkeys(name for row in rows for name in row))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    return path


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def predict(fleetsim: Run, tmp_path: Path) -> Callable[..., list[dict[str, str]]]:
    """Rows in, rows out, by the command."""

    def run(*rows: dict[str, Any], columns: Sequence[str] = ()) -> list[dict[str, str]]:
        out = tmp_path / "out.csv"
        done = fleetsim("predict", write(tmp_path / "in.csv", rows, columns), "-o", out)
        assert (done.code, done.err) == (0, "")
        return read(out)

    return run


def test_a_row_gets_five_more_columns(predict: Callable[..., list[dict[str, str]]]) -> None:
    (found,) = predict({**BASE, "mine": "kept, as it is"})
    assert list(found) == [*BASE, "mine", *ADDED]
    assert {name: found[name] for name in BASE} == BASE
    assert found["mine"] == "kept, as it is"
    # As `fit` has it for the same job: published 37.4 GiB and 1950 tokens a second.
    assert float(found["predicted_peak_mem_gib"]) == pytest.approx(total("qwen-14b", rank=64), abs=0.01)
    assert float(found["predicted_peak_mem_gib"]) == pytest.approx(37.4, rel=0.15)
    assert float(found["predicted_tokens_per_s"]) == pytest.approx(
        speed(case("qwen-14b", rank=64))[0], abs=0.1
    )
    assert float(found["predicted_tokens_per_s"]) == pytest.approx(1950, rel=0.15)
    assert (found["predicted_fits"], found["support"], found["reason"]) == ("true", "measured", "")


def test_the_kind_of_memory_is_honoured(predict: Callable[..., list[dict[str, str]]]) -> None:
    kinds = ("traced(fake tensors)", "allocated(max)", "reserved(max)")
    tensors, allocated, held = (
        float(row["predicted_peak_mem_gib"])
        for row in predict(*({**BASE, "mem_kind": kind} for kind in kinds))
    )
    assert tensors < allocated < held
    # 14.2e9 weights of 2 bytes stand in all of them.
    assert tensors > 26
    assert allocated == pytest.approx(tensors, rel=0.1)
    assert held - allocated > 0.5  # context and libraries at least


def test_whether_it_fits_is_asked_of_the_card_whatever_is_counted(
    predict: Callable[..., list[dict[str, str]]],
) -> None:
    tight = {**BASE, "gpu": "A100-SXM4-40GB", "micro_batch": "4"}  # 46 GiB by the published form
    kinds = ("traced", "allocated", "")
    assert [row["predicted_fits"] for row in predict(*({**tight, "mem_kind": kind} for kind in kinds))] == [
        "false"
    ] * 3
    assert predict({**BASE, "gpu": "24GB GPU"})[0]["predicted_fits"] == "false"
    assert predict({**BASE, "gpu": "48GB GPU"})[0]["predicted_fits"] == "true"


def test_rows_that_cannot_be_read_keep_empty_cells_and_a_reason(
    predict: Callable[..., list[dict[str, str]]],
) -> None:
    rows = predict(
        {**BASE, "model": "nobody-9b"},
        BASE,
        {**BASE, "micro_batch": ""},
        {**BASE, "gpu": "some card"},
        {**BASE, "method": "dora"},
        {**BASE, "seq_len": "-1"},
    )
    for row, word in (
        (rows[0], "catalogue"),
        (rows[2], "micro_batch"),
        (rows[4], "dora"),
        (rows[5], "seq_len"),
    ):
        assert [row[name] for name in ADDED[:4]] == [""] * 4
        assert word in row["reason"]
    assert rows[1]["reason"] == ""
    # Memory needs no card, speed does.
    unknown = rows[3]
    assert unknown["predicted_peak_mem_gib"] == rows[1]["predicted_peak_mem_gib"]
    assert (unknown["predicted_tokens_per_s"], unknown["predicted_fits"]) == ("", "")
    assert "card" in unknown["reason"]


def test_the_order_of_columns_makes_no_difference(predict: Callable[..., list[dict[str, str]]]) -> None:
    usual = predict(BASE)
    turned = predict(BASE, columns=list(reversed(BASE)))
    assert list(turned[0])[: len(BASE)] == list(reversed(BASE))
    assert [usual[0][name] for name in ADDED] == [turned[0][name] for name in ADDED]


def test_a_table_that_was_predicted_before_is_predicted_anew(
    predict: Callable[..., list[dict[str, str]]],
) -> None:
    old = {**BASE, "predicted_peak_mem_gib": "1", "support": "none", "zzz": "x"}
    (found,) = predict(old)
    assert list(found) == [*BASE, "zzz", *ADDED]
    assert float(found["predicted_peak_mem_gib"]) > 26


def test_files_from_windows_and_with_a_mark_are_read(fleetsim: Run, tmp_path: Path) -> None:
    text = "﻿" + ",".join(BASE) + "\r\n" + ",".join(BASE.values()) + "\r\n\r\n"
    (tmp_path / "in.csv").write_bytes(text.encode("utf-8"))
    done = fleetsim("predict", tmp_path / "in.csv", "-o", tmp_path / "new" / "out.csv")
    assert done.code == 0
    (found,) = read(tmp_path / "new" / "out.csv")
    assert found["model"] == "qwen-14b"
    assert found["predicted_fits"] == "true"
    assert "1 rows: 1 predicted" in done.out or "1 row" in done.out


def test_short_rows_end_in_empty_cells_and_quotes_are_kept(fleetsim: Run, tmp_path: Path) -> None:
    columns = [*BASE, "notes", "more"]
    cells = [*BASE.values(), '"one, two"']
    (tmp_path / "in.csv").write_text(",".join(columns) + "\n" + ",".join(cells) + "\n", encoding="utf-8")
    assert fleetsim("predict", tmp_path / "in.csv", "-o", tmp_path / "out.csv").code == 0
    (found,) = read(tmp_path / "out.csv")
    assert (found["notes"], found["more"]) == ("one, two", "")


def test_a_table_without_rows_stays_one(fleetsim: Run, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(",".join(BASE) + "\n", encoding="utf-8")
    assert fleetsim("predict", tmp_path / "in.csv", "-o", tmp_path / "out.csv").code == 0
    assert (tmp_path / "out.csv").read_text("utf-8") == ",".join([*BASE, *ADDED]) + "\n"


def head(*without: str) -> str:
    return ",".join(name for name in BASE if name not in without)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (head("gpu") + "\n", ("a column is missing", "'gpu'")),
        (head("model", "seq_len") + "\n", ("'model'", "'seq_len'")),
        (head() + ",gpu\n", ("a column stands twice", "'gpu'")),
        (b"", ("empty",)),
        (b"\n\n", ("empty",)),
        (head() + "\n" + ",".join([*BASE.values(), "one more"]) + "\n", ("9 cells", "8 columns", ":2")),
        ("model,gpu\nm\xfcller,x\n".encode("latin-1"), ("UTF-8",)),
        (b"\xff\xfe\x00m", ("UTF-8",)),
    ],
)
def test_what_is_no_table_is_refused_with_one_message(
    fleetsim: Run, tmp_path: Path, content: str | bytes, words: tuple[str, ...]
) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    done = fleetsim("predict", source, "-o", out)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: ")
    assert "in.csv" in done.err
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err
    assert not out.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv"]


def test_a_ragged_row_is_named_by_its_line_in_the_file(fleetsim: Run, tmp_path: Path) -> None:
    # Blank lines and a cell of two lines before it: the line is the file's, as an editor counts.
    good = ",".join([*BASE.values(), '"two\nlines"'])
    text = f"{head()},notes\n\n{good}\n\n{good},too many\n"
    (tmp_path / "in.csv").write_text(text, encoding="utf-8")
    done = fleetsim("predict", tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    assert done.code == 2
    assert "in.csv:6" in done.err or "in.csv:7" in done.err


def test_places_that_cannot_be_read_or_written(fleetsim: Run, tmp_path: Path) -> None:
    good = write(tmp_path / "in.csv", [BASE])
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for source, out, words in (
        (tmp_path / "none.csv", tmp_path / "out.csv", "does not exist"),
        (tmp_path, tmp_path / "out.csv", "folder"),
        (good, tmp_path / "file" / "out.csv", "cannot be written below this folder"),
        (good, tmp_path, "this is a folder; a file is needed"),
        (good, ".", "folder"),
        (good, "/", "folder"),
    ):
        done = fleetsim("predict", source, "-o", out)
        assert (done.code, done.out) == (2, "")
        assert words in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "in.csv"]
    assert fleetsim("predict", good, "-o", tmp_path / "out.csv", "--performance", "nope").code == 2
    assert not (tmp_path / "out.csv").exists()


def test_an_old_answer_stays_where_the_new_one_fails(fleetsim: Run, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("model\nx\n", encoding="utf-8")
    (tmp_path / "out.csv").write_text("old\n", encoding="utf-8")
    assert fleetsim("predict", tmp_path / "in.csv", "-o", tmp_path / "out.csv").code == 2
    assert (tmp_path / "out.csv").read_text("utf-8") == "old\n"


def test_the_carried_table_is_answered_row_for_row() -> None:
    rows = carried("measurements.csv")
    answers = predict_rows(rows, load_constants())
    assert len(answers) == len(rows) == 324
    for answer in answers:
        assert (answer.peak_mem_gib is None) <= bool(answer.reason)
        assert answer.peak_mem_gib is None or answer.peak_mem_gib > 0
        assert (answer.support == "") == (answer.peak_mem_gib is None)
    assert predict_rows([], load_constants()) == []


def test_the_traced_table_is_given_back_as_traced() -> None:
    rows = carried("traced_memory.csv")
    answers = predict_rows(rows, load_constants())
    ratios = [
        answer.peak_mem_gib / float(row["peak_mem_gib"])
        for answer, row in zip(answers, rows, strict=True)
        if answer.peak_mem_gib is not None and row.get("peak_mem_gib")
    ]
    assert len(ratios) > 150
    assert sorted(abs(ratio - 1) for ratio in ratios)[len(ratios) // 2] < 0.05


def test_a_calibration_file_is_taken(fleetsim: Run, tmp_path: Path) -> None:
    source = write(tmp_path / "in.csv", [BASE])
    more = load_constants().memory.context_gib + 2
    (tmp_path / "mine.yaml").write_text(f"memory: {{context_gib: {more}}}\n", encoding="utf-8")
    options = ("predict", source, "-o", tmp_path / "out.csv")
    assert fleetsim(*options).code == 0
    (usual,) = read(tmp_path / "out.csv")
    assert fleetsim(*options, "--performance", tmp_path / "mine.yaml").code == 0
    (own,) = read(tmp_path / "out.csv")
    added = float(own["predicted_peak_mem_gib"]) - float(usual["predicted_peak_mem_gib"])
    assert added == pytest.approx(2, abs=2e-3)


JUNK = (
    "",
    "0",
    "-1",
    "1e9",
    "inf",
    "nan",
    "abc",
    "tp8",
    "pp=999",
    "tp=0",
    "device_map",
    "zero3-offload",
    "n",
    "中文",
)
CELLS = (
    "n_gpus",
    "zero_or_fsdp",
    "rank",
    "micro_batch",
    "seq_len",
    "grad_accum",
    "mean_len",
    "tp",
    "pp",
    "gpu",
)
SHAPE = (
    "layers",
    "hidden",
    "heads",
    "kv_heads",
    "intermediate",
    "vocab",
    "bits",
    "stack",
    "optimizer",
    "notes",
)


@settings(max_examples=150, deadline=None)
@given(cells=st.dictionaries(st.sampled_from(CELLS + SHAPE), st.sampled_from(JUNK), min_size=1, max_size=5))
def test_no_cell_breaks_the_answer(cells: dict[str, str]) -> None:
    (answer,) = predict_rows([{**BASE, **cells}], SHIPPED)
    if answer.peak_mem_gib is None:
        assert answer.reason
        assert (answer.tokens_per_s, answer.fits, answer.support) == (None, None, "")
    else:
        assert 0 < answer.peak_mem_gib < float("inf")
        assert answer.tokens_per_s is None or 0 < answer.tokens_per_s < float("inf")
