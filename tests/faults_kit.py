"""What tests of faults share: a small study in a process of its own, and what it left behind."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from sim.cli import main
from tests.conftest import without_charts

__all__ = ["ROOT", "SMALL", "bytes_below", "fleetsim_child", "fleetsim_here", "kept", "run_folder"]

ROOT = Path(__file__).parents[1]

SMALL = """\
name: Small
start: 2026-01-30
timezone: America/New_York
horizon: 15d
workload:
  classes:
    - {name: bot, model: qwen-7b, method: lora, mean_tokens: 220, rate: 8/day,
       samples: {lognormal: {median: 20000, sigma: 0.8}}, deadline: 12h, team: 甲}
reliability:
  profile: datacentre
  events: [{at: 30h, kind: node, offer: a100-40g-custom, machine: 0, card: 0, down: 3h}]
strategies:
  - name: two
    leases: [{offer: a100-40g-custom, count: 2, plan: monthly}]
  - name: one and burst
    leases: [{offer: a100-40g-custom, count: 1, plan: annual}]
    burst: {offer: h100-mig, max: 2, rent_when_wait_over: 1h}
experiment: {replications: 6, seed: 0}
"""

CHILD = """
import sys
from sim.experiments import parallel
parallel.SERIAL_BELOW_S = 0.0  # workers are started, however short the work
if not {charts}:
    import sim.report.save
    sim.report.save.render = lambda _: {{}}  # charts take longer than all else
{before}
from sim.cli import main
main(sys.argv[1:])
"""
"""The command line with workers of its own; `before`: what is done first; `charts`: whether any may be drawn.

Where a command is refused before it draws, `charts` saves the import of what draws.
"""


def fleetsim_child(
    *arguments: object,
    before: str = "",
    charts: bool = False,
    env: Mapping[str, str] | None = None,
    at_start: Callable[[], None] | None = None,
    **more: Any,
) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own; `at_start` is called in it before the program begins."""
    given = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
    command = [sys.executable, "-c", CHILD.format(before=before, charts=charts), *map(str, arguments)]
    return subprocess.run(
        command,
        cwd=more.pop("cwd", ROOT),
        env={name: value for name, value in given.items() if value},
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="backslashreplace",
        timeout=300,
        preexec_fn=at_start,
        check=False,
        **more,
    )


def fleetsim_here(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command line in this process, without charts: the same files, and nothing to import again.

    For what leaves this process whole; limits, lost rights, kills and changed modules need a child.
    """
    out, err = io.StringIO(), io.StringIO()
    with without_charts(), redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ending:
        main([str(argument) for argument in arguments])
    code = int(ending.value.code or 0)
    return subprocess.CompletedProcess([*map(str, arguments)], code, out.getvalue(), err.getvalue())


def kept(out: Path) -> list[str]:
    """Names of the finished replications that are kept below an output folder."""
    found = sorted((out / ".replications").rglob("[0-9]*.json"))
    return [f"{path.parent.name}/{path.stem}" for path in found]


def bytes_below(folder: Path) -> dict[str, str]:
    """Name -> digest of every file of a run but the manifest, which alone tells wall-clock times."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "manifest.json"
    }


def run_folder(out: Path) -> Path:
    """The one run below an output folder; every file of it is as its manifest says."""
    (folder,) = (path for path in out.glob("*/*") if not path.parent.name.startswith("."))
    stated = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["files"]
    found = bytes_below(folder)
    assert found == stated
    return folder
