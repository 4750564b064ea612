"""From a scenario file to a question: YAML, `extends`, `--set`, the model, the catalogue, the trace.

Everything that is wrong is told at once, each with file, line, key, rule, value and known names.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError
from ruamel.yaml import YAML

from sim.catalog import Catalog, load_catalog
from sim.errors import InputError, Problem
from sim.load_checks import PERFORMANCES, deep_problems, name_problems, trace_problems
from sim.load_errors import located, model_problems
from sim.load_files import beside, is_file, real
from sim.load_leases import with_slices
from sim.load_preset import demand_problems, preset_problems, with_preset
from sim.load_schema import SCHEMA_LINE, json_schema, schema_text
from sim.load_tree import LARGEST_FILE, Node, merged, overridden, read_tree
from sim.load_tree import Path as KeyPath
from sim.load_uncertain import plain, uncertain_problems
from sim.model.contract import PriceChoice
from sim.model.scenario import Scenario
from sim.workload.readers import FORMATS, TraceRow, read_trace
from sim.workload.recorded_when import RecordedWhen, recorded_when

__all__ = ["Question", "dump", "json_schema", "load", "load_text", "schema_text"]

_MOST_BASES = 20
_FILE_KEYS: tuple[KeyPath, ...] = (("workload", "trace", "file"), ("performance",), ("catalog",))
"""Keys that may name a file beside the scenario that holds them."""


@dataclass(frozen=True, slots=True)
class Question:
    """A scenario with all that it names."""

    scenario: Scenario
    trace: tuple[TraceRow, ...]
    """Recorded jobs by submission; empty without a trace."""
    catalog: Catalog
    path: Path | None = None
    """The scenario's file; None for a text."""
    price: PriceChoice | None = None
    """The command line's choice, which goes before words and defaults of the scenario."""
    folder: Path | None = None
    """Where files that the scenario names are looked for; None for a text without a folder."""
    recorded: RecordedWhen | None = None
    """When the trace was recorded; None without a trace that says so."""

    @property
    def performance_source(self) -> str:
        """The performance profile for physics: its name, or the path of the calibration file."""
        name = self.scenario.performance
        return name if name in PERFORMANCES or self.folder is None else str(self.folder / name)

    @property
    def catalog_source(self) -> Path | None:
        """The user's own price list; None where the scenario names none."""
        name = self.scenario.catalog
        return None if name is None or self.folder is None else self.folder / name


def load(path: Path | str, overrides: Sequence[str] = (), catalog: Catalog | None = None) -> Question:
    """Load a scenario file; `overrides` are settings such as `strategies.0.leases.0.count=8`.

    Raises InputError with every problem found.
    """
    file = Path(path)
    files: list[str] = []
    tree = _with_bases(file, _read(file), (), files)
    return _question(tree, overrides, catalog, file.parent, file, files)


def load_text(
    text: str | bytes,
    overrides: Sequence[str] = (),
    catalog: Catalog | None = None,
    *,
    name: str = "scenario.yaml",
    folder: Path | None = None,
) -> Question:
    """Load a scenario from a text, such as an upload; `name` stands for the file in messages.

    Files that it names (extends, a trace) are looked for in `folder`; without one they are refused.
    Raises InputError with every problem found.
    """
    tree = read_tree(text, name)
    files = [name]
    base = tree.child("extends")
    if folder is not None:
        tree = _with_bases(folder / name, tree, (), files)
    elif base is not None:
        rule = "extends needs a scenario in a file, beside the one that it names"
        raise InputError(located(tree, ("extends",), rule, base.plain()))
    return _question(tree, overrides, catalog, folder, None, files)


def _read(file: Path) -> Node:
    try:
        with file.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise InputError(Problem("there is no such file", str(file))) from None
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise InputError(Problem(f"the file cannot be read: {what}", str(file))) from None
    return read_tree(data, str(file))


def _with_bases(file: Path, tree: Node, chain: tuple[Path, ...], files: list[str]) -> Node:
    """The tree laid on the file that it extends, and that on the one it extends in turn.

    Adds the names of the files to `files`, as messages show them.
    """
    chain = (*chain, file)
    files.append(str(tree.file))
    base = tree.child("extends")
    if base is None or base.value is None:
        return _without_extends(tree)
    if not isinstance(base.value, str) or not base.value.strip():
        raise InputError(located(tree, ("extends",), "must be the name of a scenario file", base.plain()))
    target = Path(os.path.normpath(file.parent / base.value))
    places = [real(one) for one in chain]
    if real(target) in places:
        circle = [*chain[places.index(real(target)) :], target]
        rule = "extends goes in a circle: " + " -> ".join(one.name for one in circle)
        raise InputError(located(tree, ("extends",), rule, base.value))
    if len(chain) > _MOST_BASES:
        rule = f"extends may go over at most {_MOST_BASES} files"
        raise InputError(located(tree, ("extends",), rule, base.value))
    if not is_file(target):
        rule = f"there is no such file beside {file.name}"
        known = [one.name for one in beside(target, ".yaml")]
        raise InputError(located(tree, ("extends",), rule, base.value, known))
    below = _with_bases(target, _read(target), chain, files)
    return merged(_beside(below, target.parent, file.parent), _without_extends(tree))


