"""The published run that is nearest to a job, from the table of measurements that the physics carries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sim.claims.card_jobs import Run
from sim.physics.row_cells import text
from sim.physics.table import Measurements, measurements

__all__ = ["published_near"]

_NEAR = 2.0
"""Tokens of a step within this factor: what the physics calls measured."""


def published_near(runs: Sequence[Run], *, speed: bool = False) -> tuple[str, ...]:
    """A line for each job that has a published row of its model and method near to it: row, source, figure.

    Of several rows the one with the nearest number of tokens in a step; samples of many lengths, which
    break up the memory, are left out where memory is asked. For speed the card must be the same too, and
    so must the number of cards.
    """
    found = (_nearest(run, measurements(), speed=speed) for run in runs)
    return tuple(dict.fromkeys(line for line in found if line))


def _nearest(run: Run, table: Measurements, *, speed: bool) -> str:
    cases, own = table.cases, run.cases
    known = table.tokens_per_s if speed else table.memory_gib
    alike = (cases.model == own.model[0]) & (cases.full == own.full[0]) & (cases.bits == own.bits[0])
    alike &= (cases.checkpointing == own.checkpointing[0]) & np.isfinite(known)
    alike &= cases.data * cases.tensor * cases.pipeline == float(run.case.split.cards)
    alike &= table.for_speed if speed else table.for_memory & ~cases.ragged
    if speed:
        alike &= cases.gpu == own.gpu[0]
    apart = np.abs(np.log(cases.tokens / own.tokens[0]))
    alike &= apart <= np.log(_NEAR)
    if not alike.any():
        return ""
    place = int(np.flatnonzero(alike)[np.argmin(apart[alike])])
    row = table.rows[place]
    figure = f"{known[place]:,.1f} tokens/s" if speed else f"{known[place]:,.1f} GiB"
    job = f"{cases.micro_batch[place]:g} x {cases.seq_len[place]:g} tokens"
    where = f"{text(row, 'n_gpus') or '1'} x {text(row, 'gpu')}"
    source = text(row, "source").split(" @")[0]
    return f"published row {text(row, 'id')}, {source}: {text(row, 'model')}, {job}, {where}: {figure}"
