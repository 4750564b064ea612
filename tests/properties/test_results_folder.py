"""One folder of results under any sequence of what people and faults do to it.

Whatever is compared, billed anew, taken up again, deleted, damaged or cleared away, in whatever order: the
list says what the files say, and what a run says is what a computation from nothing says.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from sim.errors import InputError
from sim.experiments import rebill as rebilling
from sim.experiments import store
from sim.experiments.compare import compare
from sim.experiments.run_list import Listed, find_run, runs_below, sound_run
from sim.experiments.run_read import comparison_of
from sim.experiments.run_removal import delete, kept_runs, removable
from sim.experiments.stored import open_run
from sim.experiments.vault import FOLDER, Vault
from sim.load import load_text
from tests.faults_kit import bytes_below
from tests.properties.laws_kit import few_or_many

TEXT = """\
name: NAME
start: 2026-01-01
timezone: UTC
horizon: 3d
workload:
  classes:
    - {name: bot, model: qwen-7b, method: lora, mean_tokens: 300, rate: 12/day,
       samples: {exponential: {mean: 20000}}}
reliability: {profile: none}
strategies:
  - {name: one, leases: [{offer: a100-40g-custom, count: 1, plan: monthly}]}
  - {name: two, leases: [{offer: a100-40g-custom, count: 2, plan: monthly}]}
