"""Commands that write one file, or a study, where the disk, the system or the clock does not go along.

A full disk, a folder that is read-only or goes away, links, few file handles, no room for what processes
share, a clock that jumps: one message and no traceback, what stood there stays, and a new start ends in the
same bytes.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults_crash import Do, Left, child, kept_bytes, steps
from tests.faults_kit import SMALL, bytes_below, fleetsim_child, run_folder
from tests.test_faults_disk import mount
from tests.test_faults_killed import COMMANDS, DUMP, SEARCHED, Place, no_charts

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")

FILES = (
    "import",
    "learn",
    "workbook",
    "focus",
    "focus parquet",
    "report",
    "events",
    "gantt",
    "claims",
)
"""Commands that write one file."""

STUDIES = ("compare", "recommend", "stepup", "sweep", "sensitivity", "rebill")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scenarios and jobs, as in `test_faults_killed`."""
    folder = tmp_path_factory.mktemp("inputs")
    texts = {"small.yaml": SMALL, "searched.yaml": SEARCHED, "jobs.sacct": DUMP}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def furnish(inputs: Path) -> None:
    """A finished run and imported jobs, made where they are asked for first."""
    if (inputs / "run").exists():
        return
    log = inputs / "log"
    asked = ("compare", "small.yaml", "--jobs", 1, "--out", "out", "--replications", 2)
    assert child(asked, inputs, log, no_charts)[0] == 0, log.read_text()
    asked = ("workload", "import", "jobs.sacct", "-o", "jobs.parquet")
    assert child(asked, inputs, log)[0] == 0, log.read_text()
    run_folder(inputs / "out").rename(inputs / "run")


def asks(
    command: str, inputs: Path, out: Path, before: Do = no_charts, words: tuple[object, ...] = ()
) -> tuple[int, str]:
    """The exit code of a command that writes below `out`, and what it said on one line."""
    log = inputs / "log"
    if command not in ("import", "init"):
        furnish(inputs)
    given = (*COMMANDS[command](Place(inputs, out)), *words)
    code, _ = child(given, out.parent, log, before)
    said = " ".join(log.read_text(encoding="utf-8", errors="replace").split())
    assert "Traceback" not in said, said
    assert code in (0, 1, 2), (code, said)
    return code, said


def whole_of(command: str, inputs: Path, folder: Path) -> dict[str, str]:
    """What the command leaves where nothing goes wrong."""
    out = folder / "whole"
    out.mkdir()
    code, said = asks(command, inputs, out)
    assert code == 0, said
    return kept_bytes(out)


def written_by(command: str, inputs: Path, out: Path) -> Path:
    """The one file that a command of `FILES` is asked to write."""
    place = COMMANDS[command](Place(inputs, out))[-1]
    assert isinstance(place, Path)
    return place


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 kB with 4 kB left; skipped without the right to mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if shutil.which("mount") is None or mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", disk):
        pytest.skip("this process may not mount a disk")
    (disk / "ballast").write_bytes(b"x" * 60_000)
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=False)


