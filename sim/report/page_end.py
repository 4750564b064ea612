"""The end of every page: the scenario as it was run, folded, and the versions that made the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sim.report.page_html import Html, element, table

__all__ = ["scenario_part", "versions_part"]


def scenario_part(data: bytes) -> Html:
    """The scenario of the run's folder, as it stands there."""
    told = "As it was run, with every default written out. The run's folder has it as scenario.yaml."
    code = element("pre", element("code", data.decode("utf-8")))
    return element("details", element("summary", "scenario.yaml"), element("p", told, class_="small"), code)


def versions_part(manifest: Mapping[str, Any]) -> Html:
    """Program and packages, from the manifest."""
    packages = manifest.get("packages", {})
    rows = [
        ("fleetsim", str(manifest.get("fleetsim"))),
        *((("layout of the run's folder", manifest["format"]),) if "format" in manifest else ()),
        ("Python", str(manifest.get("python"))),
        *((name, str(version)) for name, version in packages.items()),
    ]
    return table("Program and packages that made the run", ("name", "version"), rows, texts=(0, 1))
