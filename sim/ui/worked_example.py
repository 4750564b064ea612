"""The worked example's result, stored with the program so that a first visitor sees an answer at once.

    python -m sim.ui.worked_example

in a checkout simulates `scenarios/four-to-eight.yaml` and writes `sim/ui/worked/four-to-eight/`:
the comparison's document, the figures of every replication, and the run id. The page shows the document
only for a question with this very run id; `tests/ui/test_worked_example.py` fails where the scenario,
the catalogue or the figures of a replication made anew are no longer those that are stored.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from sim.experiments.compare import compare
from sim.experiments.store import run_id
from sim.load import load
from sim.load_shipped import shipped_scenarios
from sim.report.save import save
from sim.ui.question_store import FIRST
from sim.ui.shown import WORKED

__all__ = ["main"]

COPIED = ("comparison.json", "replications.csv")


def main() -> None:
    """Make the stored result anew; run in a checkout."""
    comparison = compare(load(shipped_scenarios() / f"{FIRST}.yaml"))
    WORKED.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        run = save(comparison, Path(scratch))
        for name in COPIED:
            shutil.copyfile(run / name, WORKED / name)
    made = {"run": run_id(comparison), "version": comparison.version}
    (WORKED / "made.json").write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
