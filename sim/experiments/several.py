"""Several strategies compared at once: what may be chance where many intervals are looked at.

Of many 95 % intervals some miss. Two rules hold all of them together: the differences to the baseline have
p-values corrected by Holm's rule, metric by metric; and each strategy is held against the best of the others
by intervals that are all right at once with the confidence asked for (Hsu's comparisons with the best, from
paired intervals of all pairs by Bonferroni). Sources: `sim.experiments.intervals`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from scipy.special import stdtr

from sim.experiments.comparison import Difference, StrategyResult
from sim.experiments.comparison_parts import AtOnce, Standing
from sim.experiments.intervals import comparisons_with_the_best, holm
from sim.experiments.statistics import Interval, defined, paired_difference
from sim.model.said import said

__all__ = ["at_once", "corrected", "differences", "paired_p_value", "rule_of", "same_to_the_cent"]

Values = Sequence[float | None]


def rule_of(strategies: int, confidence: float) -> str:
    """What holds the intervals together, in words."""
    pairs = strategies * (strategies - 1) // 2
    return said(
        "comparisons with the best (Hsu, 1984) at {part} for all {count} strategies at once, by Bonferroni "
        "over {pairs} pairs on the same jobs and failures; differences to the baseline by Holm's rule "
        "(1979), metric by metric",
        part=f"{100 * confidence:g} %",
        count=strategies,
        pairs=pairs,
    )


def at_once(
    values: Mapping[str, Mapping[str, Values]], metrics: Sequence[str], confidence: float
) -> tuple[AtOnce, ...]:
    """Every strategy against the best of the others, for metrics of which less is better.

    `values`: strategy -> metric -> its value in each replication, None where it was not made. A metric of
    which some strategy has fewer than two values is left out.
    """
    if len(values) < 2:
        return ()
    found: list[AtOnce] = []
    for metric in metrics:
        systems = [mine.get(metric, ()) for mine in values.values()]
        if any(len(defined(system)) < 2 for system in systems):
            continue
        intervals = comparisons_with_the_best(systems, confidence)
        found += [
            AtOnce(name, metric, interval, _standing(interval))
            for name, interval in zip(values, intervals, strict=True)
        ]
    return tuple(found)


def corrected(p_values: Mapping[str, Sequence[float | None]]) -> dict[str, list[float | None]]:
    """Metric -> p-values of the strategies corrected by Holm's rule; None stays None and does not count."""
    return {metric: _holm(found) for metric, found in p_values.items()}


def differences(
    results: Sequence[StrategyResult], baseline: str, confidence: float
) -> tuple[Difference, ...]:
    """Each strategy less the baseline in each metric of both, over the replications that they share."""
    base = next(result for result in results if result.name == baseline)
    others = [result for result in results if result is not base]
    # Metric -> p-values of the others, in their order.
    plain = {
        name: [paired_p_value(one.values[name], known) if name in one.values else None for one in others]
        for name, known in base.values.items()
    }
    holm = corrected(plain)
    return tuple(
        Difference(
            result.name, baseline, name, paired_difference(values, base.values[name], confidence),
            plain[name][place], holm[name][place],
        )
        for place, result in enumerate(others)
        for name, values in result.values.items()
        if name in base.values
    )  # fmt: skip


def paired_p_value(values: Values, baseline: Values) -> float | None:
    """Two-sided p-value of Student's paired test that the means are equal; None with fewer than two pairs."""
    steps = [
        one - base
        for one, base in zip(values, baseline, strict=True)
        if one is not None and base is not None and math.isfinite(one) and math.isfinite(base)
    ]
    n = len(steps)
    if n < 2:
        return None
    mean = math.fsum(steps) / n
    variance = math.fsum((step - mean) ** 2 for step in steps) / (n - 1)
    if min(steps) == max(steps) or variance == 0:
        return 1.0 if steps[0] == 0 else 0.0
    return float(2 * stdtr(n - 1, -abs(mean) / math.sqrt(variance / n)))


def _holm(found: Sequence[float | None]) -> list[float | None]:
    known = [value for value in found if value is not None]
    adjusted = iter(holm(known))
    return [None if value is None else next(adjusted) for value in found]


def _standing(interval: Interval) -> Standing:
    low, high = interval.low, interval.high
    if low is None or high is None or low <= 0 <= high:
        return "open"
    return "best" if high < 0 else "not best"


def same_to_the_cent(one: float | None, other: float | None) -> bool:
    """Whether two amounts are the same money."""
    return one is not None and other is not None and round(one, 2) == round(other, 2)
