"""The terms of a contract: how time is counted, what leaving early returns, what happens at the end.

Every term has a default. An offer states what its provider publishes, a lease what was agreed beyond
it; what neither states is taken as the default and shown as an assumption. Rules and their sources:
the pages of real providers (Tencent, Alibaba, Huawei, Volcengine, AWS, RunPod, Vast, Lambda) named
with each key; the sellers of the source articles are silent on all of them.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from sim.model.base import Strict

__all__ = ["ContractTerms", "MonthBasis", "RefundRule", "Refund", "Stop", "Tax"]

MonthBasis = Literal["calendar", "30-days", "mean-month"]
"""`calendar`: anniversaries; parts of a month by the days of that month (Huawei). `30-days`: months of
30 days, parts by the hour (Alibaba). `mean-month`: months of 365/12 days (Tencent)."""

RefundRule = Literal["none", "pro-rata", "re-rate", "deposit-less-discounts"]
"""`none`: nothing returns (AWS, Azure, RunPod). `pro-rata`: the unused share of what was paid.
`re-rate`: what was paid less the time used at list price and at the discount that the months used
would have had (Tencent). `deposit-less-discounts`: the unused share of what was paid less the discount
already received (Vast)."""

NotNegative = Annotated[Decimal, Field(ge=0)]


class Refund(Strict):
    """What leaving a prepaid period before its end returns."""

    rule: RefundRule = "none"
    grace_days: int = Field(default=0, ge=0, le=366)
    """Days from the start of the contract within which everything returns (Tencent and Huawei: 5,
    Volcengine: 7)."""
    matched: bool = True
    """`re-rate`: whether the months used get the discount of the longest plan that they fill; otherwise
    they cost the monthly price."""
    part: Literal["day", "hour", "exact", "month"] = "day"
    """How the used time is rounded up: to begun days (Alibaba, Tencent), hours or months, or not."""
    fee: NotNegative = Decimal(0)
    """Fee as a share of the refund (Huawei: a handling fee; its size is not published)."""


class Stop(Strict):
    """What stopping cards that are rented by the hour does (never possible with prepaid cards)."""

    compute: Literal["stops", "goes-on"] = "stops"
    """Whether compute stops being billed while stopped (Alibaba, Tencent) or not."""
    disk_per_month: NotNegative = Decimal(0)
    """Price of one unit's disks and address while it is stopped, currency per month."""
    restart: Literal["kept", "ordered"] = "kept"
    """`ordered`: the capacity is given up, and the cards come back `restart_s` after the stop ends."""
    restart_s: int = Field(default=1800, ge=0)
    """Seconds to have cards again after a stop where capacity is not kept (assumed)."""


class Tax(Strict):
    """Value-added tax of the prices of an offer."""

    rate: Annotated[Decimal, Field(ge=0, lt=1)]
    """0.06 if sold as a modern service, 0.13 as a lease of movable goods (China); ask the provider."""
    included: bool = True
    """Whether published prices contain it."""
    creditable: bool = False
    """Whether the tenant gets it back as input tax: then it is cash, but no cost."""


class ContractTerms(Strict):
    """Terms of an offer or of one lease."""

    payment: Literal["advance", "arrears"] = "advance"
    """Prepaid plans: paid on the first day of a period, or at its end."""
    pay_shift_days: int = Field(default=0, ge=-60, le=366)
    """Days by which payment comes later than that, negative for earlier (Alibaba renews 9 days before
    expiry: -9; Lambda: 10 days to pay)."""
    month: MonthBasis = "calendar"
    begins: Literal["at-once", "next-hour"] = "at-once"
    """Whether billing begins with the lease or at the next full hour (Huawei)."""
    options_discounted: bool = False
    """Whether the plan's discount holds for options too."""
    refund: Refund = Refund()
    added: Literal["co-term", "new-term"] = "new-term"
    """How a lease that `joins` another is billed: for the rest of the other's running period, in
    proportion, and with it from then on; or with a term of its own."""
    expiry: Literal["renew", "renew-at-list", "hourly", "end"] = "renew"
    """What follows when a prepaid period ends and the lease does not: the same again, the same without
    the plan's discount, cards by the hour, or the end of the lease."""
    hourly_price: Annotated[Decimal, Field(gt=0)] | None = None
    """Price of one unit and hour where a contract falls back to hours; default: the monthly list price
    over 720 hours."""
    renewal_change: Annotated[Decimal, Field(gt=-1, le=10)] = Decimal(0)
    """Change of the price at each renewal, as a share: 0.05 is 5 % more each time."""
    price_locked: bool = True
    """Whether a lease keeps the price of its beginning; otherwise each period has the price of its
    first day (`price_changes`)."""
    stop: Stop = Stop()
    tax: Tax | None = None
    """Default: prices are taken as published and no tax line is made."""
