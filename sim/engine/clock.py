"""The order of events at one instant, and the one kind of event the engine schedules.

At one instant: completions, repairs, failures noticed and failures, lease ends, lease starts,
arrivals, then one decision, then the clock of the oldest waiter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from typing import Any, Protocol

import simpy
from simpy.events import EventPriority

from sim.units import Micros

__all__ = ["Clock", "Moment", "Order", "Timed"]


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


class Timed(Protocol):
    """What may stand in the event queue: the clock calls `callback` with the thing itself."""

    callback: Callable[[Any], None]
    subject: Any
    """What it is about."""
    version: int
    """Of its subject; a callback ignores it if the subject has moved on since."""


class Moment:
    """A point in time with one callback; leaner than an event of SimPy and its list of callbacks.

    The callback gets the moment; `subject` is what it is about and `version` tells a callback
    whether the subject has moved on since, so that a stale moment is ignored, never removed.
    """

    __slots__ = ("callback", "subject", "version")

    def __init__(
        self,
        clock: Clock,
        at_us: Micros,
        order: EventPriority,
        callback: Callable[[Moment], None],
        subject: Any = None,
        version: int = 0,
    ) -> None:
        self.callback = callback
        self.subject = subject
        self.version = version
        clock.put(at_us, order, self)


class Clock(simpy.Environment):
    """SimPy's clock and event queue, played moment by moment.

    Two things need no place in the queue: arrivals come in order of time from `arrivals`, and one
    decision follows the last moment of an instant in which `decide` was asked for.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now_us: Micros = 0
        """The same as `now`; a plain attribute, for it is read a dozen times a job."""
        self.decide: Callable[[], None] | None = None
        """What to do once this instant's other moments are over."""

    def put(self, at_us: Micros, order: EventPriority, moment: Timed) -> None:
        """Let a moment come at its time, in its place among those of that instant."""
        heappush(self._queue, (at_us, order, next(self._eid), moment))  # type: ignore[misc]

    def play(self, until_us: Micros, arrivals: Iterator[Micros]) -> None:
        """Let everything before `until_us` happen.

        `arrivals` gives the time of the first arrival; asked again, it lets that one happen and gives
        the time of the next. The last time it gives is `until_us` or later.
        """
        queue: list[Any] = self._queue
        pop = heappop
        arrival, decision = Order.ARRIVAL, Order.DECISION
        next_us = next(arrivals)
        end = (until_us, -1)
        queue.append(end)  # a stop at the far end, so that the queue is never empty
        heapify(queue)
        while True:
            head = queue[0]
            at_us = head[0]
            if next_us < at_us or (next_us == at_us and head[1] > arrival):
                self._now = self.now_us = next_us
                next_us = next(arrivals)
            elif at_us >= until_us:
                break
            else:
                pop(queue)
                self._now = self.now_us = at_us
                moment = head[3]
                moment.callback(moment)
            while self.decide is not None:  # a decision may ask for another one at once
                head = queue[0]
                now = self.now_us
                if next_us <= now or (head[0] == now and head[1] <= decision):
                    break
                decide, self.decide = self.decide, None
                decide()
        self._now = self.now_us = until_us
