"""`fleetsim workload import`: dumps, logs and tables of jobs to one Parquet file, with a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sim.cli.console import print_json
from sim.cli.options import FormatOption, OutputFormat, check_file, check_known
from sim.cli.workload_options import (
    CardOption,
    ColumnsOption,
    DatesOption,
    DecimalOption,
    DrawSeedOption,
    EncodingOption,
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
from sim.cli.workload_settings import between, cards_of, decimal_sign, fleet_widths, mapping_of, moment

if TYPE_CHECKING:
    from sim.workload.imports import Imported

__all__ = ["import_file"]


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
    encoding: EncodingOption = None,
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
    from sim.workload.imports import READERS, Settings, import_jobs, preset_names
    from sim.workload.normal import write_trace

    if out is not None:
        check_file(out, "-o", (".parquet",), [file])
    widest, most = (None, None) if fleet is None else fleet_widths(fleet)
    mapping, map_file = mapping_of(mapped or [])
    if reader is not None:
        check_known("--as", reader, READERS, "unknown format")
    if preset is not None:
        check_known("--preset", preset, preset_names(), "unknown preset")
    settings = Settings(
        format=reader,
        columns=tuple(part.strip() for part in columns.split(",")) if columns else (),
        preset=preset,
        mapping=mapping,
        map_file=map_file,
        unit=None if unit is None else unit.value,
        decimal=decimal_sign(decimal),
        dates=None if dates is None else dates.value,
        encoding=encoding,
        sheet=sheet,
        timezone=timezone,
        team=team_column,
        cards=cards_of(card or []),
        since=moment(since, "--from"),
        until=moment(until, "--until"),
        teams=tuple(team or ()),
        thin=between(thin, "--thin", 0, 1),
        thicken=between(thicken, "--thicken", 1, 100),
        shuffle=shuffle,
        seed=seed,
        strict=strict,
        replayable=True,
        widest=widest,
        most=most,
    )
    found = import_jobs(file, settings)
    if out is not None:
        write_trace(found.jobs, found.about, out)
    _show(found, file, out, format_)


def _show(found: Imported, file: Path, out: Path | None, format_: OutputFormat) -> None:
    from sim.cli.workload_text import print_report

    if format_ is not OutputFormat.JSON:
        print_report(found.report, file, out, found.about)
        return
    written = None if out is None else str(out)
    print_json({"file": str(file), "out": written, "origin": found.about["origin"], **found.report.as_dict()})
