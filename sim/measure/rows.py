"""Rows in the columns of the published measurements, and the file that they are appended to."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

from pydantic import ValidationError

from sim.errors import InputError, Problem, RunError
from sim.measure.case import Case
from sim.measure.machine import Card
from sim.measure.outcome import Done, OutOfMemory
from sim.model.hardware import LanguageModel
from sim.whole_file import followed

__all__ = ["COLUMNS", "OOM", "SKIPPED", "SOURCE", "RowFile", "is_out_of_memory", "row_of"]

COLUMNS = (
    "id",
    "source",
    "model",
    "params_b",
    "method",
    "bits",
    "rank",
    "target_modules",
    "micro_batch",
    "grad_accum",
    "seq_len",
    "grad_ckpt",
    "flash_attn",
    "zero_or_fsdp",
    "n_gpus",
    "gpu",
    "interconnect",
    "optimizer",
    "peak_mem_gb_per_gpu",
    "tokens_per_s_total",
    "s_per_iter",
    "notes",
    "mem_unit",
    "mem_kind",
    "peak_mem_gib",
    "samples_per_s",
    "stack",
    "fit_mem",
    "fit_thr",
    "arch",
    "quant_fmt",
    "optim_bytes_tag",
    "loss_kernel",
    "mean_len",
)
"""The columns in their order. Memory in GiB a card, speed in tokens and samples a second, all cards."""

SOURCE = "own measurement (fleetsim measure)"
"""What stands in the column `source` of these rows; rows of other sources are never taken for ours."""

OOM = "OOM"
"""How the notes of a case begin that the card could not hold."""

SKIPPED = "OOM (skipped: a smaller case was out of memory)"
"""How they begin where it was not even tried."""

_BITS = {"lora": "16", "full": "16", "qlora4": "4", "qlora8": "8"}
_FORMATS = {"qlora4": "nf4dq", "qlora8": "int8"}
_NUMBER = re.compile(r"m-own-(\d+)")


def row_of(
    case: Case, model: LanguageModel, card: Card, outcome: Done | OutOfMemory | None, day: date
) -> dict[str, str]:
    """The cells of a case, without its id; `outcome` None: skipped, a smaller one was out of memory.

    A row of a CPU has `fit_mem` and `fit_thr` 0, since it says nothing of a card; so has a row
    without figures, as in the published table.
    """
    row = dict.fromkeys(COLUMNS, "")
    adapters = case.method != "full"
    row |= {
        "source": SOURCE,
        "model": model.id,
        "params_b": f"{model.params / 1e9:.3f}",
        "method": case.method,
        "bits": _BITS[case.method],
        "rank": str(case.rank) if adapters else "",
        "target_modules": case.target_modules if adapters else "",
        "micro_batch": str(case.micro_batch),
        "grad_accum": "1",
        "seq_len": str(case.seq_len),
        "grad_ckpt": case.grad_ckpt,
        "flash_attn": case.flash_attn,
        "zero_or_fsdp": "none",
        "n_gpus": "1",
        "gpu": card.label,
        "optimizer": "adamw",
        "notes": _notes(outcome, card, day),
        "mem_unit": "GiB",
        "mem_kind": outcome.mem_kind if isinstance(outcome, Done) else card.mem_kind,
        "stack": "hf",
        "fit_mem": "0",
        "fit_thr": "0",
        "arch": model.id,
        "quant_fmt": _FORMATS.get(case.method, ""),
        "optim_bytes_tag": "hf",
        "loss_kernel": "hf5",  # the only one of transformers 5: 16-bit logits and their 32-bit copy
    }
    return row | (_figures(case, card, outcome) if isinstance(outcome, Done) else {})


def is_out_of_memory(row: Mapping[str, str]) -> bool:
    """Whether the row says that the card could not hold the case."""
    return row["notes"].startswith(OOM)


def _figures(case: Case, card: Card, done: Done) -> dict[str, str]:
    step = statistics.median(done.step_s)
    peak = "" if done.peak_gib is None else f"{done.peak_gib:.3f}"
    return {
        "peak_mem_gb_per_gpu": peak,
        "peak_mem_gib": peak,
        "tokens_per_s_total": f"{case.micro_batch * case.seq_len / step:.1f}",
        "s_per_iter": f"{step:.5g}",
        "samples_per_s": f"{case.micro_batch / step:.5g}",
        "fit_mem": "1" if peak and card.is_gpu else "0",
        "fit_thr": "1" if card.is_gpu else "0",
    }


def _notes(outcome: Done | OutOfMemory | None, card: Card, day: date) -> str:
    if outcome is None:
        return f"{SKIPPED}; {card.description}; {day.isoformat()}"
    if isinstance(outcome, OutOfMemory):
        words = " ".join(outcome.message.split())[:200]
        return f"{OOM}; {words}; {card.description}; {day.isoformat()}"
    parts = [] if outcome.allocated_gib is None else [f"allocated peak {outcome.allocated_gib:.3f} GiB"]
    times = outcome.step_s
    parts.append(f"median of {len(times)} steps, {min(times):.4g} to {max(times):.4g} s")
    parts += outcome.remarks
    parts.append(", ".join(f"{name} {version}" for name, version in outcome.versions.items()))
    return "; ".join((*parts, card.description, day.isoformat()))


class RowFile:
    """A CSV file of rows that grows one row at a time and is whole at every moment.

    Read once when made; InputError where it cannot be read or has other columns. One writer at a time.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text = self._read()
        self.rows = self._parse()
        """Rows in the file, cells by column."""

    def known(self, gpu: str) -> Iterator[tuple[Case, dict[str, str]]]:
        """Cases of this card that have a row of ours, each with its row."""
        for row in self.rows:
            if row["source"] == SOURCE and row["gpu"] == gpu:
                case = _case_of(row)
                if case is not None:
                    yield case, row

    def append(self, row: Mapping[str, str]) -> dict[str, str]:
        """Write one row more and return it with its id. Raises RunError where the disk refuses."""
        numbers = (_NUMBER.fullmatch(old["id"]) for old in self.rows)
        number = max((int(match[1]) for match in numbers if match), default=0) + 1
        full = {**row, "id": f"m-own-{number:04d}"}
        ending = "\r\n" if self._text.partition("\n")[0].endswith("\r") else "\n"
        text = self._text + ("" if not self._text or self._text.endswith("\n") else ending)
        lines = [] if self._text else [COLUMNS]
        text += _csv([*lines, [full[name] for name in COLUMNS]], ending)
        self._write(text)
        self._text = text
        self.rows.append(full)
        return full

    def _read(self) -> str:
        try:
            return self._path.read_bytes().decode("utf-8-sig")
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise InputError(Problem(f"the rows cannot be read: {reason}", file=str(self._path))) from None

    def _parse(self) -> list[dict[str, str]]:
        if not self._text.strip():
            self._text = ""
            return []
        header, *lines = csv.reader(io.StringIO(self._text, newline=""))
        if header != list(COLUMNS):
            rule = "the file has other columns than measurements; choose another --out FILE"
            raise InputError(Problem(rule, str(self._path), line=1, value=",".join(header)))
        rows = []
        for number, cells in enumerate(filter(None, lines), start=1):
            if len(cells) != len(COLUMNS):
                rule = f"row {number} has {len(cells)} cells, not {len(COLUMNS)}"
                raise InputError(Problem(rule, file=str(self._path)))
            rows.append(dict(zip(COLUMNS, cells, strict=True)))
        return rows

    def _write(self, text: str) -> None:
        # Beside the file and then in its place: whoever reads meanwhile, or pulls the plug, has a whole file.
        fresh = ""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            target = followed(self._path)  # a link stays a link
            with tempfile.NamedTemporaryFile(
                "wb", dir=target.parent, prefix=f".{target.name}-", delete=False
            ) as file:
                fresh = file.name
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            Path(fresh).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o644)
            Path(fresh).replace(target)
        except OSError as error:
            if fresh:
                with contextlib.suppress(OSError):
                    Path(fresh).unlink()
            msg = f"the row cannot be written to {self._path}: {error.strerror or error}"
            raise RunError(msg) from error


def _case_of(row: Mapping[str, str]) -> Case | None:
    """The case that a row tells of; None where somebody has changed it into something else."""
    data: dict[str, object] = {name: row[name] for name in ("model", "method", "micro_batch", "seq_len")}
    data["checkpointing"] = row["grad_ckpt"] == "y"
    data["attention"] = "flash" if row["flash_attn"] == "y" else "eager"
    if row["method"] != "full":
        data |= {"rank": row["rank"], "targets": row["target_modules"].replace("q,v", "qv")}
    try:
        return Case.model_validate(data)
    except ValidationError:
        return None


def _csv(lines: Sequence[Sequence[str]], ending: str) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator=ending).writerows(lines)
    return out.getvalue()
