"""Why a record could not be read: each reason by itself, in the words of the form that can help."""

from __future__ import annotations

import re
from collections.abc import Mapping

import streamlit as st

from sim.ui.language import say, word
from sim.ui.safe import literal

__all__ = ["HOW", "OPENED", "in_form", "reasons", "show_reasons", "show_refused"]

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

_FIELDS = ("submit_s", "start_s", "end_s", "runtime_s", "gpus")
"""Fields that a message may ask for."""

_ERROR, _SEVERAL, _NEXT = "Error: ", re.compile(r"Error: [\d,]+ problems:\s*"), "\n  - "


def reasons(message: str) -> list[str]:
    """What a failed command said, problem by problem."""
    several = _SEVERAL.match(message)
    if several is None:
        return [message.removeprefix(_ERROR)]
    return [one.strip() for one in f"\n  {message[several.end() :].lstrip()}".split(_NEXT) if one.strip()]


def in_form(text: str) -> str:
    """A text of the program with boxes of the form in place of options: `--map gpus=COLUMN`."""
    return _OPTION.sub(_box, text)


def _box(found: re.Match[str]) -> str:
    name = _BOXES.get(found[1])
    if name is None:
        return found[0]
    called = word("workload.box", name=re.split("[:：]", word(f"workload.{name}"))[0])
    return called if found[2] in (None, ",") else f"{called}: {found[2]}"


def show_reasons(message: str) -> bool:
    """Each reason for which a command failed; it may be tried again."""
    found = [literal(in_form(one)) for one in reasons(message)]
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
