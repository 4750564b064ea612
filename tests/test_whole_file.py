"""Files that appear whole or not at all: drafts, links, devices and pipes."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from sim.errors import RunError
from sim.whole_file import is_device, whole_file, write_whole


def write(path: Path, data: bytes) -> None:
    write_whole(path, data, "the answer", "choose another FILE")


def test_the_folder_is_made_and_nothing_else_is_left(tmp_path: Path) -> None:
    place = tmp_path / "a" / "b" / "out.csv"
    write(place, b"whole\n")
    assert place.read_bytes() == b"whole\n"
    assert [path.name for path in place.parent.iterdir()] == ["out.csv"]


def test_what_stood_there_stays_where_the_writer_fails(tmp_path: Path) -> None:
    place = tmp_path / "out.csv"
    place.write_text("old")

    def half() -> None:
        with whole_file(place, "the answer", "choose another FILE") as draft:
            draft.write_text("half of i")
            raise KeyError(place)

    with pytest.raises(KeyError, match=r"out\.csv"):
        half()
    assert place.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_drafts_of_killed_programs_go_and_others_stay(tmp_path: Path) -> None:
    gone = tmp_path / ".out.csv.4194999.part"  # above the largest number that Linux gives (2^22)
    alive = tmp_path / f".out.csv.{os.getppid()}.part"
    foreign = tmp_path / ".out.csv.part"
    for path in (gone, alive, foreign):
        path.write_text("half of it")
    write(tmp_path / "out.csv", b"whole\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([alive.name, foreign.name, "out.csv"])


def test_the_file_behind_a_link_is_written(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "there" / "target"
    link.symlink_to(target)
    write(link, b"whole\n")
    assert link.is_symlink()
    assert target.read_bytes() == b"whole\n"


def test_a_circle_and_a_name_that_is_too_long_are_told(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    for name, why in (("one", "Too many levels of symbolic links"), ("a" * 300, "File name too long")):
        with pytest.raises(RunError, match=f"the answer cannot be written to .*: {why}; choose another FILE"):
            write(tmp_path / name, b"x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


@pytest.mark.parametrize("linked", [False, True])
def test_a_pipe_is_written_into_and_stays_one(tmp_path: Path, linked: bool) -> None:
    pipe = place = tmp_path / "pipe"
    os.mkfifo(pipe)
    if linked:
        place = tmp_path / "link"
        place.symlink_to(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write(place, b"whole\n")
    reader.join(timeout=30)
    assert got == [b"whole\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert {path.name for path in tmp_path.iterdir()} == {"pipe", *(["link"] if linked else [])}


def test_what_is_a_device(tmp_path: Path) -> None:
    """Pipes stand for devices above: run by an administrator, a mistake there would harm all programs."""
    (tmp_path / "chart.png").symlink_to(os.devnull)
    assert is_device(tmp_path / "chart.png")
    assert is_device(Path(os.devnull))
    (tmp_path / "file").write_text("x")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    assert not any(is_device(tmp_path / name) for name in ("file", ".", "nothing", "dangling"))
