"""The frame around every page: menu, language, and what the address keeps from page to page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import StreamlitPage

from sim.ui.address import put, walking
from sim.ui.language import LANGUAGES, language, word
from sim.ui.new_tab import let_links_open_in_new_tabs
from sim.ui.routes import PAGES, script
from sim.ui.watch import show_queue

__all__ = ["main"]

MARK = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" '
    'fill="#0072B2"/><path d="M3 12V8h2v4zm4 0V5h2v7zm4 0V3h2v9z" fill="#fff"/></svg>'
)
"""The sign in the browser's tab. Without one of its own a browser asks a server on the internet for the
icon of the menu."""


def main() -> None:
    """Route to the pages."""
    st.set_page_config(page_title="fleetsim", page_icon=MARK, layout="wide")
    phone = "Mobi" in st.context.headers.get("User-Agent", "")
    if phone:
        _keep()
    code = _language()
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
        lambda: st.switch_page(shown[0], query_params=walking()),
        title="fleetsim", url_path=PAGES[0].key, visibility="hidden",
    )  # fmt: skip
    chosen = st.navigation([*shown, by_name], position="sidebar" if phone else "hidden")
    with st.sidebar:
        menu = st.empty()
        drawn = {} if phone else _menu(menu, shown, None)
        _switch(code)
        show_queue()
        let_links_open_in_new_tabs()
    try:
        chosen.run()
    finally:
        # The page may have changed the address.
        if phone:
            st.session_state["kept"] = walking()
        else:
            _menu(menu, shown, drawn)


def _menu(
    place: DeltaGenerator, shown: Sequence[StreamlitPage], drawn: Mapping[str, str] | None
) -> Mapping[str, str]:
    """Links to the pages that carry what holds on all of them; what they carry.

    The menu of `st.navigation` empties the address. Writing it anew would leave two steps in the history
    of the browser for each page, and its button Back would stand still at every other one.
    """
    kept = walking()
    if kept != drawn:
        with place.container(gap="xsmall"):
            for page in shown:
                st.page_link(page, query_params=kept, width="stretch")
    return kept


def _keep() -> None:
    """On a telephone the menu of `st.navigation` is used after all, for it closes at a touch.

    It empties the address; what was in it comes back from the session.
    """
    if "lang" not in st.query_params:
        put(st.session_state.get("kept", {"lang": language()}))


def _language() -> str:
    """The code of the language that the address names, else English."""
    if "lang" not in st.query_params:
        st.session_state.pop("lang", None)  # Back to an address without one is back to English
    code = language()
    if st.session_state.setdefault("drawn_in", code) != code:
        st.session_state["drawn_in"] = code
        _show_anew()
    return code


def _switch(code: str) -> None:
    """The switch, kept in the address so that a link opens in the language it was sent in."""
    picked = st.segmented_control(
        "Language / 语言",
        list(LANGUAGES),
        default=code,
        required=True,
        format_func=LANGUAGES.__getitem__,
        label_visibility="collapsed",
    )
    if picked is not None and picked != code:
        put({"lang": picked})
        st.rerun()


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
