"""Script of the page `fit`."""

from sim.ui.fit_page import show

show()
