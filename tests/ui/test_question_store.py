"""Questions on disk: shipped, uploaded, edited; and that no name leads out of their folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.errors import InputError
from sim.load import load
from sim.ui import question_store
from sim.ui.question_edits import yaml_text
from sim.ui.question_store import (
    FIRST,
    QUESTIONS,
    file_of,
    keep_edited,
    keep_uploaded,
    named_files,
    shipped,
    start_tree,
)
from tests.conftest import TWO_JOBS

TRACE = b"id,submit_s,gpus,runtime_s\na,0,1,3600\nb,0,1,3600\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_worked_example_is_there_in_an_empty_folder() -> None:
    assert list(shipped()) == [FIRST]
    found = file_of(FIRST)
    assert found is not None
    assert load(found).scenario.name == "Four cards or eight?"


def test_an_uploaded_question_is_kept_by_what_it_holds() -> None:
    name = keep_uploaded("mine.yaml", {"mine.yaml": TWO_JOBS.encode(), "two.csv": TRACE})
    assert name.startswith("own-")
    file = file_of(name)
    assert file is not None
    assert file.parent == QUESTIONS / name
    assert len(load(file).trace) == 2
    assert keep_uploaded("mine.yaml", {"mine.yaml": TWO_JOBS.encode(), "two.csv": TRACE}) == name
    other = keep_uploaded(
        "mine.yaml", {"mine.yaml": TWO_JOBS.replace("seed: 1", "seed: 2").encode(), "two.csv": TRACE}
    )
    assert other != name
    assert sorted(path.name for path in QUESTIONS.iterdir()) == sorted([name, other]), (
        "nothing is left lying about"
    )


def test_a_trace_in_a_folder_is_found_among_files_without_folders() -> None:
    text = TWO_JOBS.replace("file: two.csv", "file: traces/two.csv").encode()
    file = file_of(keep_uploaded("mine.yaml", {"mine.yaml": text, "two.csv": TRACE}))
    assert file is not None
    assert (file.parent / "traces" / "two.csv").read_bytes() == TRACE


def test_a_question_may_extend_a_file_that_was_uploaded_with_it() -> None:
    over = b"extends: two.yaml\nname: Longer\nhorizon: 60d\n"
    name = keep_uploaded("over.yaml", {"over.yaml": over, "two.yaml": TWO_JOBS.encode(), "two.csv": TRACE})
    file = file_of(name)
    assert file is not None
    assert start_tree(file)["horizon"] == "60d"
    assert load(file).scenario.name == "Longer"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (TWO_JOBS.replace("file: two.csv", "file: ../secret.csv"), "only files that were uploaded"),
        (TWO_JOBS.replace("file: two.csv", "file: /etc/passwd"), "only files that were uploaded"),
        (TWO_JOBS.replace("file: two.csv", "file: .hidden"), "only files that were uploaded"),
        (TWO_JOBS + "performance: ../../secret.yaml\n", "only files that were uploaded"),
        (TWO_JOBS + "catalog: ../secret.yaml\n", "only files that were uploaded"),
        ("extends: ../secret.yaml\n" + TWO_JOBS, "beside this one"),
        ("extends: mine.yaml\n" + TWO_JOBS, "circle"),
        (TWO_JOBS.replace("two.csv", "other.csv"), "there is no such file beside the scenario"),
        (TWO_JOBS.replace("horizon: 30d", "horizon: 30 dogs"), "a horizon is a duration"),
        ("a: &x 1\nb: *x\n", "aliases"),
        ("\x00", "YAML"),
    ],
)
def test_a_bad_upload_is_refused_and_nothing_is_kept(tmp_path: Path, text: str, rule: str) -> None:
    (tmp_path / "secret.csv").write_text("id,submit_s,gpus,runtime_s\nsecret,0,1,3600\n")
    (tmp_path / "secret.yaml").write_text(TWO_JOBS)
    with pytest.raises(InputError, match=rule) as refusal:
        keep_uploaded("mine.yaml", {"mine.yaml": text.encode(), "two.csv": TRACE})
    assert "outputs" not in str(refusal.value), "the user's file is named, not where the page keeps it"
    assert "secret,0" not in str(refusal.value)
    assert not QUESTIONS.exists() or not list(QUESTIONS.iterdir())


@pytest.mark.parametrize("name", ["../up.csv", "a/b.csv", ".hidden", "scenario.txt", "x\ny.csv", ""])
def test_a_file_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="name"):
        keep_uploaded("mine.yaml", {"mine.yaml": TWO_JOBS.encode(), name: TRACE})


@pytest.mark.parametrize(
    "name",
    ["own-../../../etc", "..", "own-0123456789abcdef", "four-to-eight/../x", "", "edit-0123456789abcdef"],
)
def test_a_name_in_an_address_opens_questions_only(name: str) -> None:
    assert file_of(name) is None


def test_a_link_on_disk_leads_nowhere(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "out.csv").write_bytes(TRACE)
    (home / "in.csv").symlink_to(tmp_path / "out.csv")
    with pytest.raises(InputError, match="only files"):
        named_files({"workload": {"trace": {"file": "in.csv"}}}, home)


def test_an_edited_question_stands_with_its_trace_and_old_ones_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "two.csv").write_bytes(TRACE)
    (tmp_path / "two.yaml").write_text(TWO_JOBS)
    monkeypatch.setattr(question_store, "MOST_EDITED", 3)
    tree = start_tree(tmp_path / "two.yaml")
    for seed in range(6):
        tree["experiment"] = {"replications": 2, "seed": seed}
        file = keep_edited(yaml_text(tree), tree, tmp_path)
        found = load(file)
        assert (found.scenario.experiment.seed, len(found.trace)) == (seed, 2)
    assert len(list(QUESTIONS.glob("edit-*"))) == 3
