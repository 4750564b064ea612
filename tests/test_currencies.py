"""Codes of currencies against the list of ISO 4217 that the module names, published on 2026-01-01."""

from __future__ import annotations

import pytest

from sim.model.currencies import CODES, meant

FUNDS = "BOV CHE CHW CLF COU MXV USN UYI"
NO_MINOR_UNITS = "XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX"
UNITS_OF_ACCOUNT = "UYW XAD"


def test_as_many_codes_as_the_list_leaves() -> None:
    # The list has 178 codes; 8 are of funds, 13 have no minor units, 2 are units of account.
    left_out = f"{FUNDS} {NO_MINOR_UNITS} {UNITS_OF_ACCOUNT}".split()
    assert len(CODES) == 178 - len(left_out) == 155
    assert not CODES & set(left_out)
    assert all(len(code) == 3 and code.isascii() and code.isupper() for code in CODES)


@pytest.mark.parametrize(
    "code", ["SLE", "VED", "VES", "ZWG", "XCG", "BYN", "MRU", "STN", "TWD", "XAF", "XPF"]
)
def test_codes_that_are_in_force(code: str) -> None:
    assert code in CODES
    assert meant(f" {code.lower()} ") == code


@pytest.mark.parametrize(
    ("code", "heir"),
    [("BGN", "EUR"), ("HRK", "EUR"), ("ANG", "XCG"), ("CUC", "CUP"), ("SLL", "SLE"), ("ZWL", "ZWG")],
)
def test_codes_that_are_gone_name_what_came_after(code: str, heir: str) -> None:
    # Withdrawn 2026-01, 2023-01, 2025-03, 2021-06, 2023-12 and 2024-09 (ISO 4217, List Three).
    assert code not in CODES
    assert meant(code) == heir
