"""The section of the HTML page on what the seller claims of the offers of a run."""

from __future__ import annotations

from pathlib import Path

from sim.experiments.compare import compare
from sim.experiments.store import save
from sim.experiments.stored import StoredRun, open_run
from sim.load import load
from sim.report.page_claims import claims_part, concerns


def stored(file: Path, out: Path) -> StoredRun:
    return open_run(save(compare(load(file), replications=1), out))


def test_which_statements_concern_an_offer() -> None:
    assert concerns({"of": {"offer": "a"}, "over": [{"offer": "b"}]}, {"b"})
    assert not concerns({"of": {"offer": "a"}, "count": 3, "text": "b or c"}, {"b"})


def test_the_section(two_jobs: Path, tmp_path: Path) -> None:
    html = claims_part(stored(two_jobs, tmp_path / "runs"))
    # The wrong ones and those with a condition stand in the table, the others are folded.
    table, _, folded = html.partition("<details>")
    assert "S0-026" in table
    assert "26,880 CNY/year" in table
    assert "holds only if the H100 costs 23.3 CNY/h" in table
    assert "S0-043" not in table
    assert "S0-043: Four A100 40G cost 107,520 CNY a year" in folded
    # Of machines that the run does not use, nothing is said.
    assert "S1-038" not in html


def test_a_run_of_other_offers_has_no_section(two_jobs: Path, tmp_path: Path) -> None:
    text = (
        two_jobs.read_text()
        .replace("a100-40g-custom", "own-8x-a100")
        .replace("plan: monthly", "plan: annual")
    )
    two_jobs.write_text(text)
    assert not claims_part(stored(two_jobs, tmp_path / "runs"))
