"""docs/tutorial.md, done as it stands: its commands run in order in an empty folder; its figures are theirs.

Marks in the page: `<!-- run -->` before a block of commands, one a line; `<!-- file: NAME -->` before what
to write into a file; `<!-- shows -->` before lines of the output of the last block; `...` leaves some out.
A figure in bold is in an output above it.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "tutorial.md").read_text(encoding="utf-8")
CHINESE = (DOCS / "tutorial.zh-CN.md").read_text(encoding="utf-8")

BLOCK = re.compile(r"<!-- (run|shows|file: \S+) -->\n```\w+\n(.*?)```", re.DOTALL)
BOLD = re.compile(r"\*\*([^*]*?)\*\*", re.DOTALL)


def pieces(page: str) -> list[tuple[str, str]]:
    """The page in order: (mark, block) for marked blocks, ("text", words) for what stands between."""
    found: list[tuple[str, str]] = []
    at = 0
    for match in BLOCK.finditer(page):
        found += [("text", page[at : match.start()]), (match[1], match[2])]
        at = match.end()
    return [*found, ("text", page[at:])]


def flat(text: str) -> str:
    """Words with single spaces, so that where a line breaks does not matter."""
    return " ".join(text.split())


def figures(words: str) -> list[str]:
    """What stands in bold and has a digit, or is said to be a quotation: it is in an output above."""
    return [flat(match[1]) for match in BOLD.finditer(words) if not match[1].endswith((":", "："))]


def shown(block: str, output: str) -> bool:
    """Whether the lines of the block stand in the output, in order and next to each other but for `...`."""
    lines = [line.rstrip() for line in output.splitlines()]
    return all(
        any(lines[at : at + len(part)] == part for at in range(len(lines)))
        for chunk in re.split(r"^\.\.\.\n", block, flags=re.MULTILINE)
        if (part := [line.rstrip() for line in chunk.splitlines()])
    )


def test_the_tutorial_runs_as_it_stands(fleetsim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output, everything, commands = "", "", 0
    for mark, block in pieces(PAGE):
        if mark == "run":
            output = ""
            for line in block.splitlines():
                program, *arguments = shlex.split(line)
                assert program == "fleetsim"
                done = fleetsim(*arguments)
                assert done.code == 0, f"{line}\n{done.err}"
                output += done.out
                commands += 1
            everything += output
        elif mark == "shows":
            assert shown(block, output), f"not in the output:\n{block}\nwhich is\n{output}"
        elif mark.startswith("file: "):
            Path(mark.removeprefix("file: ")).write_text(block, encoding="utf-8")
        else:
            for figure in figures(block):
                assert figure in flat(everything), figure
    assert commands >= 12
    for name in ("jobs.parquet", "decision.html", "decision.xlsx"):
        assert Path(name).stat().st_size > 10_000
    assert list(Path("pictures").glob("*.png"))


def test_the_sums_of_the_decision():
    # By pencil: four cards for a year, and what is left of the committed cost for the hours.
    committed = [
        int(cost.replace(",", "")) for cost in re.findall(r"^four cards, annual.*?([\d,]+) CNY", PAGE, re.M)
    ]
    fixed = 4 * 12 * 2600 * 78 // 100
    assert fixed == 97_344
    assert f"{fixed:,} CNY" in PAGE
    assert 6 * 12 * 2600 * 78 // 100 == 146_016  # the six of the decision
    assert "146,016 CNY (6 cards" in PAGE
    for cost in committed:
        assert f"{round(cost - fixed, -3):,}" in PAGE
    assert len(committed) == 2


@pytest.mark.parametrize("kind", ["run", "shows", "file: "])
def test_the_chinese_tutorial_has_the_same_blocks(kind):
    def of(page: str) -> list[tuple[str, str]]:
        # Comments of a file are in the reader's language; what the program reads is the same.
        return [(mark, re.sub(r"\s+#.*", "", block)) for mark, block in pieces(page) if mark.startswith(kind)]

    assert of(PAGE)
    assert of(CHINESE) == of(PAGE)


def test_figures_of_the_chinese_tutorial_are_those_of_the_english_one():
    def numbers(page: str) -> list[str]:
        return sorted(
            number
            for mark, words in pieces(page)
            if mark == "text"
            for figure in figures(words)
            for number in re.findall(r"\d[\d,.]*\d", figure)
        )

    assert numbers(PAGE)
    assert numbers(CHINESE) == numbers(PAGE)


def test_what_shown_means():
    assert shown("a\n...\nc  d\n", "x\na \nb\nc  d\n")
    assert not shown("a\nc  d\n", "x\na\nb\nc  d\n")
    assert not shown("a\n...\ne\n", "x\na\nb\n")
    assert figures("**9.36 months** and **The decision:** then **4.1\n%**") == ["9.36 months", "4.1 %"]
