"""The page of a sensitivity study: what the decision hangs on, and where it flips."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sim.experiments.wording import DASH, plain, quoted, share, value
from sim.report.page_html import Html, Part, element, join, listed, table
from sim.report.page_study_parts import Told, figure

__all__ = ["sensitivity_parts"]


def sensitivity_parts(found: Mapping[str, Any]) -> Told:
    """What the page says. KeyError, TypeError or ValueError where the document is not that of a study."""
    number = found["replications"]
    runs = f"{number:,} replications" if number > 1 else "one replication"
    bars = [f"{one['input']}: {_ends(one, found['unit'])}" for one in found["inputs"]]
    return Told(
        title="what the decision hangs on",
        about=f"{runs} of each strategy and point, seed {found['seed']}, on the same jobs and failures",
        decision=_decision(found),
        first=(("flips", "Where the decision flips", _flips(found)),),
        details=(
            ("inputs", "One input at a time", _tornado(found)),
            *_sobol(found),
            *_drawn(found),
            ("ranges", "Ranges and their reasons", _ranges(found)),
        ),
        charts={
            "tornado": (
                "One input at a time, from the low to the high end of its range",
                f"{'; '.join(bars)}.",
            ),
            "sobol": ("Sobol indices with their intervals", "Its figures are in the tables below."),
        },
    )


def _ends(one: Mapping[str, Any], unit: str) -> str:
    return f"{value(one['at_low']['mean'], unit)} to {value(one['at_high']['mean'], unit)}"


def _decision(found: Mapping[str, Any]) -> tuple[str, ...]:
    at = value(found["base"]["mean"], found["unit"])
    against = f"; next comes {quoted(found['rival'])}" if found["rival"] else ""
    if found["recommendation"] is None:
        first = f"None meets the target; {quoted(found['strategy'])} comes nearest, at {at}{against}."
    else:
        first = f"Rent {quoted(found['recommendation'])}, at {at}{against}."
    flipped = list(dict.fromkeys(flip["input"] for flip in found["flips"]))
    if not flipped:
        return first, "At no end of any range is the decision another."
    return first, f"The decision is another at an end of the range of: {', '.join(flipped)}."


def _flips(found: Mapping[str, Any]) -> Html:
    lines = [
        f"{flip['input']}: at {flip['value']:.4g} {flip['unit']} (base {flip['base']:.4g}, between "
        f"{min(flip['before'], flip['after']):.4g} and {max(flip['before'], flip['after']):.4g}), to "
        + (quoted(flip["recommendation"]) if flip["recommendation"] else "none, for none meets the target")
        for flip in found["flips"]
    ]
    ranges = {one["input"]: f"{one['low']:.4g} to {one['high']:.4g}" for one in found["inputs"]}
    if found["never_flips"]:
        steady = [f"{name} ({ranges[name]})" for name in found["never_flips"]]
        lines.append(f"At no end of its range for: {', '.join(steady)}.")
    return listed(lines)


def _tornado(found: Mapping[str, Any]) -> Html:
    unit = found["unit"]
    rows = [
        [
            one["input"], one["unit"],
            *(f"{one[key]:.4g}" for key in ("low", "base", "high")),
            figure(one["at_low"], unit), figure(one["at_high"], unit),
            figure(one["difference_at_low"], unit, plus=True),
            figure(one["difference_at_high"], unit, plus=True),
            plain(one["recommendation_at_low"] or "none"), plain(one["recommendation_at_high"] or "none"),
        ]
        for one in found["inputs"]
    ]  # fmt: skip
    columns = [
        *("input", "unit", "low", "base", "high", "at low", "at high"),
        *("less rival at low", "less rival at high", "recommended at low", "recommended at high"),
    ]
    level = f"{100 * found['confidence']:g} %"
    caption = f"{found['metric']} of {plain(found['strategy'])}: mean [{level} interval]"
    return table(caption, columns, rows, texts=(0, 1, 9, 10))


def _sobol(found: Mapping[str, Any]) -> tuple[Part, ...]:
    sobol = found["sobol"]
    if sobol is None:
        return ()
    tables: list[object] = [
        element(
            "p",
            f"From {sobol['points']:,} points, inputs independent and uniform over their ranges (assumed). "
            "First order: the share of the variance that would go if the input were known; total: the share "
            "that is left if it alone is not.",
        )
    ]
    for one in sobol["results"]:
        rows = [
            [index["input"], f"{index['first']:.2f} +- {index['first_half_width']:.2f}",
             f"{index['total']:.2f} +- {index['total_half_width']:.2f}"]
            for index in one["inputs"]
        ]  # fmt: skip
        spread = f"standard deviation {value(one['standard_deviation'], found['unit'])}"
        caption = f"{plain(one['of'])}: mean {value(one['mean'], found['unit'])}, {spread}"
        tables.append(
            table(caption, ("input", "first order", "total"), rows)
            if rows
            else element("p", f"{plain(one['of'])}: no input moves it.")
        )
    return (("sobol", "Sobol indices", join(tables)),)


def _drawn(found: Mapping[str, Any]) -> tuple[Part, ...]:
    drawn = found["drawn_inputs"]
    if drawn is None:
        return ()
    unit = found["unit"]
    rows = [
        [
            plain(one["strategy"]), figure(one["at_base"], unit), value(one["mean"], unit),
            f"{value(one['p5'], unit)} to {value(one['p95'], unit)}",
            value(one["luck_standard_deviation"], unit), value(one["input_standard_deviation"], unit),
            DASH if one["cheapest_share"] is None else share(one["cheapest_share"]),
        ]
        for one in drawn["strategies"]
    ]  # fmt: skip
    columns = ("strategy", "at base", "drawn", "5 % to 95 %", "spread by luck", "by inputs", "cheapest in")
    told = (
        "At base: the mean and its interval, which more replications narrow. Drawn: the mean, and the range "
        "in which nine of ten replications lie, which they do not. Inputs independent, uniform over their "
        "ranges (assumed)."
    )
    caption = f"{found['metric']}, {drawn['draws']:,} replications"
    content = join((element("p", told), table(caption, columns, rows)))
    return (("drawn", "Luck and doubt about inputs", content),)


def _ranges(found: Mapping[str, Any]) -> Html:
    rows = [
        [one["input"], one["title"], f"{one['low']:.4g} to {one['high']:.4g}", one["unit"], plain(one["why"]),
         "assumed" if one["assumed"] else ""]
        for one in found["inputs"]
    ]  # fmt: skip
    columns = ("input", "what it is", "range", "unit", "why", "")
    return table("Names are those of --range", columns, rows, texts=(0, 1, 3, 4, 5), stacked=True)
