"""How fast a large sacct dump is imported, and in how much memory.

    python -m benchmarks.import_speed [--rows 1000000] [--keep FOLDER]

Writes a dump with the oddities of real ones (steps, pending arrays, requeues, pipes in names, Chinese
names, typed and untyped cards, MIG slices, unfinished rows, wrong rows), then imports it in a process of
its own and prints seconds, peak memory and the counts. The bar is 60 s and 1 GB for 1,000,000 rows.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

HEADER = (
    "JobID|JobIDRaw|JobName|User|Account|Partition|State|ExitCode|Submit|Start|End|Elapsed|ElapsedRaw|"
    "Timelimit|ReqTRES|AllocTRES|NNodes|ReqMem"
)
BAR_SECONDS, BAR_BYTES = 60, 10**9
KINDS = ("a100", "h100", "rtx3090", "")
NAMES = ("lora-7b", "微调-客服", "eval", "a|b", "sweep")


def dump_lines(rows: int, seed: int = 7) -> Iterator[str]:
    """Lines of a dump with about this many rows, the header first."""
    draw = random.Random(seed)
    yield HEADER
    written, job, moment = 0, 100_000, datetime.fromisoformat("2025-01-01")
    while written < rows:
        job += 1
        moment += timedelta(seconds=draw.expovariate(1 / 40))
        lines = _job(draw, job, moment)
        yield from lines
        written += len(lines)


def _job(draw: random.Random, job: int, submit: datetime) -> list[str]:
    """The rows of one job."""
    kind, cards = draw.choice(KINDS), draw.choice((1, 1, 1, 2, 4, 8))
    wait, run = int(draw.expovariate(1 / 900)), int(draw.lognormvariate(7.5, 1.8)) + 1
    state = draw.choices(
        ("COMPLETED", "FAILED", "CANCELLED by 1000", "TIMEOUT", "OUT_OF_MEMORY"), (70, 15, 8, 5, 2)
    )[0]
    chance = draw.random()
    who = f"u{draw.randrange(80):02d}|team{draw.randrange(9)}|gpu"
    typed = f",gres/gpu:{kind}={cards}" if kind else ""
    request = f"billing=8,cpu=8,gres/gpu={cards},mem=64G,node=1"
    given = f"billing=8,cpu=8,gres/gpu={cards}{typed},mem=64G,node=1"
    if chance < 0.01:
        request = given = "billing=4,cpu=4,gres/gpu:1g.10gb=1,mem=32G,node=1"
    name = draw.choice(NAMES)
    limit = draw.choice(("08:00:00", "1-00:00:00", "UNLIMITED", "Partition_Limit"))
    begin, stop = submit + timedelta(seconds=wait), submit + timedelta(seconds=wait + run)

    def row(ident: str, word: str, start: str, end: str, seconds: int, alloc: str) -> str:
        return (
            f"{ident}|{job}|{name}|{who}|{word}|0:0|{submit:%Y-%m-%dT%H:%M:%S}|{start}|{end}|{_clock(seconds)}|"
            f"{seconds}|{limit}|{request}|{alloc}|1|64G"
        )

    start, end = f"{begin:%Y-%m-%dT%H:%M:%S}", f"{stop:%Y-%m-%dT%H:%M:%S}"
    if chance < 0.02:
        return [row(f"{job}_[3-9%2]", "PENDING", "Unknown", "Unknown", 0, "")]
    if chance < 0.025:
        return [row(f"{job}", "CANCELLED by 1000", "Unknown", end, 0, "")]
    if chance < 0.03:
        return [row(f"{job}", "RUNNING", start, "Unknown", run, given)]
    if chance < 0.031:
        return [row(f"{job}", "COMPLETED", "yesterday", end, run, given)]
    rows = [row(f"{job}", state, start, end, run, given)]
    steps = ["batch", "extern", *map(str, range(draw.randrange(3)))]
    rows += [
        f"{job}.{step}|{job}.{step}|{step}||||{state.split()[0]}|0:0||{start}|{end}|{_clock(run)}|{run}||{given}|{given}|1|"
        for step in steps
    ]
    if chance > 0.99:  # requeued after a failure of the machine: the same id once more
        rows.append(rows[0].replace(f"|{state}|", "|COMPLETED|").replace(start, end))
    return rows


def _clock(seconds: int) -> str:
    days, rest = divmod(seconds, 86400)
    text = f"{rest // 3600:02d}:{rest % 3600 // 60:02d}:{rest % 60:02d}"
    return f"{days}-{text}" if days else text


def _measured(file: Path, out: Path) -> None:
    """Import in this process and print what it took as JSON."""
    begin = time.perf_counter()
    from sim.workload.imports import import_jobs
    from sim.workload.normal import write_trace

    found = import_jobs(file)
    write_trace(found.jobs, found.about, out)
    seconds, processor = time.perf_counter() - begin, time.process_time()
    peak = _peak_bytes()
    report = found.report
    counts = {"rows": report.tally.rows, "jobs": report.jobs, "set_aside": report.tally.set_aside}
    print(json.dumps({"seconds": seconds, "processor_s": processor, "peak_bytes": peak, **counts}))


def _peak_bytes() -> int:
    """Peak memory of this process; that of getrusage would count the process it was forked from."""
    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text())
        if found:
            return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> int:
    """Generate, import in a process of its own, compare with the bar; 1 where it is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--keep", type=Path, help="folder for the dump; default: one that is removed")
    parser.add_argument("--measure", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        _measured(*options.measure)
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        file = folder / f"sacct-{options.rows}.psv"
        if not file.exists():
            with file.open("w", encoding="utf-8", newline="\n") as stream:
                stream.writelines(f"{line}\n" for line in dump_lines(options.rows))
        command = [
            sys.executable,
            "-m",
            "benchmarks.import_speed",
            "--measure",
            str(file),
            str(folder / "jobs.parquet"),
        ]
        done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        megabytes = file.stat().st_size / 1e6
    print(
        f"{done['rows']:,} rows ({megabytes:,.0f} MB): {done['jobs']:,} jobs, "
        f"{done['set_aside']:,} set aside, in {done['seconds']:.1f} s "
        f"({done['processor_s']:.1f} s of the processor) with at most "
        f"{done['peak_bytes'] / 1e6:,.0f} MB of memory"
    )
    return int(done["seconds"] > BAR_SECONDS or done["peak_bytes"] > BAR_BYTES)


if __name__ == "__main__":
    sys.exit(main())