@pytest.mark.parametrize(
    "command", [name if name == "import" else pytest.param(name, marks=pytest.mark.long) for name in FILES]
)
def test_a_full_disk(command: str, inputs: Path, full_disk: Path, tmp_path: Path) -> None:
    """Of what stood there before, nothing is lost; with room again, the same bytes."""
    out = full_disk / "out"
    out.mkdir()
    place = written_by(command, inputs, out)
    if command == "learn":  # four kilobytes hold all of it
        (full_disk / "more").write_bytes(b"x" * 4096)
    place.write_text("") if command == "learn" else place.write_text("what stood here")
    before = place.read_bytes()
    code, said = asks(command, inputs, out)
    assert code == 1, said
    assert "No space left on device; " in said
    assert "choose another" in said
    assert place.read_bytes() == before
    assert [path.name for path in out.iterdir()] == [place.name]
    assert mount("-o", "remount,size=64m", full_disk) == 0
    assert asks(command, inputs, out)[0] == 0
    assert kept_bytes(out) == whole_of(command, inputs, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("command", [*FILES, *STUDIES])
def test_a_disk_that_may_only_be_read(command: str, inputs: Path, full_disk: Path) -> None:
    assert mount("-o", "remount,ro", full_disk) == 0
    before = sorted(full_disk.iterdir())
    log = inputs / "log"
    furnish(inputs)
    code, _ = child(COMMANDS[command](Place(inputs, full_disk / "out")), inputs, log, no_charts)
    said = " ".join(log.read_text().split())
    assert (code, "Traceback" in said) == (2, False), said
    assert "results cannot be written below this folder: Read-only file system" in said
    assert sorted(full_disk.iterdir()) == before


def goes_away(folder: Path, number: int) -> Do:
    """For a child: somebody takes the whole folder away before the step of this number."""

    def at(step: int) -> None:
        if step == number:
            shutil.rmtree(folder, ignore_errors=True)

    def before() -> None:
        no_charts()
        steps(folder, at)()

    return before


@pytest.mark.parametrize(
    ("command", "numbers"),
    [
        ("import", range(1, 5)),
        *(
            pytest.param(name, range(1, 6), marks=pytest.mark.long)
            for name in ("focus", "workbook", "report")
        ),
        *(pytest.param(name, range(1, 60, 7), marks=pytest.mark.long) for name in STUDIES),
    ],
)
def test_the_folder_goes_away_in_mid_run(command: str, numbers: range, inputs: Path, tmp_path: Path) -> None:
    """It is made again, or missed with a message; then the same command does its work."""
    whole = whole_of(command, inputs, tmp_path)
    out = tmp_path / "out"
    for number in numbers:
        out.mkdir(exist_ok=True)
        code, said = asks(command, inputs, out, goes_away(out, number))
        assert code == 0 or "choose another" in said or "cannot be written" in said, said
        if out.exists():
            found = kept_bytes(out)
            assert found == {name: whole[name] for name in found}
    out.mkdir(exist_ok=True)
    assert asks(command, inputs, out)[0] == 0
    assert kept_bytes(out) == whole


@pytest.mark.parametrize(
    "command",
    [name if name in ("import", "report") else pytest.param(name, marks=pytest.mark.long) for name in FILES],
)
def test_a_link_in_the_place_of_the_file(command: str, inputs: Path, tmp_path: Path) -> None:
    """The file behind it is written, whether it was there or not; a circle of links is told."""
    whole = whole_of(command, inputs, tmp_path)
    out, there = tmp_path / "out", tmp_path / "there"
    out.mkdir()
    place = written_by(command, inputs, out)
    place.symlink_to(there / f"other{place.suffix}")
    for _ in range(2):
        assert asks(command, inputs, out)[0] == 0
        assert place.is_symlink()
        assert bytes_below(there) == {f"other{place.suffix}": whole[place.name]}
    place.unlink()
    place.symlink_to(place.name)
    code, said = asks(command, inputs, out)
    assert (code, "Too many levels of symbolic links" in said) == (1, True), said


@pytest.mark.long
@pytest.mark.parametrize("command", STUDIES)
def test_a_link_in_the_place_of_the_folder(command: str, inputs: Path, tmp_path: Path) -> None:
    """The folder behind it is used; one that leads nowhere is told."""
    whole = whole_of(command, inputs, tmp_path)
    out, there = tmp_path / "out", tmp_path / "there"
    out.symlink_to(there)
    code, said = asks(command, inputs, out)
    assert (code, "--out" in said) == (2, True), said
    there.mkdir()
    assert asks(command, inputs, out)[0] == 0
    assert kept_bytes(there) == whole


@pytest.mark.parametrize(
    "command",
    [
        name if name == "import" else pytest.param(name, marks=pytest.mark.long)
        for name in ("import", "workbook", "focus", "report", "compare", "sweep", "init")
    ],
)
def test_few_file_handles(command: str, inputs: Path, tmp_path: Path) -> None:
    """From too few to begin with to enough: a message each time, and then the work is done."""
    whole = whole_of(command, inputs, tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    codes = []
    for number in (4, 5, 6, 7, 8, 10, 12, 16, 24):

        def before(number: int = number) -> None:
            no_charts()
            resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))

        code, said = asks(command, inputs, out, before)
        codes.append(code)
        assert code == 0 or "Too many open files" in said, said
        if code == 0:
            assert kept_bytes(out) == whole
            break
    assert codes[0] != 0
    assert codes[-1] == 0


