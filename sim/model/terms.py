"""The terms of a contract: how time is counted, what leaving early returns, what happens at the end.

Every term has a default. An offer states what its provider publishes, a lease what was agreed beyond
it; what neither states is taken as the default and shown as an assumption. Rules and their sources:
the pages of real providers (Tencent, Alibaba, Huawei, Volcengine, AWS, RunPod, Vast, Lambda) named
with each key; the sellers of the source articles are silent on all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
)

from sim.model.base import LARGEST_AMOUNT, Strict

__all__ = [
    "PLAN_MONTHS",
    "ContractTerms",
    "MonthBasis",
    "Plan",
    "Refund",
    "RefundRule",
    "Stop",
    "Tax",
    "plan_months",
]

PLAN_MONTHS: Mapping[str, int] = {"monthly": 1, "quarterly": 3, "annual": 12}
"""Months in one billing period of the prepaid plans that have a name."""

_OTHER_PLAN = re.compile(r"([1-9]\d?|1[01]\d|120)-months?")


def plan_months(plan: str) -> int:
    """Months in one billing period of a prepaid plan; 0 for `hourly`. ValueError for no plan at all."""
    if plan == "hourly":
        return 0
    if plan in PLAN_MONTHS:
        return PLAN_MONTHS[plan]
    if (found := _OTHER_PLAN.fullmatch(plan)) is None:
        known = ", ".join(("hourly", *PLAN_MONTHS))
        msg = f"must be one of the known names, {known}, or 1 to 120 months such as 6-months"
        raise ValueError(msg)
    return int(found[1])


def _plan(text: str) -> str:
    plan_months(text)
    return text


Plan = Annotated[
    str,
    AfterValidator(_plan),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "enum": ["hourly", *PLAN_MONTHS]},
                {"type": "string", "pattern": f"^({_OTHER_PLAN.pattern})$", "examples": ["6-months"]},
            ]
        }
    ),
]
"""`hourly`, `monthly`, `quarterly`, `annual`, or a term of other length such as `6-months`."""

MonthBasis = Literal["calendar", "30-days", "mean-month"]
"""`calendar`: anniversaries; parts of a month by the days of that month (Huawei). `30-days`: months of
30 days, parts by the hour (Alibaba). `mean-month`: months of 365/12 days (Tencent)."""

RefundRule = Literal["none", "pro-rata", "re-rate", "deposit-less-discounts"]
"""`none`: nothing returns (AWS, Azure, RunPod). `pro-rata`: the unused share of what was paid.
`re-rate`: what was paid less the time used at list price and at the discount that the months used
would have had (Tencent). `deposit-less-discounts`: the unused share of what was paid less the discount
already received (Vast)."""

NotNegative = Annotated[Decimal, Field(ge=0, le=LARGEST_AMOUNT)]


class _Stated(Strict):
    """Terms of which only some are stated; what is not stated stands in no file.

    A written default would look like something agreed, and would go before what an offer says.
    """

    @model_serializer(mode="wrap")
    def _only_stated(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in write(self).items() if key in self.model_fields_set}

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Only what is stated: run ids are made from this, and stating a default is a difference."""
        return [(key, value) for key, value in super().__repr_args__() if key in self.model_fields_set]

    def over(self, base: Self) -> Self:
        """These terms where they are stated, else those of `base`; stated is what either states."""
        mine, theirs = self.model_fields_set, base.model_fields_set
        if not mine or not theirs:
            return self if mine else base
        values: dict[str, Any] = {}
        for name in type(self).model_fields:
            if name not in mine | theirs:
                continue
            value = getattr(self if name in mine else base, name)
            under = getattr(base, name)
            if name in mine and name in theirs and isinstance(value, _Stated) and isinstance(under, _Stated):
                value = value.over(under)
            values[name] = value
        return type(self).model_construct(mine | theirs, **values)

    def states(self, path: str) -> bool:
        """Whether a term is stated; `path` is a key or a dotted one such as `refund.rule`."""
        key, _, rest = path.partition(".")
        below = getattr(self, key)
        return key in self.model_fields_set and (not rest or (below is not None and below.states(rest)))


class Refund(_Stated):
    """What leaving a prepaid period before its end returns."""

    rule: RefundRule = "none"
    """How what comes back is worked out."""
    grace_days: int = Field(default=0, ge=0, le=366)
    """Days from the start of the contract within which everything returns (Tencent and Huawei: 5,
    Volcengine: 7)."""
    matched: bool = True
    """`re-rate`: whether the months used get the discount of the longest plan that they fill; otherwise
    they cost the monthly price."""
    part: Literal["day", "hour", "exact", "month"] = "day"
    """How the used time is rounded up: to begun days (Alibaba, Tencent), hours or months, or not."""
    fee: Annotated[Decimal, Field(ge=0, le=1)] = Decimal(0)
    """Fee as a share of the refund (Huawei: a handling fee; its size is not published)."""


