"""Folders of studies: tables, documents, charts, and a manifest with digests.

Written whole or not at all. All files but manifest.json have the same bytes for the same name of the folder.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from sim.experiments.files import slug, whole_folder, write_csv, write_parquet
from sim.experiments.identity import question_digest
from sim.experiments.manifest import digests, machine, write_json
from sim.load import Question, dump

__all__ = ["write_study"]


def write_study(
    question: Question,
    name: str,
    out: Path,
    frames: Mapping[str, pd.DataFrame],
    documents: Mapping[str, Mapping[str, Any]],
    charts: Mapping[str, bytes],
    said: Mapping[str, Any],
) -> Path:
    """outputs/<scenario>/<name>/ with tables as CSV and Parquet, documents as JSON and charts as PNG.

    `said` goes into the manifest. Returns the folder; raises RunError where it cannot be written.
    """
    folder = out / slug(question.scenario.name) / name
    with whole_folder(folder) as fresh:
        (fresh / "scenario.yaml").write_text(dump(question.scenario), encoding="utf-8", newline="\n")
        for title, document in documents.items():
            write_json(document, fresh / title)
        for title, frame in frames.items():
            write_csv(frame, fresh / f"{title}.csv")
            write_parquet(frame, fresh / f"{title}.parquet")
        for title, picture in charts.items():
            (fresh / "charts").mkdir(exist_ok=True)
            (fresh / "charts" / f"{title}.png").write_bytes(picture)
        write_json(_manifest(question, fresh, said), fresh / "manifest.json")
    return folder


def _manifest(question: Question, folder: Path, said: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "scenario": question.scenario.name,
        "file": None if question.path is None else str(question.path),
        "fleetsim": importlib.metadata.version("fleetsim"),
        **machine(),
        "seed": question.scenario.experiment.seed,
        "price": question.price,
        "question": question_digest(question),
        **said,
        "files": digests(folder),
    }
