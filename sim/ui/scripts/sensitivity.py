"""Script of the page `sensitivity`."""

from sim.ui.sensitivity_page import show

show()
