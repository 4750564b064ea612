"""From a workload file (SWF) to a file of started jobs: here and by AccaSim, each in a fresh process.

    python -m benchmarks.engine.swf FILE CARDS OUT

does it here: prints CPU seconds as JSON, without the start of Python and its imports.
"""

from __future__ import annotations

import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

import pyarrow as pa

from benchmarks.engine.worlds import MACHINE, World, recorded
from sim.model.logs import Attempts
from sim.units import SECOND
from sim.workload.imports import import_jobs

__all__ = ["Answer", "Waits", "accasim_waits", "cpu_of_all", "fleetsim_waits", "write_swf"]

Waits = dict[int, int]
"""Seconds from submission to start by the job's number in the file."""
Answer = tuple[float, Waits]
"""CPU seconds, and the waits found in the file that was written."""

EPOCH = 1_000_000
"""Unix time of second 0: AccaSim takes a clock at 0 for one that is not set."""
CHILD = Path(__file__).with_name("accasim_file_child.py")
HEAD = ("job", "submit_s", "start_s", "end_s", "ended", "cards")


def write_swf(world: World, file: Path) -> None:
    """The jobs of a world in whole seconds; the time asked for is the run time."""
    sizes = [shape.gpus[0] for shape in world.jobs.shapes]
    with file.open("w", encoding="utf-8") as lines:
        lines.write(f"; UnixStartTime: {EPOCH}\n")
        for job in world.jobs.jobs:
            submit, run, cards = job.submit_us // SECOND, round(job.work) // SECOND, sizes[job.shape]
            lines.write(f"{job.id + 1} {submit} -1 {run} {cards} -1 -1 {cards} {run} -1 1 1 1 1 1 1 -1 -1\n")


def cpu_of_all() -> float:
    """CPU seconds of this process and of those of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def simulate(file: Path, cards: int, out: Path) -> None:
    """Import the file, run its jobs, write one row a stay of a job: when, how it ended, on which cards."""
    found = import_jobs(file).jobs
    world = recorded(found, cards)
    log = world.run()
    names, submits = found.column("id").to_pylist(), found.column("submit_s").to_pylist()
    stays = Attempts.of(log.attempts)
    of = stays.column("job").tolist()
    columns = (
        [names[job] for job in of],
        [submits[job] for job in of],
        (stays.column("start_us") / SECOND).tolist(),
        (stays.column("end_us") / SECOND).tolist(),
        [stays.texts[code] for code in stays.column("ended").tolist()],
        [" ".join(map(str, cards)) for cards in stays.on_cards()],
    )
    with out.open("w", encoding="utf-8", newline="") as rows:
        write = csv.writer(rows)
        write.writerow(HEAD)
        write.writerows(zip(*columns, strict=True))


def fleetsim_waits(file: Path, cards: int) -> Answer:
    """`simulate` in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "stays.csv"
        command = [sys.executable, "-m", "benchmarks.engine.swf", str(file), str(cards), str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        with out.open(encoding="utf-8", newline="") as rows:
            waits = {
                int(row["job"]): round(float(row["start_s"]) - float(row["submit_s"]))
                for row in csv.DictReader(rows)
            }
    return float(json.loads(done.stdout)["cpu_s"]), waits


def accasim_waits(python: str, file: Path, cards: int) -> Answer:
    """AccaSim as its manual runs it: its own reader, outputs as they are by default."""
    with tempfile.TemporaryDirectory() as folder:
        system = Path(folder) / "system.json"
        machines = {
            "groups": {"machine": {"core": MACHINE}}, "resources": {"machine": cards // MACHINE},
            "equivalence": {"processor": {"core": 1}}, "start_time": EPOCH,
        }  # fmt: skip
        system.write_text(json.dumps(machines), encoding="utf-8")
        command = [python, str(CHILD), str(file), str(system), folder]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, env={**os.environ, "TZ": "UTC"}
        )
        answer = json.loads(done.stdout.splitlines()[-1])
        plan = Path(answer["plan"]).read_text(encoding="utf-8")
    return float(answer["cpu_s"]), dict(map(_accasim_wait, plan.splitlines()))


def _accasim_wait(line: str) -> tuple[int, int]:
    """`job;user;submission__machines__start;end;...`, times as a calendar writes them."""
    asked, _, ran = line.split("__")
    job, _, submit = asked.split(";")
    start = ran.split(";")[0]
    return int(job), round((datetime.fromisoformat(start) - datetime.fromisoformat(submit)).total_seconds())


def main() -> None:
    """One run."""
    file, cards, out = sys.argv[1:4]
    pa.array([""])  # the first array imports what pyarrow shares with pandas: still the start
    began = cpu_of_all()
    simulate(Path(file), int(cards), Path(out))
    print(json.dumps({"cpu_s": cpu_of_all() - began}))


if __name__ == "__main__":
    main()
