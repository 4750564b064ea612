"""How well a figure is supported: measured, interpolated or extrapolated.

A figure is `measured` where rows of this very model stand in a cell of `support.yaml` (card,
method, split, link) and the tokens of a micro-step lie within their range; `interpolated` where
other models of the cell lie on both sides of its size; anything else is `extrapolated`.
"""

from __future__ import annotations

import functools
from importlib import resources

from ruamel.yaml import YAML

from sim.catalog import load_catalog
from sim.model.base import Strict
from sim.model.hardware import Gpu
from sim.model.rates import Support
from sim.physics.task import Layout, Split, Task

__all__ = ["SupportCell", "support_cells", "support_of"]


class SupportCell(Strict):
    """Published rows of one kind."""

    cards: tuple[str, ...]
    method: str
    split: str
    links: tuple[str, ...]
    tokens: tuple[int, int]
    """Fewest and most tokens of a micro-step of one card."""
    models: tuple[str, ...]

    @property
    def params(self) -> tuple[int, int]:
        """Smallest and largest model."""
        sizes = [load_catalog().models[model].params for model in self.models]
        return min(sizes), max(sizes)


@functools.cache
def support_cells() -> tuple[SupportCell, ...]:
    """The table of published rows."""
    text = resources.files("sim.physics").joinpath("support.yaml").read_text("utf-8")
    return tuple(SupportCell.model_validate(cell) for cell in YAML(typ="safe").load(text))


def support_of(task: Task, gpu: Gpu, layout: Layout, split: Split) -> Support:
    """The tag of a prediction of memory and speed."""
    link = "none" if layout.gpus == 1 else (layout.link if layout.machines == 1 else layout.network)
    tokens = task.micro_batch * task.seq_len
    tag: Support = "extrapolated"
    for cell in support_cells():
        if (task.method, split) != (cell.method, cell.split) or gpu.id not in cell.cards:
            continue
        if link not in cell.links or not cell.tokens[0] <= tokens <= cell.tokens[1]:
            continue
        if task.model.id in cell.models:
            return "measured"
        smallest, largest = cell.params
        if smallest <= task.model.params <= largest:
            tag = "interpolated"
    return tag
