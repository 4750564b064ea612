"""A disk that is full, read-only or forbidden: one message, nothing half written, nothing finished lost."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults_kit import SMALL, bytes_below, fleetsim_child, fleetsim_here, kept, run_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits and mounts of POSIX systems")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    (folder / "small.yaml").write_text(SMALL, encoding="utf-8")
    folder.chmod(0o755)
    return folder / "small.yaml"


@pytest.fixture(scope="module")
def whole(study: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the study leaves where nothing goes wrong."""
    out = tmp_path_factory.mktemp("whole")
    done = fleetsim_here("compare", study, "--out", out, "--jobs", 1)
    assert done.returncode == 0, done.stderr
    assert len(kept(out)) == 12
    return bytes_below(run_folder(out))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 200 kB, which `mount -o remount` can make larger; skipped without the right to mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if shutil.which("mount") is None or mount("-t", "tmpfs", "-o", "size=200k", "tmpfs", disk):
        pytest.skip("this process may not mount a disk")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=False)


def mount(*words: object) -> int:
    return subprocess.run(["mount", *map(str, words)], capture_output=True, check=False).returncode


def refused(done: subprocess.CompletedProcess[str], code: int) -> str:
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    return " ".join(done.stderr.split())


def nothing_half_written(out: Path) -> None:
    parts = [path.name for path in out.rglob(".*") if path.name != ".replications"]
    assert parts == []
    assert not list(out.rglob("manifest.json"))


def goes_on(study: Path, out: Path, whole: dict[str, str]) -> None:
    """The same command where there is room: the same bytes."""
    done = fleetsim_here("compare", study, "--out", out, "--jobs", 1)
    assert done.returncode == 0, done.stderr
    assert "damaged" not in done.stderr
    assert bytes_below(run_folder(out)) == whole


def test_a_full_disk(study: Path, whole: dict[str, str], small_disk: Path) -> None:
    out = small_disk / "out"
    done = fleetsim_here("compare", study, "--out", out, "--jobs", 1, "--format", "json")
    text = refused(done, 1)
    assert "No space left on device; free some space or choose another --out DIR" in text
    nothing_half_written(out)
    before = kept(out)
    assert mount("-o", "remount,size=64m", small_disk) == 0
    goes_on(study, out, whole)
    assert set(before) <= set(kept(out))


@pytest.mark.long
def test_a_limit_on_the_size_of_files(study: Path, whole: dict[str, str], tmp_path: Path) -> None:
    """A quota: the tables fit no more, the finished replications do."""

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    asked = ("compare", study, "--out", tmp_path, "--jobs", 1, "--format", "json")
    done = fleetsim_child(*asked, at_start=small_files)
    text = refused(done, 1)
    assert "free some space or choose another --out DIR" in text
    nothing_half_written(tmp_path)
    before = kept(tmp_path)
    assert before
    goes_on(study, tmp_path, whole)
    assert set(before) <= set(kept(tmp_path))


def test_a_read_only_disk(study: Path, small_disk: Path) -> None:
    assert mount("-o", "remount,ro", small_disk) == 0
    text = refused(fleetsim_here("compare", study, "--out", small_disk / "out", "--jobs", 1), 2)
    assert "--out: results cannot be written below this folder: Read-only file system" in text


@pytest.mark.parametrize("place", [pytest.param("/proc/fleetsim", marks=pytest.mark.long), "/dev/null/out"])
def test_places_where_nothing_can_be_written(study: Path, place: str) -> None:
    if not Path(place).parent.exists():
        pytest.skip("this system has no such place")
    text = refused(fleetsim_here("compare", study, "--out", place, "--jobs", 1), 2)
    assert "--out: results cannot be written below this folder" in text


def bound_by_rights() -> None:
    """In a child, before it becomes the program: root too is refused what the mode of a file forbids."""
    if os.geteuid() == 0:
        for right in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            if ctypes.CDLL(None).prctl(24, right, 0, 0, 0) != 0:  # PR_CAPBSET_DROP
                os._exit(77)


class TestWithoutPermission:
    @pytest.fixture(autouse=True)
    def _needs_rights_that_bind(self, tmp_path: Path) -> None:
        closed = tmp_path / "closed"
        closed.write_text("x")
        closed.chmod(0)
        if (
            subprocess.run(
                ["cat", closed], preexec_fn=bound_by_rights, capture_output=True, check=False
            ).returncode
            != 1
        ):
            pytest.skip("nothing is forbidden to this user here")

    def test_a_folder_that_may_not_be_written(self, study: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        out.mkdir(mode=0o555)
        asked = ("compare", study, "--out", out, "--jobs", 1)
        done = fleetsim_child(*asked, charts=True, at_start=bound_by_rights)
        assert "results cannot be written below this folder: Permission denied" in refused(done, 2)
        assert list(out.iterdir()) == []

    def test_a_scenario_that_may_not_be_read(self, tmp_path: Path) -> None:
        file = tmp_path / "closed.yaml"
        file.write_text(SMALL, encoding="utf-8")
        file.chmod(0)
        text = refused(fleetsim_child("validate", file, charts=True, at_start=bound_by_rights), 2)
        assert "closed.yaml' is not readable" in text

    @pytest.mark.parametrize(
        "key", ["catalog", *(pytest.param(key, marks=pytest.mark.long) for key in ("extends", "performance"))]
    )
    def test_files_in_a_folder_that_may_not_be_entered(self, tmp_path: Path, key: str) -> None:
        closed = tmp_path / "in"
        closed.mkdir()
        file = tmp_path / "open.yaml"
        file.write_text(f"{key}: in/other.yaml\n{SMALL}", encoding="utf-8")
        closed.chmod(0)
        text = refused(fleetsim_child("validate", file, charts=True, at_start=bound_by_rights), 2)
        assert f"open.yaml:1: {key}" in text
        closed.chmod(0o755)

    @pytest.mark.long
    def test_kept_replications_that_may_not_be_read(
        self, study: Path, whole: dict[str, str], tmp_path: Path
    ) -> None:
        """One is closed: it is computed anew, and what stands there is replaced."""
        first = fleetsim_child("compare", study, "--out", tmp_path, "--jobs", 1)
        assert first.returncode == 0
        victim = sorted((tmp_path / ".replications").rglob("000001.json"))[0]
        victim.chmod(0)
        done = fleetsim_child("compare", study, "--out", tmp_path, "--jobs", 1, at_start=bound_by_rights)
        assert done.returncode == 0, done.stderr
        assert "cannot be read (Permission denied); it is computed anew" in " ".join(done.stderr.split())
        assert bytes_below(run_folder(tmp_path)) == whole
