"""Named sets of inputs for owning, and what the source articles say about it, recomputed.

`illustration`: the defaults of `Owning`, none of them a market price.
`article-002`: the power figures of article 002, section 5, trap 5 (4 to 6 kW, 25,000 to 40,000 CNY a year
for electricity); all else as in the illustration, for the article gives nothing more than a total of 20
to 40 per cent above the rent of a whole machine. The program recomputes each statement and gives its
verdict; it takes none of them as a default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from sim.billing.owning import HOURS_OF_YEAR, Figure, Owning

__all__ = ["PRESETS", "Statement", "statements"]

_SOURCE = "article 002 section 5 trap 5"
_RENT = "article 002 section 4 no. 2"
_ASSUMED_PUE, _ASSUMED_PRICE = Decimal("1.3"), Decimal("0.75")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of an article about owning."""

    says: str
    recomputed: str
    verdict: str
    """`consistent`, `too low` or `cannot be verified`, and why."""
    source: str


def _article() -> Owning:
    kilowatts, electricity = Decimal(5), Decimal(32_500)
    price = (electricity / (kilowatts * HOURS_OF_YEAR)).quantize(Decimal("0.0001"))
    return Owning(
        name="self-build of article 002",
        power_kw=Figure(value=kilowatts, source=f"{_SOURCE}: 4 to 6 kW, the middle"),
        load=Figure(value=Decimal(1), source=f"{_SOURCE}: full load"),
        pue=Figure(value=Decimal(1), source=f"{_SOURCE} leaves the site's own power out"),
        power_price=Figure(
            value=price, source=f"{_SOURCE}: 25,000 to 40,000 CNY a year, the middle, over 5 kW x 8,760 h"
        ),
    )


PRESETS: Mapping[str, Owning] = {"illustration": Owning(), "article-002": _article()}
"""Name -> inputs."""


def statements(total: Decimal) -> tuple[Statement, ...]:
    """What article 002 says of owning eight A100 cards; `total` is this program's cost of a year, CNY."""
    low = Decimal(25_000) / (4 * HOURS_OF_YEAR)
    high = Decimal(40_000) / (6 * HOURS_OF_YEAR)
    site = 6 * HOURS_OF_YEAR * _ASSUMED_PUE * _ASSUMED_PRICE
    rent_low, rent_high = Decimal(255_000), Decimal(357_000)
    least, most = rent_low * Decimal("1.2"), rent_high * Decimal("1.4")
    inside = "inside" if least <= total <= most else "outside"
    return (
        Statement(
            says="eight cards draw 4 to 6 kW at full load, electricity is 25,000 to 40,000 CNY a year",
            recomputed=f"that is {low:.2f} to {high:.2f} CNY a kWh, at full load all year and PUE 1",
            verdict="consistent, if the site itself used no power",
            source=_SOURCE,
        ),
        Statement(
            says="electricity of at most 40,000 CNY a year",
            recomputed=f"6 kW x 8,760 h x PUE {_ASSUMED_PUE} x {_ASSUMED_PRICE} CNY (both assumed) is "
            f"{site:,.0f} CNY",
            verdict="too low once cooling is counted",
            source=_SOURCE,
        ),
        Statement(
            says="owning costs 20 to 40 % more a year than renting the whole machine",
            recomputed=f"{rent_low:,.0f} to {rent_high:,.0f} CNY of rent ({_RENT}, annual) make "
            f"{least:,.0f} to {most:,.0f} CNY; these inputs give {total:,.0f} CNY, {inside} of it",
            verdict="cannot be verified: it depends on price, life and use, and the article gives none",
            source=_SOURCE,
        ),
    )
