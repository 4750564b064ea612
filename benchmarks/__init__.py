"""Benchmarks of fleetsim; `python -m benchmarks` times the engine."""
