"""How the texts of the options of `fleetsim workload import` are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from sim.catalog import load_catalog
from sim.cli.options import check_known
from sim.errors import InputError, Problem

__all__ = ["between", "cards_of", "decimal_sign", "fleet_widths", "mapping_of", "moment"]

_NEXT_FIELD = re.compile(r",(?=\s*[a-z_]+\s*=)")


def decimal_sign(sign: str) -> str:
    """The decimal sign of `--decimal`; InputError unless it is a point or a comma."""
    if sign not in {".", ","}:
        raise InputError(Problem("the decimal sign is a point or a comma", key="--decimal", value=sign))
    return sign


def mapping_of(texts: Sequence[str]) -> tuple[dict[str, str], Path | None]:
    """Of `--map`: field -> column, and a file of a map, if one is given.

    Pairs are parted by commas; a comma within a column's name is no part. InputError for anything else.
    """
    from sim.workload.imports.fields import FIELDS

    pairs: dict[str, str] = {}
    file: Path | None = None
    for text in texts:
        if text.endswith((".yaml", ".yml")) and "=" not in text:
            file = Path(text)
            continue
        for pair in _NEXT_FIELD.split(text):
            name, sign, column = pair.partition("=")
            name, column = name.strip(), column.strip()
            if not sign or not column:
                rule = "must be FIELD=COLUMN, as in submit_s=Submitted,gpus=GPUs, or the name of a .yaml file"
                raise InputError(Problem(rule, key="--map", value=pair))
            check_known("--map", name, FIELDS, "unknown field")
            if name in pairs:
                raise InputError(Problem("this field is mapped twice", key="--map", value=name))
            pairs[name] = column
    return pairs, file


def cards_of(texts: Sequence[str]) -> dict[str, str]:
    """Of `--card`: recorded kind of card -> card of the catalogue; InputError for anything else."""
    known = tuple(load_catalog().gpus) if texts else ()
    found: dict[str, str] = {}
    for text in texts:
        kind, sign, name = text.rpartition("=")
        if not sign or not kind:
            raise InputError(Problem("must be KIND=CARD, as in a100=A100-40G", key="--card", value=text))
        check_known("--card", name, known, "unknown card")
        found[kind.strip()] = name
    return found


def moment(text: str | None, option: str) -> datetime | None:
    """A local time in the years 1970 to 2199; InputError for anything else."""
    if text is None:
        return None
    rule = "must be a local time, such as 2026-03-01 or 2026-03-01T08:00"
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(Problem(rule, key=option, value=text)) from None
    if found.tzinfo is not None or not 1970 <= found.year <= 2199:
        raise InputError(
            Problem(f"{rule}, without a zone and in the years 1970 to 2199", key=option, value=text)
        )
    return found


def between(value: float | None, option: str, low: float, high: float) -> float | None:
    """The number, if there is one; InputError unless it is above `low` and at most `high`."""
    if value is not None and not low < value <= high:
        raise InputError(Problem(f"must be above {low:g} and at most {high:g}", key=option, value=value))
    return value


def fleet_widths(scenario: Path) -> tuple[int, int]:
    """Cards of the largest machine that any strategy leases, and of its largest pool of one offer.

    InputError for a file that is no scenario.
    """
    from sim.load import load

    question = load(scenario)
    machine, pools = 1, [1]
    for strategy in question.scenario.strategies:
        sizes: dict[str, int] = {}
        for lease in strategy.leases:
            cards = question.catalog.offers[lease.offer_id].gpus_per_unit
            machine = max(machine, cards)
            sizes[lease.offer_id] = sizes.get(lease.offer_id, 0) + cards * lease.count
        pools += sizes.values()
    return machine, max(pools)
