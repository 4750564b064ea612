"""`fleetsim init`: a folder to work in, from what is shipped, and never over a file of the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.cli import main
from sim.load import load
from sim.load_shipped import shipped_files

ROOT = Path(__file__).parents[1]


def _init(*words: str) -> int:
    with pytest.raises(SystemExit) as ending:
        main(["init", *words])
    return int(ending.value.code or 0)


def test_it_writes_what_is_shipped_and_it_loads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _init(str(tmp_path / "mine")) == 0
    written = {path.relative_to(tmp_path / "mine" / "scenarios") for path, _ in _files(tmp_path / "mine")}
    shipped = {
        path.relative_to(ROOT / "scenarios") for path in (ROOT / "scenarios").rglob("*") if path.is_file()
    }
    assert written == shipped == {name for _, name in shipped_files()}
    assert "fleetsim compare scenarios/four-to-eight.yaml" in capsys.readouterr().out
    # One that reads a trace beside it, one that extends another.
    for name in ("replay.yaml", "annual-or-monthly-8-months.yaml"):
        assert load(tmp_path / "mine" / "scenarios" / name).scenario.strategies


def test_again_changes_nothing_and_a_changed_file_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _init(str(tmp_path)) == 0
    (tmp_path / "scenarios" / "replay.yaml").unlink()
    assert _init(str(tmp_path)) == 0
    assert (tmp_path / "scenarios" / "replay.yaml").is_file()
    assert _init(str(tmp_path)) == 0
    assert "Nothing to do" in capsys.readouterr().out
    mine = tmp_path / "scenarios" / "four-to-eight.yaml"
    mine.write_text("name: mine\n")
    (tmp_path / "scenarios" / "replay.yaml").unlink()
    assert _init(str(tmp_path)) == 2
    assert "four-to-eight.yaml" in capsys.readouterr().err
    assert mine.read_text() == "name: mine\n"
    assert not (tmp_path / "scenarios" / "replay.yaml").exists()


def test_a_place_that_cannot_be_written_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("here").mkdir()
    Path("here", "scenarios").write_text("a file where a folder should be")
    assert _init("here") == 2  # as every command that cannot write where it is told to
    assert "(found 'here/scenarios')" in capsys.readouterr().err
    assert not (tmp_path / "outputs").exists()


def _files(folder: Path) -> list[tuple[Path, int]]:
    return [(path, 0) for path in (folder / "scenarios").rglob("*") if path.is_file()]
