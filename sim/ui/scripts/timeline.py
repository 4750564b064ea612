"""Script of the page `timeline`."""

from sim.ui.timeline_page import show

show()
