"""A command pays only for what it uses: what stands in a table, and which libraries a command imports."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module

import pytest

from sim.cli.commands import COMMANDS
from sim.cli.workload import WORKLOAD

ROWS = [pytest.param(name, row, id=name) for name, row in COMMANDS.items()] + [
    pytest.param(name, row, id=f"workload {name}") for name, row in WORKLOAD.items()
]

TABLES = {"pandas", "pyarrow", "matplotlib", "openpyxl", "joblib", "scipy", "SALib", "simpy", "streamlit"}
"""Of which a command that makes no run and opens none has no use."""

IMPORTED = """\
import sys
from sim.cli import main
try:
    main()
except SystemExit as ending:
    print(ending.code or 0, *sys.modules, file=sys.stderr)
"""


def imported(*arguments: str) -> tuple[int, set[str]]:
    """Exit code of a command, and the modules that its process has imported at the end."""
    words = [sys.executable, "-c", IMPORTED, *arguments]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=True)
    code, *names = done.stderr.splitlines()[-1].split()
    return int(code), set(names)


LIGHT = TABLES | {"numpy", "rich", "ruamel", "sim.load", "sim.catalog", "sim.experiments", "_ssl"}
"""What a command that reads no scenario has no use for."""

WITHOUT = {
    "--version": LIGHT,
    "--help": LIGHT,
    "workload --help": LIGHT,
    "runs --help": LIGHT,
    "compare --help": TABLES | {"sim.replication", "sim.experiments.decision", "_ssl"},
    "validate two.yaml": TABLES | {"sim.physics", "sim.engine", "sim.replication", "_ssl"},
    "run two.yaml": TABLES - {"scipy", "simpy"} | {"scipy.stats", "scipy.optimize", "_ssl"},
}


@pytest.mark.parametrize("line", list(WITHOUT))
def test_a_command_imports_only_what_it_uses(line, two_jobs, monkeypatch):
    monkeypatch.chdir(two_jobs.parent)
    code, names = imported(*line.split())
    assert code == 0
    assert "typer" in names
    assert not names & WITHOUT[line]


@pytest.mark.parametrize(("name", "row"), ROWS)
def test_the_line_in_the_help_is_the_first_paragraph_of_the_command(name, row):
    module, _, function = row.place.partition(":")
    found = getattr(import_module(module), function)
    assert found.__module__ == module
    text = found().registered_callback.callback.__doc__ if row.is_group else found.__doc__
    assert row.help == " ".join(inspect.cleandoc(text).partition("\n\n")[0].split())


def test_the_help_lists_every_command(fleetsim):
    for arguments, table in (((), COMMANDS), (("workload",), WORKLOAD)):
        lines = fleetsim(*arguments, "--help").out.partition("Commands:\n")[2].splitlines()
        assert [line.split()[0] for line in lines] == list(table)
        shown = [line.split(maxsplit=1)[1].removesuffix("...") for line in lines]
        assert all(row.help.startswith(text) for row, text in zip(table.values(), shown, strict=True))


@pytest.mark.parametrize(
    ("words", "known"), [(("compar",), "'compare'"), (("workload", "impor"), "'import'")], ids=" ".join
)
def test_a_wrong_name_is_told_the_nearest(fleetsim, words, known):
    done = fleetsim(*words)
    assert done.code == 2
    assert f"No such command '{words[-1]}'. Did you mean {known}?" in done.err


def test_the_face_has_its_names_though_none_is_loaded():
    code = "import sim, sys; print(set(sim.__all__) - set(dir(sim)), *(name for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("set() ")
    assert [name for name in done.stdout.split() if name.startswith("sim")] == ["sim"]
