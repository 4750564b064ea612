"""The same bytes whatever the hash seed, language, time zone, encoding, folder and number of workers.

The digests of the tables that hold whole microseconds and exact money alone are kept in `digests.json`, so
that a change of any result is seen in the review of a change. Where a result is meant to change, write them
anew: `FLEETSIM_GOLDEN=write pytest tests/golden`, and say in the changelog what changed and why.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.faults_kit import SMALL, bytes_below, fleetsim_child, run_folder

DIGESTS = Path(__file__).parent / "digests.json"
EXACT = (
    "jobs.csv",
    "attempts.csv",
    "leases.csv",
    "failures.csv",
    "ledger.csv",
    "invoices.csv",
    "rentals.csv",
)
"""No statistics, fits or pictures in these: they do not depend on versions of other packages."""

PLACES: dict[str, tuple[int, dict[str, str]]] = {
    "plain": (1, {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C.UTF-8"}),
    "far away": (
        2,
        {"PYTHONHASHSEED": "4242", "TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8",
         "COLUMNS": "40", "OMP_NUM_THREADS": "1"},
    ),
    "ASCII": (
        3,
        {"PYTHONHASHSEED": "random", "TZ": "America/St_Johns", "LC_ALL": "C", "PYTHONUTF8": "0",
         "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "", "NO_COLOR": "1"},
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Name of the place -> digests of its files, and of what it printed."""
    answers = {}
    for name, (workers, env) in PLACES.items():
        folder = tmp_path_factory.mktemp("place")
        (folder / "small.yaml").write_text(SMALL, encoding="utf-8")
        asked = ("compare", "small.yaml", "--out", "out", "--jobs", workers, "--format", "json")
        done = fleetsim_child(*asked, env=env, charts=True, cwd=folder)
        assert done.returncode == 0, (name, done.stderr)
        answers[name] = bytes_below(run_folder(folder / "out"))
        document = json.loads(done.stdout)
        assert document.pop("folder").startswith("out/small/")
        answers[name]["document"] = json.dumps(document)
    return answers


@pytest.mark.parametrize("place", [name for name in PLACES if name != "plain"])
def test_the_same_bytes_everywhere(found: dict[str, dict[str, str]], place: str) -> None:
    plain, other = found["plain"], found[place]
    assert len([name for name in plain if name.startswith("charts/")]) >= 3
    assert {name for name in plain if plain[name] != other.get(name)} == set()
    assert plain.keys() == other.keys()


def test_the_results_are_those_that_were_kept(found: dict[str, dict[str, str]]) -> None:
    now = {name: found["plain"][name] for name in EXACT}
    if os.environ.get("FLEETSIM_GOLDEN") == "write":
        DIGESTS.write_text(json.dumps(now, indent=2) + "\n", encoding="utf-8")
    stated = json.loads(DIGESTS.read_text(encoding="utf-8"))
    changed = [name for name in EXACT if now[name] != stated.get(name)]
    assert changed == [], "results changed; if that is meant, see the head of this file"
