"""Charts and tables: what they show is right, nothing lies on anything, names of all kinds are safe."""

from __future__ import annotations

import io
from itertools import combinations

import numpy as np
import pytest
from matplotlib.text import Annotation, Text
from rich.console import Console

from sim.experiments.statistics import Interval
from sim.experiments.wording import count, limits, money, share, span, sureness, value
from sim.report import plots, series, tables
from sim.report.plots_style import names, png
from sim.report.save import save
from tests import made_by_hand as hand

NAMES = (
    "4 custom cards with a name that is far longer than anyone would like to read in a chart or a table",
    "八张定制卡，年付",
    "$5 plan $x$ _under {a}",
    "_hidden",
    "=SUM(A1)",
    "6 cards\tand\x1b[31m red",
    "7 cards",
    "8 cards, annual",
    "nine",
    "ten",
    "eleven",
    "twelve, because one never knows",
)


def made(number, target=None, wait=1.0):
    """`number` strategies; every second one has the place of the one before."""
    table = [
        [
            {
                "committed_cost_cny": 1000.0 * (place // 2 + 1),
                "cost_cny": 900.0,
                "wait_p95_h": wait * (place // 2) + run,
                "jobs_refused": 0.0,
                "on_time_share": 0.95,
            }
            for run in range(2)
        ]
        for place in range(number)
    ]
    return hand.answer(table, NAMES[:number], target=target)


@pytest.mark.parametrize("number", [1, 4, 12])
def test_every_chart_is_drawn_without_a_warning_and_the_same_again(number):
    comparison = made(number, {"wait_p95": "4h"})
    first = plots.render(comparison)
    assert number > 4 or first == plots.render(comparison)
    assert set(first) == set(plots.CHARTS)
    assert all(picture.startswith(b"\x89PNG") for picture in first.values())
    assert not any(b"Software" in picture for picture in first.values())


@pytest.mark.parametrize("number", [4, 6, 12])
def test_labels_of_points_do_not_lie_on_one_another(number):
    figure = plots.money_against_wait(made(number))
    figure.draw_without_rendering()
    # The extent of the words alone: that of an annotation holds the line to its point as well.
    boxes = [Text.get_window_extent(text) for text in figure.axes[0].texts if isinstance(text, Annotation)]
    assert len(boxes) == number
    assert not any(first.overlaps(second) for first, second in combinations(boxes, 2))


def test_charts_live_with_waits_that_do_not_exist_and_with_waits_of_zero():
    nothing = {"committed_cost_cny": 1.0, "wait_p95_h": None, "jobs_refused": 3.0}
    plots.render(hand.answer([[nothing], [nothing]]))
    for wait in (0.0, 1e6):
        png(plots.money_against_wait(made(4, wait=wait)))


@pytest.mark.parametrize("limit", ["0s", "1s", "4h", "3000d"])
def test_a_target_far_from_the_waits_is_on_the_chart(limit):
    comparison = made(3, {"wait_p95": limit})
    for draw in (plots.money_against_wait, plots.wait_distribution):
        png(draw(comparison))
    figure = plots.money_against_wait(comparison)
    low, high = figure.axes[0].get_ylim()
    asked = comparison.conditions[-1].limit
    assert low <= asked <= high


def test_names_that_no_font_can_draw_get_a_number():
    shown = names(["plain", "\U0001f9ff\ue000", "two\nlines"])
    assert shown == ["plain", "S2 (in the tables)", "two lines"]


def test_queue_and_cards_over_time_by_hand():
    # 240 h in 500 spans of 0.48 h. Job 2 waits from 1 h to 5 h; jobs 0 and 1 start at 0.
    run = hand.run(hand.scenario(), 0, 0, {})
    hours = 0.48
    queue, busy, leased = series.queue(run), series.busy_cards(run), series.leased_cards(run)
    assert queue.y[:-1].sum() * hours == pytest.approx(4)
    assert queue.y[5] == pytest.approx(1)  # 2.40 h to 2.88 h
    assert queue.y[2] == pytest.approx(0.44 / 0.48)  # 0.96 h to 1.44 h, of which 0.44 h waiting
    assert busy.y[:-1].sum() * hours == pytest.approx(10 + 5 + 3)
    assert set(np.round(leased.y, 9)) == {2.0}
    assert (queue.x[0], queue.x[-1]) == (0, 10)


def test_money_over_time_by_hand():
    # 2,800 CNY paid at once; 903.23 accrued evenly over the ten days
    scenario = hand.scenario()
    run = hand.run(scenario, 0, 0, {})
    accrued, paid = series.accrued_money(run, scenario), series.paid_money(run, scenario)
    assert (accrued.y[0], accrued.y[250], accrued.y[-1]) == pytest.approx((0, 903.23 / 2, 903.23))
    assert list(paid.y) == [2800.0, 2800.0]
    assert list(paid.x) == [0, 10]


def test_distribution_of_waits_by_hand():
    # waits 0, 0, 4 h: half of the way between the second and the third at 75 %
    curve = series.waits(made(1).strategies[0])
    assert curve.x[150] == pytest.approx(2)
    assert curve.y[150] == pytest.approx(0.75)


@pytest.mark.parametrize("number", [1, 3, 12])
def test_tables_fit_100_columns_and_begin_with_the_decision(number):
    comparison = made(number, {"wait_p95": "4h"})
    out = io.StringIO()
    Console(file=out, width=100).print(tables.render(comparison))
    text = out.getvalue()
    assert text.startswith("'4 custom cards")
    assert max(map(len, text.splitlines())) <= 100
    assert "1,000 CNY" in text
    assert "\x1b" not in text
    assert "nan" not in text.lower()
    assert ("Difference to" in text) == (number > 1)


def test_everything_lies_in_one_folder(tmp_path):
    folder = save(made(2), tmp_path)
    assert sorted(path.stem for path in (folder / "charts").iterdir()) == sorted(plots.CHARTS)


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (money(107520.0), "107,520 CNY"),
        (money(99.5), "99.50 CNY"),
        (money(-0.001), "0.00 CNY"),
        (money(None), "-"),
        (span(0.0), "0 h"),
        (span(0.05), "3 min"),
        (span(1.26), "1.3 h"),
        (span(380.4), "380 h"),
        (span(1.0, like=0.05), "60 min"),
        (share(0.95), "95.0 %"),
        (count(12.0), "12"),
        (count(0.25), "0.2"),
        (count(0.01), "0.010"),
        (count(1204.4), "1,204"),
        (value(3.25, "1"), "3.25"),
        (value(2.0, "jobs"), "2"),
        (value(8.5, "GPU-h"), "8.5 GPU-h"),
        (value(8960.0, "CNY/month"), "8,960 CNY/month"),
        (value(None, "h"), "-"),
        (limits(Interval(0.05, 0.01, 0.2, 3), "h"), "[0.6, 12]"),
        (limits(Interval(1.0, 1.0, 1.0, 3), "h"), ""),
        (limits(Interval(1.0, None, None, 1), "h"), ""),
    ],
)
def test_numbers_read_well(shown, text):
    assert shown == text


def test_a_figure_becomes_a_picture():
    assert png(plots.cumulative_money(made(1))).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("confidence", "text"),
    [
        (0.5, "50 %"),
        (0.974, "97 %"),
        (0.989, "99 %"),
        (0.9899, "99 %"),
        (0.99, "99.0 %"),
        (0.995, "99.5 %"),
        (0.9989, "99.8 %"),
        (0.999, "99.9 %"),
        (0.9995, "above 99.9 %"),
        (1.0, "above 99.9 %"),
    ],
)
def test_no_confidence_reads_surer_than_a_larger_one(confidence: float, text: str) -> None:
    assert sureness(confidence) == text
