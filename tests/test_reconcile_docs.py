"""docs/reconcile.md says what the commands print: its examples are run as they stand there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "reconcile.md"
TEXT = PAGE.read_text(encoding="utf-8")
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n\n```\w+\n(.*?)```", TEXT, re.DOTALL))
EXAMPLES = [
    (shlex.split(command), shown.splitlines())
    for command, shown in re.findall(r"<!-- example -->\n\n```\n\$ fleetsim (.*?)\n(.*?)```", TEXT, re.DOTALL)
]


@pytest.fixture
def run(tmp_path, monkeypatch, fleetsim, no_charts) -> str:
    """The files of the page in an empty folder, and the run of its scenario."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert fleetsim("compare", "three-months.yaml").code == 0
    (folder,) = Path("outputs/three-months").iterdir()
    return str(folder)


def test_the_page_has_its_files_and_examples():
    assert FILES.keys() == {"three-months.yaml", "invoice.csv"}
    assert [command[0] for command, _ in EXAMPLES] == ["quote", "rebill", "reconcile", "workbook"]
    assert all(shown for _, shown in EXAMPLES)


def test_every_example_prints_what_the_page_shows(run, fleetsim):
    for command, shown in EXAMPLES:
        told = fleetsim(*(run if part == "RUN" else part for part in command))
        assert told.code == 0, told.err
        lines = iter(line.rstrip() for line in told.out.splitlines())
        for line in shown:  # in this order; the page may leave out lines between
            assert line in lines, f"{' '.join(command)} does not print: {line}"
