"""Ids that come again, against a plain reading row by row; and what five million rows may not take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.workload.imports import ids
from sim.workload.imports.columns import table
from sim.workload.imports.ids import unique_ids
from sim.workload.imports.tally import Tally

Row = tuple[str | None, int, str | None]
NAMES = [None, "a", "b", "a#2", "a#3", "a#2#2", "b#x", "#2", "job-1", "job-2", "job-3", "job-2#2"]


def by_hand(rows: Sequence[Row]) -> tuple[list[str], list[int], int]:
    """Names, lines and number of doubles: a double has an id, and each cell of an earlier row."""
    kept: list[tuple[int, Row]] = []
    for line, row in enumerate(rows, 1):
        if row[0] is None or all(row != other for _, other in kept):
            kept.append((line, row))
    taken = {row[0] for _, row in kept}
    turns: dict[str, int] = {}
    names = []
    for line, (name, _, _) in kept:
        count, stem = 1, f"job-{line}" if name is None else name
        if name is not None:
            count = turns[name] = turns.get(name, 0) + 1
        new = stem if count == 1 else f"{stem}#{count}"
        while new in taken and (count > 1 or name is None):
            count += 1
            new = f"{stem}#{count}"
        if name is not None:
            turns[name] = count
        taken.add(new)
        names.append(new)
    return names, [line for line, _ in kept], len(rows) - len(kept)


def made(rows: Sequence[Row]) -> pa.Table:
    return table(
        {
            "line": np.arange(1, len(rows) + 1),
            "id": [name for name, _, _ in rows],
            "gpus": np.array([gpus for _, gpus, _ in rows], dtype=np.int64),
            "team": [team for _, _, team in rows],
        }
    )


@settings(deadline=None, max_examples=400)
@given(
    st.lists(
        st.tuples(st.sampled_from(NAMES), st.integers(1, 2), st.sampled_from([None, "red"])), max_size=14
    ),
    st.integers(1, 5),
)
def test_ids_are_numbered_as_a_reader_would(rows: list[Row], block: int) -> None:
    names, lines, doubles = by_hand(rows)
    tally = Tally()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ids, "_ROWS", block)
        found = unique_ids(made(rows), tally)
    assert found.column("id").to_pylist() == names
    assert found.column("line").to_pylist() == lines
    assert sum(tally.merged.values()) == doubles
    assert len(set(names)) == len(names)


def test_texts_with_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ids, "_hashes", lambda column: np.full(len(column), 7, dtype=np.uint64))
    rows: list[Row] = [("a", 1, None), ("b", 1, None), ("a", 2, None), ("b", 1, None), ("c", 1, None)]
    found = unique_ids(made(rows), Tally())
    assert found.column("id").to_pylist() == ["a", "b", "a#2", "c"]
