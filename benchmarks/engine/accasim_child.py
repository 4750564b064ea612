"""Runs AccaSim in an environment of its own: question on stdin, CPU seconds and starts on stdout.

Jobs are handed over ready-made, so no time goes into parsing a file; AccaSim writes no files.
First in, first out with first fit stops at the first job that does not fit: strict, as fleetsim's `fifo`.
"""

from __future__ import annotations

import collections
import collections.abc
import contextlib
import gc
import json
import sys
import tempfile
import time
from typing import Any

# AccaSim 1.1.3 is of 2021 and looks for this name where Python 3.9 still had it.
collections.Mapping = collections.abc.Mapping  # type: ignore[attr-defined]

# ruff: noqa: E402
from accasim.base.allocator_class import FirstFit
from accasim.base.event_class import AttributeType, JobFactory
from accasim.base.resource_manager_class import ResourceManager, Resources
from accasim.base.scheduler_class import FirstInFirstOut
from accasim.base.simulator_class import Simulator
from accasim.utils.reader_class import Reader

EPOCH = 1_000_000
"""Seconds added to all times: AccaSim takes a clock at 0 for one that is not set."""


class Ready(Reader):  # type: ignore[misc]
    """Hands over jobs that were made before."""

    def __init__(self, factory: JobFactory, rows: list[dict[str, Any]]) -> None:
        super().__init__(factory)
        self.rows = iter(rows)

    def _read(self, current_time: int = 0) -> dict[str, Any] | None:  # noqa: ARG002
        row = next(self.rows, None)
        if row is None:
            self.stop_submission()
        return row


class Keeping(JobFactory):  # type: ignore[misc]
    """Remembers the jobs it made, for their starts."""

    made: list[Any]

    def factory(self, **kwargs: Any) -> Any:
        """One job."""
        job = super().factory(**kwargs)
        self.made.append(job)
        return job


def main() -> None:
    """One simulation."""
    question = json.load(sys.stdin)
    manager = ResourceManager(
        Resources(
            groups={"machine": {"core": question["cards"]}}, resources={"machine": question["machines"]}
        )
    )
    names = ("core", "expected_duration", "queue", "user_id")
    factory = Keeping(manager, job_attrs=[AttributeType(name, int) for name in names])
    factory.made = []
    rows = [
        {
            "job_id": number, "queued_time": EPOCH + submit, "duration": run, "requested_nodes": cards,
            "requested_resources": {"core": 1}, "core": cards, "expected_duration": run, "queue": 1,
            "user_id": 1,
        }
        for number, submit, run, cards in question["jobs"]
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        simulator = Simulator(
            "none", "none", FirstInFirstOut(FirstFit()), resource_manager=manager,
            reader=Ready(factory, rows), job_factory=factory, overwrite_previous=False,
            scheduling_output=False, statistics_output=False, show_statistics=False,
            RESULTS_FOLDER_PATH=folder, LOG_LEVEL="INFO",
        )  # fmt: skip
        gc.collect()
        gc.freeze()
        began = time.process_time()
        simulator.start_simulation()
        seconds = time.process_time() - began
    starts = {int(job.id): job.start_time - EPOCH for job in factory.made}
    print(json.dumps({"cpu_s": seconds, "starts": [starts[number] for number in sorted(starts)]}))


if __name__ == "__main__":
    main()
