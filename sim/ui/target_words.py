"""Which lines of the target a strategy misses, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sim.ui.language import word
from sim.ui.metric_words import figure, metric_name

__all__ = ["status_words", "why_not"]


def status_words(strategy: Mapping[str, Any]) -> str:
    """Whether a strategy of a result document meets the target; what it misses, or where that is not sure."""
    found = strategy["target"]
    status = word(f"compare.status_{found['status'].replace(' ', '_')}")
    lines = [line for line in found["lines"] if line["status"] == found["status"]]
    if found["status"] not in ("missed", "unsure") or not lines:
        return status
    names = word("compare.name_gap").join(metric_name(line["metric"]) for line in lines)
    return word("compare.status_of", status=status, lines=names)


def why_not(strategy: Mapping[str, Any]) -> str:
    """The lines of the target that the means miss, each with its figure and limit; empty for none."""
    missed = [line for line in strategy.get("target", {}).get("lines", ()) if not line["meets"]]
    return word("compare.name_gap").join(
        word(
            f"compare.{line['rule'].replace(' ', '_')}",
            metric=metric_name(line["metric"]),
            found=figure(line["mean"], line["unit"]),
            limit=figure(line["limit"], line["unit"]),
        )
        for line in missed
    )
