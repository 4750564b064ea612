"""JSON and tables on the store, altered by chance and signed anew: opened, or refused with the file.

A digest keeps chance away, not a stranger: whoever writes a folder writes its digests too.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from sim.experiments.compare import compare
from sim.experiments.run_list import runs_below
from sim.experiments.runs import Places, Runs
from sim.experiments.sample import Sample
from sim.experiments.store import save
from sim.experiments.stored import open_run
from sim.experiments.vault import Vault, engine_key
from sim.load import Question, load_text
from sim.replication import Prepared, prepare
from tests.fuzz.bounds import judged
from tests.fuzz.grammar import ODD
from tests.fuzz.pieces import mutated

TEXT = """\
name: Kept
start: 2026-01-30
horizon: 5d
workload:
  classes:
    - {name: bot, model: qwen-7b, method: lora, mean_tokens: 220, samples: 20000, rate: 6/day, deadline: 6h}
strategies:
  - name: windows
    leases: [{offer: a100-40g-custom, count: 1, plan: monthly, available: "08:00-20:00"}]
    burst: {offer: h100-mig, max: 2, rent_when_wait_over: 30min}
  - name: annual
    leases: [{offer: a100-40g-custom, count: 2, plan: annual}]
experiment: {replications: 2, seed: 5}
"""
ALTERED = (
    *("manifest.json", "comparison.json", "scenario.yaml"),
    *("ledger.csv", "invoices.csv", "assumptions.csv", "rentals.parquet", "leases.parquet"),
)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(compare(load_text(TEXT)), tmp_path_factory.mktemp("kept"))


def odd(document: Any, random: Random) -> Any:
    """One place of a JSON document with another value, or without."""
    node = document
    while True:
        keys = [*node] if isinstance(node, dict) else [*range(len(node))]
        if not keys:
            return document
        key = random.choice(keys)
        if isinstance(node[key], dict | list) and node[key] and random.random() < 0.85:
            node = node[key]
        elif random.random() < 0.2:
            del node[key]
            return document
        else:
            node[key] = random.choice(ODD)
            return document


def altered(data: bytes, random: Random) -> bytes:
    """A place of the document, or bytes, in another way."""
    if data[:1] == b"{" and random.random() < 0.7:
        document = json.loads(data)
        for _ in range(random.choice([1, 1, 3])):
            odd(document, random)
        return json.dumps(document).encode()
    return mutated(data, random, random.choice([1, 3]))


def opened(folder: Path) -> None:
    """All that commands and pages read of a run."""
    run = open_run(folder)
    for name in run.strategies:
        run.ledger(name)
        run.leases(name)
        run.billables(name)
        run.jobs(name)
        run.attempts(name)


def run_folders(kept: Path, work: Path, numbers: range) -> Counter[str]:
    found: Counter[str] = Counter()
    folder = work / kept.parent.name / kept.name
    shutil.copytree(kept, folder)
    for number in numbers:
        random = Random(f"folder {number}")
        name = random.choice(ALTERED)
        whole, manifest = (kept / name).read_bytes(), (kept / "manifest.json").read_bytes()
        data = altered(whole, random)
        (folder / name).write_bytes(data)
        if name != "manifest.json":
            signed = json.loads(manifest)
            signed["files"][name] = hashlib.sha256(data).hexdigest()
            (folder / "manifest.json").write_text(json.dumps(signed))
        case = f"folder {number}: {name}\n{data[:3000]!r}"
        found[judged(lambda: opened(folder), case)] += 1
        assert judged(lambda: runs_below(work), case) == "answered"
        (folder / name).write_bytes(whole)
        (folder / "manifest.json").write_bytes(manifest)
    assert judged(lambda: opened(folder), "as it was") == "answered"
    return found


def test_folders_of_runs(kept: Path, tmp_path: Path) -> None:
    found = run_folders(kept, tmp_path, range(24))
    assert min(found["answered"], found["refused"]) >= 3, found


@pytest.mark.long
def test_a_thousand_folders_of_runs(kept: Path, tmp_path: Path) -> None:
    run_folders(kept, tmp_path, range(24, 1024))


def vault_of(folder: Path) -> tuple[Question, Prepared, list[Sample]]:
    question = load_text(TEXT)
    made = Runs.of(question, Places(vault=Vault(folder))).ask([(0, 0), (0, 1)])
    return question, prepare(question), made


def run_vault(folder: Path, numbers: range) -> Counter[str]:
    question, prepared, made = vault_of(folder)
    key = engine_key(prepared, 0, question.scenario.experiment.seed)
    files = sorted((folder / ".replications").rglob("0*.json"))
    assert [file.stem for file in files] == ["000000", "000001"]
    found: Counter[str] = Counter()
    for number in numbers:
        random = Random(f"vault {number}")
        place = number % 2
        whole = files[place].read_bytes()
        body = altered(whole.partition(b"\n")[2].rstrip(b"\n"), random)
        digest = hashlib.blake2b(body.rstrip(b"\n"), digest_size=16).hexdigest().encode()
        files[place].write_bytes(digest + b"\n" + body + b"\n" if random.random() < 0.9 else body)
        vault = Vault(folder)
        answers: list[Sample | None] = []

        def read(vault: Vault = vault, place: int = place, answers: list[Sample | None] = answers) -> None:
            answers.append(vault.read(prepared, key, 0, place))

        judged(read, f"vault {number}:\n{body[:3000]!r}")
        found["set aside" if answers[0] is None else "read"] += 1
        assert (answers[0] is None) == bool(vault.messages)
        files[place].write_bytes(whole)
        files[place].with_suffix(".damaged").unlink(missing_ok=True)
    assert Vault(folder).read(prepared, key, 0, 1) == made[1]
    return found


def test_kept_replications(tmp_path: Path) -> None:
    found = run_vault(tmp_path, range(40))
    assert found["set aside"] >= 10, found


@pytest.mark.long
def test_a_thousand_kept_replications(tmp_path: Path) -> None:
    run_vault(tmp_path, range(40, 1040))
