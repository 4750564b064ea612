"""Why a record could not be read: each reason by itself, in the words of the form that can help."""

from __future__ import annotations

import re
from collections.abc import Mapping

import streamlit as st

from sim.ui.language import language, say, word
from sim.ui.safe import literal
from sim.ui.told_lines import line_told, parted

__all__ = ["HOW", "OPENED", "in_form", "show_reasons", "show_refused"]

HOW = "trace-how"
"""Key of the switch that shows how a record is to be read."""

OPENED = "trace-opened"
"""In the session: whether the form was asked for although there is a record."""

_BOXES: Mapping[str, str] = {
    "as": "format",
    "card": "card",
    "columns": "columns",
    "dates": "dates",
    "decimal": "comma",
    "encoding": "encoding",
    "map": "map",
    "preset": "preset",
    "sheet": "sheet",
    "team-column": "team_column",
    "timezone": "zone",
    "unit": "unit",
}
"""Option of `fleetsim workload import` -> the box of the form that stands for it."""

_OPTION = re.compile(
    r"(?<![\w-])--([a-z-]*[a-z])(?: (,|s|(?:day|month)-first|[A-Z]{2,}|[\w.]+[=,][\w.,=:-]*\w))?(?![\w-])"
)
"""An option, and the value in an example of it."""

_LOOSE = re.compile("(?<=[\u3000-\u9fff\uff00-\uffef]) (?=“)|(?<=”) (?=[\u3000-\u9fff\uff00-\uffef])")
"""A space between the name of a box and a Chinese sign, which brings room of its own."""

_FIELDS = ("submit_s", "start_s", "end_s", "runtime_s", "gpus")
"""Fields that a message may ask for."""

_ERROR = "Error: "


def in_form(text: str) -> str:
    """A text of the program with boxes of the form in place of options: `--map gpus=COLUMN`."""
    shown = _OPTION.sub(_box, text)
    return shown if language() == "en" else _LOOSE.sub("", shown)


def _box(found: re.Match[str]) -> str:
    name = _BOXES.get(found[1])
    if name is None:
        return found[0]
    called = word("workload.box", name=re.split("[:：]", word(f"workload.{name}"))[0])
    if found[2] in (None, ","):
        return called
    return word("workload.box_value", name=called, value=_value(found[2]))


def _value(text: str) -> str:
    """The value in an example: of an order of dates what the box calls it, where that is another word."""
    if text not in ("day-first", "month-first") or language() == "en":
        return text
    return re.split("[:：]", word(f"workload.{text.replace('-', '_')}"))[0]


def show_reasons(message: str) -> bool:
    """Each reason for which a command failed; it may be tried again."""
    found = [literal(in_form(line_told(one))) for one in parted(message)]
    listed = "\n".join(f"- {one}" for one in found)
    text = found[0] if len(found) == 1 else f"{say('workload.several', number=len(found))}\n\n{listed}"
    st.error(text, icon=":material/error:")
    return True


def show_refused(message: str) -> bool:
    """Each reason for which a record was not read, and the way on; whether trying again may help."""
    show_reasons(message)
    asked = [name for name in _FIELDS if re.search(rf"\b{name}\b", message)]
    if asked:
        st.caption(say("workload.fields") + " " + " ".join(say(f"workload.field_{name}") for name in asked))
    if not message.startswith(_ERROR):
        return True
    st.button(
        word("workload.how_read"),
        type="primary",
        icon=":material/tune:",
        key="workload-say-how",
        on_click=_open_form,
    )
    return False


def _open_form() -> None:
    st.session_state[HOW] = st.session_state[OPENED] = True
