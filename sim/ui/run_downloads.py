"""What can be taken away from a run: the report, the workbook, its tables, the whole folder."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import streamlit as st

from sim.errors import InputError, Problem
from sim.experiments.files import slug
from sim.experiments.stored import StoredRun
from sim.experiments.stored_folder import checked, json_document
from sim.ui.language import say, word
from sim.ui.opened import has_tables, made, opened

__all__ = ["downloads", "files_zip", "report_html", "workbook_xlsx"]

LARGEST_ZIP = 400 * 1024 * 1024
"""Bytes of a folder that is offered as one file."""

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def downloads(folder: Path, key: str) -> None:
    """Buttons that save the files of a run; each is made when it is asked for. `key` is of this place."""
    if not has_tables(folder):
        st.caption(say("downloads.worked"))
        return
    stored = opened(folder)
    if stored is None:
        return
    name = f"{slug(stored.question.scenario.name)}-{stored.manifest['run_id']}"
    files: Mapping[str, tuple[Callable[[], bytes], str, str]] = {
        "report": (lambda: report_html(stored), f"{name}.html", "text/html"),
        "workbook": (lambda: workbook_xlsx(stored), f"{name}.xlsx", XLSX),
        "comparison": (lambda: stored.read("comparison.csv"), f"{name}-comparison.csv", "text/csv"),
        "replications": (lambda: stored.read("replications.csv"), f"{name}-replications.csv", "text/csv"),
        "question": (lambda: stored.read("scenario.yaml"), f"{name}.yaml", "application/yaml"),
        "folder": (lambda: files_zip(folder), f"{name}.zip", "application/zip"),
    }
    with st.container(horizontal=True):
        for kind, (build, file, mime) in files.items():
            st.download_button(
                word(f"downloads.{kind}"),
                made(build),
                file,
                mime,
                key=f"{key}-{kind}",
                help=word(f"downloads.{kind}_help"),
                icon=":material/download:",
                on_click="ignore",
            )


def report_html(stored: StoredRun) -> bytes:
    """The page of `fleetsim report`."""
    from sim.report.page import page  # takes a second to import

    return page(stored).html.encode("utf-8")


def workbook_xlsx(stored: StoredRun) -> bytes:
    """The workbook of `fleetsim workbook`."""
    import tempfile

    from sim.report.workbook import workbook

    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "workbook.xlsx"
        workbook(stored).save(file)
        return file.read_bytes()


def files_zip(folder: Path) -> bytes:
    """Every file that the manifest of a run or study names, and the manifest, as one archive.

    Raises InputError where a file is missing or is not what the manifest says.
    """
    place = folder / "manifest.json"
    files = json_document(place.read_bytes(), place).get("files")
    named: dict[str, str] = files if isinstance(files, dict) else {}
    data = io.BytesIO()
    size = 0
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
        archive.writestr(f"{folder.name}/manifest.json", place.read_bytes())
        for name, digest in sorted(named.items()):
            found = checked(folder, name, digest)
            size += len(found)
            if size > LARGEST_ZIP:
                raise InputError(Problem(f"the files have more than {LARGEST_ZIP:,} bytes", str(folder)))
            archive.writestr(f"{folder.name}/{name}", found)
    return data.getvalue()
