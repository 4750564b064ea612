"""Data of data sheets and price lists, and its loader."""

from sim.catalog.catalog import (
    Catalog,
    Mtbf,
    ReliabilityProfile,
    load_catalog,
    load_offers,
)
from sim.catalog.reliability import failure_model, mean_times

__all__ = [
    "Catalog",
    "Mtbf",
    "ReliabilityProfile",
    "failure_model",
    "load_catalog",
    "load_offers",
    "mean_times",
]
