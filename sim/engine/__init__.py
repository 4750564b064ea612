"""What happens: one run on one clock. The only home of SimPy.

A stair with no way back: simulator > leases > dispatcher > queue, burst, breakdowns > execution > fleet >
failures > clock.
"""

from sim.engine.simulator import run

__all__ = ["run"]
