"""Constants fitted to a user's own measured runs, drawn towards the shipped ones where rows are few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.catalog import load_catalog
from sim.physics.cases import Flags, Floats
from sim.physics.constants import Constants, load_constants
from sim.physics.memory import card_memory
from sim.physics.memory_constants import MemoryConstants
from sim.physics.memory_fit import fit_memory
from sim.physics.speed_constants import SpeedConstants
from sim.physics.speed_fit import fit_speed
from sim.physics.speed_fit import group_weights as weights_of
from sim.physics.table import Measurements, read_table
from sim.physics.throughput import step_time

__all__ = ["Calibration", "Errors", "calibrate", "errors_of", "group_weights", "usable"]


@dataclass(frozen=True, slots=True)
class Errors:
    """Absolute relative errors of some rows; NaN where there are none."""

    rows: int
    median: float
    p90: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """What came out of a user's rows."""

    constants: Constants
    changed: Mapping[str, Any]
    """Sections and keys that differ from the shipped ones, nested as in a calibration file."""
    memory: tuple[Errors, Errors]
    """Before and after."""
    speed: tuple[Errors, Errors]
    skipped: tuple[tuple[int, str], ...]
    """Position and reason of rows that were not used."""


def calibrate(rows: Sequence[Mapping[str, Any]], prior: Constants) -> Calibration:
    """Fit the free constants to measured rows and say the errors before and after.

    Free are, of memory: the factors of the frameworks in the rows; of speed: the launch floor and the
    efficiency of the cards in the rows. Each is held to its shipped value by its
    spread, so that few rows move it little.
    """
    table = read_table(rows)
    for_memory, for_speed = usable(table)
    memory, speed = prior.memory, prior.speed
    if for_memory.any():
        memory = _memory(table.take(for_memory), prior.memory)
    if for_speed.any():
        speed = _speed(table.take(for_speed), prior.speed)
    tried = prior.model_copy(update={"memory": memory, "speed": speed})
    held = _memory_errors(table, for_memory, prior), _memory_errors(table, for_memory, tried)
    fast = _speed_errors(table, for_speed, prior), _speed_errors(table, for_speed, tried)
    # A fit that does not make the rows come out better in the median is not worth having.
    if not held[1].median < held[0].median:
        memory, held = prior.memory, (held[0], held[0])
    if not fast[1].median < fast[0].median:
        speed, fast = prior.speed, (fast[0], fast[0])
    after = prior.model_copy(update={"memory": memory, "speed": speed})
    return Calibration(
        constants=after,
        changed=_changed(load_constants(), after),
        memory=held,
        speed=fast,
        skipped=table.unread_rows,
    )


def usable(table: Measurements) -> tuple[Flags, Flags]:
    """Rows with a measured peak (traced ones are not of a card), and rows with a measured speed.

    A row whose `fit_mem` or `fit_thr` is 0 is left out: its source says that it is no such measurement.
    """
    memory = np.isfinite(table.memory_gib) & (table.memory_gib > 0) & ~table.traced
    speed = np.isfinite(table.tokens_per_s) & (table.tokens_per_s > 0) & np.isfinite(table.cases.tflops)
    columns = (table.column(name) for name in ("fit_mem", "fit_thr"))
    left = (np.array([text == "0" for text in column], dtype=bool) for column in columns)
    without_memory, without_speed = left
    return memory & ~without_memory, speed & ~without_speed


def group_weights(table: Measurements) -> Floats:
    """Weight of each row: rows of one source, model and method share the weight of their root."""
    keys = np.array(
        [
            "|".join(parts)
            for parts in zip(table.column("source"), table.cases.model, table.column("method"), strict=True)
        ]
    )
    return weights_of([str(key) for key in keys])


def errors_of(predicted: Floats, measured: Floats) -> Errors:
    """Absolute relative errors of predictions."""
    if not len(measured):
        return Errors(0, float("nan"), float("nan"))
    off = np.abs(predicted / measured - 1)
    return Errors(len(off), float(np.median(off)), float(np.quantile(off, 0.9)))


def _memory(table: Measurements, prior: MemoryConstants) -> MemoryConstants:
    names = [str(name) for name in np.unique(table.cases.stack[~table.allocated])]
    stacks = {**prior.stacks, **{name: prior.stack(name) for name in names}}
    free = [f"stacks.{name}.{key}" for name in names for key in ("state", "working", "fixed_gib")]
    if table.allocated.any():
        free.append("allocated.working")
    return fit_memory(
        table.cases,
        table.memory_gib,
        np.ones(len(table.rows)),
        prior.model_copy(update={"stacks": stacks}),
        reported=table.allocated,
        free=free,
    )


def _speed(table: Measurements, prior: SpeedConstants) -> SpeedConstants:
    gpus = load_catalog().gpus
    cards = [str(name) for name in np.unique(table.cases.gpu)]
    known = {name: _card_factor(prior, name) for name in cards}
    own = {name: gpus[name].efficiency if value is None else value for name, value in known.items()}
    widened = prior.model_copy(update={"cards": {**prior.cards, **own}})
    free = ["floor_s_per_layer", *(f"cards.{name}" for name in cards)]
    return fit_speed(table.cases, table.tokens_per_s, np.ones(len(table.rows)), widened, free)


def _card_factor(prior: SpeedConstants, name: str) -> float | None:
    """What a card's own factor starts from: its own, its chip's, or that of the card it is a slice of."""
    whole = name.partition("/")[0]
    for known in (name, prior.cards_like.get(name, ""), whole, prior.cards_like.get(whole, "")):
        if known in prior.cards:
            return prior.cards[known]
    return None


def _memory_errors(table: Measurements, rows: Flags, constants: Constants) -> Errors:
    own = table.take(rows)
    if not own.rows:
        return errors_of(np.zeros(0), np.zeros(0))
    return errors_of(card_memory(own.cases, constants.memory, reported=own.allocated).total, own.memory_gib)


def _speed_errors(table: Measurements, rows: Flags, constants: Constants) -> Errors:
    own = table.take(rows)
    if not own.rows:
        return errors_of(np.zeros(0), np.zeros(0))
    return errors_of(step_time(own.cases, constants.speed).tokens_per_s, own.tokens_per_s)


def _changed(before: Constants, after: Constants) -> dict[str, Any]:
    return {
        section: found
        for section in ("memory", "speed")
        if (found := _difference(_dump(before, section), _dump(after, section)))
    }


def _dump(constants: Constants, section: str) -> dict[str, Any]:
    data: dict[str, Any] = getattr(constants, section).model_dump(by_alias=True)
    return data


def _difference(before: Any, after: Any) -> Any:
    if isinstance(after, Mapping):
        old = before if isinstance(before, Mapping) else {}
        found = {key: _difference(old.get(key), value) for key, value in after.items()}
        return {key: value for key, value in found.items() if value is not None and value != {}}
    return None if before == after else after
