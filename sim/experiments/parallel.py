"""Many tasks on one or several processes; the results and their order never depend on how many.

Processes come from joblib's loky, which starts them afresh (about 1.4 s), so short work stays in this
process; or from a Dask cluster, by the address of its scheduler. Tasks travel in batches, each with one
copy of the function and all that it holds. A worker of a cluster that is lost has its batch done by
another.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Protocol, TypeVar

import joblib

from sim.errors import InputError, Problem, RunError

__all__ = ["SERIAL_BELOW_S", "Progress", "run_tasks"]

SERIAL_BELOW_S = 10.0
"""Work that is expected to take less than this, seconds, is not worth starting processes for."""

BATCHES_PER_WORKER = 8
"""Enough to keep all busy to the end; few enough to copy little."""

BATCH_S = 2.0
"""Longest time that a batch should take, seconds, so that the progress moves."""

CONNECT_S = 10.0
"""How long to wait for the scheduler of a cluster, seconds."""


class Progress(Protocol):
    """Called as tasks are done."""

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """`done` of `total` tasks; `note`: what is still to be reached, in a few words."""


Task = TypeVar("Task")
Result = TypeVar("Result")


def run_tasks(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    workers: int = 1,
    progress: Progress | None = None,
    probe: int = 1,
    serial_below_s: float | None = None,
    cluster: str | None = None,
    keep: Callable[[Result], None] | None = None,
    seen: Callable[[Result], None] | None = None,
) -> list[Result]:
    """`[function(task) for task in tasks]`, on `workers` processes where that is faster.

    The first `probe` tasks run here and are timed; if the rest is expected to take less than
    `serial_below_s` seconds (default: `SERIAL_BELOW_S`), it runs here too. With `cluster`, the address of
    a Dask scheduler, all tasks run there, and `keep` is called here with each result as it arrives.
    `seen` is called with each result, wherever it was made, before the progress that counts it.

    Raises InputError if `workers` is below 1 or the cluster does not answer, and RunError if a process
    dies or cannot be started.
    """
    if workers < 1:
        raise InputError(
            Problem("the number of worker processes must be 1 or more", None, None, "--jobs", workers)
        )
    results: list[Result] = []
    if cluster is not None and tasks:
        with _scheduler(cluster) as size:
            _run_in_processes(function, tasks, results, size, progress, "dask", keep, seen)
        return results
    started = time.perf_counter()
    head, rest = tasks[:probe], tasks[probe:]
    _run_here(function, head, results, len(tasks), progress, seen)
    expected = (time.perf_counter() - started) / max(1, len(head)) * len(rest)
    below = SERIAL_BELOW_S if serial_below_s is None else serial_below_s
    if workers == 1 or len(rest) < 2 or expected < below:
        _run_here(function, rest, results, len(tasks), progress, seen)
    else:
        most = max(1, int(BATCH_S * len(rest) / max(expected, 1e-9)))
        _run_in_processes(function, rest, results, workers, progress, "loky", seen=seen, most=most)
    return results


@contextlib.contextmanager
def _scheduler(address: str) -> Iterator[int]:
    """A connection to the scheduler of a cluster; gives the number of its threads."""
    try:
        from distributed import Client
    except ImportError:
        rule = "a cluster needs the package distributed: pip install 'fleetsim[cluster]'"
        raise InputError(Problem(rule, key="--cluster", value=address)) from None
    try:
        client = Client(address, timeout=CONNECT_S, set_as_default=True)
    except (OSError, ValueError, TimeoutError) as error:
        rule = f"no scheduler answers at this address within {CONNECT_S:g} s, such as tcp://10.0.0.5:8786"
        raise InputError(Problem(rule, key="--cluster", value=address)) from error
    with client:
        yield max(1, sum(client.nthreads().values()))


def _run_here(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    results: list[Result],
    total: int,
    progress: Progress | None,
    seen: Callable[[Result], None] | None = None,
) -> None:
    for task in tasks:
        results.append(function(task))
        if seen is not None:
            seen(results[-1])
        if progress is not None:
            progress(len(results), total)


def _run_in_processes(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    results: list[Result],
    workers: int,
    progress: Progress | None,
    backend: str,
    keep: Callable[[Result], None] | None = None,
    seen: Callable[[Result], None] | None = None,
    most: int | None = None,
) -> None:
    """`most`: tasks of a batch; None: no bound."""
    total = len(results) + len(tasks)
    size = max(1, -(-len(tasks) // (workers * BATCHES_PER_WORKER)))
    size = size if most is None else min(size, most)
    batches = [tasks[first : first + size] for first in range(0, len(tasks), size)]
    where: dict[str, Any] = {"max_nbytes": None} if backend == "loky" else {}
    with joblib.parallel_config(backend=backend, **where):
        pool = joblib.Parallel(n_jobs=workers, batch_size=1, return_as="generator")
    try:
        for batch in pool(joblib.delayed(_run_batch)(function, batch) for batch in batches):
            results.extend(batch)
            for result in batch if keep is not None or seen is not None else ():
                if keep is not None:
                    keep(result)
                if seen is not None:
                    seen(result)
            if progress is not None:
                progress(len(results), total)
    except BrokenProcessPool as error:
        what = str(error).partition(". ")[0].strip()
        msg = f"a worker process could not do its work, perhaps for want of memory; try --jobs 1 ({what})"
        raise RunError(msg) from error
    except OSError as error:  # no room for their queues, no file handles, no more processes
        msg = f"worker processes cannot be started: {error.strerror or error}; try --jobs 1"
        raise RunError(msg) from error


def _run_batch(function: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
    return [function(task) for task in tasks]
