"""docs/known-faults.md: every test it names exists and may run, and every known fault has its row."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "docs" / "known-faults.md").read_text("utf-8")
FACTS = TESTS.parents[1] / "shared" / "facts"
NAMED = re.compile(r"`([a-z_0-9]+::[A-Za-z_0-9:]+)`")
LONG = {"test_workbook::test_a_million_rows_are_all_there"}
"""Named tests that the default run leaves out; the page says so."""
INPUTS = {"2800"}
"""Numbers of the facts that are inputs of a case and no answers."""


def rows(name: str) -> list[list[str]]:
    """Rows of the table under a mark, without its head."""
    _, _, after = PAGE.partition(f"<!-- table: {name} -->\n\n")
    lines = after.split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip().strip("|").split(" | ")] for line in lines[2:]]


ROWS = {row[0].strip(): row for row in rows("faults")}
VALUES = {row[0].strip(): row for row in rows("values")}


@cache
def known_in(module: str) -> dict[str, list[str]]:
    """Tests of a module, as `function` or `Class::function`, with their decorators."""
    tree = ast.parse((TESTS / f"{module}.py").read_text("utf-8"))
    found: dict[str, list[str]] = {}
    for node in tree.body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        for item in inside:
            if isinstance(item, ast.FunctionDef) and item.name.startswith("test_"):
                found[prefix + item.name] = [ast.unparse(one) for one in item.decorator_list]
    return found


@pytest.mark.parametrize("row", [*ROWS, *VALUES])
def test_every_named_test_exists_and_is_in_the_default_run(row: str) -> None:
    cells = {**ROWS, **VALUES}[row]
    names = NAMED.findall(cells[-1])
    assert names, "no test holds this row"
    assert NAMED.sub("", cells[-1]).replace(",", "").strip() == ""
    for name in names:
        module, _, function = name.partition("::")
        known = known_in(module)
        assert function in known, name
        left_out = [mark for mark in known[function] if re.search(r"mark\.(long|browser|xfail|skip)\b", mark)]
        assert bool(left_out) == (name in LONG), name


def test_rows_are_whole_and_stand_once_in_their_order() -> None:
    table = rows("faults")
    assert [len(row) for row in table] == [4] * len(table)
    assert [row[0] for row in table] == sorted(ROWS)
    assert all(row[1] and row[2] for row in table)
    assert all(len(row) == 3 for row in rows("values"))
    assert len(VALUES) == len(rows("values"))


def test_every_test_of_a_row_is_named_on_the_page() -> None:
    named = set(NAMED.findall(PAGE))
    modules = [path.stem for path in sorted(TESTS.glob("test_known_faults_*.py"))]
    for module in modules:
        for function in known_in(module):
            number = re.match(r"test_(\d\d)_", function)
            if number:
                assert f"{module}::{function}" in named, function
                assert f"{module}::{function}" in ROWS[number[1]][-1], function


@pytest.mark.skipif(not FACTS.exists(), reason="the facts of the project are not here")
def test_every_known_fault_has_its_row_and_no_other() -> None:
    text = (FACTS / "known_faults.md").read_text("utf-8")
    known = re.findall(r"^\| (\d\d) \|", text, re.MULTILINE)
    assert len(known) >= 28
    assert list(ROWS) == known


@pytest.mark.skipif(not FACTS.exists(), reason="the facts of the project are not here")
def test_every_check_value_of_contracts_has_its_row() -> None:
    text = (FACTS / "billing_and_contracts.md").read_text("utf-8")
    table = text.partition("### Check values")[2].split("The values were obtained")[0]
    cases = [line for line in table.splitlines() if line.startswith("| ")][1:]
    # The newsvendor has two lines, the owned machine stands in a section of its own.
    assert len(VALUES) == len(cases) - 1 + 1
    page = PAGE.replace(",", "")
    for line in cases:
        for number in re.findall(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d{3,}", line):
            shown = number.replace(",", "")
            assert shown in page or shown in INPUTS, (number, line)