experiment: {replications: 2, seed: 1}
"""

NAMES = ("一个名字", "../x")
"""Titles of scenarios; each is a folder of its own."""

ENGINE = (
    (),
    ("experiment.replications=3",),
    ("experiment.seed=0", "strategies.1.leases.0.count=3"),
)
"""Changes that the engine reads, or that need other runs."""

MONEY = ((), ("strategies.1.leases.0.plan=annual",))
"""Changes that bill the same runs anew."""

FOLDERS = {"一个名字": "一个名字", "../x": "x"}


@dataclass(frozen=True)
class Asked:
    """One question."""

    name: str
    engine: tuple[str, ...]
    money: tuple[str, ...]


@cache
def truth(asked: Asked) -> tuple[str, dict[str, str], dict[str, Any]]:
    """Of a comparison from nothing: the run id, the digest of each file but the manifest, the document."""
    with tempfile.TemporaryDirectory() as place:
        made = compare(question(asked))
        folder = store.save(made, Path(place))
        document = json.loads((folder / "comparison.json").read_bytes())
        return folder.name, bytes_below(folder), document


def question(asked: Asked) -> Any:
    return load_text(TEXT.replace("NAME", json.dumps(asked.name)), (*asked.engine, *asked.money))


@dataclass
class Held:
    """What must be known of one folder of a run."""

    asked: Asked
    kind: str
    harm: str = ""
    """Empty: sound. `seen`: the list finds it. `deep`: who opens the run finds it."""


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


HARMS: dict[str, tuple[str, str, Callable[[Path], Any]]] = {
    "manifest is gone": ("manifest.json", "seen", Path.unlink),
    "half a manifest": ("manifest.json", "seen", cut),
    "no document": ("comparison.json", "seen", Path.unlink),
    "another document": ("comparison.json", "seen", flip),
    "no table": ("jobs.csv", "seen", Path.unlink),
    "half a table": ("ledger.csv", "deep", cut),
    "another scenario": ("scenario.yaml", "deep", flip),
}
"""What is done to which file of a run, and who finds it."""

questions = st.builds(Asked, st.sampled_from(NAMES), st.sampled_from(ENGINE), st.sampled_from(MONEY))
numbers = st.integers(0, 99)


class Results(RuleBasedStateMachine):
    """The folder, and beside it a dictionary of what must be in it."""

    @initialize()
    def begin(self) -> None:
        self.out = Path(tempfile.mkdtemp())
        self.runs: dict[str, Held] = {}
        self.spoilt = 0
        """Kept replications that were damaged since the last comparison of their question, at most."""

    def teardown(self) -> None:
        if hasattr(self, "out"):
            shutil.rmtree(self.out)

    def one(self, number: int, sound: bool = False) -> str:
        """Some run that is there; the same number picks the same."""
        ids = sorted(name for name, held in self.runs.items() if not (sound and held.harm))
        return ids[number % len(ids)]

    def some(self) -> bool:
        return bool(self.runs)

    def some_sound(self) -> bool:
        return any(not held.harm for held in self.runs.values())

    def folder(self, name: str) -> Path:
        return self.out / FOLDERS[self.runs[name].asked.name] / name

    # -- What people do ---------------------------------------------------------------------------

    @rule(asked=questions)
    def compares(self, asked: Asked) -> None:
        vault = Vault(self.out)
        made = compare(question(asked), vault=vault)
        assert self.spoilt or vault.messages == []
        folder = store.save(made, self.out)
        self.holds(folder, asked, "comparison")

    @rule(asked=questions)
    def compares_half_and_stops(self, asked: Asked) -> None:
        """Killed before it wrote a run: replications are kept, and half a folder is left."""
        vault = Vault(self.out)
        compare(question(asked), replications=2, vault=vault)
        half = self.out / FOLDERS[asked.name] / f".{truth(asked)[0]}-999999999-0123456789ab"
        half.mkdir(parents=True, exist_ok=True)
        (half / "jobs.csv").write_text("half a table")

    @precondition(some_sound)
    @rule(number=numbers, money=st.sampled_from(MONEY))
    def bills_anew(self, number: int, money: tuple[str, ...]) -> None:
        source = self.one(number, sound=True)
        before = self.runs[source].asked
        after = Asked(before.name, before.engine, money or before.money)
        stored = open_run(self.folder(source))
        if after.money == before.money:
            with pytest.raises(InputError, match="change nothing"):
                rebilling.rebill(stored, money)
            return
        if before.money:  # what was changed before stays so
            return
        folder = rebilling.save(rebilling.rebill(stored, money), self.out, {})
        self.holds(folder, after, "rebilled")

    @precondition(some)
    @rule(number=numbers)
    def deletes(self, number: int) -> None:
        name = self.one(number)
        folder, held = self.folder(name), self.runs[name]
        try:
            delete(removable(folder, self.out))
        except InputError:
            assert not (folder / "manifest.json").is_file() or held.harm == "seen"
            shutil.rmtree(folder)
        del self.runs[name]
        assert not folder.exists()

    @rule()
    def clears_away_what_is_kept(self) -> None:
        held = kept_runs(self.out)
        if held.files:
            delete(held)
        assert not list((self.out / FOLDER).glob("**/*.json"))
        self.spoilt = 0

    # -- What happens to them -------------------------------------------------------------------------

    @precondition(some)
    @rule(number=numbers, harm=st.sampled_from(sorted(HARMS)))
    def harms(self, number: int, harm: str) -> None:
        name = self.one(number)
        held, (file, finds, do) = self.runs[name], HARMS[harm]
        place = self.folder(name) / file
        if held.harm or not place.is_file():
            return
        do(place)
        held.harm = finds

    @rule(number=numbers, whole=st.booleans())
    def spoils_a_kept_replication(self, number: int, whole: bool) -> None:
        files = sorted((self.out / FOLDER).glob("*/*/[0-9]*.json"))
        if not files:
            return
        place = files[number % len(files)]
        if whole:
            place.unlink()
        else:
            cut(place)
            self.spoilt += 1

    # -- What must hold -----------------------------------------------------------------------------------

    def holds(self, folder: Path, asked: Asked, kind: str) -> None:
        """What was just written is what a computation from nothing writes."""
        name, files, _ = truth(asked)
        note(f"{kind} {name}")
        assert folder == self.out / FOLDERS[asked.name] / name
        assert bytes_below(folder) == files
        self.runs[name] = Held(asked, kind)

    @invariant()
    def the_list_says_what_is_there(self) -> None:
        if not hasattr(self, "runs"):
            return
        found = {run.id: run for run in runs_below(self.out)}
        assert found.keys() == self.runs.keys()
        for name, held in self.runs.items():
            self.told(found[name], held)

    def told(self, run: Listed, held: Held) -> None:
        assert run.folder == self.folder(run.id)
        assert (run.state == "damaged") == (held.harm == "seen"), (run, held)
        assert bool(run.problem) == (run.state == "damaged")
        if held.harm != "seen":
            document = truth(held.asked)[2]
            assert (run.scenario, run.kind) == (held.asked.name, held.kind)
            assert run.recommended == document["recommendation"]["strategy"]
            assert run.replications == document["replications"]

    @precondition(some)
    @rule(number=numbers)
    def shows(self, number: int) -> None:
        """By its id: what stands there is the truth, or is refused with the place."""
        name = self.one(number)
        held = self.runs[name]
        if held.harm:
            with pytest.raises(InputError) as raised:
                comparison_of(open_run(sound_run(name, self.out)))
            assert raised.value.problems[0].file is not None
            assert name in raised.value.problems[0].file
            return
        stored = open_run(sound_run(name, self.out))
        assert stored.document == truth(held.asked)[2]
        assert comparison_of(stored).to_json() == stored.document
        assert stored.same_catalog
        for file, digest in stored.manifest["files"].items():
            assert hashlib.sha256(stored.read(file)).hexdigest() == digest

    @precondition(some_sound)
    @rule()
    def the_latest_is_a_sound_one(self) -> None:
        assert self.runs[find_run("latest", self.out).name].harm != "seen"


@few_or_many(3, 60)
def test_any_sequence(examples: int) -> None:
    run_state_machine_as_test(
        Results,
        settings=settings(
            max_examples=examples,
            stateful_step_count=20 if examples < 100 else 50,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
            print_blob=True,
        ),
    )
