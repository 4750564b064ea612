"""A sweep or a sensitivity study as one HTML page, from its folder alone: the same folder, the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sim.experiments.run_read import sound_document
from sim.experiments.run_study import StoredStudy
from sim.experiments.wording import plain
from sim.report.page_end import scenario_part, versions_part
from sim.report.page_html import Html, Part, contents, document, element, join, picture, section, sentences
from sim.report.page_sensitivity import sensitivity_parts
from sim.report.page_study_parts import Told
from sim.report.page_sweep import sweep_parts

__all__ = ["study_page"]

PARTS: Mapping[str, Callable[[Mapping[str, Any]], Told]] = {
    "sweep": sweep_parts,
    "sensitivity": sensitivity_parts,
}
"""Kind of a study -> what its page says."""


def study_page(study: StoredStudy) -> str:
    """The page of a stored study. Raises InputError where its document is not what it should be."""
    found = study.document
    with sound_document(study.folder / f"{study.kind}.json"):
        told = PARTS[study.kind](found)
        name = plain(str(found["scenario"]))
        ends = [
            ("charts", "Charts", _charts(study, told)),
            *told.details,
            ("warnings", "Warnings", sentences(found.get("warnings", ()))),
            ("notes", "Notes", sentences(found["notes"])),
            ("assumptions", "Assumptions", sentences(found["assumptions"])),
            ("scenario", "Scenario", scenario_part(study.read("scenario.yaml"))),
            ("versions", "Versions", versions_part(study.manifest)),
        ]
    parts: list[Part] = [part for part in (*told.first, *ends) if part[2]]
    about = (
        f"{told.about}; {study.kind} {found[_ID[study.kind]]} of fleetsim {study.manifest.get('fleetsim')}"
    )
    decision = element("div", *(element("p", line) for line in told.decision), class_="decision")
    meta = element("p", about, class_="meta")
    return document(
        f"{name}: {told.title}",
        element("header", element("h1", name), meta, decision, contents(parts)),
        element("main", *(section(*part) for part in parts)),
    )


_ID = {"sweep": "sweep", "sensitivity": "study"}
"""Kind -> key of the document with the id."""


def _charts(study: StoredStudy, told: Told) -> Html:
    titles = {name: name.removeprefix("charts/").removesuffix(".png") for name in study.charts}
    order = list(told.charts)
    pictures = []
    for name, title in sorted(
        titles.items(), key=lambda one: order.index(one[1]) if one[1] in told.charts else len(order)
    ):
        caption, words = told.charts.get(title, (title.replace("-", " ").replace("_", " ").capitalize(), ""))
        words = words or "Its figures are in the tables below."
        pictures.append(picture(study.read(name), f"Chart. {caption}. {words}", caption))
    return join(pictures)
