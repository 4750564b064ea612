"""`fleetsim workload import`: dumps, logs and tables of jobs to one Parquet file, with a report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from sim.catalog import load_catalog
from sim.cli.console import print_json
from sim.cli.options import FormatOption, OutputFormat, check_file
from sim.cli.workload_options import (
    CardOption,
    ColumnsOption,
    DatesOption,
    DecimalOption,
    DrawSeedOption,
    FleetOption,
    FromOption,
    MapOption,
    OutOption,
    PresetOption,
    ReaderOption,
    SheetOption,
    ShuffleOption,
    StrictOption,
    TeamColumnOption,
    TeamOption,
    ThickenOption,
    ThinOption,
    UnitOption,
    UntilOption,
    ZoneOption,
)
from sim.errors import InputError, Problem

__all__ = ["import_file"]

_NEXT_FIELD = re.compile(r",(?=\s*[a-z_]+\s*=)")


def import_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The dump, log or table; may be gzipped.")],
    out: OutOption = None,
    reader: ReaderOption = None,
    columns: ColumnsOption = None,
    preset: PresetOption = None,
    mapped: MapOption = None,
    unit: UnitOption = None,
    decimal: DecimalOption = ".",
    dates: DatesOption = None,
    sheet: SheetOption = None,
    timezone: ZoneOption = None,
    team_column: TeamColumnOption = None,
    card: CardOption = None,
    since: FromOption = None,
    until: UntilOption = None,
    team: TeamOption = None,
    thin: ThinOption = None,
    thicken: ThickenOption = None,
    shuffle: ShuffleOption = False,
    seed: DrawSeedOption = 0,
    fleet: FleetOption = None,
    strict: StrictOption = False,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Import recorded jobs: sacct -p/-P, SWF, CSV, TSV, Excel, Parquet or JSON lines, to one Parquet file.

    Every row is accounted for: it is a job, belongs to one (a step, a requeue), or is set aside with its
    line and the reason. A scenario replays the result by workload: {trace: {file: jobs.parquet}}.
    """
    # here: what reads tables takes long to import, and other commands need none of it
    from sim.cli.workload_text import print_report
    from sim.workload.imports import Settings, import_jobs
    from sim.workload.normal import write_trace

    if out is not None:
        check_file(out, "-o", (".parquet",), [file])
    widest, most = (None, None) if fleet is None else _widths(fleet)
    mapping, map_file = _mapping(mapped or [])
    settings = Settings(
        format=_known_format(reader),
        columns=tuple(part.strip() for part in columns.split(",")) if columns else (),
        preset=_known_preset(preset),
        mapping=mapping,
        map_file=map_file,
        unit=None if unit is None else unit.value,
        decimal=_decimal(decimal),
        dates=None if dates is None else dates.value,
        sheet=sheet,
        timezone=timezone,
        team=team_column,
        cards=_cards(card or []),
        since=_moment(since, "--from"),
        until=_moment(until, "--until"),
        teams=tuple(team or ()),
        thin=_between(thin, "--thin", 0, 1),
        thicken=_between(thicken, "--thicken", 1, 100),
        shuffle=shuffle,
        seed=seed,
        strict=strict,
        widest=widest,
        most=most,
    )
    found = import_jobs(file, settings)
    if out is not None:
        write_trace(found.jobs, found.about, out)
    if format_ is OutputFormat.JSON:
        written = None if out is None else str(out)
        print_json(
            {"file": str(file), "out": written, "origin": found.about["origin"], **found.report.as_dict()}
        )
    else:
        print_report(found.report, file, out, found.about)


def _known_format(name: str | None) -> str | None:
    from sim.workload.imports import READERS

    if name is not None and name not in READERS:
        raise InputError(Problem("unknown format", key="--as", value=name, known=tuple(READERS)))
    return name


def _known_preset(name: str | None) -> str | None:
    from sim.workload.imports import preset_names

    if name is not None and name not in preset_names():
        raise InputError(Problem("unknown preset", key="--preset", value=name, known=preset_names()))
    return name


def _decimal(sign: str) -> str:
    if sign not in {".", ","}:
        raise InputError(Problem("the decimal sign is a point or a comma", key="--decimal", value=sign))
    return sign


def _mapping(texts: Sequence[str]) -> tuple[dict[str, str], Path | None]:
    """`FIELD=COLUMN` pairs, parted by commas (a comma within a column's name is no part), and a file."""
    from sim.workload.imports.fields import FIELDS

    pairs: dict[str, str] = {}
    file: Path | None = None
    for text in texts:
        if text.endswith((".yaml", ".yml")) and "=" not in text:
            file = Path(text)
            continue
        for pair in _NEXT_FIELD.split(text):
            name, sign, column = pair.partition("=")
            name, column = name.strip(), column.strip()
            if not sign or not column:
                rule = "must be FIELD=COLUMN, as in submit_s=Submitted,gpus=GPUs, or the name of a .yaml file"
                raise InputError(Problem(rule, key="--map", value=pair))
            if name not in FIELDS:
                raise InputError(Problem("unknown field", key="--map", value=name, known=tuple(FIELDS)))
            if name in pairs:
                raise InputError(Problem("this field is mapped twice", key="--map", value=name))
            pairs[name] = column
    return pairs, file


def _cards(texts: Sequence[str]) -> dict[str, str]:
    known = tuple(load_catalog().gpus) if texts else ()
    found: dict[str, str] = {}
    for text in texts:
        kind, sign, name = text.rpartition("=")
        if not sign or not kind:
            raise InputError(Problem("must be KIND=CARD, as in a100=A100-40G", key="--card", value=text))
        if name not in known:
            raise InputError(Problem("unknown card", key="--card", value=name, known=known))
        found[kind.strip()] = name
    return found


def _moment(text: str | None, option: str) -> datetime | None:
    if text is None:
        return None
    rule = "must be a local time, such as 2026-03-01 or 2026-03-01T08:00"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(Problem(rule, key=option, value=text)) from None
    if moment.tzinfo is not None or not 1970 <= moment.year <= 2199:
        raise InputError(
            Problem(f"{rule}, without a zone and in the years 1970 to 2199", key=option, value=text)
        )
    return moment


def _between(value: float | None, option: str, low: float, high: float) -> float | None:
    if value is not None and not low < value <= high:
        raise InputError(Problem(f"must be above {low:g} and at most {high:g}", key=option, value=value))
    return value


def _widths(scenario: Path) -> tuple[int, int]:
    """Cards of the largest machine that any strategy leases, and of its largest pool of one offer."""
    from sim.load import load

    question = load(scenario)
    machine, pools = 1, [1]
    for strategy in question.scenario.strategies:
        sizes: dict[str, int] = {}
        for lease in strategy.leases:
            cards = question.catalog.offers[lease.offer_id].gpus_per_unit
            machine = max(machine, cards)
            sizes[lease.offer_id] = sizes.get(lease.offer_id, 0) + cards * lease.count
        pools += sizes.values()
    return machine, max(pools)
