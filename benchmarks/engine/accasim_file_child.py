"""Runs AccaSim as its manual does, in an environment of its own: FILE SYSTEM FOLDER.

It reads the workload file by its own reader and writes what it writes by default: the dispatching plan
(one line a job) and statistics. The plan is written by a process that it forks; its time counts too.
First in, first out with first fit stops at the first job that does not fit: strict, as fleetsim's `fifo`.
"""

from __future__ import annotations

import collections
import collections.abc
import contextlib
import json
import resource
import sys

# AccaSim 1.1.3 is of 2021 and looks for this name where Python 3.9 still had it.
collections.Mapping = collections.abc.Mapping  # type: ignore[attr-defined]

# ruff: noqa: E402
from accasim.base.allocator_class import FirstFit
from accasim.base.scheduler_class import FirstInFirstOut
from accasim.base.simulator_class import Simulator


def cpu_of_all() -> float:
    """CPU seconds of this process and of those of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    """One simulation."""
    file, system, folder = sys.argv[1:4]
    with contextlib.redirect_stdout(sys.stderr):
        began = cpu_of_all()
        simulator = Simulator(file, system, FirstInFirstOut(FirstFit()), RESULTS_FOLDER_PATH=folder)
        written = simulator.start_simulation()
        seconds = cpu_of_all() - began
    print(json.dumps({"cpu_s": seconds, "plan": written["sched-"]}))


if __name__ == "__main__":
    main()
