"""What a run was worth: service, use of the cards and money, one function a metric."""

from sim.metrics.stability import overload_reasons
from sim.metrics.table import METRICS, Metric, measure
from sim.metrics.target import TargetLine, target_lines

__all__ = ["METRICS", "Metric", "TargetLine", "measure", "overload_reasons", "target_lines"]
