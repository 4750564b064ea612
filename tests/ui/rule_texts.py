"""Texts of the code that the page may show: rules of problems, what an import says of rows, its remarks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2] / "sim"

_EXPERIMENTS = (
    *("candidates", "commitment", "compare", "knobs_table", "run_list", "run_removal", "sensitivity"),
    *("sensitivity_sobol", "stepup", "stopping", "stored", "stored_folder", "uncertain"),
)
"""What the commands of the page refuse."""

_PAGE = ("question_store", "run_downloads", "runner", "workload_files")

FILES = sorted(
    [
        *ROOT.glob("load*.py"),
        *(ROOT / "model").glob("*.py"),
        ROOT / "units.py",
        *(ROOT / "billing").glob("*.py"),
        *(ROOT / "decisions").glob("*.py"),
        *(ROOT / "catalog").glob("*.py"),
        *(ROOT / "workload").rglob("*.py"),
        *(ROOT / "physics").glob("*.py"),
        *(ROOT / "claims").glob("*.py"),
        *(ROOT / "cli" / f"workload_{name}.py" for name in ("check", "settings")),
        *(ROOT / "experiments" / f"{name}.py" for name in _EXPERIMENTS),
        *(ROOT / "ui" / f"{name}.py" for name in _PAGE),
    ]
)
"""Rooms whose refusals a user of the page meets."""

MORE = [ROOT / "cli" / "finance_exchange.py"]
"""Others of which some texts are in the catalogue."""

_SAYS = {
    "Problem": 1, "Fault": 2, "ValueError": 1, "_bounded": 1, "_kept": 3, "_refuse": 3, "aside": 3,
    "check_known": 4, "located": 3, "odd": 1, "refuse": 3, "remark": 1,
}  # fmt: skip
"""Function -> arguments, from the first, among which its texts are."""
_NAMED = {"rule", "msg", "fault", "reason"}
"""Names of variables and arguments that hold such a text; of constants those that end so: `CARDS_RULE`."""


def texts(file: Path) -> Iterator[str]:
    """Texts of a file in these places, with `{}` for what is filled in; no name, which has one word."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        for value in _values(node):
            yield from (text for text in _spelled(value) if " " in text and text.strip("{} :=x+-.()/"))


def every_text(file: Path) -> Iterator[str]:
    """Every text of a file, with `{}` for what is filled in."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.expr):
            yield from _spelled(node)


def _values(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        yield from node.args[: _SAYS.get(name, 0)]
        yield from (word.value for word in node.keywords if word.arg in _NAMED)
    elif isinstance(node, ast.Assign) and any(_names_a_text(to) for to in node.targets):
        yield node.value


def _names_a_text(node: ast.expr) -> bool:
    name = getattr(node, "id", "")
    return name in _NAMED or name.endswith("_RULE")


def _spelled(node: ast.expr) -> list[str]:
    """The texts that an expression may be."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.JoinedStr):
        return ["".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values)]
    if isinstance(node, ast.IfExp):
        return _spelled(node.body) + _spelled(node.orelse)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [a + b for a in _spelled(node.left) or ["{}"] for b in _spelled(node.right) or ["{}"]]
    return []
