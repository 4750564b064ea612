"""How well a figure is supported by the carried measurements.

`measured`: a row of this very model, method, kind of split and checkpointing, on this chip and link
(speed only) and with at least half and at most twice the tokens of a micro-step. `interpolated`: rows of
other models or lengths of the same kind lie on both sides of it in size and in tokens. `extrapolated`:
anything else.
"""

from __future__ import annotations

import functools

import numpy as np

from sim.physics.cases import Cases, Floats, Names
from sim.physics.table import measurements

__all__ = ["TAGS", "memory_support", "speed_support", "worse"]

TAGS = ("measured", "interpolated", "extrapolated")
"""From the best supported to the least."""

_NEAR = 2.0
"""Tokens count as the same neighbourhood within this factor."""

_CHIPS = {"A100-40G": "A100", "A100-80G": "A100", "A100-40G-PCIe": "A100", "A100-80G-PCIe": "A100"}
"""Cards with one chip at one peak; slices and cards with another peak stand alone."""


def memory_support(cases: Cases) -> Names:
    """The tag of each row's memory; the card plays no part in what a job needs."""
    return _tags(cases, _kinds(cases, speed=False), _published(speed=False))


def speed_support(cases: Cases) -> Names:
    """The tag of each row's speed."""
    return _tags(cases, _kinds(cases, speed=True), _published(speed=True))


def worse(first: str, second: str) -> str:
    """The lesser of two tags."""
    return max(first, second, key=TAGS.index)


@functools.cache
def _published(*, speed: bool) -> tuple[Names, Names, Floats, Floats]:
    """Kind, model, size and tokens of the rows that say something."""
    table = measurements()
    table = table.take(table.for_speed if speed else table.for_memory)
    cases = table.cases
    return _kinds(cases, speed=speed), cases.model, cases.params, cases.tokens


def _kinds(cases: Cases, *, speed: bool) -> Names:
    """What must agree before rows can be compared at all, as one text a row."""
    method = np.where(
        cases.full, "full", np.where(cases.bits == 16, "lora", cases.bits.astype(int).astype(str))
    )
    group = cases.tensor * cases.pipeline
    sharing = np.where(cases.zero >= 2, "sharded", "whole")
    # Rows of a layer split, one stage at work at a time, say nothing of cut matrices or full pipelines.
    sharing = np.where(cases.pipeline > 1, np.where(cases.naive, "layer split", "pipeline"), sharing)
    sharing = np.where(cases.tensor > 1, np.char.add("tensor, ", sharing), sharing)
    sharing = np.where(cases.data * group == 1, "whole", sharing)
    parts = [method, sharing, np.where(cases.checkpointing, "again", "kept")]
    if speed:
        alone = cases.data * group == 1
        link = np.where(cases.machines > 1, cases.network, cases.link)
        parts += [_chips(cases.gpu), np.where(alone, "", link)]
    kinds = parts[0]
    for part in parts[1:]:
        kinds = np.char.add(np.char.add(kinds, "|"), part)
    return np.asarray(kinds, dtype=np.str_)


def _chips(gpus: Names) -> Names:
    """Cards of one chip count as one."""
    found, where = np.unique(gpus, return_inverse=True)
    names = [_CHIPS.get(str(gpu), str(gpu)) for gpu in found]
    return np.array(names, dtype=np.str_)[where]


def _tags(cases: Cases, kinds: Names, published: tuple[Names, Names, Floats, Floats]) -> Names:
    kind, model, params, tokens = published
    tags = np.full(len(cases), "extrapolated", dtype="<U12")
    for name in np.unique(kinds):
        here, rows = kinds == name, kind == name
        if not rows.any():
            continue
        own_tokens, own_params = cases.tokens[here], cases.params[here]
        inside = _between(own_tokens, tokens[rows]) & _between(own_params, params[rows])
        same = cases.model[here][:, None] == model[rows][None, :]
        ratio = own_tokens[:, None] / tokens[rows][None, :]
        near = (same & (ratio <= _NEAR) & (ratio >= 1 / _NEAR)).any(axis=1)
        tags[here] = np.where(near, "measured", np.where(inside, "interpolated", "extrapolated"))
    return tags


def _between(values: Floats, rows: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return np.asarray((values >= rows.min()) & (values <= rows.max()))
