"""One large run in a fresh process: prints CPU time a job, the timeout and memory as JSON.

python -m benchmarks.engine.child CARDS JOBS TIMEOUTS
"""

from __future__ import annotations

import json
import re
import resource
import statistics
import sys
import time
from pathlib import Path

from benchmarks.engine.timing import timeout_us
from benchmarks.engine.worlds import fleet


def memory_mb(key: str) -> float:
    """Megabytes (10^6 bytes) of this process: VmHWM the highest so far, VmRSS now.

    `ru_maxrss` would not do on Linux: a child begins with the mark of its parent.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    found = re.search(rf"^{key}:\s+(\d+) kB", status.read_text(), re.MULTILINE)
    return int(found.group(1)) * 1024 / 1e6 if found else float("nan")


def main() -> None:
    """One round."""
    cards, jobs, timeouts = map(int, sys.argv[1:4])
    world = fleet(cards, jobs)
    floors = [timeout_us(timeouts)]
    before = memory_mb("VmRSS")
    began = time.process_time()
    log = world.run()
    seconds = time.process_time() - began
    peak = memory_mb("VmHWM")
    floors.append(timeout_us(timeouts))
    answer = {
        "us": seconds / jobs * 1e6,
        "timeout_us": statistics.mean(floors),
        "before_mb": before,
        "peak_mb": peak,
        "jobs": len(log.jobs),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
