"""Days off: dates that a scenario names, or the public holidays of a calendar package."""

from __future__ import annotations

import importlib
from datetime import date, timedelta

import numpy as np
import numpy.typing as npt

from sim.errors import InputError, Problem
from sim.model.timed import Holidays

__all__ = ["days_off"]

_FIRST = date(1970, 1, 1)
_MONDAY, _SATURDAY, _SUNDAY = 0, 5, 6
_KEY = "workload.holidays.calendar"


def days_off(
    holidays: Holidays, day: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Weekdays and factors of local days (counted from 1970), shape (n,) each.

    A day off counts as a Sunday with the scenario's factor, a working weekend as a Monday. Raises
    InputError where the calendar is not installed or does not know a year.
    """
    days, place = np.unique(day, return_inverse=True)
    named = {moment.date() for moment in holidays.dates}
    new_weekday = (days + 3) % 7  # 1 January 1970 was a Thursday
    factor = np.ones(len(days))
    for at, number in enumerate(days.tolist()):
        today = _FIRST + timedelta(days=number)
        off, works = _calendar(holidays, today)
        if today in named or off:
            new_weekday[at], factor[at] = _SUNDAY, holidays.factor
        elif works:
            new_weekday[at] = _MONDAY
    return new_weekday[place], factor[place]


def _calendar(holidays: Holidays, today: date) -> tuple[bool, bool]:
    """Whether the calendar has a public holiday, or a working weekend, on this day."""
    if holidays.calendar == "none":
        return False, False
    try:
        china = importlib.import_module("chinese_calendar")
    except ImportError:
        rule = "the calendar china needs the package chinesecalendar: install it, or list the days in dates"
        raise InputError(Problem(rule, key=_KEY, value=holidays.calendar)) from None
    try:
        free, name = china.get_holiday_detail(today)
    except NotImplementedError:
        rule = f"the installed chinesecalendar does not know {today.year}: list the days in dates"
        raise InputError(Problem(rule, key=_KEY, value=holidays.calendar)) from None
    return bool(free and name), bool(not free and today.weekday() >= _SATURDAY)
