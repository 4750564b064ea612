"""A small question for the pages of studies, quick to run; and the documents of the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from sim.cli import main
from sim.ui.jobs import jobs
from tests.conftest import without_charts

ROOT = Path(__file__).parents[2]

SMALL = """\
name: Small team
start: 2026-01-01
timezone: UTC
horizon: 33d
workload:
  classes:
    - {name: lora, model: qwen-7b, method: lora, seq_len: 1024, mean_tokens: 300, team: service,
       samples: {lognormal: {median: 40000, sigma: 0.8}}, rate: 2/day}
target: {wait_p95: 4h}
strategies:
  - name: two cards, annual
    leases: [{offer: a100-40g-custom, count: 2, plan: annual}]
  - name: three cards, monthly
    leases: [{offer: a100-40g-custom, count: 3, plan: monthly}]
experiment: {replications: 3, seed: 7}
"""


def make_home(folder: Path) -> Path:
    """A folder as one in which the page is started, with the small question as its `small`."""
    (folder / "scenarios").mkdir()
    (folder / "scenarios" / "small.yaml").write_text(SMALL, encoding="utf-8")
    return folder


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """The document that the command line prints for these words."""
    capsys.readouterr()
    with without_charts(), pytest.raises(SystemExit) as ending:
        main([*words, "--format", "json"])
    assert not ending.value.code
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def page(name: str, lang: str = "en", **state: object) -> AppTest:
    """A page of the small question, not run yet; `state` holds values of widgets."""
    found = AppTest.from_file(str(ROOT / "sim" / "ui" / "scripts" / f"{name}.py"), default_timeout=60)
    found.query_params["question"] = "small"
    found.query_params["lang"] = lang
    for key, value in state.items():
        found.session_state[key] = value
    return found


def finish(kind: str, seconds: float = 90) -> tuple[str, ...]:
    """Wait for the newest command of a kind, and give its words; fails where it did."""
    job = next(one for one in reversed(jobs().known.values()) if one.kind == kind)
    assert job.run.wait(seconds)
    assert job.run.state == "done", job.run.message
    return job.run.command[3:]


def texts(found: AppTest) -> str:
    """All that the page says, as people read it."""
    parts = [*found.title, *found.subheader, *found.caption, *found.markdown]
    parts += [*found.success, *found.info, *found.warning, *found.error]
    return "\n".join(str(part.value) for part in parts).replace("\\", "")


def amount(text: str) -> float:
    """The number of `107,520.00 CNY`."""
    return float(text.split()[0].replace(",", ""))