@pytest.mark.long
@pytest.mark.parametrize("size", ["4k", "16k"])
def test_no_room_for_what_processes_share(size: str, inputs: Path, tmp_path: Path) -> None:
    """Workers cannot be started: it is said, and one process does the work."""
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-m", "true"], check=False).returncode:
        pytest.skip("this process may not have a /dev/shm of its own")
    out = tmp_path / "out"
    asked = ["compare", inputs / "small.yaml", "--replications", 3, "--out", out, "--format", "json"]
    script = "import runpy, sys; from sim.experiments import parallel; parallel.SERIAL_BELOW_S = 0.0\n"
    script += "import sim.report.save; sim.report.save.render = lambda _: {}\n"
    script += "from sim.cli import main; main(sys.argv[1:])"
    inner = f'mount -t tmpfs -o size={size} tmpfs /dev/shm && exec "$@"'
    command = ["unshare", "-m", "sh", "-c", inner, "sh", sys.executable, "-c", script, *asked, "--jobs", 2]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=300, check=False)
    assert "Traceback" not in done.stderr
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert "worker processes cannot be started: No space left on device; try --jobs 1" in done.stderr
    assert len(Left(out).replications) >= 1
    whole = whole_of("compare", inputs, tmp_path)
    assert asks("compare", inputs, out)[0] == 0
    assert kept_bytes(out) == whole


JUMPS = """
import itertools, time
from datetime import UTC, datetime
{modules}
moments = itertools.cycle([4e9, 1e9, 2.5e9])  # 2096, 2001, 2049

class Clock(datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.fromtimestamp(next(moments), tz)

for module in ({names},):
    module.datetime = Clock
time.time = lambda: next(moments)
"""
"""Whenever one looks at the clock of the machine, it is another century."""

TELL_TIME = ("compare", "rebill", "sensitivity", "sweep")
"""Modules of `sim.experiments` that ask for the time."""


def test_who_asks_for_the_time() -> None:
    """The list above is all of them, or a clock that jumps is not tried where it matters."""
    folder = Path(__file__).parents[1] / "sim" / "experiments"
    asking = [path.stem for path in sorted(folder.glob("*.py")) if "datetime.now" in path.read_text()]
    assert asking == sorted(TELL_TIME)


@pytest.mark.long
@pytest.mark.parametrize("command", [*STUDIES, "workbook", "focus", "import"])
def test_a_clock_that_jumps(command: str, inputs: Path, tmp_path: Path) -> None:
    """Times stand in manifests alone: the same bytes, and the same again at the usual time."""
    whole = whole_of(command, inputs, tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    modules = "\n".join(f"import sim.experiments.{name} as {name}_" for name in TELL_TIME)
    jumps = JUMPS.format(modules=modules, names=", ".join(f"{name}_" for name in TELL_TIME))
    done = fleetsim_child(*COMMANDS[command](Place(inputs, out)), before=jumps)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert kept_bytes(out) == whole
    assert asks(command, inputs, out)[0] == 0
    assert kept_bytes(out) == whole


@pytest.mark.long
def test_a_store_from_the_future(inputs: Path, tmp_path: Path) -> None:
    """A run of 2096 is the latest; it is shown, billed anew, and replaced where it is made again."""
    furnish(inputs)
    out = tmp_path / "out"
    shutil.copytree(inputs / "run", out / "small" / run_id_of(inputs / "run"))
    folder = run_folder(out)
    manifest = json.loads((folder / "manifest.json").read_text())
    late = {"started": "2096-10-02T07:06:40+00:00", "finished": "2096-10-02T07:06:41+00:00"}
    (folder / "manifest.json").write_text(json.dumps({**manifest, **late}))
    for path in [*out.rglob("*"), out]:
        os.utime(path, (4e9, 4e9))
    shown = fleetsim_child("runs", "show", "latest", "--out", out, "--format", "json")
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["run"]["finished"] == late["finished"]
    assert asks("rebill", inputs, out)[0] == 0
    listed = fleetsim_child("runs", "list", "--out", out, "--format", "json")
    ids = [run["id"] for run in json.loads(listed.stdout)["runs"]]
    assert len(ids) == 2
    assert ids[0] == folder.name
    before = bytes_below(folder)
    asked = ("compare", inputs / "small.yaml", "--jobs", 1, "--out", out, "--replications", 2)
    assert child(asked, tmp_path, tmp_path / "log", no_charts)[0] == 0
    assert bytes_below(folder) == before
    assert json.loads((folder / "manifest.json").read_text())["finished"] < "2096"


def run_id_of(folder: Path) -> str:
    found: str = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["run_id"]
    return found
