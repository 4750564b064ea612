"""Uploaded job records: where they lie, and the commands that read them.

A record is the folder `outputs/.traces/<digest>/`: the file as it was uploaded, how it was asked to be
read, the jobs, and the document of every command that has finished. The digest stands in the address.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from sim.errors import RunError
from sim.ui.jobs import OUT, Job, jobs, sim_command
from sim.ui.language import word
from sim.ui.watch import ask, forget, watch
from sim.ui.workload_wrong import show_reasons

__all__ = ["ADDRESS", "TRACES", "Stored", "keep", "step", "stored"]

TRACES = OUT / ".traces"
ADDRESS = "trace"
"""The part of the address that holds the digest."""

_DIGEST = re.compile(r"[0-9a-f]{16}")
_UNFIT = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class Stored:
    """One uploaded record."""

    digest: str
    folder: Path
    name: str
    """Of the file, as it was uploaded."""
    options: tuple[str, ...]
    """How the import was asked to read it, each `--name=value`."""

    @property
    def file(self) -> Path:
        """The file as it was uploaded."""
        return self.folder / f"upload-{_UNFIT.sub('_', self.name)[-80:]}"

    @property
    def jobs(self) -> Path:
        """The jobs, as the import writes them."""
        return self.folder / "jobs.parquet"

    @property
    def model(self) -> Path:
        """The workload learned from them."""
        return self.folder / "workload.yaml"


def keep(name: str, data: bytes, options: tuple[str, ...]) -> Stored:
    """Store an uploaded record; the same file with the same options is the same record."""
    state = hashlib.blake2b(digest_size=8)
    for part in (name.encode(), *(option.encode() for option in options), data):
        state.update(f"{len(part)} ".encode())
        state.update(part)
    digest = state.hexdigest()
    found = Stored(digest, TRACES / digest, name, options)
    fresh = TRACES / f".part-{uuid.uuid4().hex[:12]}"
    try:
        fresh.mkdir(parents=True)
        (fresh / found.file.name).write_bytes(data)
        about = json.dumps({"name": name, "options": options}, ensure_ascii=False)
        (fresh / "about.json").write_text(about, encoding="utf-8")
        if not found.folder.exists():
            fresh.rename(found.folder)
    except OSError as error:
        if not found.folder.exists():
            msg = f"the record cannot be kept in {TRACES}: {error.strerror}"
            raise RunError(msg) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return found


def stored(digest: str) -> Stored | None:
    """The record of this digest; None where there is none."""
    folder = TRACES / digest
    if _DIGEST.fullmatch(digest) is None or not (folder / "about.json").is_file():
        return None
    try:
        about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
        found = Stored(digest, folder, str(about["name"]), tuple(map(str, about["options"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if found.file.is_file() else None


def step(
    record: Stored,
    name: str,
    title: str,
    *words: str | Path,
    at_once: bool,
    refused: Callable[[str], bool] = show_reasons,
) -> Mapping[str, Any] | None:
    """The document of one command about a record: kept from before, or asked for and waited for.

    Draws progress, the message of a command that failed, and with `at_once` false a button that starts
    it. None as long as there is no document. `refused` draws the message of a failed command; it returns
    whether the same may be tried again.
    """
    file = record.folder / f"{name}.json"
    kept = _document(file)
    if kept is not None:
        return kept
    kind = f"workload-{name}"
    job = _job(kind, sim_command(*words))
    if job is not None and job.run.document is not None:
        _keep_document(file, job.run.document)
        forget(job)
        return _document(file)
    if job is not None and job.run.state == "failed":
        if not refused(job.run.message.replace(f"{record.folder}/upload-", "")):
            return None
    elif job is not None:
        watch(kind)
        if not job.run.ended:
            return None
    if job is None and at_once:
        ask(kind, title, *words)
        st.rerun()
    label = title if job is None else word("workload.again")
    if st.button(label, type="primary", key=f"workload-start-{name}"):
        ask(kind, title, *words)
        st.rerun()
    return None


def _job(kind: str, command: list[str]) -> Job | None:
    """The command of this kind in the address, if it is this very one."""
    ids = str(st.query_params.get("job", "")).split(",")
    found = [job for job in map(jobs().get, ids) if job is not None and job.kind == kind]
    return next((job for job in found if job.run.command == tuple(command)), None)


def _document(file: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _keep_document(file: Path, document: Mapping[str, Any]) -> None:
    draft = file.with_name(f".{file.name}-{uuid.uuid4().hex[:8]}")
    draft.write_text(json.dumps(document), encoding="utf-8")
    draft.replace(file)
