"""The twin's clock: SimPy, where what happens at one instant happens in a stated order."""

from __future__ import annotations

import simpy

from sim.units import Micros

__all__ = [
    "ARRIVAL",
    "COMPLETION",
    "DECISION",
    "FAILURE",
    "LEASE_END",
    "LEASE_START",
    "NOTICE",
    "OLDEST_WAITER",
    "REPAIR",
    "SNAPSHOT",
    "SNAPSHOT_AGAIN",
    "Clock",
]

# SimPy itself uses 0 (interrupts, new processes) and 1 (events triggered now).
HORIZON = 1.5
COMPLETION = 2.0
REPAIR = 3.0
NOTICE = 4.0
SNAPSHOT = 4.5
FAILURE = 5.0
LEASE_END = 6.0
LEASE_START = 7.0
ARRIVAL = 8.0
DECISION = 9.0
OLDEST_WAITER = 10.0
SNAPSHOT_AGAIN = 11.0


class Clock(simpy.Environment):
    """Time in integer microseconds."""

    def at(self, time: Micros, phase: float, order: int = 0) -> simpy.Event:
        """An event to wait for: this time, this phase of the instant, ties by `order`."""
        event = self.event()
        event._ok, event._value = True, None
        self.schedule(event, phase + order * 1e-6, time - self.now)
        return event
