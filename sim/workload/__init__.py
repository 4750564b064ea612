"""What arrives: recorded jobs, and jobs drawn from classes."""

from sim.workload.generate import generate, shapes_of
from sim.workload.readers import TraceRow, read_trace

__all__ = ["TraceRow", "generate", "read_trace", "shapes_of"]
