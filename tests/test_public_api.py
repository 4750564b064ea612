"""The public face: the list of names is the truth, and importing it is cheap."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import sim

ROOT = Path(__file__).parents[1]


def test_every_name_is_there_and_listed_once() -> None:
    assert len(set(sim.__all__)) == len(sim.__all__)
    for name in sim.__all__:
        assert getattr(sim, name) is not None


def test_the_list_holds_every_public_name() -> None:
    modules = {path.stem for path in (ROOT / "sim").iterdir()}
    helpers = {"annotations", "TYPE_CHECKING", "Any"}
    public = {name for name in vars(sim) if not name.startswith("_")} - modules - helpers
    assert public <= set(sim.__all__)
    assert {"load", "compare", "prepare", "replicate", "load_catalog", "json_schema"} <= set(sim.__all__)


def test_load_is_the_function_even_where_its_module_was_imported_first() -> None:
    code = "import sim.load, sim.experiments.compare, sim; print(callable(sim.load), callable(sim.compare))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


def test_an_unknown_name_says_which_there_are() -> None:
    with pytest.raises(AttributeError, match=r"simulate.*load_catalog"):
        sim.simulate  # noqa: B018


def test_importing_loads_no_heavy_library() -> None:
    code = "import sys, sim; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"pandas", "scipy.stats", "matplotlib", "streamlit", "simpy", "joblib", "pyarrow"}
    assert not heavy & set(done.stdout.split())


def test_the_version_is_the_one_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert sim.__version__ == project["project"]["version"]
    assert f"[{sim.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_all_errors_have_one_base() -> None:
    assert issubclass(sim.InputError, sim.FleetsimError)
    assert issubclass(sim.RunError, sim.FleetsimError)
    assert (sim.InputError.exit_code, sim.RunError.exit_code) == (2, 1)
