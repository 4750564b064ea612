"""Fixtures of the browser tests."""

from tests.ui.browser import browser, chromium, served, visitor

__all__ = ["browser", "chromium", "served", "visitor"]
