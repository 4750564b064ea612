"""Script of the page `claims`."""

from sim.ui.claims_page import show

show()
