"""What the tests of imports share: dumps as text, and the import of a text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from sim.workload.imports import Imported, Settings, import_jobs

__all__ = ["HEADER", "SHARED", "column", "hours", "imported", "sacct_row"]

SHARED = Path(__file__).parents[2] / "shared" / "traces"

HEADER = "JobID|User|State|Submit|Start|End|Elapsed|Timelimit|AllocTRES"


def imported(folder: Path, text: str | bytes, name: str = "dump.txt", **settings: Any) -> Imported:
    """The import of a text."""
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return import_jobs(file, Settings(**settings))


def sacct_row(ident: str, start: str, end: str, elapsed: str, cards: int = 1, **more: str) -> str:
    """A row under HEADER, submitted at its start."""
    cells = {
        "user": "u1",
        "state": "COMPLETED",
        "submit": start,
        "limit": "UNLIMITED",
        "tres": f"cpu=8,gres/gpu={cards}",
        **more,
    }
    head = f"{ident}|{cells['user']}|{cells['state']}|{cells['submit']}|{start}|{end}|{elapsed}"
    return f"{head}|{cells['limit']}|{cells['tres']}"


def column(found: Imported | pa.Table, name: str) -> list[Any]:
    """A column of the jobs as a list."""
    jobs = found.jobs if isinstance(found, Imported) else found
    return jobs.column(name).to_pylist()


def hours(found: Imported) -> dict[str, float | None]:
    """Id -> run time, hours."""
    seconds = column(found, "runtime_s")
    return {
        name: None if value is None else value / 3600
        for name, value in zip(column(found, "id"), seconds, strict=True)
    }
