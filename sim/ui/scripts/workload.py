"""Script of the page `workload`."""

from sim.ui.workload_page import show

show()
