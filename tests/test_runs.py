"""Stored runs: listed, found, shown and deleted, and never anything that is no run."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from sim.errors import InputError
from sim.experiments import store
from sim.experiments.compare import compare
from sim.experiments.run_list import find_run, listed, runs_below
from sim.experiments.run_read import comparison_of
from sim.experiments.run_removal import kept_runs, removable
from sim.experiments.stored import open_run
from sim.load import load
from tests.conftest import TWO_JOBS


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two runs of one scenario, with other seeds, and their comparisons."""
    home = tmp_path_factory.mktemp("made")
    (home / "two.csv").write_text("id,submit_s,gpus,runtime_s\na,0,1,3600\nb,0,1,3600\n")
    (home / "two.yaml").write_text(TWO_JOBS)
    question = load(home / "two.yaml")
    found = [compare(question, seed=seed) for seed in (1, 2)]
    return home, [(one, store.save(one, home / "outputs")) for one in found]


@pytest.fixture
def outputs(made, tmp_path, monkeypatch) -> Path:
    """The two runs below outputs/ in the current folder; the second finished a day later."""
    home, runs = made
    shutil.copytree(home / "outputs", tmp_path / "outputs")
    monkeypatch.chdir(tmp_path)
    for day, (_, folder) in enumerate(runs, start=1):
        change(
            tmp_path / "outputs" / folder.parent.name / folder.name, finished=f"2026-01-0{day}T10:00:00+00:00"
        )
    return tmp_path / "outputs" / runs[0][1].parent.name


def change(folder: Path, **values: object) -> None:
    place = folder / "manifest.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), **values}))


def ids(made) -> list[str]:
    return [folder.name for _, folder in made[1]]


def test_list_says_what_each_run_is(outputs, made, fleetsim):
    done = fleetsim("runs", "list", "--format", "json")
    document = json.loads(done.out)
    first, second = ids(made)
    assert [run["id"] for run in document["runs"]] == [second, first]  # the newest first
    assert document["runs"][1] == {
        "id": first,
        "scenario": "Two jobs, one card",
        "kind": "comparison",
        "finished": "2026-01-01T10:00:00+00:00",
        "replications": 2,
        "recommended": "two cards, monthly",
        "version": made[1][0][0].version,
        "state": "whole",
        "problem": None,
        "folder": f"outputs/two-jobs-one-card/{first}",
    }
    shown = fleetsim("runs", "list").out
    assert "2026-01-01 10:00" in shown
    assert shown.index(second) < shown.index(first)


