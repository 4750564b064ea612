"""When a strategy rents more by the hour, and when it hands back."""

from __future__ import annotations

from sim.model.rates import RunOption
from sim.units import Micros

__all__ = ["release_at", "units_needed"]


def units_needed(option: RunOption, gpus_per_unit: int) -> int:
    """Units of an offer that one order must bring, so that the job that triggered it can run."""
    return -(-option.gpus // gpus_per_unit)


def release_at(
    usable_us: Micros, idle_since_us: Micros, idle_us: Micros, increment_us: Micros, minimum_us: Micros
) -> Micros:
    """Instant at which an idle unit goes back: the end of the paid increment after the idle time.

    Time is paid from `usable_us` in whole increments and at least for the minimum, so handing back
    earlier would save nothing.
    """
    wanted = max(idle_since_us + idle_us - usable_us, minimum_us, 1)
    return usable_us + -(-wanted // increment_us) * increment_us
