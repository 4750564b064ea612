"""kill -9 of commands that write: nothing finished is lost, nothing is half written, a rerun ends alike."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

import sim.report.save
from tests.faults_crash import KILLED, child, die_at_step, kept_bytes, left
from tests.faults_kit import SMALL

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")

DUMP = "JobID|User|Submit|Start|End|Elapsed|State|AllocTRES|Account\n" + "".join(
    f"{n}|u{n % 3}|2026-03-{1 + n // 20:02d}T{n % 20:02d}:00:00|2026-03-{1 + n // 20:02d}T{n % 20:02d}:05:00|"
    f"2026-03-{1 + n // 20:02d}T{n % 20:02d}:45:00|00:40:00|COMPLETED|gres/gpu={1 + n % 2}|t{n % 4}\n"
    for n in range(200)
)
"""Two hundred jobs as sacct writes them."""

SEARCHED = SMALL.replace("horizon: 15d", "horizon: 40d\ntarget: {wait_p95: 30h}").replace(
    "replications: 6", "replications: 2"
)
"""A question with a target, long enough for a month at which to step up."""


@dataclass(frozen=True)
class Place:
    """Where a command runs."""

    inputs: Path
    """Folder with `small.yaml`, `searched.yaml`, `jobs.sacct`, `jobs.parquet` and `run`, a finished run."""
    out: Path
    """Folder below which it writes."""


COMMANDS: dict[str, Callable[[Place], tuple[object, ...]]] = {
    "compare": lambda p: (
        "compare", p.inputs / "small.yaml", "--replications", 3, "--jobs", 1, "--out", p.out,
    ),
    "recommend": lambda p: (
        "recommend", p.inputs / "searched.yaml", "--cards", "1..2", "--most", 10, "--jobs", 1, "--out", p.out,
    ),
    "stepup": lambda p: (
        "stepup", p.inputs / "searched.yaml", "--most", 10, "--jobs", 1, "--out", p.out,
        "--set", 'strategies.1={name: three, leases: [{offer: a100-40g-custom, count: 3, plan: monthly}]}',
    ),
    "sweep": lambda p: (
        "sweep", p.inputs / "small.yaml", "--vary", "strategies.0.leases.0.count=1,2", "--replications", 2,
        "--jobs", 1, "--out", p.out,
    ),
    "sensitivity": lambda p: (
        "sensitivity", p.inputs / "small.yaml", "--replications", 1, "--jobs", 1, "--out", p.out,
    ),
    "rebill": lambda p: (
        "rebill", p.inputs / "run", "--set", "strategies.0.leases.0.plan=annual", "--out", p.out,
    ),
    "import": lambda p: ("workload", "import", p.inputs / "jobs.sacct", "-o", p.out / "jobs.parquet"),
    "learn": lambda p: ("workload", "fit", p.inputs / "jobs.parquet", "-o", p.out / "learned.yaml"),
    "workbook": lambda p: ("workbook", p.inputs / "run", "-o", p.out / "book.xlsx"),
    "focus": lambda p: ("focus", p.inputs / "run", "-o", p.out / "focus.csv"),
    "focus parquet": lambda p: ("focus", p.inputs / "run", "-o", p.out / "focus.parquet"),
    "report": lambda p: ("report", p.inputs / "run", "-o", p.out / "page.html"),
    "events": lambda p: ("run", p.inputs / "small.yaml", "--events", p.out / "events.parquet"),
    "gantt": lambda p: ("run", p.inputs / "small.yaml", "--gantt", p.out / "gantt.png"),
    "tables": lambda p: ("claims", "--tables"),
    "claims": lambda p: ("claims", "--kind", "price", "--chart", p.out / "claims.png"),
    "init": lambda p: ("init", p.out),
}  # fmt: skip
"""Every command that writes, and one that only prints."""

HARMLESS = re.compile(r"^\.fleetsim-\w+$|^\.replications/")
"""An empty folder by which it was tried whether one may write here; a half-written replication."""

GAPS = {
    "compare": 5,
    "recommend": 30,
    "stepup": 15,
    "sweep": 6,
    "sensitivity": 12,
    "rebill": 5,
    "init": 6,
}
"""Commands of many steps -> every how many of them they are killed in the long profile."""

QUICK = {"compare": 30, "import": 1, "init": 9}
"""Commands that are tried in every run -> every how many steps they are killed."""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "small.yaml").write_text(SMALL, encoding="utf-8")
    (folder / "searched.yaml").write_text(SEARCHED, encoding="utf-8")
    (folder / "jobs.sacct").write_text(DUMP, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def with_run(inputs: Path) -> Path:
    """The same folder, with a finished run and imported jobs in it."""
    log = inputs / "log"
    asked = ("compare", "small.yaml", "--jobs", 1, "--out", "out", "--replications", 2)
    assert child(asked, inputs, log, no_charts)[0] == 0, log.read_text()
    (run,) = (inputs / "out" / "small").iterdir()
    run.rename(inputs / "run")
    asked = ("workload", "import", "jobs.sacct", "-o", "jobs.parquet")
    assert child(asked, inputs, log)[0] == 0, log.read_text()
    return inputs


def no_charts() -> None:
    """In a child: charts of studies take longer than all else, and are files like others."""
    sim.report.save.render = lambda _: {}


class Trial:
    """One command, killed again and again in one folder."""

    def __init__(self, command: str, inputs: Path, folder: Path) -> None:
        self.folder, self.log = folder, folder / "log"
        self.whole, self.seconds = self._whole(command, inputs)
        self.out = self._made("out")
        self.asked = COMMANDS[command](Place(inputs, self.out))
        self.known: set[str] = set()
        self.kills = 0

    def _made(self, name: str) -> Path:
        (self.folder / name).mkdir()
        return self.folder / name

    def _whole(self, command: str, inputs: Path) -> tuple[dict[str, str], float]:
        """What the command leaves where nothing goes wrong, and the seconds that it takes."""
        out = self._made("whole")
        code, seconds = child(COMMANDS[command](Place(inputs, out)), self.folder, self.log, no_charts)
        assert code == 0, self.log.read_text()
        assert bool(kept_bytes(out)) == (command != "tables")
        return kept_bytes(out), seconds

    def goes(self, step: int | None = None, after_s: float | None = None) -> bool:
        """The command once more; whether it was killed."""

        def before() -> None:
            no_charts()
            if step is not None:
                die_at_step(self.out, step)()

        code, _ = child(self.asked, self.folder, self.log, before, after_s)
        said = self.log.read_text()
        assert code in (0, KILLED), said
        assert "Traceback" not in said
        assert "damaged" not in said
        assert "set aside" not in said or "import" in self.asked
        self.kills += code == KILLED
        self.known = left(self.out, self.whole, self.known).replications
        return code == KILLED

    def ends_alike(self) -> None:
        """Once more without a kill: all is there, and nothing else but what `runs prune` clears away."""
        assert not self.goes()
        found = left(self.out, self.whole, self.known)
        assert found.files == self.whole
        drafts = [name for name in found.strays if not HARMLESS.search(name)]
        assert drafts == []


def killed_at_steps(trial: Trial, gap: int) -> None:
    step = 1
    while trial.goes(step=step):
        step += gap
    trial.ends_alike()


def killed_at_random(trial: Trial, times: int, seed: str) -> None:
    random = Random(seed)
    for _ in range(times):
        trial.goes(after_s=random.random() * trial.seconds)
    trial.ends_alike()


@pytest.mark.parametrize("command", QUICK)
def test_killed_at_some_steps(command: str, inputs: Path, tmp_path: Path) -> None:
    trial = Trial(command, inputs, tmp_path)
    killed_at_steps(trial, QUICK[command])
    assert trial.kills >= 2


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_killed_at_many_steps(command: str, with_run: Path, tmp_path: Path) -> None:
    trial = Trial(command, with_run, tmp_path)
    killed_at_steps(trial, GAPS.get(command, 1))
    print(f"{command}: {trial.kills} kills, {trial.seconds:.2f} s a run")
    assert trial.kills >= 2 or command == "tables"


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_killed_at_random_moments(command: str, with_run: Path, tmp_path: Path) -> None:
    trial = Trial(command, with_run, tmp_path)
    killed_at_random(trial, 6, command)
    print(f"{command}: {trial.kills} kills")
    assert trial.kills >= 1
