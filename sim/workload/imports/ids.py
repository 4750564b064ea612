"""Ids that come again: rows that are the same in every cell count once, others are numbered.

Five million ids must not stand in memory as five million Python texts, so rows are compared by a hash
first, some at a time, and by their cells where hashes agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sim.workload.imports.cells import Bools, Ints
from sim.workload.imports.columns import codes, ints
from sim.workload.imports.tally import Tally

__all__ = ["unique_ids"]

Hashes: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]

_ROWS = 200_000
"""Rows looked at together."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_OWN_NAME = "job-"
"""Jobs without an id are named by their line."""


def unique_ids(jobs: pa.Table, tally: Tally) -> pa.Table:
    """Drop rows that are the same in every cell, and number ids that come again: `sweep`, `sweep#2`."""
    hashed = _hashes(jobs.column("id"))
    nameless = pc.is_null(jobs.column("id")).to_numpy()
    shared = _shared(hashed) & ~nameless
    if not shared.any() and not nameless.any():
        return jobs
    double = _doubles(jobs, hashed, shared)
    if double.any():
        tally.merged["doubles (every cell the same, and the id)"] += int(double.sum())
        jobs, hashed = jobs.filter(pa.array(~double)), hashed[~double]
        nameless, shared = nameless[~double], shared[~double]
    number = _turns(jobs, hashed, shared)
    again = number > 1
    lines = ints(jobs, "line")
    tally.odd("an id that came before; numbered, as in name#2", lines[again][:5].tolist(), int(again.sum()))
    return _named(jobs, lines, nameless, number)


def _slices(rows: int) -> Iterator[slice]:
    for first in range(0, rows, _ROWS):
        yield slice(first, min(first + _ROWS, rows))


def _hashes(column: pa.ChunkedArray) -> Hashes:
    """A hash of each text; of no text some number."""
    found = np.zeros(len(column), dtype=np.uint64)
    for part in _slices(len(column)):
        words = column.slice(part.start, part.stop - part.start).to_pandas().to_numpy(dtype=object)
        found[part] = pd.util.hash_array(words, categorize=False)
    return found


def _shared(hashed: Hashes) -> Bools:
    """Rows whose number another row has as well."""
    ordered = np.sort(hashed)
    twice = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    del ordered
    found = np.zeros(len(hashed), dtype=bool)
    for part in _slices(len(hashed) if len(twice) else 0):
        place = np.minimum(np.searchsorted(twice, hashed[part]), len(twice) - 1)
        found[part] = twice[place] == hashed[part]
    return found


def _doubles(jobs: pa.Table, hashed: Hashes, shared: Bools) -> Bools:
    """Rows that an earlier row equals in every cell but its line."""
    whole = hashed.copy()
    for name in jobs.column_names:
        if name not in ("line", "id"):
            for part in _slices(len(jobs)):
                cells = _numbers(jobs.column(name).slice(part.start, part.stop - part.start))
                whole[part] = (whole[part] ^ (whole[part] >> np.uint64(29))) * _MIX + cells
    alike = np.flatnonzero(_shared(whole) & shared)
    double = np.zeros(len(jobs), dtype=bool)
    if len(alike):
        few = jobs.drop_columns(["line"]).take(pa.array(alike))
        frame = pa.table({name: _plain(few.column(name)) for name in few.column_names}).to_pandas()
        double[alike] = frame.duplicated().to_numpy()
    return double


def _numbers(cells: pa.ChunkedArray) -> Hashes:
    """Cells as numbers: the same where the cells are."""
    plain = _plain(cells)
    known = pc.is_valid(plain).to_numpy(zero_copy_only=False)
    if pa.types.is_boolean(plain.type):
        plain = plain.cast(pa.int8())
    values = pc.fill_null(plain, 0).to_numpy(zero_copy_only=False)
    bits = values.view(np.uint64) if values.dtype == np.float64 else values.astype(np.int64).view(np.uint64)
    return np.where(known, bits * _MIX, np.uint64(1))


