"""Prices of one's own in the form: what they are of, the list price, a word when they are far from it.

A number in a question is a list price in the offer's own currency and unit of time, before the plan's
factor. Nobody sees that at an empty box, and an hourly price in a box for a month is money that is wrong.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import streamlit as st

from sim.billing.rounding import show_factor
from sim.model.contract import Offer
from sim.report.hourly import HOURS_OF
from sim.ui.amounts import money
from sim.ui.form_base import Form
from sim.ui.form_kinds import Field
from sim.ui.form_offers import factor_of, offer_of
from sim.ui.form_units import as_number
from sim.ui.form_words import choice_word
from sim.ui.language import say, word
from sim.ui.question_edits import KeyPath

__all__ = ["draw_price_note", "is_price", "price_example", "price_title"]

FAR = 5
"""A price so many times the list price, or so small a part of it, is asked about (a choice of the page)."""

_PRICES = frozenset({("Lease", "price"), ("LeasePrice", "price"), ("Burst", "price")})


def is_price(field: Field) -> bool:
    """Whether a key holds a price of one unit of an offer."""
    return (field.model, field.key) in _PRICES


def price_title(form: Form, path: KeyPath) -> str | None:
    """What the number is of, `Price of one unit and month, CNY`; None where the offer is not known."""
    offer = offer_of(form.tree, form.home, path)
    if offer is None:
        return None
    return word(f"form.price_of_{offer.price.unit}", currency=_currency(offer.currency))


def price_example(form: Form, path: KeyPath) -> Any:
    """The number that a price begins with: the middle of the list price; 1 where the offer is not known."""
    offer = offer_of(form.tree, form.home, path)
    return 1 if offer is None else as_number(float(offer.price.pick("mid")))


def draw_price_note(form: Form, path: KeyPath, value: Any) -> None:
    """The list price and the plan's factor, below the box; a warning where the number is far from it."""
    offer = offer_of(form.tree, form.home, path)
    if offer is None or isinstance(value, bool) or not isinstance(value, int | float):
        return
    number = Decimal(str(value))
    listed = _per_unit(offer, offer.price.low, offer.price.high)
    factor = factor_of(form.tree, offer, path)
    pays = ""
    if factor is not None:
        plan, times = choice_word("plan", factor[0]), show_factor(factor[1].normalize())
        pays = say("form.price_factor", plan=plan, factor=times)
    if number <= 0 or _near(offer, number):
        st.caption(" ".join(filter(None, (say("form.price_list", listed=listed), pays))))
        return
    far = say("form.price_far", price=_per_unit(offer, number, number), listed=listed)
    hint = _by_the_hour(offer, number)
    st.warning(" ".join(filter(None, (far, hint, pays))), icon=":material/price_change:")


def _near(offer: Offer, number: Decimal) -> bool:
    return offer.price.low / FAR <= number <= offer.price.high * FAR


def _per_unit(offer: Offer, low: Decimal, high: Decimal) -> str:
    """`1,750 CNY a unit and month`, or a range of it."""
    digits = 0 if low == int(low) and high == int(high) else 2
    first = "" if low == high else f"{low:,.{digits}f}–"
    amount = f"{first}{money(float(high), digits, offer.currency)}"
    return word(f"form.price_per_{offer.price.unit}", amount=amount)


def _by_the_hour(offer: Offer, number: Decimal) -> str:
    """What to write where a price of a month or year looks like one of an hour; else empty."""
    hours = HOURS_OF[offer.price.unit]
    meant = number * hours
    if hours == 1 or not _near(offer, meant):
        return ""
    amount = money(float(meant), 0, offer.currency)
    return say(f"form.price_meant_{offer.price.unit}", meant=amount, hours=f"{hours:,}")


def _currency(name: str) -> str:
    """The currency as amounts of the page have it."""
    return money(0, 0, name).removeprefix("0 ")
