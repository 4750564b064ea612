"""What `fleetsim claims` says to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sim.claims.model import Also, Article, Claim, Language
from sim.claims.verdict import VERDICTS, Judged, span, spoken
from sim.claims.working import Working
from sim.cli.console import bullets, heading, print_table, say

__all__ = ["print_claims", "print_working", "stated"]

_WORDS: Mapping[str, tuple[str, str]] = {
    "id": ("Id", "编号"),
    "kind": ("Kind", "类别"),
    "statement": ("Statement", "说法"),
    "verdict": ("Verdict and why", "结论与理由"),
    "says": ("Stated", "所说"),
    "working": ("Working", "计算步骤"),
    "step": ("Step", "步骤"),
    "value": ("Value", "数值"),
    "verdict_word": ("Verdict", "结论"),
    "under": ("Under the condition", "条件成立时"),
    "assumptions": ("Assumptions", "假设"),
    "sources": ("Sources", "来源"),
    "note": ("Note", "备注"),
    "count": ("claims", "条说法"),
    "none": ("No claim is left.", "没有符合条件的说法。"),
}
_MEANT: Mapping[str, tuple[str, str]] = {
    "exactly": ("", ""),
    "between": ("", ""),
    "about": ("about ", "约 "),
    "at least": ("at least ", "至少 "),
    "at most": ("at most ", "至多 "),
    "from": ("from ", "起价 "),
    "up to": ("up to ", "最高 "),
}


def _word(key: str, language: Language) -> str:
    return _WORDS[key][language == "zh"]


def stated(claim: Claim, language: Language) -> str:
    """The numbers as they are stated: `about 24 CNY`; nothing for a yes or no."""
    texts = [_number(claim, language), *(_number(part, language) for part in claim.also)]
    return ", ".join(text for text in texts if text)


def _number(claim: Claim | Also, language: Language) -> str:
    value = claim.value
    if value is None:
        return ""
    before = _MEANT[claim.meant][language == "zh"]
    number = f"{value.low:,f}" if value.high is None else f"{value.low:,f} - {value.high:,f}"
    return f"{before}{number} {value.unit}"


def print_claims(judged: Sequence[Judged], language: Language) -> None:
    """A table of the claims, and how many there are of each verdict."""
    if not judged:
        say(_word("none", language))
        return
    names = tuple(_word(key, language) for key in ("id", "kind", "statement", "verdict"))
    rows = [
        (one.claim.id, one.claim.kind, one.claim.statement.said(language), _why(one, language))
        for one in judged
    ]
    print_table(names, rows, text=(0, 1, 2, 3))
    counts = [(name, sum(one.verdict == name for one in judged)) for name in VERDICTS]
    said = ", ".join(f"{spoken(name, language)} {number}" for name, number in counts if number)
    say()
    say(f"{len(judged)} {_word('count', language)}: {said}.")


def _why(one: Judged, language: Language) -> str:
    text, reason = one.said(language), one.reason.said(language)
    return f"{text}{'：' if language == 'zh' else ': '}{reason}" if reason else text


def print_working(one: Judged, articles: Mapping[str, Article], language: Language) -> None:
    """One claim with every step of its working."""
    claim = one.claim
    article = articles.get(claim.article)
    title = "" if article is None else article.title.said(language)
    say(f"{claim.id}: {claim.statement.said(language)}", style="bold")
    say(f"{title}, {claim.place}" if claim.place else title)
    if stated(claim, language):
        say(f"{_word('says', language)}: {stated(claim, language)}")
    say(f"{_word('verdict_word', language)}: {one.said(language)}")
    say(one.reason.said(language))
    if claim.note is not None:
        say(f"{_word('note', language)}: {claim.note.said(language)}")
    if one.working is not None:
        name = f"{_word('working', language)} ({claim.computation})"
        _steps(name, one.working, language)
    if one.under is not None:
        _steps(_word("under", language), one.under, language)
    assumed = [text.said(language) for text in claim.conditions] + list(one.assumptions)
    if one.working is not None and one.working.error:
        assumed.append(
            f"The physics model errs by {one.working.error:.0%} (published); as much is tolerated."
        )
    for key, texts in (
        ("assumptions", assumed),
        ("sources", [] if one.working is None else one.working.sources),
    ):
        bullets(_word(key, language), texts)


def _steps(name: str, working: Working, language: Language) -> None:
    heading(name)
    rows = [(step.text, step.value) for step in working.steps]
    if working.holds is None:
        rows.append(("=", span(working, language)))
    print_table((_word("step", language), _word("value", language)), rows, text=(0, 1))
