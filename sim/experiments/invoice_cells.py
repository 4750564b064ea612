"""What the cells of a real invoice say: words to compare by, and amounts."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal

__all__ = ["amount", "folded"]

_CURRENCY = re.compile(r"^(?:cny|rmb|¥|usd|us\$|\$|eur|€)|(?:cny|rmb|元|usd|eur|€)$", re.IGNORECASE)
_NUMBER = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+")
_APOSTROPHE = re.compile(r"(?<=\d)['’](?=\d{3})")
_SWAPPED = str.maketrans(".,", ",.")


def folded(text: str) -> str:
    """Text to compare by: full-width signs as usual ones, lower case, one space between words."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def amount(text: str, decimal: str = ".") -> Decimal:
    """`2,800.00`, `¥2,800`, `(12.50)`, `-12.5 CNY`: a decimal point, and commas, blanks or apostrophes
    between thousands. With the decimal sign `,` point and comma change places: `2.800,00`.

    Raises ValueError for anything else.
    """
    plain = unicodedata.normalize("NFKC", text).replace("−", "-").replace(" ", "")
    plain = _APOSTROPHE.sub("", plain.removeprefix("'"))
    plain = plain.translate(_SWAPPED) if decimal == "," else plain
    negative = plain.startswith("(") and plain.endswith(")")
    plain = plain[1:-1] if negative else plain
    sign = -1 if negative else 1
    plain = _CURRENCY.sub("", plain)
    if plain[:1] in ("-", "+"):  # before the currency or behind it
        sign, plain = (-sign if plain[0] == "-" else sign), _CURRENCY.sub("", plain[1:])
    if not _NUMBER.fullmatch(plain):
        shown = "2800, 2.800,00 or -12,50" if decimal == "," else "2800, 2,800.00 or -12.50"
        msg = f"an amount is a number such as {shown}"
        raise ValueError(msg)
    return sign * Decimal(plain.replace(",", ""))
