"""Finished replications on disk: nothing that was simulated is simulated again, or lost.

One small file a replication, written whole or not at all as soon as it is finished, by whichever
process made it. The key of its folder is a hash of all that the engine reads (jobs, rates, fleet plan,
seed) and of the program's own code, but of no price: a change of price or contract bills the same
runs anew. Files carry a digest; one that is damaged or belongs to another key is set aside, said, and
computed again. Several runs may use one folder at once: they write the same bytes.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import importlib.resources
import json
import os
import uuid
import zipfile
import zlib
from collections.abc import Iterator
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from sim.billing import bill
from sim.errors import RunError
from sim.experiments.billable import MONEY_METRICS, PENALTY, Billable, money_metrics, records_of
from sim.experiments.sample import Sample, finite
from sim.experiments.vault_logs import log_bytes, log_of
from sim.metrics import METRICS, measure
from sim.model.job_table import as_submitted
from sim.model.records import RunLog
from sim.replication import Prepared, RunResult
from sim.streams import Streams
from sim.workload import generate

__all__ = ["Vault", "engine_key", "program_digest"]

FOLDER = ".replications"
FORM = 1
"""Form of the files; another form is another key."""

_DAMAGE = (ValueError, KeyError, TypeError, IndexError, EOFError, zipfile.BadZipFile, zlib.error)
"""What reading a damaged or foreign file may raise."""

_NO_RUN = ("cli", "report", "ui", "claims")
"""Rooms whose code no run reads."""


class Vault:
    """The folder of finished replications below a folder of results."""

    def __init__(self, out: Path) -> None:
        self.folder = out / FOLDER
        self.messages: list[str] = []
        """What was set aside, and why."""

    def read(self, prepared: Prepared, key: str, strategy: int, number: int) -> Sample | None:
        """A finished replication, billed at the question's prices; None if it is not there."""
        path = self._path(key, number)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self.messages.append(f"{path} cannot be read ({error.strerror}); it is computed anew.")
            return None
        why = "is damaged"
        try:
            body = _opened(data)
            if (body["key"], body["replication"]) == (key, number):
                return _sample(body, prepared, strategy)
            why = "belongs to another run"
        except _DAMAGE:
            pass
        self._set_aside(path, why)
        return None

    def kept(self, key: str) -> set[int]:
        """Numbers of the replications that are there under a key, damaged or not."""
        folder = self._path(key, 0).parent
        return {int(path.stem) for path in folder.glob("[0-9]*.json")}

    def write(self, key: str, sample: Sample) -> None:
        """Keep a finished replication. Raises RunError where it cannot be written."""
        path = self._path(key, sample.replication)
        fresh = path.with_name(f".{path.name}-{uuid.uuid4().hex[:12]}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with fresh.open("wb") as file:
                file.write(_closed(_body(key, sample)))
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            msg = (
                f"a finished replication cannot be written to {path.parent}: {error.strerror}; free some "
                "space or choose another --out DIR. What was finished before is kept, and a new run goes on "
                "from there"
            )
            raise RunError(msg) from error

    def _path(self, key: str, number: int) -> Path:
        return self.folder / key[:2] / key / f"{number:06d}.json"

    def _set_aside(self, path: Path, why: str) -> None:
        aside = path.with_suffix(".damaged")
        try:
            path.replace(aside)
        except OSError:
            self.messages.append(f"{path} {why}; it is computed anew.")
        else:
            self.messages.append(f"{path} {why}; it was set aside as {aside.name} and is computed anew.")


def engine_key(prepared: Prepared, strategy: int, seed: int) -> str:
    """Thirty-two hexadecimal digits for all that a replication of one strategy depends on, but money.

    The warm-up and the target are in it, because metrics read them.
    """
    question, plan = prepared.question, prepared.plans[strategy]
    scenario = question.scenario
    offers = {pool.offer for pool in plan.pools} | ({plan.burst.pool.offer} if plan.burst else set())
    rates = {
        table: sorted((pair, found) for pair, found in mapping.items() if pair[1] in offers)
        for table, mapping in (("options", prepared.rates.options), ("misfits", prepared.rates.misfits))
    }
    read = (
        FORM,
        program_digest(),
        repr(plan),
        repr(rates),
        repr(prepared.shapes),
        scenario.workload.model_dump_json(),
        scenario.start.isoformat(),
        scenario.timezone,
        scenario.horizon_us,
        repr(scenario.target),
        scenario.experiment.warm_up,
        [repr(dataclasses.replace(row, line=0)) for row in question.trace],
        seed,
    )
    return hashlib.blake2b(repr(read).encode(), digest_size=16).hexdigest()


@cache
def program_digest() -> str:
    """A digest of the program's own code and data, so that no other version's runs are taken for its own."""
    total = hashlib.blake2b(digest_size=16)
    for name, file in sorted(_sources(importlib.resources.files("sim"), "")):
        total.update(f"{name}\0".encode())
        total.update(hashlib.blake2b(file.read_bytes(), digest_size=16).digest())
    return total.hexdigest()


def _sources(folder: Traversable, above: str) -> Iterator[tuple[str, Traversable]]:
    for item in folder.iterdir():
        name = f"{above}{item.name}"
        if item.is_dir():
            if name not in _NO_RUN and item.name != "__pycache__":
                yield from _sources(item, f"{name}/")
        elif item.name.endswith((".py", ".yaml", ".csv")):
            yield name, item


def _body(key: str, sample: Sample) -> dict[str, Any]:
    billable = sample.billable
    detail = sample.detail
    return {
        "key": key,
        "replication": sample.replication,
        "metrics": {name: value for name, value in sample.metrics.items() if name not in MONEY_METRICS},
        "waits_h": sample.waits_h,
        "refusals": [[*pair, jobs] for pair, jobs in sample.refusals.items()],
        "draws": sample.draws,
        "start_up_us": sample.start_up_us,
        "billable": [
            base64.b64encode(billable.rows).decode(),
            [[row, times] for row, times in billable.absences.items()],
            billable.jobs,
            billable.useful_card_us,
        ],
        "log": None if detail is None else base64.b64encode(log_bytes(detail.log)).decode(),
    }


def _sample(body: dict[str, Any], prepared: Prepared, strategy: int) -> Sample:
    question = prepared.question
    scenario, chosen = question.scenario, question.scenario.strategies[strategy]
    number = body["replication"]
    rows, absences, jobs, useful = body["billable"]
    billable = Billable(
        base64.b64decode(rows, validate=True),
        {row: tuple((start, end) for start, end in times) for row, times in absences},
        jobs,
        useful,
    )
    detail = None
    if body["log"] is not None:
        log = log_of(base64.b64decode(body["log"], validate=True))
        detail = _detail(prepared, strategy, number, log)
        metrics = detail.metrics
    else:
        records = records_of(billable, chosen, prepared.offers)
        ledger = bill(records, scenario, chosen, prepared.offers, question.price)
        known = {**body["metrics"], **money_metrics(billable, ledger, scenario, body["metrics"][PENALTY])}
        metrics = {name: known[name] for name in METRICS}
    return Sample(
        strategy=chosen.name,
        replication=number,
        metrics={name: finite(value) for name, value in metrics.items()},
        waits_h=tuple(body["waits_h"]),
        refusals={(name, reason): count for name, reason, count in body["refusals"]},
        draws=(body["draws"][0], body["draws"][1]),
        start_up_us=body["start_up_us"],
        billable=billable,
        detail=detail,
    )


def _detail(prepared: Prepared, strategy: int, number: int, log: RunLog) -> RunResult:
    """The whole run again: its log is kept, all else follows from it."""
    question = prepared.question
    scenario, chosen = question.scenario, question.scenario.strategies[strategy]
    drawn = generate(scenario, question.trace, Streams(scenario.experiment.seed, number))
    jobs = as_submitted(drawn, log.submissions)
    ledger = bill(log.leases, scenario, chosen, prepared.offers, question.price)
    metrics = measure(log, ledger, jobs, scenario, scenario.target)
    return RunResult(chosen.name, number, jobs, log, ledger, metrics)


def _closed(body: dict[str, Any]) -> bytes:
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    return hashlib.blake2b(text, digest_size=16).hexdigest().encode() + b"\n" + text + b"\n"


def _opened(data: bytes) -> dict[str, Any]:
    """The body of a file; ValueError where it is not what was written."""
    digest, _, text = data.partition(b"\n")
    if hashlib.blake2b(text.rstrip(b"\n"), digest_size=16).hexdigest().encode() != digest:
        msg = "the digest does not match"
        raise ValueError(msg)
    body: dict[str, Any] = json.loads(text)
    return body