def _without_extends(tree: Node) -> Node:
    return Node({key: node for key, node in tree.value.items() if key != "extends"}, tree.file, tree.line)


def _beside(tree: Node, home: Path, folder: Path) -> Node:
    """Names of files as seen from the folder of the extending file."""
    if real(home) == real(folder):
        return tree
    for path in _FILE_KEYS:
        node = tree.find(path)
        if node is not None and isinstance(node.value, str) and is_file(home / node.value):
            node.value = os.path.relpath(home / node.value, folder)
    return tree


def _question(
    tree: Node,
    overrides: Sequence[str],
    catalog: Catalog | None,
    folder: Path | None,
    path: Path | None,
    files: Sequence[str],
) -> Question:
    tree = overridden(tree, overrides)
    if (node := tree.child("extends")) is not None:
        raise InputError(located(tree, ("extends",), "extends can be set in a file only", node.plain()))
    scenario, problems = _validated(tree)
    catalog, own_faults = _catalog(tree, folder, load_catalog() if catalog is None else catalog)
    problems += own_faults
    if scenario is not None:
        problems += preset_problems(scenario, tree)
        scenario = with_preset(scenario)
        catalog = with_slices(catalog, scenario)
    problems += name_problems(tree, catalog)
    trace, trace_faults = _trace(tree, folder, catalog)
    problems += trace_faults
    if scenario is not None and trace:
        problems += demand_problems(scenario, tree, trace)
    if scenario is not None and not problems:
        problems += deep_problems(scenario, tree, catalog, folder)
    if scenario is not None and not problems:
        problems += uncertain_problems(scenario, tree, catalog, folder)
    if problems:
        raise InputError(_in_order(problems, files))
    assert scenario is not None  # noqa: S101 - without a scenario there is a problem
    asked = scenario.workload.trace
    recorded = None if asked is None or folder is None else recorded_when(folder / asked.file)
    return Question(scenario, trace, catalog, path, folder=folder, recorded=recorded)


def _validated(tree: Node) -> tuple[Scenario | None, list[Problem]]:
    try:
        return Scenario.model_validate(tree.plain()), []
    except ValidationError as error:
        return None, model_problems(error, tree)


def _catalog(tree: Node, folder: Path | None, known: Catalog) -> tuple[Catalog, list[Problem]]:
    """The catalogue with the user's own entries over it."""
    node = tree.child("catalog")
    if node is None or not isinstance(node.value, str):
        return known, []
    if folder is None:
        rule = "a price list of your own needs a scenario in a file, beside it"
        return known, [located(tree, ("catalog",), rule, node.value)]
    if not is_file(folder / node.value):
        names = [one.name for one in beside(folder / node.value, ".yaml")][:10]
        rule = "there is no such file beside the scenario"
        return known, [located(tree, ("catalog",), rule, node.value, names)]
    try:
        return load_catalog(folder / node.value, known), []
    except InputError as error:
        return known, list(error.problems)


def _trace(tree: Node, folder: Path | None, catalog: Catalog) -> tuple[tuple[TraceRow, ...], list[Problem]]:
    key: KeyPath = ("workload", "trace", "file")
    node = tree.find(key)
    if node is None or not isinstance(node.value, str):
        return (), []
    if folder is None:
        return (), [located(tree, key, "a trace needs a scenario in a file, beside it", node.value)]
    path = folder / node.value
    if not is_file(path):
        traces = (one for one in beside(path) if one.suffix.lower() in FORMATS)
        known = sorted(os.path.relpath(one, folder) for one in traces)[:10]
        return (), [located(tree, key, "there is no such file beside the scenario", node.value, known)]
    try:
        rows = read_trace(path)
    except InputError as error:
        return (), list(error.problems)
    return rows, list(trace_problems(rows, str(path), catalog))


def _in_order(problems: Sequence[Problem], files: Sequence[str]) -> list[Problem]:
    """By file, then line; the command line's and the trace's last; the same thing once."""

    def order(problem: Problem) -> tuple[int, str, int]:
        file = problem.file or ""
        return files.index(file) if file in files else len(files), file, problem.line or 0

    return sorted(dict.fromkeys(problems), key=order)


def dump(scenario: Scenario) -> str:
    """The scenario as YAML, every default written out, that loads to an equal scenario.

    Files that it names (a trace) are looked for beside wherever the text is saved.
    """
    yaml = YAML()
    yaml.width = 100_000  # folded lines would be harder to compare
    out = io.StringIO()
    yaml.dump(plain(scenario), out)
    return f"{SCHEMA_LINE}\n{out.getvalue()}"
