"""The walls between the rooms: imports go downward, some libraries have one home, no circle."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SIM = ROOT / "sim"

TIERS: tuple[tuple[str, ...], ...] = (
    ("units", "errors", "streams"),
    ("whole_file",),
    ("model",),
    ("billing", "workload", "decisions", "catalog"),
    ("engine", "physics", "metrics", "load", "measure"),
    ("replication",),
    ("experiments",),
    ("claims",),
    ("report",),
    ("cli", "ui"),
    ("page",),
)
"""Floors of the house, from the ground up; a room imports from the floors below it."""

NARROW = {"engine": {"decisions", "model", "units", "errors", "streams"}}
"""Rooms that may use less than all that lies below."""

HOMES = {
    "simpy": ("engine",),
    "streamlit": ("ui",),
    "altair": ("ui",),
    "vl_convert": ("ui/charts",),
    "matplotlib": ("report/plots",),
    "typer": ("cli",),
    "torch": ("measure",),
    "transformers": ("measure",),
    "peft": ("measure",),
    "openpyxl": ("report/workbook", "workload/imports/sheets", "experiments/invoice_sheet"),
    "distributed": ("experiments/parallel",),
}
"""Libraries that are imported in one place only (a folder, or the beginning of a file's name)."""

LINES = 400
ROOMY: dict[str, int] = {}
"""Files that may be longer, each with its allowance; better split than listed."""

FILES = sorted(SIM.rglob("*.py"))


def name_of(path: Path) -> str:
    """Dotted name of a module: `sim.model.job`, `sim.model` for the package."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in FILES}


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Every name that a file imports, wherever the import stands; `sim` names down to the module."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            for alias in node.names:
                below = f"{base}.{alias.name}"
                found.append(below if below in MODULES else base)
    return tuple(found)


def room_of(module: str) -> str:
    """The room of a module: `load` for sim.load and sim.load_checks, `engine` for sim.engine.clock."""
    parts = module.split(".")
    room = parts[1] if len(parts) > 1 else "face"
    return "load" if room.startswith("load_") else room


ROOMS = sorted({room_of(name) for name in MODULES} - {"face", "__main__"})


def tier_of(room: str) -> int:
    return next(floor for floor, rooms in enumerate(TIERS) if room in rooms)


def test_every_room_has_its_floor() -> None:
    assert set(ROOMS) <= {room for rooms in TIERS for room in rooms}


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_downward(room: str) -> None:
    inside = {name: path for name, path in MODULES.items() if room_of(name) == room}
    for module, name in [(module, name) for module, path in inside.items() for name in imports(path)]:
        assert not name.startswith("."), f"{module}: relative import {name}"
        if name.split(".")[0] != "sim":
            continue
        other = room_of(name)
        if other == "face":
            assert room == "cli", f"{module} imports the public face"
            continue
        allowed = other == room or tier_of(other) < tier_of(room)
        assert allowed, f"{module} imports {name}, which is not below it"
        assert other == room or other in NARROW.get(room, {other}), f"{module} may not import {name}"


def test_some_libraries_have_one_home() -> None:
    for module, path in MODULES.items():
        place = path.relative_to(SIM).as_posix()
        for name in imports(path):
            homes = HOMES.get(name.split(".")[0])
            assert homes is None or place.startswith(homes), f"{module} imports {name}"


def test_the_router_has_no_logic() -> None:
    assert set(imports(ROOT / "app.py")) <= {"__future__", "streamlit", "sim.ui", "sim.ui.frame"}


def test_there_is_no_circle() -> None:
    graph = {
        name: {other for other in imports(path) if other in MODULES and other not in {name, "sim"}}
        for name, path in MODULES.items()
    }
    while graph:
        leaves = {name for name, others in graph.items() if not others & graph.keys()}
        assert leaves, f"these modules import each other in a circle: {sorted(graph)}"
        graph = {name: others for name, others in graph.items() if name not in leaves}


def test_files_stay_short() -> None:
    lines = {path.relative_to(SIM).as_posix(): len(path.read_text("utf-8").splitlines()) for path in FILES}
    long = {place: count for place, count in lines.items() if count > ROOMY.get(place, LINES)}
    assert long == {}, "too many lines: which room is missing?"
