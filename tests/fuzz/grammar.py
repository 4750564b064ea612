"""Values as the JSON Schema of a scenario describes them, and as it forbids them, from a seeded generator.

`Grammar.scenario` makes a whole file from the schema; `Grammar.turned` changes a few places of a good one,
so that what lies behind the model's own checks is reached too.
"""

from __future__ import annotations

import copy
import json
import math
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

__all__ = ["ODD", "Grammar", "schema"]

Schema: TypeAlias = dict[str, Any]

DURATIONS = ("0s", "1s", "90min", "36h", "20d", "2d", "1h", "1000000000d", "-3h", "1.5h", "12", "h", "1e9d")
DATES = (
    "2026-01-01",
    "2026-02-30",
    "2026-01-31 08:00",
    "2025-07-31",
    "9999-12-31",
    "0001-01-01",
    "2026-03-01T00:00",
)
OFFERS = ("a100-40g-custom", "h100-mig", "rtx3090-24g-cloud", "a100-40g-8x")

ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2,
    10**9,
    10**18,
    10**30,
    -(10**30),
    10**400,
    0.0,
    -0.0,
    1e-320,
    1e308,
    0.1,
    math.nan,
    math.inf,
    -math.inf,
    "",
    " ",
    "nan",
    "1e400",
    "null",
    "~",
    "no",
    "never",
    "auto",
    "preset",
    "../../etc/passwd",
    "/dev/zero",
    "/",
    ".",
    "a\x00b",
    "\u202e\u2066x",
    "٣",
    "９",
    "x" * 5000,
    "\ud800",
    "\ufeff",
    [],
    {},
    [[]],
    [None],
    {"": {}},
    {"a": 1},
    [1, 2],
    "2026-01-01",
    "1h",
    "=1+1",
    "<b>",
    "%s%n",
    "${HOME}",
)
"""Values that belong nowhere, or nearly."""


@cache
def schema() -> Schema:
    """The schema of a scenario as it is shipped."""
    file = Path(__file__).parents[2] / "scenarios" / "scenario.schema.json"
    found: Schema = json.loads(file.read_text(encoding="utf-8"))
    return found


class Grammar:
    """One case; the same number makes the same case."""

    def __init__(self, seed: int, wrong: float) -> None:
        self.random = Random(seed)
        self.wrong = wrong
        """How often a value is one that the schema forbids, or that belongs elsewhere."""

    def scenario(self) -> Any:
        """A whole scenario from the schema."""
        return self._object(schema(), 0)

    def turned(self, tree: Any, most: int = 3) -> Any:
        """A copy of a good scenario with a few of its places changed as the schema allows, or not."""
        made = copy.deepcopy(tree)
        for _ in range(self.random.randint(1, most)):
            self._turn(made, schema())
        return made

    def _turn(self, node: Any, rule: Schema) -> None:
        """Walk down to some place and give it another value."""
        while True:
            rule = self._branch(rule, node)
            if isinstance(node, dict):
                known = dict(rule.get("properties", {}))
                key = self.random.choice([*known, *node] or ["x"])
                below = known.get(key, {})
                inner = node.get(key)
                if isinstance(inner, dict | list) and inner and self.random.random() < 0.8:
                    node, rule = inner, below
                    continue
                if key in node and self.random.random() < 0.2:
                    del node[key]
                else:
                    node[key] = self.value(below, 0)
            elif isinstance(node, list) and node:
                place = self.random.randrange(len(node))
                rule = rule.get("items", {})
                if isinstance(node[place], dict | list) and node[place] and self.random.random() < 0.8:
                    node = node[place]
                    continue
                if self.random.random() < 0.3:
                    node.append(self.value(rule, 0))
                else:
                    node[place] = self.value(rule, 0)
            return

    def _branch(self, rule: Schema, node: Any) -> Schema:
        """The branch of a union that holds this kind of value."""
        rule = self._resolved(rule)
        kind = "object" if isinstance(node, dict) else "array"
        for branch in rule.get("anyOf", ()):
            found = self._resolved(branch)
            if found.get("type") == kind:
                return found
        return rule

    def _resolved(self, rule: Schema) -> Schema:
        while "$ref" in rule:
            rule = schema()["$defs"][rule["$ref"].rpartition("/")[2]]
        return rule

    def value(self, rule: Schema, depth: int) -> Any:
        """A value of this rule, or an odd one."""
        if self.random.random() < self.wrong or depth > 9:
            return copy.deepcopy(self.random.choice(ODD))
        rule = self._resolved(rule)
        if "anyOf" in rule or "oneOf" in rule:
            return self.value(self.random.choice(rule.get("anyOf") or rule["oneOf"]), depth)
        if "enum" in rule:
            return self.random.choice(rule["enum"])
        if "const" in rule:
            return rule["const"]
        kind = rule.get("type")
        kind = self.random.choice(kind) if isinstance(kind, list) else kind
        makers = {
            "object": self._object, "array": self._array, "string": self._text, "integer": self._whole,
            "number": self._number,
        }  # fmt: skip
        if kind in makers:
            return makers[kind](rule, depth)
        return {"boolean": self.random.random() < 0.5}.get(str(kind))

    def _object(self, rule: Schema, depth: int) -> Any:
        known = rule.get("properties", {})
        needed = set(rule.get("required", ())) | (
            {"name", "start", "horizon", "workload", "strategies"} & {*known}
        )
        made = {}
        for key, below in known.items():
            if key in needed or self.random.random() < 0.25:
                made[key] = self.value(below, depth + 1)
        for pattern, below in rule.get("patternProperties", {}).items():
            made["USD" if "A-Z" in pattern else "a"] = self.value(below, depth + 1)
        if isinstance(rule.get("additionalProperties"), dict):
            names = ("strategies.0.leases.0.count", "price_range", "growth", "a", "workload.classes.0.rate")
            made[self.random.choice(names)] = self.value(rule["additionalProperties"], depth + 1)
        if self.random.random() < self.wrong:
            made[self.random.choice(["extends", "nmae", "", "a.b", "0", "\u200b"])] = self.random.choice(ODD)
        return made

    def _array(self, rule: Schema, depth: int) -> Any:
        if "prefixItems" in rule:
            return [self.value(one, depth + 1) for one in rule["prefixItems"]]
        least = rule.get("minItems", 0)
        count = min(least + self.random.choice([0, 0, 1, 1, 2]), rule.get("maxItems", 99), 40)
        return [self.value(rule.get("items", {}), depth + 1) for _ in range(count)]

    def _text(self, rule: Schema, depth: int) -> Any:
        examples = rule.get("examples")
        if examples and self.random.random() < 0.7:
            return self.random.choice(examples)
        return self.random.choice(
            [*DURATIONS, *DATES, *OFFERS, "a", "b", "2/day", "10/week", "qwen-7b", "08:00-20:00"]
        )

    def _whole(self, rule: Schema, depth: int) -> Any:
        low = rule.get("minimum", rule.get("exclusiveMinimum", 0))
        high = rule.get("maximum", 50)
        return self.random.choice([low, low + 1, 1, 2, 3, 8, int(high), 10**6])

    def _number(self, rule: Schema, depth: int) -> Any:
        low = rule.get("minimum", rule.get("exclusiveMinimum", 0))
        high = rule.get("maximum", rule.get("exclusiveMaximum", 100))
        return self.random.choice([low, high, (low + high) / 2, 0.5, 1, 2.5, 1000.0, 1e-9, 1e12])
