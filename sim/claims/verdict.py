"""The rule by which a statement and what was computed become a verdict.

Tolerance. A number is taken at its own precision: half a unit of its last stated digit. `about` gives it
a tenth (`ABOUT`). A bound (`between`, `at least`, `at most`) is taken as it is written. Where the computed
number comes from a physics model, the model's published error is added and shown as an assumption.

How a number is meant: `exactly` - computed and stated agree (both ends of a range); `between` - all of
the computed range lies inside the stated one; `at least`, `at most` - all of it lies on that side; `from`,
`up to` - its low end, its high end agrees.

Order. 1. It was computed and fits: holds. 2. It fits under one of the conditions that are tried, in
their order: holds only if that condition is met. 3. It was computed and does not fit: wrong. 4. Nothing
can be computed and another statement of the same fact has another value: contradicts it. 5. Otherwise:
cannot be checked. Contradictions of statements that were computed are named beside their verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from sim.claims.model import Claim, Language, Text, Value
from sim.claims.working import Working, shown

__all__ = ["ABOUT", "VERDICTS", "Judged", "Verdict", "agrees", "fits", "how_far", "misses", "span", "spoken"]

Verdict = Literal["holds", "holds only if", "wrong", "contradicts", "cannot be checked"]
VERDICTS: tuple[str, ...] = get_args(Verdict)

ABOUT = 0.10
"""Relative tolerance of `about` (assumed: no article says what it means by the word)."""
_DUST = 1e-9
"""Of binary fractions, relative: 3.9 - 3.85 is a hair more than 0.05."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim and what became of it."""

    claim: Claim
    verdict: Verdict
    reason: Text
    working: Working | None
    """Of the statement as it stands, without the condition; None where nothing can be computed."""
    condition: Text | None = None
    """What must hold, where the verdict is `holds only if`."""
    under: Working | None = None
    """The working under that condition."""
    contradicts: tuple[str, ...] = ()
    """Other statements of the same fact with another value."""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the verdict rests on and the statement does not say."""
        return () if self.working is None else self.working.assumptions

    def said(self, language: Language) -> str:
        """The verdict in words, with its condition."""
        words = spoken(self.verdict, language)
        if self.condition is not None:
            return f"{words}{'：' if language == 'zh' else ' '}{self.condition.said(language)}"
        if self.verdict == "contradicts":
            return f"{words} {', '.join(self.contradicts)}"
        return words


_CHINESE: Mapping[str, str] = {
    "holds": "成立",
    "holds only if": "有条件成立",
    "wrong": "错误",
    "contradicts": "矛盾于",
    "cannot be checked": "无法核验",
}


def spoken(verdict: str, language: Language) -> str:
    """The name of a verdict in one language."""
    return _CHINESE[verdict] if language == "zh" else verdict


def allowed(claim: Claim, stated: float, value: Value) -> float:
    """How far a computed number may lie from this stated one, in its unit; the model's error aside."""
    if claim.meant in _BOUNDS:
        return 0.0
    step = float(value.step) / 2
    return max(step, ABOUT * abs(stated)) if claim.meant == "about" else step


def misses(claim: Claim, working: Working) -> tuple[float, float]:
    """How far the low and the high end of the computed range lie beyond what the statement says.

    Above 0: the computed end is too high, the stated value too low. 0: that end fits.
    """
    value = claim.value
    if value is None or working.low is None or working.high is None:
        msg = "a statement with a number is compared with a number"
        raise ValueError(msg)
    low, high = _stated(value)
    slack_low = allowed(claim, low, value) + working.error * abs(working.low)
    slack_high = allowed(claim, high, value) + working.error * abs(working.high)
    return _ENDS[claim.meant](
        _beyond(working.low, low, slack_low),
        _beyond(working.high, high, slack_high),
    )


def _stated(value: Value) -> tuple[float, float]:
    low = float(value.low)
    return low, low if value.high is None else float(value.high)


def _beyond(computed: float, stated: float, slack: float) -> float:
    """Signed distance of the computed number, 0 inside the slack."""
    away = computed - stated
    return 0.0 if abs(away) <= slack + _DUST * max(abs(stated), abs(computed)) else away


_BOUNDS = ("between", "at least", "at most")
_ENDS: Mapping[str, Callable[[float, float], tuple[float, float]]] = {
    "exactly": lambda low, high: (low, high),
    "about": lambda low, high: (low, high),
    "between": lambda low, high: (min(low, 0.0), max(high, 0.0)),
    "at least": lambda low, _: (min(low, 0.0), 0.0),
    "at most": lambda _, high: (0.0, max(high, 0.0)),
    "from": lambda low, _: (low, 0.0),
    "up to": lambda _, high: (0.0, high),
}
"""Which of the distances of the two ends count."""


def fits(claim: Claim, working: Working) -> bool:
    """Whether the statement agrees with what was computed."""
    if working.holds is not None:
        return working.holds
    return misses(claim, working) == (0.0, 0.0)


def how_far(claim: Claim, working: Working) -> Text:
    """By how much the statement is wrong, for people."""
    if working.holds is not None or claim.value is None:
        return agrees(working)
    below, above = misses(claim, working)
    low, high = _stated(claim.value)
    ends = [(miss, stated + miss) for miss, stated in ((below, low), (above, high)) if miss]
    if claim.value.high is None:
        words = [(ends, "stated value", "所说数值")]
    else:
        named = ((below, low, "low end", "下限"), (above, high, "high end", "上限"))
        words = [([(miss, stated + miss)], en, zh) for miss, stated, en, zh in named if miss]
    said_en, said_zh = [], []
    for away, en, zh in words:
        too_low = away[0][0] > 0
        said_en.append(f"the {en} is {_amounts(away, working.unit, 'en')} too {'low' if too_low else 'high'}")
        said_zh.append(f"{zh}偏{'低' if too_low else '高'} {_amounts(away, working.unit, 'zh')}")
    return Text(
        en=f"right is {span(working)}; {', '.join(said_en)}",
        zh=f"应为 {span(working, 'zh')}；{'，'.join(said_zh)}",
    )


def _amounts(ends: Sequence[tuple[float, float]], unit: str, language: Language) -> str:
    """Distances from the right values: `0.4 months (17 % of the right value)`, or from one to another."""
    to = _TO[language]
    amounts = sorted({abs(miss) for miss, _ in ends})
    text = to.join([*(shown(amount) for amount in amounts[:-1]), shown(amounts[-1], unit)])
    if unit.startswith("%") or any(right == 0 for _, right in ends):
        return text
    shares = sorted({f"{abs(miss / right):.0%}" for miss, right in ends}, key=lambda share: float(share[:-1]))
    among = to.join(shares)
    return f"{text}（为应有值的 {among}）" if language == "zh" else f"{text} ({among} of the right value)"


_TO: Mapping[Language, str] = {"en": " to ", "zh": " 至 "}


def agrees(working: Working) -> Text:
    """What was computed, for people."""
    if working.holds is not None:
        last = working.steps[-1]
        found = f"{last.text}: {last.value}"
        return Text(en=found, zh=f"核对{'相符' if working.holds else '不符'}（{found}）")
    return Text(en=f"computed {span(working)}", zh=f"算得 {span(working, 'zh')}")


def span(working: Working, language: Language = "en") -> str:
    """The computed number or range, with its unit."""
    if working.low is None or working.high is None:
        words = ("否", "是") if language == "zh" else ("no", "yes")
        return words[bool(working.holds)]
    if shown(working.low) == shown(working.high):
        return shown(working.low, working.unit)
    return f"{shown(working.low)}{_TO[language]}{shown(working.high, working.unit)}"
