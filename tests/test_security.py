"""What SECURITY.md says of the sources: nothing in a file is ever run."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "sim").rglob("*.py"))

RUNS_TEXT = {"eval", "exec", "compile", "__import__"}
RUNS_DATA = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib.load"}
UNSAFE = {"unsafe_allow_html", "unsafe_allow_javascript", "shell"}
"""Keywords that may never be true."""


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_runs_what_it_reads(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name for alias in node.names} | {getattr(node, "module", "") or ""}
            assert not names & RUNS_DATA, f"line {node.lineno}: {names & RUNS_DATA}"
        if isinstance(node, ast.Call):
            called = _name(node.func)
            assert called not in RUNS_TEXT | RUNS_DATA, f"line {node.lineno}: {called}"
            assert called not in {"os.system", "os.popen", "subprocess.getoutput"}, f"line {node.lineno}"
            for word in node.keywords:
                given = word.value.value if isinstance(word.value, ast.Constant) else None
                assert word.arg not in UNSAFE or given is False, f"line {node.lineno}: {word.arg}"
                assert (word.arg, given) != ("allow_pickle", True), f"line {node.lineno}"
            if called == "YAML":
                kinds = [word.value.value for word in node.keywords if isinstance(word.value, ast.Constant)]
                assert "unsafe" not in kinds, f"line {node.lineno}"
