"""Links of the menu as links elsewhere: with Ctrl, Cmd or Shift held they open in a new tab or window.

A link of `st.page_link` has an address, but streamlit takes every click on it for a walk in the same tab.
A click with one of these keys is kept from it, and the browser does what it does with any link.
"""

from __future__ import annotations

import streamlit as st

__all__ = ["let_links_open_in_new_tabs"]

_SCRIPT = """
const of = event => event.target instanceof Element
  && event.target.closest('[data-testid="stPageLink-NavLink"]');
const mend = event => {
  const link = of(event), address = link && link.getAttribute("href");
  if (address && address.startsWith("?")) link.setAttribute("href", "./" + address);
};
const pass = event => {
  mend(event);
  if (of(event) && (event.ctrlKey || event.metaKey || event.shiftKey)) event.stopPropagation();
};
const heard = [["mouseover", mend], ["focusin", mend], ["click", pass]];
export default function () {
  for (const [what, then] of heard) document.addEventListener(what, then, true);
  return () => { for (const [what, then] of heard) document.removeEventListener(what, then, true); };
}
"""
"""Heard on the way down, before streamlit hears it; one listener of each however often it is asked for.

Streamlit gives the first page the address `?...`, which a browser reads as the page that is open: it is
mended before anybody can follow it.
"""

_listen = st.components.v2.component("fleetsim_new_tab", js=_SCRIPT)


def let_links_open_in_new_tabs() -> None:
    """Draw the part that listens, once a page; of the least height there is, one pixel."""
    _listen(height=1)
