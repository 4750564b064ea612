"""The table of readers, and which of them a file is for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from sim.errors import InputError, Problem
from sim.workload.imports.delimited import SEPARATORS, read_csv, read_tsv, separator_of
from sim.workload.imports.ids import unique_ids
from sim.workload.imports.jsonl import read_jsonl
from sim.workload.imports.merge import merge_attempts, merge_parts
from sim.workload.imports.sacct import read_sacct
from sim.workload.imports.sacct_rows import KNOWN, names_of
from sim.workload.imports.settings import Settings
from sim.workload.imports.sheets import read_excel, read_parquet
from sim.workload.imports.source import Source
from sim.workload.imports.swf import FIELDS, read_swf
from sim.workload.imports.tally import Tally

__all__ = ["READERS", "Format", "format_of"]


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file."""

    title: str
    kind: str
    """What `Source.kind` must be."""
    read: Callable[[Source, Settings, Tally], Iterator[pa.Table]]
    """Source -> jobs, block by block."""
    merge: Callable[[pa.Table, Tally], pa.Table]
    """All jobs -> jobs, rows of one job brought together."""
    options: frozenset[str] = frozenset()
    """Options beyond those of every format."""


_TABLE = frozenset({"--preset", "--map", "--unit", "--decimal"})

READERS: Mapping[str, Format] = {
    "sacct": Format("a dump of Slurm's sacct", "text", read_sacct, merge_attempts, frozenset({"--columns"})),
    "swf": Format("Standard Workload Format", "text", read_swf, merge_parts),
    "csv": Format("a table with separated cells", "text", read_csv, unique_ids, _TABLE),
    "tsv": Format("a table with cells separated by tabs", "text", read_tsv, unique_ids, _TABLE),
    "jsonl": Format("JSON lines", "text", read_jsonl, unique_ids, _TABLE),
    "parquet": Format("a Parquet file", "parquet", read_parquet, unique_ids, _TABLE),
    "excel": Format("an Excel workbook", "zip", read_excel, unique_ids, _TABLE | {"--sheet"}),
}
"""Name of a format -> its reader; a new format is a module and a row here."""

_NUMBERS = re.compile(r"[\s\d.+\-eE]+", re.ASCII)
_DASHES = re.compile(r"[-\s]*---[-\s]*")


def format_of(source: Source, settings: Settings) -> str:
    """The name of the format: as the user says, else recognised from the content.

    Raises InputError for an unknown name, a file of another kind, and a file that is none of these.
    """
    name = settings.format or _recognised(source, settings)
    if name not in READERS:
        rule = (
            "the format is not known" if settings.format else "the format is not recognised: name it by --as"
        )
        raise InputError(Problem(rule, source.name, None, "--as", name, tuple(READERS)))
    if READERS[name].kind != source.kind:
        kinds = {"text": "text", "parquet": "a Parquet file", "zip": "a zip archive, as Excel writes"}
        rule = f"the file is {kinds[source.kind]}, which is not {READERS[name].title}"
        raise InputError(Problem(rule, source.name, None, "--as", name))
    _check_options(name, source, settings)
    return name


def _check_options(name: str, source: Source, settings: Settings) -> None:
    """An option that the format has no use for is a mistake, not to be passed over."""
    given = {
        "--columns": bool(settings.columns),
        "--preset": settings.preset is not None,
        "--map": bool(settings.mapping) or settings.map_file is not None,
        "--unit": settings.unit is not None,
        "--decimal": settings.decimal != ".",
        "--sheet": settings.sheet is not None,
    }
    if settings.encoding is not None and READERS[name].kind != "text":
        rule = f"this option is for files of text; the file is {READERS[name].title}"
        raise InputError(Problem(rule, source.name, None, "--encoding", settings.encoding))
    rule = f"this option says nothing of {READERS[name].title}, which the file is"
    wrong = [option for option, is_given in given.items() if is_given and option not in READERS[name].options]
    if wrong:
        raise InputError([Problem(rule, source.name, None, option) for option in wrong])


def _recognised(source: Source, settings: Settings) -> str:
    if source.kind != "text":
        return {"parquet": "parquet", "zip": "excel"}[source.kind]
    if settings.columns:
        return "sacct"
    lines = [line for line in source.head() if line.strip()]
    if not lines:
        raise InputError(Problem("the file is empty", source.name))
    first = lines[0]
    sign = separator_of(first)
    names = set(names_of(first, "|" if "|" in first else sign))
    if len(lines) > 1 and _DASHES.fullmatch(lines[1]) and "|" not in first:
        rule = "this is sacct's table for people, whose cells are cut off: make the dump by sacct -P"
        raise InputError(Problem(rule, source.name, 1, value=first.strip()))
    of_slurm = bool({"jobid", "jobidraw"} & names) and len(names & KNOWN) * 2 > len(names)
    if of_slurm and ("|" in first or {"alloctres", "reqtres", "allocgres", "reqgres"} & names):
        return "sacct"
    data = next((line for line in lines if not line.lstrip().startswith(";")), first)
    if first.lstrip().startswith(";") or (_NUMBERS.fullmatch(data) and len(data.split()) == len(FIELDS)):
        return "swf"
    if first.lstrip().startswith(("{", "[")):
        return "jsonl"
    if first[:1].isdigit() and first.count("|") > 2:
        rule = (
            "this looks like sacct without a header: name its columns, as in --columns JobID,State,Submit,..."
        )
        raise InputError(Problem(rule, source.name, 1, "--columns", first))
    if sign not in first:
        known = ", ".join(SEPARATORS.values())
        rule = (
            f"no format is recognised: the first line has no cells parted by {known}, and is no JSON or SWF"
        )
        raise InputError(Problem(rule, source.name, 1, "--as", first.strip(), tuple(READERS)))
    return "tsv" if sign == "\t" else "csv"
