"""The frame around every page: menu, language, and what the address keeps from page to page."""

from __future__ import annotations

import streamlit as st

from sim.ui.language import LANGUAGES, language, word
from sim.ui.routes import PAGES, script
from sim.ui.watch import show_queue

__all__ = ["main"]

KEPT = ("question", "edits", "run", "job", "trace")
"""Parts of the address that hold while one walks through the pages."""

MARK = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" '
    'fill="#0072B2"/><path d="M3 12V8h2v4zm4 0V5h2v7zm4 0V3h2v9z" fill="#fff"/></svg>'
)
"""The sign in the browser's tab. Without one of its own a browser asks a server on the internet for the
icon of the menu."""


def main() -> None:
    """Route to the pages."""
    st.set_page_config(page_title="fleetsim", page_icon=MARK, layout="wide")
    _language()
    _keep()
    shown = [
        st.Page(
            script(page.key),
            title=word(f"menu.{page.key}"),
            icon=page.icon,
            url_path=page.key if place else "home",
            default=not place,
        )
        for place, page in enumerate(PAGES)
    ]
    # The first page stands at the root, whatever it is called; people type its name all the same.
    by_name = st.Page(
        lambda: st.switch_page(shown[0]), title="fleetsim", url_path=PAGES[0].key, visibility="hidden"
    )
    chosen = st.navigation([*shown, by_name])
    with st.sidebar:
        show_queue()
    chosen.run()


def _language() -> None:
    """The switch, kept in the address so that a link opens in the language it was sent in."""
    codes = list(LANGUAGES)
    before = language()
    with st.sidebar:
        picked = st.segmented_control(
            "Language / 语言",
            codes,
            default=before,
            required=True,
            format_func=LANGUAGES.__getitem__,
            label_visibility="collapsed",
        )
    code = picked or before
    st.session_state["lang"] = code
    if code != before:
        _show_anew()
    if st.query_params.get("lang") != code:
        st.query_params["lang"] = code


def _show_anew() -> None:
    """Have the browser write every choice in the new language.

    A select box sends back the label that it shows. One that still showed the label of the language before
    would send what no option is called any more, and that text would be taken for the choice itself.
    """
    for key in list(st.session_state):
        value = st.session_state[key]
        several = isinstance(value, list) and value and all(isinstance(one, str) for one in value)
        if several or (isinstance(value, str | int) and not isinstance(value, bool)):
            st.session_state[key] = value


def _keep() -> None:
    """Walking to another page empties the address; what was in it comes back from the session."""
    kept: dict[str, str] = st.session_state.setdefault("kept", {})
    for name in KEPT:
        if name in st.query_params:
            kept[name] = st.query_params[name]
        elif name in kept:
            st.query_params[name] = kept[name]