DAMAGE = {
    "no manifest": lambda folder: (folder / "manifest.json").unlink(),
    "half a manifest": lambda folder: (folder / "manifest.json").write_text('{"files": {'),
    "a list": lambda folder: (folder / "manifest.json").write_text("[]"),
    "no files": lambda folder: change(folder, files=[1]),
    "odd files": lambda folder: change(folder, files={"a\x00b": "c"}),
    "files elsewhere": lambda folder: change(folder, files={"../../../two.yaml": "c"}),
    "another run's": lambda folder: change(folder, run_id="0" * 12),
    "a missing file": lambda folder: (folder / "ledger.csv").unlink(),
    "an altered decision": lambda folder: (folder / "comparison.json").write_text("{}"),
    "a link": lambda folder: (
        (folder / "manifest.json").rename(folder.parent / "m"),
        (folder / "manifest.json").symlink_to(folder.parent / "m"),
    ),
    "odd kinds": lambda folder: change(folder, scenario=3, finished=None, replications="x", fleetsim=["a"]),
    "a folder": lambda folder: (
        (folder / "manifest.json").unlink(),
        (folder / "manifest.json").mkdir(),
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_run_is_named_and_the_others_are_listed(outputs, made, fleetsim, damage):
    first, second = ids(made)
    DAMAGE[damage](outputs / second)
    done = fleetsim("runs", "list", "--format", "json")
    assert done.code == 0, done.err
    runs = {run["id"]: run for run in json.loads(done.out)["runs"]}
    assert runs[first]["state"] == "whole"
    if damage == "odd kinds":
        assert runs[second]["state"] == "other version"
        return
    assert runs[second]["state"] == "damaged"
    assert runs[second]["problem"]
    shown = fleetsim("runs", "list")
    assert "Traceback" not in shown.out + shown.err
    assert runs[second]["problem"][:8] in shown.out
    assert fleetsim("runs", "show", second).code == 2


def test_other_versions_are_listed_and_not_opened(outputs, made, fleetsim):
    first, second = ids(made)
    change(outputs / second, fleetsim="0.0.1")
    change(outputs / first, format="0-old")
    assert [run.state for run in runs_below(Path("outputs"))] == ["other version"] * 2
    refused = fleetsim("runs", "show", second)
    assert refused.code == 2
    assert "another version" in refused.err
    assert fleetsim("runs", "show", "latest").code == 2  # none can be opened


def test_other_kinds(outputs, made, fleetsim):
    first, second = ids(made)
    change(outputs / first, rebilled_from=second, changes=["x=y"])
    files = json.loads((outputs / second / "manifest.json").read_text())["files"]
    for name, kind in (("recommendation.json", "recommendation"), ("stepup.json", "step-up")):
        (outputs / second / name).write_text("{}")
        change(outputs / second, files={**files, name: "0" * 64})
        assert listed(outputs / second).kind == kind
    assert listed(outputs / first).kind == "rebilled"
    study = outputs / f"sweep-{first}"
    study.mkdir()
    said = {"kind": "sweep", "scenario": "S", "finished": "2031", "fleetsim": made[1][0][0].version}
    (study / "manifest.json").write_text(json.dumps({**said, "files": {}}))
    assert listed(study).kind == "sweep"
    assert find_run("latest", Path("outputs")) == Path("outputs") / outputs.name / study.name
    assert find_run("latest", Path("outputs"), ("rebilled",)).name == first
    refused = fleetsim("report", study)
    assert refused.code == 2
    assert "no document that this version can show" in refused.err


def test_what_is_no_run_is_not_listed(outputs, made):
    (outputs / "notes").mkdir()
    (outputs.parent / "README.md").write_text("x")
    (outputs / f".{ids(made)[0]}-0123456789ab").mkdir()
    (outputs / "abcdefabcdef").symlink_to(outputs / ids(made)[0])
    (outputs.parent / ".replications" / "ab" / ("0" * 32)).mkdir(parents=True)
    assert {run.id for run in runs_below(outputs.parent)} == set(ids(made))
    with pytest.raises(InputError, match="no folder of results"):
        runs_below(outputs / "nowhere")


def test_a_run_is_found_by_folder_id_beginning_or_latest(outputs, made):
    first, second = ids(made)
    out = Path("outputs")
    assert find_run(str(outputs / first), out) == outputs / first
    assert find_run(first, out).name == first
    assert find_run("latest", out).name == second
    length = next(n for n in range(1, 13) if first[:n] != second[:n])
    assert find_run(first[:length], out).name == first
    shutil.copytree(outputs / first, outputs / f"{first[:-1]}{'0' if first[-1] != '0' else '1'}")
    with pytest.raises(InputError, match="2 runs begin like this") as told:
        find_run(first[:11], out)
    assert first in str(told.value)
    assert find_run(first, out).name == first  # the whole id is no beginning
    for text in ("", "zzz", "../outputs", "latest "):
        if not Path(text).is_dir() or not text:
            with pytest.raises(InputError):
                find_run(text or "/nowhere", out)


@pytest.mark.usefixtures("no_charts")
def test_show_says_what_compare_said(outputs, made, fleetsim, two_jobs):
    comparison = made[1][0][0]
    document = json.loads(fleetsim("runs", "show", ids(made)[0], "--format", "json").out)
    run = document.pop("run")
    assert run["id"] == ids(made)[0]
    assert document == json.loads(json.dumps(comparison.to_json()))
    shown = fleetsim("runs", "show", ids(made)[0]).out
    compared = fleetsim("compare", two_jobs, "--seed", "1", "--out", "elsewhere").out
    _, rest = compared.split("Decision", 1)
    assert rest.split("\nFiles\n")[0] in shown


def test_the_document_gives_the_comparison_back(made):
    for comparison, folder in made[1]:
        again = comparison_of(open_run(folder))
        assert again.to_json() == comparison.to_json()
        assert again.recommendation == comparison.recommendation
        assert [one.metrics for one in again.strategies] == [one.metrics for one in comparison.strategies]


# -- Deleting ------------------------------------------------------------------------------------------


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_delete_asks_for_yes_and_takes_one_run(outputs, made, fleetsim, tmp_path):
    first, second = ids(made)
    before = everything(tmp_path)
    told = fleetsim("runs", "delete", first)
    assert told.code == 0
    assert "--yes would delete" in told.out
    assert everything(tmp_path) == before
    document = json.loads(fleetsim("runs", "delete", first, "--yes", "--format", "json").out)
    assert document["deleted"]
    assert document["files"] == sum(f"outputs/two-jobs-one-card/{first}/" in name for name in before)
    gone = {name for name in before if f"/{first}" in name}
    assert everything(tmp_path) == before - gone
    assert fleetsim("runs", "delete", outputs / second, "--yes").code == 0
    assert everything(tmp_path) == {"outputs"}  # the folder of the scenario is empty and goes too


def test_foreign_folders_are_refused(outputs, made, fleetsim, tmp_path):
    first, second = ids(made)
    stranger = tmp_path / "documents" / "two-jobs-one-card" / first
    shutil.copytree(outputs / first, stranger)
    (outputs / "mine").mkdir()
    (outputs / "mine" / "manifest.json").write_text("{}")
    (outputs / "0123456789ab").mkdir()
    (outputs / "abcdefabcdef").symlink_to(stranger)
    (outputs / "bbbbbbbbbbbb").symlink_to("bbbbbbbbbbbb")  # in a circle
    (tmp_path / "outputs" / "linked").symlink_to(stranger.parent)
    bare = outputs / "aaaaaaaaaaaa"
    shutil.copytree(outputs / first, bare)  # the manifest of another run
    shutil.copytree(outputs / second, outputs / second / "charts" / second)
    before = everything(tmp_path)
    for name in (
        stranger, outputs, outputs.parent, tmp_path, "/", ".", "outputs", "latest", outputs / "mine",
        outputs / "0123456789ab", outputs / "abcdefabcdef", outputs / "bbbbbbbbbbbb",
        f"outputs/linked/{first}", bare,
        f"outputs/two-jobs-one-card/../two-jobs-one-card/{first}", "..", outputs / second / "charts" / second,
    ):  # fmt: skip
        refused = fleetsim("runs", "delete", name, "--yes")
        assert refused.code == 2, name
        assert refused.out == ""
    assert everything(tmp_path) == before


def test_what_the_run_did_not_write_is_never_deleted(outputs, made, fleetsim):
    run = outputs / ids(made)[0]
    (run / "my notes.txt").write_text("dear")
    refused = fleetsim("runs", "delete", run, "--yes")
    assert refused.code == 2
    assert "my notes.txt" in refused.err
    (run / "my notes.txt").unlink()
    (run / "away").symlink_to(outputs.parent)
    assert fleetsim("runs", "delete", run, "--yes").code == 2
    assert (run / "manifest.json").exists()


def test_a_damaged_run_can_be_deleted_where_its_manifest_is_sound(outputs, made, fleetsim):
    first, second = ids(made)
    (outputs / first / "ledger.csv").unlink()
    change(outputs / second, fleetsim="0.0.1")
    assert fleetsim("runs", "delete", first, "--yes").code == 0
    assert fleetsim("runs", "delete", second, "--yes").code == 0
    assert not outputs.exists()


def test_a_link_to_the_results_is_followed_but_no_link_in_them(outputs, made, tmp_path):
    (tmp_path / "results").symlink_to(tmp_path / "outputs")
    first = ids(made)[0]
    held = removable(Path("results") / "two-jobs-one-card" / first, Path("results"))
    assert held.files == len([1 for path in (outputs / first).rglob("*") if path.is_file()])


@pytest.mark.usefixtures("no_charts")
def test_prune_says_and_deletes_what_is_kept(outputs, fleetsim, two_jobs):
    empty = json.loads(fleetsim("runs", "prune", "--format", "json").out)
    assert empty == {"folder": "outputs/.replications", "files": 0, "bytes": 0, "deleted": False}
    assert fleetsim("compare", two_jobs).code == 0
    kept = Path("outputs/.replications")
    # Two strategies, two replications.
    sizes = [path.stat().st_size for path in kept.rglob("*") if path.is_file()]
    told = json.loads(fleetsim("runs", "prune", "--format", "json").out)
    assert (told["files"], told["bytes"], told["deleted"]) == (4, sum(sizes), False)
    assert "4 finished replications" in fleetsim("runs", "prune").out
    runs = everything(outputs)
    assert fleetsim("runs", "prune", "--yes").code == 0
    assert not kept.exists()
    assert everything(outputs) == runs
    assert fleetsim("runs", "prune", "--yes").code == 0


@pytest.mark.usefixtures("no_charts")
def test_prune_refuses_what_it_does_not_know(outputs, fleetsim, two_jobs, tmp_path):
    fleetsim("compare", two_jobs)
    kept = Path("outputs/.replications")
    odd = next(path for path in kept.rglob("*.json")).parent / "notes.json"
    odd.write_text("dear")
    refused = fleetsim("runs", "prune", "--yes")
    assert refused.code == 2
    assert "notes.json" in refused.err
    assert odd.exists()
    odd.unlink()
    kept.rename("kept")
    kept.symlink_to(tmp_path / "kept")
    assert fleetsim("runs", "prune", "--yes").code == 2
    assert len(list(Path("kept").rglob("*.json"))) == 4


@pytest.mark.usefixtures("no_charts")
def test_leftovers_of_a_killed_write_are_pruned_too(outputs, fleetsim, two_jobs):
    fleetsim("compare", two_jobs)
    one = next(Path("outputs/.replications").rglob("*.json"))
    one.with_name(f".{one.name}-0123456789ab").write_text("half")
    one.rename(one.with_suffix(".damaged"))
    assert kept_runs(Path("outputs")).files == 5
    assert fleetsim("runs", "prune", "--yes").code == 0


def test_what_cannot_be_deleted_is_one_message(outputs, made, fleetsim, monkeypatch):
    def refuse(_self, _target):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", refuse)
    refused = fleetsim("runs", "delete", ids(made)[0], "--yes")
    assert refused.code == 1
    assert "cannot be deleted: Permission denied" in refused.err
    assert (outputs / ids(made)[0] / "manifest.json").exists()


def test_help_names_the_commands(fleetsim):
    shown = fleetsim("runs", "--help").out
    assert re.findall(r"^\W*(list|show|diff|delete|prune)\b", shown, re.MULTILINE) == [
        "list",
        "show",
        "diff",
        "delete",
        "prune",
    ]
