"""What stands in the address of the page, and what is uploaded: read, or said to be lost; nothing else."""

from __future__ import annotations

import base64
import json
import zlib
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from sim.errors import InputError
from sim.load import load_text
from sim.ui import question_store
from sim.ui.question_edits import decoded, edited, encoded, yaml_text
from sim.ui.question_store import file_of, keep_uploaded, named_files, start_tree
from tests.fuzz.bounds import judged
from tests.fuzz.grammar import ODD, Grammar
from tests.fuzz.pieces import mutated
from tests.fuzz.test_scenario_files import FOLDER, RICH, trees

EDITS = [
    [["strategies", 0, "leases", 0, "count"], 8],
    [["workload", "classes", 0, "rate"], "7/day"],
    [["target"]],
    [["strategies", 1], {"name": "new", "leases": [{"offer": "h100-mig", "count": 1, "plan": "hourly"}]}],
]


def asked(text: str) -> None:
    """From the address to the problems that the page shows; ValueError is its word for `cannot be read`."""
    start = trees()[0]
    try:
        tree = edited(start, decoded(text))
    except ValueError:
        return
    named_files(tree, FOLDER)
    load_text(yaml_text(tree), folder=FOLDER)


def address(number: int) -> str:
    """The edits of an address, with other values, other places, or other signs."""
    random = Random(f"address {number}")
    grammar = Grammar(number, 0.2)
    edits: list[Any] = json.loads(json.dumps(EDITS))
    for edit in edits:
        if random.random() < 0.3:
            edit[1:] = [random.choice([*ODD, grammar.scenario()])]
        if random.random() < 0.2:
            edit[0].insert(random.randrange(len(edit[0]) + 1), random.choice([*ODD, "a", 0, 1, -1, 99]))
        if random.random() < 0.1:
            edit[0].pop()
    kind = random.randrange(4)
    if kind == 0:
        plain = mutated(json.dumps(edits).encode(), random, 3)
        return base64.urlsafe_b64encode(zlib.compress(plain)).decode().rstrip("=")
    text = base64.urlsafe_b64encode(zlib.compress(json.dumps(edits).encode())).decode().rstrip("=")
    return mutated(text.encode(), random, 2).decode("latin-1") if kind == 1 else text


def run_addresses(numbers: range) -> Counter[str]:
    found: Counter[str] = Counter()
    for number in numbers:
        text = address(number)
        found[judged(lambda text=text: asked(text), f"address {number}: {text!r}")] += 1
    return found


def test_edits_in_the_address() -> None:
    assert judged(lambda: asked(encoded(EDITS)), EDITS) == "answered"
    found = run_addresses(range(60))
    assert found["refused"] >= 5, found


@pytest.mark.long
def test_two_thousand_addresses() -> None:
    run_addresses(range(60, 2060))


@pytest.mark.parametrize("depth", [20, 900, 100_000])
def test_a_value_nested_deeply(depth: int) -> None:
    text = f'[[["name"], {"[" * depth}{"]" * depth}]]'.encode()
    judged(lambda: asked(base64.urlsafe_b64encode(zlib.compress(text)).decode()), depth)


NAMES = (
    "..",
    "../x",
    "own-0123456789abcdef/..",
    "own-../../../etc",
    "/etc/passwd",
    "own-0123456789abcdeF",
    "",
    "\x00",
    "own-0123456789abcdef\n",
    "four-to-eight/../four-to-eight",
    "x" * 10_000,
    "\ud800",
    "..\\..\\x",
    "%2e%2e",
    ".",
    "own-0123456789abcde٣",
    "con",
    "own-0123456789abcdef",
)


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_question_leads_nowhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(question_store, "QUESTIONS", tmp_path / "questions")
    assert file_of(name) is None


FILES = (
    "..",
    "../x.csv",
    "/etc/passwd",
    "",
    "\x00",
    "a/../b.csv",
    "x" * 10_000,
    "\ud800",
    "..\\x",
    "%2e%2e",
    ".",
    "a\n",
    "scenario.txt",
    "a\u202eb.csv",
    "a/b.csv",
    ".hidden",
    "-o",
    "a:b",
)


@pytest.mark.parametrize("name", FILES)
def test_an_upload_names_no_path(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_store, "QUESTIONS", tmp_path / "questions")
    with pytest.raises(InputError) as raised:
        keep_uploaded("x.yaml", {"x.yaml": RICH.encode(), name: b"1"})
    assert raised.value.problems[0].file == name
    assert not (tmp_path / "questions").exists()
    assert list(tmp_path.iterdir()) == []


def run_uploads(numbers: range) -> Counter[str]:
    found: Counter[str] = Counter()
    for number in numbers:
        random = Random(f"upload {number}")
        data = mutated(RICH.encode(), random, 2)
        files = {"x.yaml": data, "jobs.csv": mutated(b"id,submit_s,gpus,runtime_s\na,0,1,60\n", random, 1)}

        def keep(files: dict[str, bytes] = files) -> None:
            kept = file_of(keep_uploaded("x.yaml", files))
            assert kept is not None
            start_tree(kept)

        found[judged(keep, f"upload {number}: {files!r}")] += 1
    return found


def test_uploads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_store, "QUESTIONS", tmp_path / "questions")
    found = run_uploads(range(20))
    assert found["refused"] >= 3, found
    assert all(folder.name.startswith("own-") for folder in (tmp_path / "questions").iterdir())


@pytest.mark.long
def test_a_thousand_uploads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_store, "QUESTIONS", tmp_path / "questions")
    run_uploads(range(20, 1020))
