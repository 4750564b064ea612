"""No rule of the code falls out of the Chinese page unnoticed: those that stay English stand here."""

from __future__ import annotations

import pytest

from sim.ui.told_rules import matched
from tests.ui.rule_texts import FILES, ROOT, texts

TAILS = ("", ": x", "; its columns: x")
"""What follows a text where it is said: the cell that was found, the columns of the table."""

ENGLISH = {
    "billing/hourly.py": ["machine {}: {} used, {}, on the invoice {}{}"],
    "billing/prepaid.py": [
        "fee for the refund: {} x {} = {}",
        "refund, {} {}, {}",
        "{}, {} for {} to {}: {} = {}",
    ],
    "billing/stops.py": ["disks of stopped cards: {} x ({}) months x {} a month = {}"],
    "billing/tax.py": ["tax of charge {}, {}{}: {} x {} = {}", "{}; {}"],
    "billing/shares.py": ["an amount cannot be divided among nobody"],
    "load_uncertain.py": [
        "a value may be drawn that cannot be: {} is {}; cut it off with low and high",
        "{} is written {} ({})",
    ],
    "model/packed.py": ["the widest numbers of a row must come first: else padding would lie between them"],
    "physics/predict.py": [
        "no speed: the card is not in the catalogue",
        "numbers of the row or of the calibration are out of range",
    ],
    "physics/prediction.py": ["its cards have no link", "needs {} GiB a card, {} too much"],
    "physics/row_cells.py": [
        "{} is no number: {}",
        "{} is not given",
        "{} is {}; it must be at least 1",
        "{} is {}; it must be at most {}",
    ],
    "physics/row_recipe.py": ["method {} is not one of full, lora, qlora4, qlora8"],
    "physics/rows.py": [
        "model {} is not in the catalogue",
        "no model has {} as hidden, {} heads and {} feed-forward matrices",
        "rank {} is larger than the hidden size {}",
    ],
    "physics/speed_fit.py": ["{} is not a constant of the throughput form that can be fitted"],
    "claims/table.py": ["these computations stand twice: {}"],
    "cli/workload_settings.py": ["{}, without a zone and in the years 1970 to 2199"],
    "workload/imports/clock.py": ["no hour of a clock of twelve hours"],
    "workload/imports/hints.py": ["none of {} rows can be replayed: {}, {}{}", "{} of {}, {}: {}."],
    "workload/imports/sacct_block.py": ["{} is no {}: {}"],
    "workload/imports/tres.py": ["bad: a job of {} cards; at most {} are possible"],
    "workload/survival.py": ["a rate needs some time under observation"],
}
"""File -> texts without an entry of their own. Lines of the ledger are told phrase by phrase
(`test_ledger_words.py`); texts that are nearly all filled in have an entry for each form that they take; the
others are said of rows that were measured, of files of the program itself, or within another message."""


def _told(text: str) -> bool:
    """Whether the catalogue has the text, with numbers, quoted texts, words or nothing filled in."""
    return any(
        matched(f"{text.replace('{}', filled)}{tail}") is not None
        for filled in ("7", "'a'", "x", "")
        for tail in TAILS
    )


@pytest.mark.usefixtures("chinese")
def test_every_other_text_of_the_code_is_in_the_catalogue() -> None:
    missing: dict[str, list[str]] = {}
    for file in FILES:
        found = sorted({text for text in texts(file) if not _told(text)})
        if found:
            missing[file.relative_to(ROOT).as_posix()] = found
    assert missing == {name: sorted(listed) for name, listed in ENGLISH.items()}


def test_the_collector_finds_them() -> None:
    """Of each kind of place one: a rule in a variable, in a call, in parts, in a choice, and a remark."""
    known = {text for file in FILES for text in texts(file)}
    assert {
        "the horizon must be longer than 0 and end after the start",
        "no job is left: the window, the teams or the share leave all out",
        "the format is not recognised: name it by --as",
        "Columns that were not used: {}.",
        "ran for 0 s",
    } <= known
