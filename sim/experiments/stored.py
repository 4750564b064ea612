"""A run's folder, opened again: checked against its manifest, its scenario loaded, its tables read."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from sim.catalog import Catalog
from sim.errors import InputError, Problem
from sim.experiments.billable import Absences, Billable, records_of
from sim.experiments.charge_columns import charge_of
from sim.experiments.store import id_of
from sim.experiments.stored_folder import checked, csv_rows, json_document, read_manifest, refuse_strangers
from sim.load import Question, load
from sim.model.ledger import Invoice, Ledger
from sim.model.records import LeaseRecord
from sim.replication import used_offers
from sim.units import from_hours

__all__ = ["StoredRun", "open_run"]

MOST_ROWS = 50_000_000
"""Rows of a table that are read at most; a Parquet file says how many it has before it is read."""


LONGEST = 200
"""Characters of what is told of a damaged file; a cell of it may be of any length."""


@dataclass(frozen=True)
class StoredRun:
    """One comparison as `fleetsim compare` left it."""

    folder: Path
    manifest: Mapping[str, Any]
    document: Mapping[str, Any]
    """What `fleetsim compare --format json` printed."""
    question: Question
    """The question as it was run, loaded from the folder's own scenario."""

    @property
    def strategies(self) -> tuple[str, ...]:
        """Names of the strategies, in the order of the scenario."""
        return tuple(strategy.name for strategy in self.question.scenario.strategies)

    @property
    def same_catalog(self) -> bool:
        """Whether catalogue and program still say what they said when the run was made."""
        now = id_of(self.question, str(self.manifest["baseline"]), str(self.manifest["fleetsim"]))
        return now == str(self.manifest["run_id"])

    def read(self, name: str) -> bytes:
        """The bytes of one file of the run; InputError with the known names if it has none of this name."""
        files = self.manifest["files"]
        if name not in files:
            raise InputError(
                Problem("the run has no such file", str(self.folder), value=name, known=(*files,))
            )
        return checked(self.folder, name, files[name])

    def table(self, name: str) -> pd.DataFrame:
        """A table by its name, such as `jobs`; InputError with the known names if there is none."""
        known = tuple(
            file.removesuffix(".parquet") for file in self.manifest["files"] if file.endswith(".parquet")
        )
        if name not in known:
            raise InputError(Problem("the run has no such table", str(self.folder), value=name, known=known))
        place = f"{name}.parquet"
        try:
            file = pq.ParquetFile(pa.BufferReader(self.read(place)))
            if file.metadata.num_rows > MOST_ROWS:
                what = f"more than {MOST_ROWS:,} rows"
                raise self._damaged(place, what)
            found: pd.DataFrame = file.read().to_pandas(types_mapper=_KINDS.get)
        except (pa.ArrowException, OSError) as error:
            what = str(error)
            raise self._damaged(place, what) from None
        return found

    def ledger(self, strategy: str) -> Ledger:
        """The ledger of a strategy's replication 0, exactly as it was billed."""
        self._number(strategy)
        scenario = self.question.scenario
        with self._sound("ledger.csv"):
            charges = tuple(charge_of(row, scenario.zone) for row in self._rows("ledger.csv", strategy))
        with self._sound("invoices.csv"):
            invoices = tuple(
                Invoice(
                    provider=row["provider"],
                    month=row["month"],
                    charges=tuple(map(int, row["charges"].split())),
                    total=Decimal(row["total"]),
                )
                for row in self._rows("invoices.csv", strategy)
            )
        with self._sound("assumptions.csv"):
            assumptions = tuple(row["assumption"] for row in self._rows("assumptions.csv", strategy))
        return Ledger(
            currency=scenario.currency,
            horizon_end=scenario.local_time(scenario.horizon_us),
            charges=charges,
            invoices=invoices,
            assumptions=assumptions,
        )

    def leases(self, strategy: str) -> tuple[LeaseRecord, ...]:
        """The machines of replication 0, in the order of the log."""
        number = self._number(strategy)
        machines, offers = self.billables(strategy), used_offers(self.question)
        with self._sound("rentals.parquet"):
            records = records_of(machines[0], self.question.scenario.strategies[number], offers)
        used = self._of("leases", strategy)
        with self._sound("leases.parquet"):
            columns = [
                [from_hours(value) for value in used[f"{state}_card_h"].tolist()]
                for state in ("busy", "down", "away", "reserved")
            ]
            cards: list[int] = used["gpus"].tolist()
            return tuple(
                replace(
                    record,
                    gpus=gpus,
                    busy_card_us=busy,
                    down_card_us=down,
                    away_card_us=away,
                    reserved_card_us=kept,
                )
                for record, gpus, busy, down, away, kept in zip(records, cards, *columns, strict=True)
            )

    def attempts(self, strategy: str) -> pd.DataFrame:
        """The stays of jobs on cards in replication 0, as in `attempts.csv`."""
        return self._of("attempts", strategy)

    def jobs(self, strategy: str) -> pd.DataFrame:
        """The jobs of replication 0, as in `jobs.csv`."""
        return self._of("jobs", strategy)

    def billables(self, strategy: str, twins: bool = False) -> tuple[Billable, ...]:
        """What a new price needs of each replication, or of each twin."""
        prefix = "twin_" if twins else ""
        with self._sound(f"{prefix}rentals.parquet"):
            frame, divisors = self._of(f"{prefix}rentals", strategy), self._of(f"{prefix}divisors", strategy)
            leases = frame["lease"].drop_duplicates().tolist()
            places = {name: -1 if name == "burst" else int(name.removeprefix("lease ")) for name in leases}
            own = self.question.scenario.strategies[self._number(strategy)]
            if any(not -(own.burst is not None) <= place < len(own.leases) for place in places.values()):
                msg = "of leases that the scenario does not have"
                raise ValueError(msg)
            numbers = np.column_stack(
                [
                    frame["lease"].map(places).to_numpy(dtype=np.int64),
                    *(
                        frame[name].fillna(-1).to_numpy(dtype=np.int64)
                        for name in ("machine", "start_us", "end_us", "ordered_us")
                    ),
                ]
            )
            edges = np.searchsorted(frame["replication"].to_numpy(dtype=np.int64), range(len(divisors) + 1))
            away = {row: _absences(text) for row, text in enumerate(frame["absences"].tolist()) if text}
            return tuple(
                Billable(
                    numbers[first:last].tobytes(),
                    {row - first: away[row] for row in range(first, last) if row in away} if away else {},
                    jobs,
                    useful,
                )
                for first, last, jobs, useful in zip(
                    edges.tolist()[:-1],
                    edges.tolist()[1:],
                    divisors["jobs"].tolist(),
                    divisors["useful_card_us"].tolist(),
                    strict=True,
                )
            )

    def _of(self, table: str, strategy: str) -> pd.DataFrame:
        self._number(strategy)
        frame = self.table(table)
        return frame[frame["strategy"] == strategy].reset_index(drop=True)

    def _number(self, strategy: str) -> int:
        if strategy not in self.strategies:
            rule = "the run has no strategy of this name"
            raise InputError(Problem(rule, str(self.folder), value=strategy, known=self.strategies))
        return self.strategies.index(strategy)

    def _rows(self, file: str, strategy: str) -> list[dict[str, str]]:
        return [row for row in csv_rows(self.read(file).decode("utf-8")) if row["strategy"] == strategy]

    @contextlib.contextmanager
    def _sound(self, file: str) -> Iterator[None]:
        """InputError where a file, although it has its digest, does not hold what it should."""
        try:
            yield
        except (LookupError, ValueError, TypeError, ArithmeticError, AttributeError, csv.Error) as error:
            what = f"{type(error).__name__} {error}".strip()
            raise self._damaged(file, what) from None

    def _damaged(self, file: str, what: str) -> InputError:
        return InputError(
            Problem(f"the file of the run is damaged: {what[:LONGEST]}", str(self.folder / file))
        )


def open_run(folder: Path | str, catalog: Catalog | None = None) -> StoredRun:
    """Open the folder of a run.

    Raises InputError if it is none, if a file is missing, altered or leads out of the folder, or if
    another version of the program wrote it.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    files: dict[str, str] = manifest["files"]
    for name, digest in files.items():
        checked(folder, name, digest, keep=False)
    document = json_document(
        checked(folder, "comparison.json", files["comparison.json"]), folder / "comparison.json"
    )
    refuse_strangers(folder, files)
    question = load(folder / "scenario.yaml", catalog=catalog)
    return StoredRun(folder, manifest, document, replace(question, price=manifest["price"]))


def _absences(text: str) -> Absences:
    pairs = (one.split("-") for one in text.split())
    return tuple((int(begin), int(end)) for begin, end in pairs)


_KINDS: Mapping[pa.DataType, Any] = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
