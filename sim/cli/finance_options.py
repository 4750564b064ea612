"""Options of the finance commands, and how their texts are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, TypeAlias

import typer
from pydantic import ValidationError

from sim.billing.finance.downside import Ends
from sim.errors import InputError, Problem
from sim.model.terms import Refund

__all__ = [
    "RateOption",
    "read_ends",
    "read_number",
    "read_refund",
    "read_share",
    "split_names",
]

RateOption: TypeAlias = Annotated[
    str, typer.Option(metavar="RATE", help="Effective annual discount rate, such as 8% or 0.08.")
]

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")


def read_number(text: str, option: str, rule: str) -> Decimal:
    """A plain decimal number; InputError with this rule."""
    if _NUMBER.fullmatch(text.strip()) is None or len(text) > 30:
        raise InputError(Problem(rule, key=option, value=text))
    return Decimal(text.strip())


def read_share(text: str, option: str) -> Decimal:
    """`8%` or `0.08`, from 0 to 1; InputError for anything else, such as a bare 8."""
    rule = "must be a percentage such as 8%, or a share such as 0.08, from 0 to 100 %"
    plain = text.strip()
    value = read_number(plain.removesuffix("%"), option, rule)
    share = value / 100 if plain.endswith("%") else value
    if not 0 <= share <= 1:
        raise InputError(Problem(rule, key=option, value=text))
    return share


def read_refund(text: str) -> Refund:
    """`re-rate`, or with more keys `pro-rata,grace_days=5,fee=0.1`; InputError with what is wrong."""
    rule, *more = (part.strip() for part in text.split(","))
    data: dict[str, str] = {"rule": rule}
    for part in more:
        key, sign, value = part.partition("=")
        if not sign:
            wanted = "is written RULE, or RULE,KEY=VALUE such as re-rate,matched=false"
            raise InputError(Problem(wanted, key="--refund", value=text, known=tuple(Refund.model_fields)))
        data[key.strip()] = value.strip()
    try:
        return Refund.model_validate(data)
    except ValidationError as error:
        raise InputError(_refund_problem(dict(item)) for item in error.errors()) from None


def _refund_problem(item: dict[str, object]) -> Problem:
    place = item["loc"]
    key = ".".join(map(str, place)) if isinstance(place, tuple) else ""
    if item["type"] == "extra_forbidden":
        return Problem(
            "a refund has no such key", key="--refund", value=key, known=tuple(Refund.model_fields)
        )
    known = re.findall(r"'([^']*)'", str(item["ctx"])) if item["type"] == "literal_error" else []
    rule = "must be one of the known names" if known else str(item["msg"]).lower()
    names = tuple(name for name in known if name != "expected")
    return Problem(f"{key}: {rule}", key="--refund", value=item["input"], known=names)


def read_ends(months: str | None, probability: str | None, full: int) -> Ends | None:
    """Early ends: `3,6` share the probability evenly, `3:0.2,6:10%` have their own; None without any."""
    if months is None:
        if probability is not None:
            rule = "needs --end-months: the months in which the project may end"
            raise InputError(Problem(rule, key="--end-probability", value=probability))
        return None
    parts = [part.strip() for part in months.split(",")]
    if any(":" in part for part in parts):
        if probability is not None:
            rule = "--end-months has probabilities already; give them in one place"
            raise InputError(Problem(rule, key="--end-probability", value=probability))
        pairs = [part.partition(":") for part in parts]
        early = {
            _month(month, full): Fraction(read_share(chance, "--end-months")) for month, _, chance in pairs
        }
    else:
        total = Fraction(read_share(probability if probability is not None else "0.5", "--end-probability"))
        early = {_month(month, full): total / len(parts) for month in parts}
    if len(early) < len(parts):
        raise InputError(Problem("a month of end stands once", key="--end-months", value=months))
    try:
        return Ends.early(early, full)
    except ValueError as error:
        raise InputError(Problem(str(error), key="--end-months", value=months)) from None


def _month(text: str, full: int) -> int:
    if not text.strip().isdecimal() or not 1 <= int(text) < full:
        rule = f"must be whole months from 1 to {full - 1}, such as 3,6 or 3:0.2,6:10%"
        if full == 1:
            rule = "an early end is before the last month: --months must be 2 or more"
        raise InputError(Problem(rule, key="--end-months", value=text))
    return int(text)


def split_names(text: str, known: Sequence[str], option: str) -> list[str]:
    """Names between commas, where names themselves may hold commas; InputError with the known names."""

    def found(rest: str) -> list[str] | None:
        for name in sorted(known, key=len, reverse=True):
            if rest == name:
                return [name]
            if rest.startswith(f"{name},") and (more := found(rest[len(name) + 1 :].lstrip())) is not None:
                return [name, *more]
        return None

    names = found(text.strip())
    if names is None:
        rule = "must be names of strategies of the scenario, with commas between them"
        raise InputError(Problem(rule, key=option, value=text, known=tuple(known)))
    return names
