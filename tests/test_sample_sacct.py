"""The dump of the tutorial is what its script draws, and imports as it says."""

from __future__ import annotations

from benchmarks.sample_sacct import CARDS, FILE, dump


def test_the_shipped_dump_is_that_of_the_script():
    assert FILE.read_text(encoding="utf-8") == dump()
    assert dump(1) != dump(2)


def test_never_more_cards_than_there_were():
    rows = [line.split("|") for line in dump().splitlines()[1:]]
    moments = []
    for row in rows:
        if row[0].isdecimal() and row[7] != "Unknown" and row[9] != "0":
            gpus = int(row[12].split("gres/gpu=")[1].split(",")[0])
            moments += [(row[7], gpus), (row[8], -gpus)]
    busy = most = 0
    for _, change in sorted(moments):  # at one instant what ends goes before what begins
        busy += change
        most = max(most, busy)
    assert most == CARDS
