"""The table of the long theory profile in docs/validation.md, as read from what the tests print."""

from __future__ import annotations

from pathlib import Path

from benchmarks.theory import part_of, rows

LOG = """\
tests/theory/test_queues.py::test_m_m_c_within_two_per_cent[8-0.9-60-30000] 0.87629 +- 0.62% against 0.87692: off by -0.07%
PASSED
tests/theory/test_reliability.py::test_a_gang_of_k_fails_at_k_times_the_rate[long-2-node-2] 0.01003 in [0.00987, 0.01020] against 0.01000
PASSED
tests/theory/test_against_ciw.py::test_the_same_times_of_many_jobs[64] PASSED
PASSED tests/theory/test_queues.py::test_m_m_c_within_two_per_cent[8-0.9-60-30000]
"""  # noqa: E501 - as printed


def test_each_printed_value_is_one_row() -> None:
    assert list(rows(LOG)) == [
        "| m m c within two per cent | 8-0.9-60-30000 | 0.87629 | 0.87692 | 0.62% | -0.07% |",
        "| a gang of k fails at k times the rate | long-2-node-2 | 0.01003 | 0.01000 | 1.65% | +0.30% |",
        "| the same times of many jobs | 64 | the same, job by job | | | |",
    ]


def test_every_row_of_the_page_keeps_the_two_per_cent() -> None:
    page = Path(__file__).parents[2] / "docs" / "validation.md"
    cells = [line.split(" | ") for line in part_of(page.read_text(encoding="utf-8")).splitlines()]
    widths = [float(row[4].rstrip("%")) for row in cells if len(row) == 6 and row[4].endswith("%")]
    assert len(widths) >= 28
    assert max(widths) <= 2
    assert part_of("no such part") == ""