def _plain(column: pa.ChunkedArray) -> pa.Array:
    """Texts as their numbers: equal where the texts are equal."""
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0)
    if pa.types.is_string(whole.type):
        whole = whole.dictionary_encode()
    return whole.indices if pa.types.is_dictionary(whole.type) else whole


def _turns(jobs: pa.Table, hashed: Hashes, shared: Bools) -> Ints:
    """Which row with its id each row is, from 1, in the order of the file."""
    rows = np.flatnonzero(shared)
    rows = rows[np.argsort(hashed[rows], kind="stable")]
    begins = np.ones(len(rows), dtype=bool)
    begins[1:] = hashed[rows[1:]] != hashed[rows[:-1]]
    if _agree(jobs.column("id"), rows, begins):
        first = np.maximum.accumulate(np.where(begins, np.arange(len(rows)), 0))
        turn = np.asarray(np.arange(len(rows)) - first + 1, dtype=np.int64)
    else:  # two texts with one hash: the texts themselves decide
        of_text = pd.Series(codes(jobs.take(pa.array(rows)), "id"))
        turn = np.asarray(of_text.groupby(of_text).cumcount().to_numpy() + 1, dtype=np.int64)
    number = np.ones(len(jobs), dtype=np.int64)
    number[rows] = turn
    return number


def _agree(ids: pa.ChunkedArray, rows: Ints, begins: Bools) -> bool:
    """Whether rows of one hash have one text, too."""
    for part in _slices(len(rows) - 1):
        here = ids.take(pa.array(rows[part]))
        following = ids.take(pa.array(rows[part.start + 1 : part.stop + 1]))
        same = pc.equal(here, following).to_numpy()
        if not (same | begins[part.start + 1 : part.stop + 1]).all():
            return False
    return True


def _named(jobs: pa.Table, lines: Ints, nameless: Bools, number: Ints) -> pa.Table:
    """The jobs with an id each that no other has."""
    ids = jobs.column("id")
    # A new name can only meet an id with its sign, or one that looks like a job without an id.
    numbered = pc.match_substring(ids, "#")
    if nameless.any():
        numbered = pc.or_(numbered, pc.starts_with(ids, _OWN_NAME))
    met = ids.filter(pc.fill_null(numbered, False)).to_pylist()
    stems = {name.rpartition("#")[0] for name in met} | {n for n in met if n.startswith(_OWN_NAME)}
    by_hand = nameless.copy()
    if stems:
        careful = pc.is_in(ids, value_set=pa.array(sorted(stems), type=pa.string())).to_numpy()
        by_hand |= careful & (number > 1)
    chosen = _by_hand(ids, lines, nameless, number, np.flatnonzero(by_hand), set(met))
    pieces = []
    for part in _slices(len(ids)):
        names = ids.slice(part.start, part.stop - part.start).combine_chunks()
        counts = pa.array(number[part]).cast(pa.string())
        again = pa.array((number[part] > 1) & ~by_hand[part])
        names = pc.if_else(again, pc.binary_join_element_wise(names, counts, "#"), names)
        own = np.flatnonzero(by_hand[part])
        if len(own):
            new = pa.array([chosen[part.start + row] for row in own.tolist()], type=pa.string())
            names = pc.replace_with_mask(names, pa.array(by_hand[part]), new)
        pieces.append(names)
    return jobs.set_column(jobs.schema.get_field_index("id"), "id", pa.chunked_array(pieces))


def _by_hand(
    ids: pa.ChunkedArray, lines: Ints, nameless: Bools, number: Ints, rows: Ints, taken: set[str]
) -> dict[int, str]:
    """Row -> name, one after the other: the first free one."""
    words = ids.take(pa.array(rows)).to_pylist()
    next_free: dict[str, int] = {}
    found: dict[int, str] = {}
    for row, word in zip(rows.tolist(), words, strict=True):
        stem = word or f"{_OWN_NAME}{lines[row]}"
        count = 1 if nameless[row] else max(int(number[row]), next_free.get(stem, 0))
        name = stem if nameless[row] else f"{stem}#{count}"
        while name in taken:
            count += 1
            name = f"{stem}#{count}"
        taken.add(name)
        next_free[stem] = count + 1
        found[row] = name
    return found
