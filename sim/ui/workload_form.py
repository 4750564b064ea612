"""The upload of a job record, and how it is to be read."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from sim.errors import FleetsimError
from sim.ui.language import say, word
from sim.ui.safe import literal
from sim.ui.state import remember
from sim.ui.workload_files import ADDRESS, Stored, keep
from sim.ui.workload_wrong import HOW, OPENED

__all__ = ["LARGEST", "show_form"]

LARGEST = 5_000_000
"""Bytes of a record that are taken; larger ones go through the command line."""

_ENDINGS = ["txt", "log", "csv", "psv", "tsv", "swf", "gz", "json", "jsonl", "ndjson", "xlsx", "parquet"]
_UNITS = ("us", "ms", "s", "min", "h", "d")
_ZONES = ("Asia/Shanghai", "UTC", "Asia/Tokyo", "Europe/Berlin", "America/New_York")


def show_form(record: Stored | None) -> None:
    """The form. Where it has no file, it reads the record anew that is on the page."""
    opened = record is None or bool(st.session_state.get(OPENED))
    with st.expander(word("workload.upload"), expanded=opened, icon=":material/upload_file:"):
        st.caption(say("workload.upload_how"))
        file = st.file_uploader(word("workload.file"), type=_ENDINGS, key="trace-file")
        options = _options() if st.toggle(word("workload.how_read"), key=HOW) else {}
        if file is None and record is not None:
            st.caption(say("workload.read_anew", name=record.name))
        of = file.file_id if file is not None else "" if record is None else record.digest
        if st.button(word("workload.import"), type="primary", disabled=not of, key="trace-import"):
            name = file.name if file is not None else "" if record is None else record.name
            _take(name, _data(file, record), options, of)
        wrong, whose = st.session_state.get("trace-wrong", ("", ""))
        if wrong and of and whose == of:
            st.error(wrong, icon=":material/error:")


def _data(file: UploadedFile | None, record: Stored | None) -> bytes:
    if file is not None:
        return file.getvalue()
    return b"" if record is None else record.file.read_bytes()


def _take(name: str, data: bytes, options: Mapping[str, str], of: str) -> None:
    """Store a file and open it, or keep in mind what is wrong with it; `of` stands for the file."""
    wrong = _wrong(len(data), options)
    if not wrong:
        told = tuple(
            f"--{name}={one.strip()}"
            for name, value in options.items()
            for one in (value.split(";") if name == "card" else [value])
            if one.strip()
        )
        try:
            remember(ADDRESS, keep(name, data, told).digest)
        except FleetsimError as error:
            wrong = literal(error)
    st.session_state["trace-wrong"] = (wrong, of)
    if not wrong:
        st.session_state.pop(OPENED, None)
        st.rerun()


def _options() -> dict[str, str]:
    """How the file is to be read, by the name of the option; empty where it is left to the program."""
    from sim.workload.imports import READERS, preset_names  # what reads tables takes long to import
    from sim.workload.imports.source import ENCODINGS

    first, second, third = st.columns(3)
    with first:
        reader = _one_of("workload.format", "trace-format", tuple(READERS))
        zone = st.selectbox(
            word("workload.zone"),
            _ZONES,
            index=None,
            placeholder=word("workload.by_itself"),
            accept_new_options=True,
            key="trace-zone",
        )
    with second:
        preset = _one_of("workload.preset", "trace-preset", tuple(preset_names()))
        unit = _one_of("workload.unit", "trace-unit", _UNITS)
    with third:
        team = st.text_input(word("workload.team_column"), key="trace-team")
        sheet = st.text_input(word("workload.sheet"), key="trace-sheet")
    example = "submit_s=Submitted,runtime_s=Hours:h,gpus=GPUs"
    mapped = st.text_input(word("workload.map"), placeholder=example, key="trace-map")
    example = "JobID,State,Submit,Start,End,AllocTRES"
    columns = st.text_input(word("workload.columns"), placeholder=example, key="trace-columns")
    card = st.text_input(word("workload.card"), placeholder="a100=A100-40G; v100=V100-32G", key="trace-card")
    dates = st.selectbox(
        word("workload.dates"),
        ("day-first", "month-first"),
        index=None,
        format_func=lambda order: word(f"workload.{order.replace('-', '_')}"),
        placeholder=word("workload.no_such_dates"),
        key="trace-dates",
    )
    comma = st.checkbox(word("workload.comma"), key="trace-comma")
    encoding = st.selectbox(
        word("workload.encoding"),
        ENCODINGS,
        index=None,
        placeholder=word("workload.by_itself"),
        help=word("workload.encoding_help"),
        key="trace-encoding",
    )
    return {
        "as": reader or "",
        "timezone": zone or "",
        "preset": preset or "",
        "unit": unit or "",
        "team-column": team.strip(),
        "sheet": sheet.strip(),
        "map": mapped.strip(),
        "columns": columns.strip(),
        "card": card.strip(),
        "dates": dates or "",
        "decimal": "," if comma else "",
        "encoding": encoding or "",
    }


def _one_of(name: str, key: str, options: tuple[str, ...]) -> str | None:
    return st.selectbox(word(name), options, index=None, placeholder=word("workload.by_itself"), key=key)


def _wrong(size: int, options: Mapping[str, str]) -> str:
    """What is wrong with an upload before any command reads it; empty where nothing is."""
    if size > LARGEST:
        return say("workload.too_large", size=f"{size / 1e6:,.1f}", limit=f"{LARGEST / 1e6:,.0f}")
    if options.get("map") and "=" not in options["map"]:
        return say("workload.map_pairs")  # else the command would take it for the name of a file
    return ""
