"""Where the finance page's figures come from: a stored run, else the question's leases as they are quoted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sim.load import Question
from sim.ui.finance_work import question_of
from sim.ui.shown import Shown, named_run, run_of
from sim.ui.state import Draft, current_draft
from sim.ui.studies import identity

__all__ = ["Source", "source_of"]


@dataclass(frozen=True)
class Source:
    """A question, and the run that was made of it."""

    key: str
    """Stands for question and run: another one has another key."""
    question: Question
    draft: Draft
    run: str
    """Name of the stored run with its tables; empty where there is none."""
    folder: str | None
    """Folder of that run."""


def source_of() -> Source:
    """The run that the address names, else the draft's own run, else the draft's quotes.

    Raises FleetsimError where the stored run cannot be opened.
    """
    shown = named_run()
    draft = current_draft()
    if shown is None or not _has_tables(shown):
        shown = run_of(draft)
    if shown is not None and _has_tables(shown):
        return Source(shown.name, question_of(shown), draft, shown.name, str(shown.folder))
    return Source(f"quote-{identity(draft)}", draft.question, draft, "", None)


def _has_tables(shown: Shown) -> bool:
    """Whether the run has its ledger beside its document; the worked example comes without."""
    return Path(shown.folder, "ledger.csv").is_file()
