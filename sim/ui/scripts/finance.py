"""Script of the page `finance`."""

from sim.ui.finance_page import show

show()
