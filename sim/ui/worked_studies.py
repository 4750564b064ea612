"""Studies of the worked example and verdicts on the articles, stored so that a visitor sees them at once.

    python -m sim.ui.worked_studies [NAME ...]

in a checkout runs the commands that the pages would run of `scenarios/four-to-eight.yaml` (some ten
minutes on two processors) and of the articles' claims, and writes what the pages show of their documents to
`sim/ui/worked/`. Studies are shown for that very question alone. `tests/ui/test_worked_studies.py` fails
where a point that is computed anew is no longer the one that is stored,
`tests/test_claims_cards_verdicts.py` where a verdict is not.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sim.load import load
from sim.load_shipped import shipped_scenarios
from sim.ui.claims_work import claims_words, worked_claims
from sim.ui.language import LANGUAGES
from sim.ui.question_store import FIRST, start_tree
from sim.ui.recommend_form import recommend_words
from sim.ui.sensitivity_form import sensitivity_words
from sim.ui.shown import WORKED
from sim.ui.steps_answers import trimmed
from sim.ui.steps_best import step_names
from sim.ui.steps_grid import Choice, bases, grid_file, grid_words, planned_growth, spec_of, step_file

__all__ = ["main"]

DRAWS = 20
"""Runs with all inputs drawn."""

KEPT = ("committed_cost_cny", "cost_cny", "wait_p95_h")
"""Metrics of compared strategies that the page `sensitivity` shows."""


def main() -> None:
    """Make the stored studies anew, or those that are named."""
    source = shipped_scenarios() / f"{FIRST}.yaml"
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch, "scenarios")
        home.mkdir()
        shutil.copyfile(source, home / source.name)
        for name, (words, trim) in _studies(Path(scratch)).items():
            if len(sys.argv) > 1 and name not in sys.argv[1:]:
                continue
            document = trim(_asked(words, Path(scratch)))
            text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
            place = worked_claims(name[-2:]) if name.startswith("claims-") else WORKED / f"{name}.json"
            place.write_text(f"{text}\n", encoding="utf-8")


def _studies(scratch: Path) -> dict[str, tuple[Sequence[str], Callable[[dict[str, Any]], dict[str, Any]]]]:
    """Name -> the command, and what is kept of its document."""
    place = Path("scenarios", f"{FIRST}.yaml")
    file = scratch / place
    question, tree = load(file), start_tree(file)
    spec = spec_of(question, bases(question)[0])
    plan = question.scenario.strategy(spec.base).leases[spec.lease].plan
    choice = Choice(2 * spec.count, 0, planned_growth(question, spec), plan, plan)
    names = step_names(question, spec, choice)
    grid = grid_file(tree, file.parent, spec, question).absolute()
    step = step_file(tree, file.parent, spec, question, choice, (names[0], names[2])).absolute()
    leases = [lease for strategy in question.scenario.strategies for lease in strategy.leases]
    offers = list(dict.fromkeys(lease.offer for lease in leases))
    plans = sorted({lease.plan for lease in leases})
    return {
        "stepup": (["stepup", str(step), "--from", names[0], "--to", names[2], "--format", "json"], _step),
        "recommendation": (recommend_words(str(place), (1, 8), offers, plans, [], "as-is", 95), _advice),
        "sensitivity": (sensitivity_words(str(place), "", 3, 0, DRAWS, {}), _plain),
        "steps": (grid_words(grid, spec), trimmed),
        **{f"claims-{code}": (claims_words(code), _plain) for code in LANGUAGES},
    }


def _asked(words: Sequence[str], scratch: Path) -> dict[str, Any]:
    """The document of a command, run in the scratch folder."""
    command = [sys.executable, "-m", "sim", *words]
    done = subprocess.run(command, cwd=scratch, stdout=subprocess.PIPE, check=True)  # noqa: S603  # our own words
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def _plain(document: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != "folder"}


def _step(document: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in ("folder", "comparison")}


def _advice(document: Mapping[str, Any]) -> dict[str, Any]:
    found = document["comparison"]
    strategies = [
        {
            "name": one["name"],
            "metrics": {name: one["metrics"][name] for name in KEPT},
            "target": {"status": one["target"]["status"]},
        }
        for one in found["strategies"]
    ]
    whole = {name: found[name] for name in ("target", "horizon_h", "warnings", "assumptions")}
    return {**_plain(document), "comparison": {"strategies": strategies, **whole}}


if __name__ == "__main__":
    main()
