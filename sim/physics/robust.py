"""What the fits of memory and speed have in common: residuals that far rows do not rule, and bounds."""

from __future__ import annotations

import numpy as np

from sim.physics.cases import Floats

__all__ = ["REACH", "dampened"]

REACH = 3.0
"""Bounds of a constant around its prior, in spreads."""


def dampened(residuals: Floats) -> Floats:
    """Residuals whose squares are the soft L1 loss, 2 (sqrt(1 + r^2) - 1): r near 0, far less beyond 1.

    Residuals are in standard deviations, shape (n,). Source: the loss `soft_l1` of SciPy's `least_squares`,
    applied here so that the prior's own residuals stay plain.
    """
    return np.asarray(np.sign(residuals) * np.sqrt(2.0 * (np.sqrt(1.0 + residuals**2) - 1.0)))
