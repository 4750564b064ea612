"""One case: what is trained on one card, and in which shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import Field

from sim.errors import Problem
from sim.model.base import Strict
from sim.model.hardware import LanguageModel

__all__ = ["Attention", "Case", "Method", "Targets", "check_case"]

Method = Literal["lora", "full", "qlora4", "qlora8"]
"""LoRA on a 16-bit base, full fine-tuning, LoRA on a 4- or 8-bit base."""

Targets = Literal["all-linear", "qv"]
"""Layers with adapters: all linear layers of the blocks, or those of queries and values."""

Attention = Literal["flash", "eager"]
"""`flash`: the fused kernels of torch, which never keep the scores; `eager`: scores are kept."""


class Case(Strict):
    """A job on one card, without its data set: all samples are full."""

    model: str
    """Base model, by its id in the catalogue."""
    method: Method = "lora"
    rank: int = Field(default=16, ge=1)
    """LoRA rank; not looked at with full fine-tuning."""
    targets: Targets = "all-linear"
    """Layers with adapters; not looked at with full fine-tuning."""
    micro_batch: int = Field(default=1, ge=1)
    """Samples of one step."""
    seq_len: int = Field(default=2048, ge=2)
    """Tokens of a sample; one token has no next one to learn."""
    checkpointing: bool = True
    """Gradient checkpointing: less memory, some more compute."""
    attention: Attention = "flash"

    @property
    def quantised(self) -> bool:
        """Whether the base is kept in 4 or 8 bits."""
        return self.method in ("qlora4", "qlora8")

    @property
    def identity(self) -> tuple[str, ...]:
        """What tells the case from others, as the cells of its row say it."""
        adapters = ("", "") if self.method == "full" else (str(self.rank), self.target_modules)
        shape = (str(self.micro_batch), str(self.seq_len))
        return (self.model, self.method, *adapters, *shape, self.grad_ckpt, self.flash_attn)

    @property
    def target_modules(self) -> str:
        """The adapted layers as the published rows write them."""
        return "q,v" if self.targets == "qv" else self.targets

    @property
    def grad_ckpt(self) -> str:
        """`y` or `n`."""
        return "y" if self.checkpointing else "n"

    @property
    def flash_attn(self) -> str:
        """`y` or `n`."""
        return "y" if self.attention == "flash" else "n"

    def needs_at_least(self, other: Case) -> bool:
        """Whether this case takes no less memory than the other for certain.

        The same kind of training with no less of rank, samples and tokens. Cases that differ in
        anything else are not compared, even where a person would know.
        """
        kind = {"model", "method", "targets", "checkpointing", "attention"}
        if self.method == "full":
            kind.discard("targets")
        same = all(getattr(self, name) == getattr(other, name) for name in kind)
        wider = self.method == "full" or self.rank >= other.rank
        return same and wider and self.micro_batch >= other.micro_batch and self.seq_len >= other.seq_len

    def __str__(self) -> str:
        adapters = "" if self.method == "full" else f" r{self.rank} {self.targets}"
        checkpointing = "checkpointing" if self.checkpointing else "no checkpointing"
        shape = f"{self.micro_batch} x {self.seq_len} tokens"
        return f"{self.model} {self.method}{adapters}, {shape}, {checkpointing}, {self.attention}"


def check_case(case: Case, models: Mapping[str, LanguageModel]) -> Iterator[tuple[str, Problem]]:
    """What is wrong with a case beyond its fields: pairs of field name and problem, without a place."""
    model = models.get(case.model)
    if model is None:
        rule = "the base model must be one of the catalogue"
        yield "model", Problem(rule, value=case.model, known=tuple(models))
        return
    if model.experts > 1:
        rule = "a model with several experts cannot be measured: only plain blocks can be built"
        yield "model", Problem(rule, value=case.model)
    if case.method != "full" and case.rank > model.hidden:
        rule = f"the rank may not be above the hidden size of {model.id}, {model.hidden}"
        yield "rank", Problem(rule, value=case.rank)
