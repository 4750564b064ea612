"""Measuring on a card of one's own: a few real training steps of a job, written down as rows.

The rows have the columns of the published measurements, so that a calibration takes both alike. Torch,
transformers, peft and bitsandbytes are imported by the worker process alone (`sim.measure.worker`); the
rest of the program works without them.
"""

from sim.measure.case import Case, check_case
from sim.measure.grid import read_grid
from sim.measure.machine import CPU, CUDA, Card, find_card, missing_packages
from sim.measure.outcome import Done, Failed, Order, Outcome, OutOfMemory, Settings
from sim.measure.process import run_case
from sim.measure.rows import COLUMNS, SOURCE, RowFile, row_of
from sim.measure.session import Entry, Runner, measure

__all__ = [
    "COLUMNS",
    "CPU",
    "CUDA",
    "SOURCE",
    "Card",
    "Case",
    "Done",
    "Entry",
    "Failed",
    "Order",
    "OutOfMemory",
    "Outcome",
    "RowFile",
    "Runner",
    "Settings",
    "check_case",
    "find_card",
    "measure",
    "missing_packages",
    "read_grid",
    "row_of",
    "run_case",
]
