"""`fleetsim schema`: the JSON Schema of scenario files, and the reference pages of keys and metrics."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from sim.load import schema_text
from sim.report.reference import keys_page, metrics_page

__all__ = ["schema"]


class Form(StrEnum):
    """What is printed."""

    JSON = "json"
    KEYS = "keys"
    METRICS = "metrics"


def schema(
    form: Annotated[
        Form,
        typer.Option(
            "--as",
            help="json: the JSON Schema; keys: every key as Markdown; metrics: every metric as Markdown.",
        ),
    ] = Form.JSON,
) -> None:
    """Print the JSON Schema of scenario files, for editors and checkers, or a reference page."""
    pages = {Form.JSON: schema_text, Form.KEYS: keys_page, Form.METRICS: metrics_page}
    sys.stdout.write(pages[form]())
