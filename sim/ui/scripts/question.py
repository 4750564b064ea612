"""Script of the page `question`."""

from sim.ui.question_page import show

show()
