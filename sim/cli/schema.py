"""`fleetsim schema`: the JSON Schema of scenario files."""

from __future__ import annotations

import sys

from sim.load import schema_text

__all__ = ["schema"]


def schema() -> None:
    """Print the JSON Schema of scenario files, for editors and checkers."""
    sys.stdout.write(schema_text())
