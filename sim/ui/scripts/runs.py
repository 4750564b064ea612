"""Script of the page `runs`."""

from sim.ui.runs_page import show

show()
