"""The assumptions behind a ledger, as sentences: only those that touch what was billed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from sim.billing.assumed_terms import Seen, term_sentences
from sim.billing.contracts import Contract
from sim.billing.exchange import turned
from sim.billing.hourprice import increments
from sim.billing.rounding import show_factor, show_money
from sim.billing.segments import Stretch
from sim.billing.terms import find_plan
from sim.model.contract import Offer, RepeatPurchase
from sim.model.said import said
from sim.model.scenario import Scenario
from sim.model.terms import Plan, plan_months
from sim.units import SECOND, format_duration

__all__ = ["assumptions"]

_A = {"hour": "an hour", "month": "a month", "year": "a year"}
_WHERE = {"low": "the low end", "mid": "the middle", "high": "the high end"}


def assumptions(
    scenario: Scenario,
    contracts: Mapping[int, Contract],
    walks: Mapping[int, Sequence[Stretch]],
    burst: Contract | None,
) -> tuple[str, ...]:
    """Sentences without repetition: prices in the order of the leases, then terms of the contracts."""
    found: list[str] = []
    seen = [_seen(scenario, contracts[index], walk) for index, walk in walks.items()]
    if burst is not None:
        seen.append(Seen(burst, frozenset({"hourly"})))
    for item in seen:
        found += _price(item.contract)
        if item.prepaid:
            found += _prepaid(item)
        if "hourly" in item.plans:
            found.append(_increments(item.contract))
    found += term_sentences(seen)
    return tuple(dict.fromkeys(found))


def _seen(scenario: Scenario, contract: Contract, whole: Sequence[Stretch]) -> Seen:
    """What of a contract shows in the bill: its plans, and what happened at the ends of its periods."""
    walk = [stretch for stretch in whole if scenario.elapsed_us(stretch.start) < scenario.horizon_us]
    return Seen(
        contract,
        frozenset(stretch.plan for stretch in walk),
        fell_back=any(stretch.why.endswith("contract ended") for stretch in walk),
        goes_on=any(stretch.plan != "hourly" and not stretch.last for stretch in walk),
    )


def _price(contract: Contract) -> Iterator[str]:
    offer, price = contract.offer, contract.price
    band = offer.price
    if "/" in offer.gpu and not isinstance(price, Decimal):
        yield said("{name}: {reason}", name=offer.id, reason=offer.assumptions[0])
    if contract.rate is not None:
        yield turned(offer.id, contract.foreign, offer.currency, contract.rate)
    if isinstance(price, Decimal):
        yield said(
            "{name}: list price {cost} {per} and unit, as the scenario says (published: {published}).",
            name=offer.id,
            cost=f"{show_money(price)} {offer.currency}",
            per=_A[band.unit],
            published=_range(offer),
        )
    elif band.low != band.high:
        word = contract.choice or price or "mid"
        yield said(
            "{name}: list price {cost} {per} and unit, {where} of the published range {low} to {high}.",
            name=offer.id,
            cost=f"{show_money(band.pick(word))} {offer.currency}",
            per=_A[band.unit],
            where=_WHERE[word],
            low=show_money(band.low),
            high=show_money(band.high),
        )
    for change in () if contract.lease is None else contract.lease.prices:
        yield said(
            "{leases}: list price {cost} {per} and unit from {date} on, as the scenario says.",
            leases=contract.label,
            cost=f"{show_money(change.price)} {offer.currency}",
            per=_A[band.unit],
            date=f"{change.since:%Y-%m-%d}",
        )


def _range(offer: Offer) -> str:
    low, high = show_money(offer.price.low), show_money(offer.price.high)
    return low if low == high else said("{low} to {high}", low=low, high=high)


def _prepaid(item: Seen) -> Iterator[str]:
    contract = item.contract
    lease, offer, repeat = contract.lease, contract.offer, contract.offer.repeat_purchase
    assert lease is not None  # noqa: S101 - burst is never prepaid
    discounted = False
    for plan in sorted(item.prepaid):
        terms = find_plan(offer, contract.terms, plan, contract.key)
        discounted = discounted or terms.multiplier != 1
        if terms.multiplier != 1 or terms.assumed:
            agreed = "as agreed" if plan in contract.terms.discounts else "as the source states"
            basis = "assumed, the source does not state it" if terms.assumed else agreed
            if _at_its_price(contract, plan):
                yield _stated_price(offer, plan)
                continue
            yield said(
                "{name}: {plan} plan at {part} of the list price ({basis}).",
                name=offer.id,
                plan=plan,
                part=show_factor(terms.multiplier),
                basis=basis,
            )
    if lease.options and discounted:
        stated = contract.terms.states("options_discounted")
        if contract.terms.options_discounted:
            yield said(
                "{name}: options are discounted by the plan as the cards are (as the terms say).",
                name=offer.id,
            )
        else:
            basis = "as the terms say" if stated else "assumed, the dearer reading"
            yield said(
                "{name}: options are not discounted by the plan ({basis}).", name=offer.id, basis=basis
            )
    if lease.repeat_purchase and repeat is not None:
        yield _reduction(contract, repeat)
    elif repeat is not None:
        yield said(
            "{name}: no reduction for repeat purchase, because the lease does not ask for it.", name=offer.id
        )


def _at_its_price(contract: Contract, plan: Plan) -> bool:
    """Whether what is paid is the price of a period that the source states: no discount is agreed instead,
    and no other list price moves it."""
    offer, terms, lease = contract.offer, contract.terms, contract.lease
    stated = offer.plans.get(plan)
    if stated is None or stated.price is None or plan in terms.discounts or offer.price_changes:
        return False
    same = not isinstance(contract.price, Decimal) and (lease is None or not lease.prices)
    return same and stated.at(plan, offer.price).multiplier == stated.multiplier


def _stated_price(offer: Offer, plan: Plan) -> str:
    """The price of a whole period, as the source has it: the factor that it makes is no figure of it."""
    months, price = plan_months(plan), offer.plans[plan].price or 0
    cost = f"{price:,.2f} {offer.currency}"
    if months == 12:
        return said(
            "{name}: {plan} plan at {cost} a year and unit (as the source states).",
            name=offer.id, plan=plan, cost=cost,
        )  # fmt: skip
    return said(
        "{name}: {plan} plan at {cost} for {months} months and unit (as the source states).",
        name=offer.id, plan=plan, cost=cost, months=f"{months}",
    )  # fmt: skip


def _reduction(contract: Contract, repeat: RepeatPurchase) -> str:
    offer, terms = contract.offer, contract.terms
    order = "after" if (terms.repeat_order or repeat.order) == "after_discount" else "before"
    counts = repeat.first_card if terms.repeat_first_card is None else terms.repeat_first_card
    first = "the first card included" if counts else "but for the first card of the lease"
    stated = terms.repeat_order is not None and terms.repeat_first_card is not None
    basis = "as the terms say" if stated else "assumed"
    return said(
        "{name}: {cost} a month off each card for repeat purchase, taken {order} the discount, {first} "
        "({basis}).",
        name=offer.id,
        cost=f"{show_money(repeat.per_card_month)} {offer.currency}",
        order=order,
        first=first,
        basis=basis,
    )


def _increments(contract: Contract) -> str:
    counted = increments(contract)
    step, least = (format_duration(s * SECOND) for s in (counted.step_s, counted.minimum_s))
    plan = contract.offer.plans.get("hourly")
    published = frozenset[str]() if plan is None else plan.model_fields_set
    bases = []
    for name in ("increment_s", "minimum_s"):
        agreed = getattr(contract.terms, name) is not None
        source = "as the source states" if name in published else "assumed"
        bases.append("as the terms say" if agreed else source)
    if bases[0] != bases[1]:
        step = said("{span} ({basis})", span=step, basis=bases[0])
    text = said(
        "{name}: billed in whole increments of {step}, at least {span} a rental ({basis}), from usable to "
        "handed back, down time included;",
        name=contract.offer.id,
        step=step,
        span=least,
        basis=bases[1],
    )
    shift = contract.terms.pay_shift_days
    if shift > 0:
        return said(
            "{head} paid when handed back and at month ends, {days} days later. The hours on one invoice are "
            "rounded to the cent together, so that they sum to their exact total.",
            head=text,
            days=shift,
        )
    return said(
        "{head} paid when handed back and at month ends. The hours on one invoice are rounded to the cent "
        "together, so that they sum to their exact total.",
        head=text,
    )
