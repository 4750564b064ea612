"""Does a job fit a card, and how fast does it run there."""

from sim.physics.fit import FitRow, fit_job
from sim.physics.rates import rate_table

__all__ = ["FitRow", "fit_job", "rate_table"]
