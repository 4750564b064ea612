"""A price list of one's own beside the question: uploaded, checked, and its offers stand in the forms.

The question then is one of one's own, with the list beside it and with the same edits.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from sim.errors import FleetsimError, InputError, Problem, RunError
from sim.load_shipped import shipped_scenarios
from sim.load_tree import LARGEST_FILE
from sim.ui.address import put
from sim.ui.form_base import Form
from sim.ui.form_offers import own_offers
from sim.ui.language import say, word
from sim.ui.question_edits import yaml_text
from sim.ui.question_store import keep_uploaded, named_files
from sim.ui.safe import literal
from sim.ui.state import edits_part, hand
from sim.ui.told_rules import problem_told

__all__ = ["EXAMPLE", "offer_prices"]

EXAMPLE = Path("prices") / "two-sellers.yaml"
"""The shipped example of a price list, below the folder of the scenarios."""

_SCENARIO = "scenario.yaml"


def offer_prices(form: Form) -> None:
    """The place to upload a price list; what the question has of its own; an example to write over."""
    with st.expander(word("question.prices"), icon=":material/sell:"):
        own = own_offers(form.tree, form.home)
        if own:
            names = ", ".join(f"{offer.name} ({name})" for name, offer in own.items())
            st.caption(say("question.prices_own", file=form.tree.get("catalog"), names=names))
        st.caption(say("question.prices_how"))
        _example()
        file = st.file_uploader(word("question.prices_file"), type=["yaml", "yml"], key="prices-file")
        st.button(
            word("question.prices_use"),
            type="primary",
            disabled=file is None,
            key="prices-use",
            on_click=_take,
            args=(file,),
        )
        wrong, of = st.session_state.get("prices-wrong", ((), ""))
        for line in wrong if file is not None and of == file.file_id else ():
            st.error(literal(line), icon=":material/error:")


def _example() -> None:
    try:
        text = (shipped_scenarios() / EXAMPLE).read_bytes()
    except (OSError, RunError):
        return
    st.download_button(
        word("question.prices_example"),
        text,
        EXAMPLE.name,
        "application/yaml",
        icon=":material/download:",
        key="prices-example",
        on_click="ignore",
    )


def _take(file: UploadedFile) -> None:
    """Check the list as the command line would, and open the question with it; mistakes stay below."""
    wrong: list[str] = []
    try:
        _use(Path(file.name).name, file)
    except (FleetsimError, OSError) as error:
        problems = error.problems if isinstance(error, InputError) else (Problem(str(error)),)
        wrong = [problem_told(problem) for problem in problems]
    st.session_state["prices-wrong"] = (wrong, file.file_id)


def _use(name: str, file: UploadedFile) -> None:
    if file.size > LARGEST_FILE:
        size, limit = f"{file.size / 1000:,.0f}", f"{LARGEST_FILE / 1000:,.0f}"
        raise InputError(Problem(word("question.too_large", name=name, size=size, limit=limit)))
    found = hand()
    home = found.file.parent
    beside = {one for one in named_files({**found.start, "catalog": None}, home) if (home / one).is_file()}
    if name in {_SCENARIO, *(Path(one).name for one in beside)}:
        name = f"prices of {name}"
    start = {**found.start, "catalog": name}
    files = {Path(one).name: (home / one).read_bytes() for one in sorted(beside)}
    files |= {name: file.getvalue(), _SCENARIO: yaml_text(start).encode()}
    put(
        {
            "question": keep_uploaded(_SCENARIO, files),
            "edits": edits_part(start, {**found.tree, "catalog": name}),
        }
    )