class Stop(_Stated):
    """What stopping cards that are rented by the hour does (never possible with prepaid cards)."""

    compute: Literal["stops", "goes-on"] = "stops"
    """Whether compute stops being billed while stopped (Alibaba, Tencent) or not."""
    disk_per_month: NotNegative = Decimal(0)
    """Price of one unit's disks and address while it is stopped, the offer's currency per month."""
    restart: Literal["kept", "ordered"] = "kept"
    """`ordered`: the capacity is given up, and the cards come back `restart_s` after the stop ends."""
    restart_s: int = Field(default=1800, ge=0)
    """Seconds to have cards again after a stop where capacity is not kept (assumed)."""


class Tax(_Stated):
    """Value-added tax of the prices of an offer."""

    rate: Annotated[Decimal, Field(ge=0, lt=1)]
    """0.06 if sold as a modern service, 0.13 as a lease of movable goods (China); ask the provider."""
    included: bool = True
    """Whether published prices contain it."""
    creditable: bool = False
    """Whether the tenant gets it back as input tax: then it is cash, but no cost."""


class ContractTerms(_Stated):
    """Terms of an offer, of all leases of a scenario, or of one lease; the nearest that is stated holds."""

    discounts: Mapping[Plan, Annotated[Decimal, Field(gt=0, le=1)]] = {}
    """Factors on the list price agreed for plans, such as `{annual: 0.75}`; default: the offer's own."""
    increment_s: int | None = Field(default=None, gt=0, le=31 * 86400)
    """Cards by the hour: time is billed in whole increments of so many seconds (RunPod 1, Lambda 60);
    default: as the offer's hourly plan says, else 3600."""
    minimum_s: int | None = Field(default=None, ge=0, le=31 * 86400)
    """Cards by the hour: shortest time billed for a rental, seconds; default: as the offer's hourly plan
    says, else 3600."""
    payment: Literal["advance", "arrears"] = "advance"
    """Prepaid plans: paid on the first day of a period, or at its end."""
    pay_shift_days: int = Field(default=0, ge=-60, le=366)
    """Days by which payment comes later than that, negative for earlier (Alibaba renews 9 days before
    expiry: -9; Lambda: 10 days to pay)."""
    month: MonthBasis = "calendar"
    """What a month of a prepaid plan is."""
    begins: Literal["at-once", "next-hour"] = "at-once"
    """Whether billing begins with the lease or at the next full hour (Huawei)."""
    options_discounted: bool = False
    """Whether the plan's discount holds for options too."""
    repeat_order: Literal["after_discount", "before_discount"] | None = None
    """Whether the reduction for repeat purchase is taken after the plan's discount or before it; default:
    as the offer says."""
    repeat_first_card: bool | None = None
    """Whether the first card of the lease gets that reduction too; default: as the offer says."""
    refund: Refund = Refund()
    """What comes back when a prepaid lease ends early."""
    added: Literal["co-term", "new-term"] = "new-term"
    """How a lease that `joins` another is billed: for the rest of the other's running period, in
    proportion, and with it from then on; or with a term of its own."""
    expiry: Literal["renew", "renew-at-list", "hourly", "end"] = "renew"
    """What follows when a prepaid period ends and the lease does not: the same again, the same without
    the plan's discount, cards by the hour, or the end of the lease."""
    hourly_price: Annotated[Decimal, Field(gt=0, le=LARGEST_AMOUNT)] | None = None
    """Price of one unit and hour, the offer's currency, where an offer sold by the month is rented by the
    hour or its contract falls back to hours; default for the latter: the monthly list price over 720 h."""
    renewal_change: Annotated[Decimal, Field(gt=-1, le=10)] = Decimal(0)
    """Change of the price at each renewal, as a share: 0.05 is 5 % more each time."""
    price_locked: bool = True
    """Whether a lease keeps the list price of its beginning when the offer's changes (`price_changes`);
    otherwise each period, and each increment by the hour, has the price of the day on which it begins."""
    stop: Stop = Stop()
    """What stopping cards by the hour does and still costs."""
    tax: Tax | None = None
    """Default: prices are taken as published and no tax line is made."""
