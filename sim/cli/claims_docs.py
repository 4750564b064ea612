"""docs/claims.md: every claim with its verdict, beside a reviewer's, and the headline tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources

from sim.claims.bench import Bench
from sim.claims.check import check_claims
from sim.claims.headline_cards import HEADLINES
from sim.claims.model import KINDS
from sim.claims.read import ClaimSet, load_claims
from sim.claims.reviewed import REVIEW_WORDS, Review, counterpart, load_review
from sim.claims.verdict import ABOUT, VERDICTS, Judged, span
from sim.cli.claims_text import stated

__all__ = ["page"]

_HEADLINES = (
    "S2-040b", "S0-042", "S0-043", "S0-044", "S0-026", "S2-033b", "S1-038", "S2-035", "S1-017", "S2-061",
    "S2-062", "S2-063", "S2-058b", "S2-058", "S0-075", "S2-019", "S2-020", "S2-021", "S2-010", "S2-044",
    "S1-052", "S2-041", "S2-042", "S2-047",
)  # fmt: skip
"""Claims that the articles repeat most."""


def page(bench: Bench) -> str:
    """The whole page as Markdown; the same catalogue and code give the same bytes."""
    claims = load_claims()
    judged = check_claims(claims, bench)
    review = load_review()
    parts = [
        *_head(judged),
        *_counts(judged, claims),
        *_headline_claims(judged),
        *_tables(bench),
        *_reviewed(judged, review),
        *_all(judged, claims),
    ]
    return "\n".join(parts) + "\n"


def _head(judged: Sequence[Judged]) -> Iterator[str]:
    computed = sum(one.working is not None for one in judged)
    words = {"COUNT": len(judged), "COMPUTED": computed, "TENTH": f"{ABOUT:.0%}"}
    text = (resources.files("sim.claims") / "page.md").read_text("utf-8")
    for word, value in words.items():
        text = text.replace(word, str(value))
    yield text.rstrip("\n")


def _counts(judged: Sequence[Judged], claims: ClaimSet) -> Iterator[str]:
    yield "\n## How many\n"
    for title, groups in (
        ("Article", [(key, claims.articles[key].title.en) for key in claims.articles]),
        ("Kind", [(kind, kind) for kind in KINDS]),
    ):
        rows = []
        for key, name in groups:
            among = [one for one in judged if key in (one.claim.article, one.claim.kind)]
            rows.append((name, *_numbers(among)))
        if title == "Article":
            rows.append(("all", *_numbers(judged)))
        yield from _table((title, *VERDICTS, "all"), rows)
        yield ""


def _numbers(judged: Sequence[Judged]) -> tuple[str, ...]:
    """How many there are of each verdict, and of all."""
    counts = Counter(str(one.verdict) for one in judged)
    return (*(str(counts[verdict]) for verdict in VERDICTS), str(len(judged)))


def _headline_claims(judged: Sequence[Judged]) -> Iterator[str]:
    yield "## The headlines of the articles\n"
    found = {one.claim.id: one for one in judged}
    rows = [
        (
            name,
            found[name].claim.statement.en,
            stated(found[name].claim, "en") or "yes",
            _computed(found[name]),
            found[name].said("en"),
        )
        for name in _HEADLINES
        if name in found
    ]
    yield from _table(("Id", "Statement", "Stated", "Computed", "Verdict"), rows)


def _computed(one: Judged) -> str:
    return "" if one.working is None else span(one.working)


def _tables(bench: Bench) -> Iterator[str]:
    yield "\n## The tables that the articles leave out\n"
    for make in HEADLINES:
        table = make(bench)
        yield f"### {table.title}\n"
        yield f"In the articles: {table.replaces}.\n"
        yield from _table(table.columns, table.rows)
        yield ""
        yield from (f"- {note}" for note in table.notes)
        yield ""


def _reviewed(judged: Sequence[Judged], review: Review) -> Iterator[str]:
    yield "## Beside a reviewer's verdicts\n"
    rated = [one for one in judged if one.claim.id in review.verdicts]
    agree = [one for one in rated if counterpart(one, review.verdicts[one.claim.id])]
    yield (
        f"A reviewer had judged {len(rated)} of these statements by hand, some with a line of arithmetic. "
        f"The computed verdict is the counterpart of the reviewer's for {len(agree)} of them; for the other "
        f"{len(rated) - len(agree)} the second table says why not. A contradiction counts as agreed where "
        "the computed verdict names one too.\n"
    )
    rows = [
        (word, *_numbers([one for one in rated if review.verdicts[one.claim.id] == word]))
        for word in REVIEW_WORDS
    ]
    yield from _table(("Reviewer", *VERDICTS, "all"), rows)
    yield ""
    differ = [
        (one.claim.id, review.verdicts[one.claim.id], one.said("en"), review.reasons.get(one.claim.id, ""))
        for one in rated
        if one not in agree or one.claim.id in review.reasons
    ]
    yield from _table(("Id", "Reviewer", "Computed", "Why they differ, or what is added"), differ)


def _all(judged: Sequence[Judged], claims: ClaimSet) -> Iterator[str]:
    yield "\n## All claims\n"
    for key, article in claims.articles.items():
        yield f"### {article.title.en}\n"
        yield f"{article.about.en} File {article.file}.\n"
        rows = [
            (
                one.claim.id,
                one.claim.kind,
                one.claim.place,
                one.claim.statement.en,
                stated(one.claim, "en"),
                one.said("en"),
                _why(one),
            )
            for one in judged
            if one.claim.article == key
        ]
        yield from _table(("Id", "Kind", "Section", "Statement", "Stated", "Verdict", "Why"), rows)
        yield ""


def _why(one: Judged) -> str:
    note = "" if one.claim.note is None else f". {one.claim.note.en}"
    return f"{one.reason.en}{note}"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"|{'|'.join('---' for _ in columns)}|"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '/') for cell in row)} |"
