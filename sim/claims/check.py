"""Every claim through its computation to a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sim.claims.bench import Bench
from sim.claims.model import Claim, Find, OnlyIf, Text
from sim.claims.read import ClaimSet
from sim.claims.table import COMPUTATIONS
from sim.claims.verdict import Judged, Verdict, agrees, fits, how_far, misses, span
from sim.claims.working import Computation, Working, shown
from sim.errors import InputError, Problem

__all__ = ["check_claims", "judge"]

_POINTS = 17
"""Values of an input at which a search begins."""
_NEAR = 1e-6
"""Width at which halving ends, relative."""


def check_claims(
    claims: ClaimSet,
    bench: Bench | None = None,
    computations: Mapping[str, Computation] = COMPUTATIONS,
    strict: bool = True,
) -> tuple[Judged, ...]:
    """A verdict on every claim, in their order. The same catalogue and seed give the same verdicts.

    Raises InputError, at file, line and key, where a computation refuses the inputs of a claim; if not
    `strict`, that claim cannot be checked: a user's catalogue may sell the shipped offers otherwise.
    """
    bench = Bench() if bench is None else bench
    every = {**claims.others, **{claim.id: claim for claim in claims.claims}}
    against = _both_ways(every.values())
    problems: list[Problem] = []
    judged: list[Judged] = []
    for claim in claims.claims:
        try:
            judged.append(judge(claim, bench, against.get(claim.id, ()), every, computations))
        except InputError as error:
            if not strict:
                judged.append(_refused(claim, error, against.get(claim.id, ()), every))
                continue
            here = claims.origins.get(claim.id)
            problems += error.problems if here is None else map(here.problem, error.problems)
    if problems:
        raise InputError(problems)
    return tuple(judged)


def judge(
    claim: Claim,
    bench: Bench,
    against: tuple[str, ...] = (),
    others: Mapping[str, Claim] | None = None,
    computations: Mapping[str, Computation] = COMPUTATIONS,
) -> Judged:
    """The verdict on one claim by the rule of `verdict`; `against` are the ids that it contradicts."""
    others = {} if others is None else others
    if claim.computation is None:
        return _not_computed(claim, against, others)
    compute = computations[claim.computation]
    working = _answer(claim, compute(claim.inputs, bench))
    parts = [(part, computations[part.computation or ""]) for part in _parts(claim)]
    answers = [(part, _answer(part, make(part.inputs, bench))) for part, make in parts]
    off = next(((part, answer) for part, answer in answers if not fits(part, answer)), None)
    whole = _together(working, [answer for _, answer in answers])
    if off is not None:
        return _judged(claim, "wrong", how_far(*off), whole, against, others)
    if fits(claim, working):
        reason = _joined([agrees(working), *(agrees(answer) for _, answer in answers)])
        return _judged(claim, "holds", reason, whole, against, others)
    for option in claim.only_if:
        if (met := _met(claim, option, compute, bench)) is not None:
            condition, under = met
            reason = Text(
                en=f"then {span(under)}; in general {span(working)}",
                zh=f"此时 {span(under, 'zh')}；一般为 {span(working, 'zh')}",
            )
            return _judged(claim, "holds only if", reason, whole, against, others, condition, under)
    return _judged(claim, "wrong", how_far(claim, working), whole, against, others)


def _parts(claim: Claim) -> list[Claim]:
    """The further numbers of a sentence, each as a statement of its own."""
    return [
        claim.model_copy(
            update={
                "value": part.value,
                "states": part.states,
                "computation": part.computation,
                "inputs": part.inputs,
                "also": (),
                "only_if": (),
            }
        )
        for part in claim.also
    ]


def _together(working: Working, others: Sequence[Working]) -> Working:
    """The first working with the steps of the others behind it."""
    if not others:
        return working
    every = (working, *others)
    return replace(
        working,
        steps=tuple(dict.fromkeys(step for one in every for step in one.steps)),
        assumptions=tuple(dict.fromkeys(text for one in every for text in one.assumptions)),
        sources=tuple(dict.fromkeys(text for one in every for text in one.sources)),
    )


def _joined(texts: Sequence[Text]) -> Text:
    unique = list(dict.fromkeys((text.en, text.zh) for text in texts if text.en))
    return Text(
        en="; ".join([*(en.rstrip(".") for en, _ in unique[:-1]), unique[-1][0]]),
        zh="；".join([*(zh.rstrip("。") for _, zh in unique[:-1]), unique[-1][1]]),
    )


def _answer(claim: Claim, working: Working) -> Working:
    """The working, if it answers in the unit of the statement."""
    if working.holds is None and claim.value is None:
        rule = "this computation answers with a number, and the statement has no value"
        raise InputError(Problem(rule, key="value", known=(working.unit,)))
    if working.holds is None and claim.value is not None and claim.value.unit != working.unit:
        rule = "the computation answers in another unit"
        raise InputError(Problem(rule, key="value.unit", value=claim.value.unit, known=(working.unit,)))
    return working


def _not_computed(claim: Claim, against: tuple[str, ...], others: Mapping[str, Claim]) -> Judged:
    why = claim.cannot or Text(en="nothing to compute", zh="无可计算")
    verdict: Verdict = "contradicts" if against else "cannot be checked"
    return _judged(claim, verdict, why, None, against, others)


def _refused(
    claim: Claim, error: InputError, against: tuple[str, ...], others: Mapping[str, Claim]
) -> Judged:
    why = str(error.problems[0])
    reason = Text(en=f"not with this catalogue: {why}", zh=f"按此目录无法计算：{why}")
    return _judged(claim, "cannot be checked", reason, None, against, others)


def _judged(
    claim: Claim,
    verdict: Verdict,
    reason: Text,
    working: Working | None,
    against: tuple[str, ...],
    others: Mapping[str, Claim],
    condition: Text | None = None,
    under: Working | None = None,
) -> Judged:
    said = [_difference(claim, others[name]) for name in against if name in others]
    reason = _joined([reason, *said])
    return Judged(claim, verdict, reason, working, condition, under, against)


def _difference(claim: Claim, other: Claim) -> Text:
    """How two statements of one fact differ: by how much, where both give a number of one unit."""
    one, two = claim.value, other.value
    if one is None or two is None or one.unit != two.unit or (one.low, one.high) == (two.low, two.high):
        return Text(
            en=f"{other.id} says otherwise: {other.statement.en.rstrip('.')}",
            zh=f"{other.id} 另有说法：{other.statement.zh.rstrip('。')}",
        )
    mine, theirs = _stated(claim), _stated(other)
    return Text(en=f"{theirs} in {other.id} against {mine} here", zh=f"{other.id} 称 {theirs}，此处称 {mine}")


def _stated(claim: Claim) -> str:
    value = claim.value
    if value is None:
        return ""
    low = f"{value.low:,f}"
    return f"{low} {value.unit}" if value.high is None else f"{low} to {value.high:,f} {value.unit}"


def _both_ways(claims: Iterable[Claim]) -> dict[str, tuple[str, ...]]:
    """Id -> the claims that it contradicts; who is contradicted contradicts too."""
    found: dict[str, dict[str, None]] = {}
    for claim in claims:
        for other in claim.contradicts:
            found.setdefault(claim.id, {})[other] = None
            found.setdefault(other, {})[claim.id] = None
    return {name: tuple(sorted(others)) for name, others in found.items()}


def _met(claim: Claim, option: OnlyIf, compute: Computation, bench: Bench) -> tuple[Text, Working] | None:
    """The condition in words and the working under it, if the statement then holds."""
    inputs = {**claim.inputs, **option.inputs}
    if option.find is None:
        working = _answer(claim, compute(inputs, bench))
        return (option.condition, working) if fits(claim, working) else None
    found = _found(claim, option.find, inputs, compute, bench)
    if found is None:
        return None
    x, working = found
    text = shown(x, option.find.unit)
    words = option.condition
    return Text(en=words.en.replace("{x}", text), zh=words.zh.replace("{x}", text)), working


def _found(
    claim: Claim, find: Find, inputs: Mapping[str, Any], compute: Computation, bench: Bench
) -> tuple[float, Working] | None:
    """The value of an input, nearest to `find.low`, at which the statement holds; None where none does.

    The range is looked at in steps and the first place where the statement begins to hold is closed in
    on by halving; then the roundest number that still fits is taken.
    """

    def at(x: float) -> Working:
        return compute({**inputs, find.input: x}, bench)

    def beyond(x: float) -> float:
        working, value = at(x), claim.value
        if claim.meant == "exactly" and value is not None and value.high is None:
            # The value itself is looked for, not the edge of its tolerance.
            return ((working.low or 0.0) + (working.high or 0.0)) / 2 - float(value.low)
        low, high = misses(claim, working)
        return low if abs(low) > abs(high) else high

    width = (find.high - find.low) / (_POINTS - 1)
    before, was = find.low, beyond(find.low)
    for number in range(_POINTS):
        x = find.low + number * width
        here = was if number == 0 else beyond(x)
        if here == 0.0 or (number and math.copysign(1, here) != math.copysign(1, was)):
            edge = x if number == 0 else _halved(before, x, was, beyond)
            return _rounded(claim, edge, x, at)
        before, was = x, here
    return None


def _halved(out: float, into: float, sign: float, beyond: Any) -> float:
    """Where the distance begins to be 0, or changes its sign, between two inputs."""
    while abs(out - into) > _NEAR * max(abs(out), abs(into)):
        middle = (out + into) / 2
        away = beyond(middle)
        if away != 0.0 and math.copysign(1, away) == math.copysign(1, sign):
            out = middle
        else:
            into = middle
    return into


def _rounded(claim: Claim, edge: float, inside: float, at: Any) -> tuple[float, Working] | None:
    """The number with the fewest digits at or just inside the edge that still fits."""
    for digits in range(1, 12):
        size = 10.0 ** (math.floor(math.log10(abs(edge))) - digits + 1) if edge else 1.0
        rounding = math.ceil if inside >= edge else math.floor
        for x in (round(edge / size) * size, rounding(edge / size) * size):
            if abs(x - edge) <= 0.02 * abs(edge) and fits(claim, working := at(x)):
                return round(x, 9), working
    working = at(edge)
    return (edge, working) if fits(claim, working) else None
