"""The queue of commands: order, stopping, what is remembered, and that nothing outlives the server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sim.ui.jobs import DOCUMENTS, MOST_WAITING, REMEMBERED, FullError, Jobs, sim_command
from sim.ui.runner import ChildRun
from tests.conftest import Outcome

SLEEP = [sys.executable, "-S", "-c", "import time; time.sleep(60)"]
QUICK = [sys.executable, "-S", "-c", 'print(\'{"folder": "outputs/a-scenario/0123456789ab"}\')']


def _until(condition: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def test_two_at_a_time_and_the_others_in_their_order() -> None:
    queue = Jobs(at_once=2)
    found = [queue.submit("compare", f"number {n}", [*SLEEP, str(n)]) for n in range(4)]
    assert [job.run.state for job in found] == ["running", "running", "waiting", "waiting"]
    assert [queue.place(job) for job in found] == [0, 0, 0, 1]
    found[1].run.cancel()
    assert found[1].run.wait(20)
    _until(lambda: found[2].run.state == "running")
    assert found[3].run.state == "waiting"
    assert queue.place(found[3]) == 0
    for job in reversed(found):
        job.run.cancel()
    assert all(job.run.wait(20) for job in found)
    assert {job.run.state for job in found} == {"stopped"}
    assert queue.running() == queue.waiting() == []


def test_seconds_of_work_do_not_wait_for_hours_of_it() -> None:
    queue = Jobs(at_once=1)
    long = [queue.submit("compare", "a", [*SLEEP, str(number)]) for number in range(2)]
    short = queue.submit("version", "b", sim_command("schema"))
    assert [job.run.state for job in (*long, short)] == ["running", "waiting", "running"]
    other = queue.submit("version", "c", sim_command("catalog", "offers"))
    assert other.run.state == "waiting"
    assert (queue.place(long[1]), queue.place(other)) == (0, 0)
    for job in (*long, short, other):
        job.run.cancel()
    assert all(job.run.wait(30) for job in (*long, short, other))


def test_the_same_command_is_not_asked_for_twice_while_it_waits_or_runs() -> None:
    queue = Jobs(at_once=1)
    first = queue.submit("compare", "a", SLEEP)
    assert queue.submit("compare", "a", SLEEP) is first
    first.run.cancel()
    assert first.run.wait(20)
    again = queue.submit("compare", "a", QUICK)
    assert again.run.wait(20)
    assert queue.submit("compare", "a", QUICK) is not again


def test_a_full_queue_says_so() -> None:
    queue = Jobs(at_once=0)
    for number in range(MOST_WAITING):
        queue.submit("compare", "a", [*SLEEP, str(number)])
    with pytest.raises(FullError):
        queue.submit("compare", "a", [*SLEEP, "one more"])


def test_what_ended_long_ago_is_forgotten() -> None:
    queue = Jobs(at_once=4)
    found = []
    for number in range(REMEMBERED + 2):
        found.append(queue.submit("compare", "a", [*QUICK, str(number)]))
        if number % 20 == 0:
            assert found[-1].run.wait(30)
    assert all(job.run.wait(30) for job in found)
    _until(lambda: len(queue.known) == REMEMBERED)
    _until(lambda: sum(job.run.document is not None for job in queue.known.values()) == DOCUMENTS)
    assert found[-1].run.document is not None
    assert {job.run.folder for job in queue.known.values()} == {"a-scenario/0123456789ab"}


def test_progress_and_a_message_are_told_apart() -> None:
    said = [{"done": 1, "total": 4, "note": "wide"}, {"done": 3, "total": 4}]
    text = "; ".join(
        [
            "import sys, time",
            *(
                f"print({json.dumps(json.dumps(one))}, file=sys.stderr, flush=True); time.sleep(0.2)"
                for one in said
            ),
            "print('no such thing', file=sys.stderr)",
            "sys.exit(2)",
        ]
    )
    run = ChildRun([sys.executable, "-S", "-c", text])
    run.start()
    assert run.wait(20)
    assert (run.state, run.done, run.total, run.note) == ("failed", 3, 4, "")
    assert run.message == "no such thing"
    assert run.rate is not None
    assert 5 < run.rate <= 10.1  # two runs in 0.2 s and a little
    assert run.left_s == pytest.approx(1 / run.rate)


def test_a_command_that_cannot_be_started_says_so() -> None:
    run = ChildRun(["/nowhere/at/all"])
    run.start()
    assert run.wait(20)
    assert run.state == "failed"
    assert "No such file" in run.message


def test_many_runs_share_the_processors_and_tell_their_progress() -> None:
    command = sim_command("compare", Path("a.yaml"), "--seed", 3)
    assert command[:3] == [sys.executable, "-m", "sim.ui.child"]
    jobs = int(command[command.index("--jobs") + 1])
    assert 1 <= jobs <= max(1, (os.cpu_count() or 1) // 2)
    assert command[-2:] == ["--progress", "json"]
    assert "--jobs" not in sim_command("report", "a/b")


RANDOM = """\
name: Small team
start: 2026-01-01
timezone: UTC
horizon: 20d
workload:
  classes:
    - {name: lora, model: qwen-7b, method: lora, seq_len: 1024, mean_tokens: 300,
       samples: {lognormal: {median: 40000, sigma: 0.8}}, rate: 16/day}
