"""The base of every model that is read from a file: frozen, unknown keys refused, documented."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["LARGEST_AMOUNT", "Strict"]

LARGEST_AMOUNT = 10**12
"""Prices and costs beyond this are taken for a slip of the keyboard; sums stay exact below it."""


class Strict(BaseModel):
    """Frozen, unknown keys refused, NaN and infinity refused, docstrings become descriptions."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        allow_inf_nan=False,
        protected_namespaces=(),
    )
