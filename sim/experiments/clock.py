"""Local time of very many moments at once."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sim.model.scenario import Scenario
from sim.units import DAY, SECOND, Micros

__all__ = ["Clock"]


class Clock:
    """Local time of many moments at once: the offset from UTC is looked up between its changes."""

    def __init__(self, scenario: Scenario, last_us: Micros) -> None:
        def offset(at_us: Micros) -> timedelta:
            return scenario.local_time(at_us).utcoffset() or timedelta(0)

        changes = [0]
        for day in range(0, last_us + 1, DAY):
            low, high = day, day + DAY
            if offset(low) == offset(high):
                continue
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(middle) == offset(low) else (low, middle)
            changes.append(high)
        local = [scenario.local_time(change) for change in changes]
        self._changes = np.array(changes)
        self._suffixes = pa.array([moment.isoformat(timespec="seconds")[19:] for moment in local])
        start = np.datetime64(scenario.start_instant.replace(tzinfo=None), "us").astype(np.int64)
        shifts = [offset(change) // timedelta(microseconds=1) for change in changes]
        self._shifts = int(start) + np.array(shifts)

    def texts(self, at_us: npt.NDArray[np.int64]) -> pa.Array:
        """Local times to the second, with their offset, as ISO 8601 writes them."""
        place = np.searchsorted(self._changes, at_us, side="right") - 1
        seconds = (at_us + self._shifts[place]) // SECOND
        plain = pa.array(np.datetime_as_string(seconds.astype("datetime64[s]")), pa.string())
        return pc.binary_join_element_wise(plain, self._suffixes.take(pa.array(place)), "")
