"""The order of events at one instant, and the one kind of event the engine schedules.

At one instant: completions, repairs, failures noticed and failures, lease ends, lease starts,
arrivals, then one decision, then the clock of the oldest waiter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import simpy
from simpy.events import EventPriority

from sim.units import Micros

__all__ = ["Moment", "Order"]


class Order:
    """Priority of an event among those of the same instant; SimPy's own stop event is 0."""

    COMPLETION = EventPriority(2)
    REPAIR = EventPriority(3)
    NOTICE = EventPriority(4)
    FAILURE = EventPriority(5)
    LEASE_END = EventPriority(6)
    LEASE_START = EventPriority(7)
    ARRIVAL = EventPriority(8)
    DECISION = EventPriority(9)
    OLDEST_WAITER = EventPriority(10)


class Moment(simpy.Event):
    """A point in time with one callback; leaner than a timeout and a process.

    The callback gets the moment; `subject` is what it is about and `version` tells a callback
    whether the subject has moved on since, so that a stale moment is ignored, never removed.
    """

    def __init__(
        self,
        env: simpy.Environment,
        at_us: Micros,
        order: EventPriority,
        callback: Callable[[Moment], None],
        subject: Any = None,
        version: int = 0,
    ) -> None:
        self.env = env
        self.callbacks = [callback]
        self._ok = True
        self._value = None
        self._defused = False
        self.subject = subject
        self.version = version
        env.schedule(self, priority=order, delay=at_us - env.now)
