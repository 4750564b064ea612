"""What a form writes when an entry or a part of the question is added: small, sound, and to be changed."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from sim.ui.form_kinds import Kind, fields_of
from sim.ui.question_edits import Tree

__all__ = ["example", "example_value", "named_copy", "spread_example", "unused"]

_LEASE = {"offer": "a100-40g-custom", "count": 4, "plan": "monthly"}
_EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "Strategy": {"name": "new", "leases": [_LEASE]},
    "Lease": _LEASE,
    "Burst": {"offer": "h100-mig", "max": 4, "rent_when_wait_over": "2h"},
    "JobClass": {"name": "new", "model": "qwen-7b", "method": "lora", "samples": 10000, "rate": "1/day"},
    "TimedClass": {"name": "new", "rate": "1/day", "kinds": [{"share": 1, "gpus": 1, "runtime_s": 3600}]},
    "TimedKind": {"share": 1, "gpus": 1, "runtime_s": 3600},
    "Target": {"wait_p95": "4h"},
    "Until": {"half_width": {"wait_mean_h": "10%"}},
    "Tax": {"rate": 0.06},
    "SwitchEvents": {"every": "90d"},
    "MaintenancePlan": {"every": "30d"},
    "Lemon": {"share": 0.05, "rate": 20},
    "Hang": {"share": 0.1},
    "WaitForSpare": {"probability": 0.1},
    "SparePool": {"count": 1},
    "JobEnds": {"cancelled": 0.1, "failed": 0.1},
    "ArrivalProfile": {"hourly": [1] * 24},
    "ExchangeRate": {"rate": 7.1, "date": "2026-01-01"},
    "Uncertain": {"uniform": {"low": 0.8, "high": 1.2}},
}
"""Examples of models whose needed keys alone would not do."""


def example(model: str, tree: Tree) -> dict[str, Any]:
    """A new mapping of a model, with the question's own start and offers where it needs any."""
    if model in _EXAMPLES:
        return copy.deepcopy(dict(_EXAMPLES[model]))
    return {
        key: example_value(field.kind, tree, key) for key, field in fields_of(model).items() if field.needed
    }


def example_value(kind: Kind, tree: Tree, key: str = "") -> Any:
    """A new value of a kind."""
    if key == "offer":
        return _rented(tree) or _LEASE["offer"]
    simple = {
        "text": "new", "number": 1, "whole": 1, "truth": True, "duration": "1d", "rate": "1/day",
        "growth": "1%/month", "tolerance": "5%", "numbers": [1], "texts": ["new"], "map": {}, "yaml": 1,
    }  # fmt: skip
    if kind.form == "choice":
        return kind.options[0]
    if kind.form == "date":
        return _day(tree, 365 if key in ("horizon", "end") else 0)
    if kind.form == "model":
        return example(kind.model, tree)
    if kind.form == "models":
        return [example(kind.model, tree)]
    if kind.form == "either":
        return example_value(kind.branches[0], tree, key)
    return copy.deepcopy(simple[kind.form])


def _day(tree: Tree, later: int) -> str:
    """The question's first day, or so many days later."""
    try:
        start = date.fromisoformat(str(tree.get("start"))[:10])
    except ValueError:
        start = date(2026, 1, 1)
    return (start + timedelta(days=later)).isoformat()


def _rented(tree: Tree) -> str | None:
    for strategy in tree.get("strategies") or ():
        for lease in (strategy.get("leases") or ()) if isinstance(strategy, dict) else ():
            if isinstance(lease, dict) and isinstance(lease.get("offer"), str):
                return str(lease["offer"])
    return None


def spread_example(form: str, middle: float) -> Any:
    """A random quantity of a form around a middle value; `number` is the value itself."""
    m = int(middle) if middle == int(middle) else middle
    return {
        "number": m,
        "lognormal": {"lognormal": {"median": m, "sigma": 0.8}},
        "exponential": {"exponential": {"mean": m}},
        "uniform": {"uniform": {"low": m / 2, "high": 1.5 * m}},
        "triangular": {"triangular": {"low": m / 2, "mode": m, "high": 2 * m}},
        "geometric": {"geometric": {"mean": max(1, m)}},
        "choice": {"choice": {"values": [m]}},
        "mixture": {"mixture": {"components": [{"weight": 1, "median": m, "sigma": 0.8}]}},
        "quantiles": {"quantiles": {"at": [0, 0.5, 1], "values": [m / 2, m, 2 * m]}},
    }[form]


def unused(name: str, taken: list[str]) -> str:
    """The name, with a number behind it where it is taken."""
    number = 2
    found = name
    while found in taken:
        found, number = f"{name} {number}", number + 1
    return found


def named_copy(entry: Any, entries: list[Any]) -> Any:
    """A copy of an entry of a list, with a name of its own where it has one."""
    made = copy.deepcopy(entry)
    if isinstance(made, dict) and isinstance(made.get("name"), str):
        taken = [str(one.get("name")) for one in entries if isinstance(one, dict)]
        made["name"] = unused(made["name"], taken)
    return made