strategies:
  - name: two
    leases: [{offer: a100-40g-custom, count: 2, plan: monthly}]
  - name: three
    leases: [{offer: a100-40g-custom, count: 3, plan: monthly}]
experiment: {replications: 4, seed: 7}
"""

SERVER = """\
import sys, time
from pathlib import Path
from sim.ui.jobs import Jobs, sim_command
words = ("compare", Path("two.yaml"), "--replications", "100000", "--jobs", "2")
job = Jobs().submit("compare", "a", sim_command(*words))
while job.run.done < 500:
    assert not job.run.ended, job.run.message
    time.sleep(0.05)
print(job.run._process.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are counted in /proc")
def test_children_end_with_a_server_that_is_killed(two_jobs: Path) -> None:
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        cwd=two_jobs.parent,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
    ) as server:
        assert server.stdout is not None
        child = int(server.stdout.readline())
        assert _group(child)
        server.send_signal(signal.SIGKILL)
        server.wait(10)
    _until(lambda: not _group(child), 20)
    left = [path.name for path in (two_jobs.parent / "outputs").glob("*") if path.name != ".replications"]
    assert left == []


def _group(leader: int) -> list[int]:
    """Processes of a group that still run."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == leader and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_last_line_of_progress_has_the_intervals_of_the_document(
    two_jobs: Path, fleetsim: Callable[..., Outcome], jobs: str
) -> None:
    random = two_jobs.with_name("random.yaml")
    random.write_text(RANDOM, encoding="utf-8")
    words = ("--format", "json", "--progress", "json", "--jobs", jobs, "--out", two_jobs.parent / "out")
    for _ in range(2):  # the second time from the replications that were kept
        told = fleetsim("compare", random, *words)
        assert told.code == 0, told.err
        lines = [json.loads(line) for line in told.err.splitlines() if line.startswith("{")]
        assert (lines[-1]["done"], lines[-1]["total"]) == (8, 8)
        strategies = {one["name"]: one["metrics"] for one in json.loads(told.out)["strategies"]}
        so_far = lines[-1]["so_far"]
        assert {(one["strategy"], one["metric"]) for one in so_far} == {
            (name, metric) for name in strategies for metric in ("committed_cost_cny", "wait_p95_h")
        }
        for one in so_far:
            wanted = strategies[one["strategy"]][one["metric"]]
            assert one["unit"] == wanted["unit"]
            assert one["n"] == wanted["n"] == 4
            assert one["mean"] == pytest.approx(wanted["mean"], rel=1e-9)
