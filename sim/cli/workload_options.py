"""The options of `fleetsim workload import`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = [
    "CardOption",
    "ColumnsOption",
    "DateOrder",
    "DatesOption",
    "DecimalOption",
    "DrawSeedOption",
    "EncodingOption",
    "FleetOption",
    "FromOption",
    "MapOption",
    "OutOption",
    "PresetOption",
    "ReaderOption",
    "SheetOption",
    "ShuffleOption",
    "StrictOption",
    "TeamColumnOption",
    "TeamOption",
    "ThickenOption",
    "ThinOption",
    "TimeUnit",
    "UnitOption",
    "UntilOption",
    "ZoneOption",
]


class TimeUnit(StrEnum):
    """Units of times that are numbers."""

    US = "us"
    MS = "ms"
    S = "s"
    MIN = "min"
    H = "h"
    D = "d"


class DateOrder(StrEnum):
    """Which number comes first in a date such as 3/2/2026."""

    DAY_FIRST = "day-first"
    MONTH_FIRST = "month-first"


Text: TypeAlias = str | None

OutOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "-o", "--out", metavar="JOBS.parquet", help="Where to write the jobs; without it, only the report."
    ),
]
ReaderOption: TypeAlias = Annotated[
    Text,
    typer.Option(
        "--as",
        metavar="FORMAT",
        help="sacct, swf, csv, tsv, jsonl, parquet or excel; default: recognised from the content.",
    ),
]
ColumnsOption: TypeAlias = Annotated[
    Text, typer.Option(metavar="A,B,...", help="sacct without a header: its columns in order.")
]
PresetOption: TypeAlias = Annotated[
    Text, typer.Option(metavar="NAME", help="A map that comes along: philly or openb.")
]
MapOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="FIELD=COLUMN,...",
        help="Columns of a table: submit_s=Submitted,runtime_s=Hours:h,gpus=GPUs; or a map in a .yaml file.",
    ),
]
UnitOption: TypeAlias = Annotated[
    TimeUnit | None, typer.Option(help="Unit of mapped times whose columns do not say theirs.")
]
DecimalOption: TypeAlias = Annotated[
    str, typer.Option(metavar=".|,", help="Decimal sign of numbers in a table.")
]
DatesOption: TypeAlias = Annotated[
    DateOrder | None, typer.Option(help="Order of dates such as 3/2/2026; default: they are not read.")
]
EncodingOption: TypeAlias = Annotated[
    Text,
    typer.Option(
        metavar="NAME",
        help="Encoding of a text, such as cp1252 or gb18030; default: recognised from the content.",
    ),
]
SheetOption: TypeAlias = Annotated[
    Text, typer.Option(metavar="NAME", help="Sheet of a workbook; default: the first.")
]
ZoneOption: TypeAlias = Annotated[
    Text, typer.Option(metavar="ZONE", help="Zone of local times, such as Asia/Shanghai; default: not known.")
]
TeamColumnOption: TypeAlias = Annotated[
    Text, typer.Option(metavar="COLUMN", help="Column whose text is the team of a job.")
]
CardOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KIND=CARD", help="What a recorded kind of card is, as in a100=A100-40G; may be repeated."
    ),
]
FromOption: TypeAlias = Annotated[
    Text,
    typer.Option(
        "--from", metavar="TIME", help="Beginning of the window, as 2026-03-01 or 2026-03-01T08:00."
    ),
]
UntilOption: TypeAlias = Annotated[
    Text, typer.Option(metavar="TIME", help="End of the window; it does not belong to it.")
]
TeamOption: TypeAlias = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Only this team; may be repeated.")
]
ThinOption: TypeAlias = Annotated[
    float | None, typer.Option(metavar="0.7", help="Keep this share of the jobs, drawn.")
]
ThickenOption: TypeAlias = Annotated[
    float | None, typer.Option(metavar="1.5", help="This many times the jobs: copies on other days.")
]
ShuffleOption: TypeAlias = Annotated[
    bool, typer.Option("--shuffle", help="Shuffle the jobs among the moments of submission.")
]
DrawSeedOption: TypeAlias = Annotated[
    int, typer.Option("--seed", min=0, help="Seed of what is drawn: thinned, thickened, shuffled.")
]
FleetOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="SCENARIO", help="Tell jobs that are wider than this scenario's machines."),
]
StrictOption: TypeAlias = Annotated[
    bool, typer.Option("--strict", help="Any row that is set aside is an error.")
]
