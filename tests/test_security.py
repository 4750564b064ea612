"""What SECURITY.md says of the sources: nothing in a file is ever run."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "sim").rglob("*.py"))
ROOMS = sorted({path.relative_to(ROOT / "sim").parts[0] for path in FILES})

RUNS_TEXT = {"eval", "exec", "compile", "__import__"}
RUNS_DATA = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib.load"}
UNSAFE = {"unsafe_allow_html", "unsafe_allow_javascript", "shell"}
"""Keywords that may never be true."""


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


@pytest.mark.parametrize("room", ROOMS)
def test_no_file_runs_what_it_reads(room: str) -> None:
    for path in (path for path in FILES if path.relative_to(ROOT / "sim").parts[0] == room):
        runs_nothing(path)


def runs_nothing(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Import | ast.ImportFrom | ast.Call):
            continue
        where = f"{path.relative_to(ROOT)}, line {node.lineno}"
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name for alias in node.names} | {getattr(node, "module", "") or ""}
            assert not names & RUNS_DATA, f"{where}: {names & RUNS_DATA}"
        else:
            called = _name(node.func)
            assert called not in RUNS_TEXT | RUNS_DATA, f"{where}: {called}"
            assert called not in {"os.system", "os.popen", "subprocess.getoutput"}, where
            for word in node.keywords:
                given = word.value.value if isinstance(word.value, ast.Constant) else None
                assert word.arg not in UNSAFE or given is False, f"{where}: {word.arg}"
                assert (word.arg, given) != ("allow_pickle", True), where
            if called == "YAML":
                kinds = [word.value.value for word in node.keywords if isinstance(word.value, ast.Constant)]
                assert "unsafe" not in kinds, where
