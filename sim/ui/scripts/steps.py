"""Script of the page `steps`."""

from sim.ui.steps_page import show

show()
