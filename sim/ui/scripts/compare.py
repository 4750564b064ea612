"""Script of the page `compare`."""

from sim.ui.compare_page import show

show()
