"""A stored run as one HTML page that needs nothing but itself: the decision first, then what it rests on.

It is read from the run's folder alone, and holds no time of the clock: the same folder gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sim.experiments.comparison import Comparison
from sim.experiments.run_read import comparison_of
from sim.experiments.stored import StoredRun
from sim.experiments.wording import plain
from sim.model.contract import Offer, PriceBand
from sim.replication import used_offers
from sim.report.page_charts import charts
from sim.report.page_claims import claims_part
from sim.report.page_doubt import at_once, doubt
from sim.report.page_end import scenario_part, versions_part
from sim.report.page_flags import RULES, Flag, flags_of
from sim.report.page_html import (
    Html,
    Part,
    contents,
    document,
    element,
    join,
    listed,
    section,
    sentences,
    table,
)
from sim.report.page_tables import (
    comparison_tables,
    difference_table,
    kind_tables,
    month_tables,
    target_table,
)
from sim.report.tables_parts import how_sure

__all__ = ["Page", "page"]


@dataclass(frozen=True, slots=True)
class Page:
    """A page and the flags in it."""

    html: str
    flags: tuple[Flag, ...]


def page(run: StoredRun) -> Page:
    """The page of a stored run. Raises InputError where a file of the run is damaged."""
    comparison, flags = comparison_of(run), flags_of(run)
    parts = [part for part in _parts(run, comparison, flags) if part[2]]
    name = plain(run.question.scenario.name)
    html = document(
        f"{name}: which fleet to rent",
        element(
            "header", element("h1", name), element("p", _about(run, comparison), class_="meta"),
            _decision(comparison), contents(parts),
        ),
        element("main", *(section(*part) for part in parts)),
    )  # fmt: skip
    return Page(html, flags)


def _about(run: StoredRun, comparison: Comparison) -> str:
    found = run.document
    runs = f"{comparison.counted} of each strategy"
    return (
        f"{found['start'][:10]} to {found['end'][:10]} ({found['timezone']}); {runs}, "
        f"seed {comparison.seed}; run {run.manifest['run_id']} of fleetsim {comparison.version}"
    )


def _decision(comparison: Comparison) -> Html:
    """One sentence, and how sure it is."""
    found = comparison.recommendation
    sentence = plain(f"{found.reason[:1].upper()}{found.reason[1:]}")
    return element(
        "div",
        element("p", element("strong", sentence)),
        element("p", how_sure(comparison)),
        class_="decision" if found.strategy is not None else "decision none",
    )


def _parts(run: StoredRun, comparison: Comparison, flags: Sequence[Flag]) -> list[Part]:
    """All sections; those without content are left out by the caller."""
    tables = comparison_tables(comparison)
    decides, rest = tables[0], tables[1:]
    several = bool(comparison.differences)
    return [
        ("warnings", "Warnings", _warnings(comparison)),
        ("warning-lines", "Warning lines of the articles", _flags(flags)),
        ("what-decides", decides[0], join((decides[1], target_table(comparison)))),
        ("charts", "Charts", join(charts(run, comparison))),
        *((title.lower().replace(" ", "-"), title, content) for title, content in rest),
        ("differences", "Differences", difference_table(comparison) if several else Html()),
        ("at-once", "Several strategies at once", at_once(comparison)),
        ("doubt", "Luck and doubt about inputs", doubt(comparison)),
        *kind_tables(run),
        ("money-by-month", "Money by month", _months(run)),
        ("assumptions", "Assumptions", sentences(_assumptions(run, comparison))),
        ("notes", "Notes", sentences(comparison.notes)),
        ("prices", "Sources of prices", _sources(run)),
        ("claims", "What the seller claims of these offers", claims_part(run)),
        ("scenario", "Scenario", scenario_part(run.read("scenario.yaml"))),
        ("versions", "Versions", versions_part(run.manifest)),
    ]


def _warnings(comparison: Comparison) -> Html:
    return sentences(
        [
            one.text if one.strategy is None else f"{plain(one.strategy)}: {one.text}"
            for one in comparison.warnings
        ]
    )


def _assumptions(run: StoredRun, comparison: Comparison) -> list[str]:
    """Those of the comparison, and what the ledger of one strategy alone assumes."""
    ledgers = [line for name in run.strategies for line in run.ledger(name).assumptions]
    return list(dict.fromkeys((*comparison.assumptions, *ledgers)))


def _months(run: StoredRun) -> Html:
    told = (
        "The ledger of replication 0. Paid: when the money leaves. Accrued: when the time passes that it "
        "pays for. Prepaid: paid for time still to come; negative: used and not yet paid."
    )
    return join((element("p", told, class_="small"), *month_tables(run)))


# -- Flags -------------------------------------------------------------------------------------------


def _flags(flags: Sequence[Flag]) -> Html:
    raised = [flag for flag in flags if flag.state == "raised"]
    rows = [
        (
            element("span", RULES[flag.rule].title, class_="raised"),
            RULES[flag.rule].threshold,
            plain(flag.strategy),
            plain(flag.text),
        )
        for flag in raised
    ]
    columns = ("flag", "warning line", "strategy", "found in replication 0")
    shown = (
        table(f"{len(raised)} raised", columns, rows, texts=(0, 1, 2, 3), stacked=True)
        if raised
        else element("p", "None is raised.")
    )
    others = [
        f"{RULES[flag.rule].title}, {plain(flag.strategy)}: {flag.state}, {plain(flag.text)}"
        for flag in flags
        if flag.state != "raised"
    ]
    folded = (
        element("details", element("summary", f"{len(others)} not raised or not judged"), listed(others))
        if others
        else Html()
    )
    sources = [
        join((element("strong", f"{rule.title}: {rule.threshold}"), f" ({rule.source}). {rule.meaning}"))
        for rule in RULES.values()
    ]
    return join((shown, folded, element("h3", "Where the warning lines come from"), listed(sources)))


# -- Sources ----------------------------------------------------------------------------------------


def _sources(run: StoredRun) -> Html:
    offers = list(used_offers(run.question).values())
    rows = [
        (
            offer.id,
            plain(offer.provider),
            f"{offer.gpus_per_unit} x {offer.gpu}",
            _price(offer),
            plain(offer.status),
            plain(offer.source),
            offer.date.isoformat(),
        )
        for offer in offers
    ]
    columns = ("offer", "provider", "cards", "list price of a unit", "status", "source", "read on")
    parts: list[object] = []
    if not run.same_catalog:
        told = "The catalogue or the program has changed since this run: these are today's entries."
        parts.append(element("p", told, class_="raised"))
    parts.append(table("Offers used", columns, rows, texts=(0, 1, 2, 4, 5), stacked=True))
    assumed = [f"{offer.id}: {plain(line)}" for offer in offers for line in offer.assumptions]
    if assumed:
        parts += [element("h3", "What the sources do not say and is assumed"), listed(assumed)]
    if run.document["price"]:
        parts.append(element("p", f"Of published ranges the {run.document['price']} end is paid."))
    return join(parts)


def _price(offer: Offer) -> str:
    band: PriceBand = offer.price
    low, high = (f"{price:,.2f}".removesuffix(".00") for price in (band.low, band.high))
    return f"{low if low == high else f'{low} to {high}'} {offer.currency} a {band.unit}"
