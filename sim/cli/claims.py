"""`fleetsim claims`: what sellers claim, recomputed, with a verdict on every statement."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sim.catalog import load_catalog
from sim.cli.charts import write_chart
from sim.cli.console import heading, print_json, print_table, say
from sim.cli.options import CatalogOption, check_file, check_known
from sim.errors import InputError, Problem

if TYPE_CHECKING:
    from sim.claims.bench import Bench
    from sim.claims.read import ClaimSet
    from sim.claims.verdict import Judged

__all__ = ["claims"]


class Lang(StrEnum):
    """Languages of statements and verdicts."""

    EN = "en"
    ZH = "zh"


class Form(StrEnum):
    """How the verdicts are printed."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


def claims(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE", help="Your own claims: YAML files. Default: the articles' statements."
        ),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Only this kind, such as price or memory; may be repeated."),
    ] = None,
    verdict: Annotated[
        list[str] | None,
        typer.Option(metavar="VERDICT", help="Only this verdict, such as wrong; may be repeated."),
    ] = None,
    article: Annotated[
        list[str] | None, typer.Option(metavar="KEY", help="Only this article, such as s0; may be repeated.")
    ] = None,
    explain: Annotated[
        str | None, typer.Option(metavar="ID", help="Show the working of one claim step by step.")
    ] = None,
    catalog: CatalogOption = None,
    lang: Annotated[Lang, typer.Option(help="Language of statements and verdicts.")] = Lang.EN,
    chart: Annotated[
        Path | None,
        typer.Option(metavar="FILE.png", help="Draw the verdicts by article and kind into this file."),
    ] = None,
    tables: Annotated[
        bool, typer.Option("--tables", help="Print the articles' headline tables, computed, and no claims.")
    ] = False,
    docs: Annotated[
        bool, typer.Option("--docs", help="Print docs/claims.md: everything as one page of Markdown.")
    ] = False,
    format_: Annotated[
        Form, typer.Option("--format", help="text for people; json: one JSON document; csv: one row a claim.")
    ] = Form.TEXT,
) -> None:
    """Check statements of sellers with this program's own bills, physics and runs.

    Examples: fleetsim claims --verdict wrong
    fleetsim claims --explain S0-026
    fleetsim claims my-seller.yaml
    """
    from sim.claims.bench import Bench
    from sim.claims.check import check_claims
    from sim.claims.read import load_claims, read_claims
    from sim.claims.verdict import VERDICTS

    _known("--verdict", verdict, VERDICTS)
    if chart is not None:
        check_file(chart, "--chart", (".png",), [*(files or ()), *([] if catalog is None else [catalog])])
    bench = Bench(catalog=load_catalog(catalog))
    found = read_claims(files) if files else load_claims()
    if docs or tables:
        if files:
            rule = "is for the shipped claims: give no file"
            raise InputError(Problem(rule, key="--docs" if docs else "--tables"))
        _print_page(bench) if docs else _print_tables(bench, format_)
        return
    wanted = _chosen(found, kind, article, explain)
    strict = bool(files) or catalog is None
    all_ = check_claims(wanted, bench, strict=strict)
    judged = [one for one in all_ if not verdict or one.verdict in verdict]
    if chart is not None:
        _draw(chart, judged, found)
    _print(judged, found, "zh" if lang is Lang.ZH else "en", explain is not None, chart, format_)


def _chosen(
    found: ClaimSet, kinds: list[str] | None, articles: list[str] | None, explain: str | None
) -> ClaimSet:
    """The claims that are asked for; InputError for a name that no claim has."""
    from sim.claims.model import KINDS

    _known("--kind", kinds, KINDS)
    _known("--article", articles, tuple(found.articles))
    if explain is not None:
        _known_claim(explain, tuple(claim.id for claim in found.claims))
    kept = tuple(
        claim
        for claim in found.claims
        if (not kinds or claim.kind in kinds)
        and (not articles or claim.article in articles)
        and (explain is None or claim.id == explain)
    )
    others = {**found.others, **{claim.id: claim for claim in found.claims}}
    return dataclasses.replace(found, claims=kept, others=others)


def _known(option: str, given: list[str] | None, known: Sequence[str]) -> None:
    for name in given or ():
        check_known(option, name, known)


def _known_claim(name: str, known: Sequence[str]) -> None:
    """InputError with ids that begin alike, for there are hundreds."""
    if name not in known:
        near = [key for key in known if key[:4] == name[:4]] or known
        raise InputError(Problem("no claim has this id", key="--explain", value=name, known=tuple(near[:12])))


def _draw(chart: Path, judged: Sequence[Judged], found: ClaimSet) -> None:
    from sim.report.plots_claims import claims_chart
    from sim.report.plots_style import png

    if not judged:
        raise InputError(Problem("no claim is left to be drawn", key="--chart", value=str(chart)))
    write_chart(chart, png(claims_chart(judged, found.articles)), "--chart")


def _print_page(bench: Bench) -> None:
    from sim.cli.claims_docs import page

    sys.stdout.write(page(bench))


def _print_tables(bench: Bench, form: Form) -> None:
    from sim.claims.headline_cards import HEADLINES

    made = [make(bench) for make in HEADLINES]
    if form is Form.CSV:
        rule = "tables of different columns are no one CSV file; text or json"
        raise InputError(Problem(rule, key="--format", value="csv"))
    if form is Form.JSON:
        print_json({"tables": [dataclasses.asdict(one) for one in made]})
        return
    for one in made:
        heading(one.title)
        say(f"In the articles: {one.replaces}.")
        print_table(one.columns, one.rows, text=range(len(one.columns)))
        for note in one.notes:
            say(f"- {note}")


def _print(
    judged: Sequence[Judged],
    found: ClaimSet,
    language: Literal["en", "zh"],
    explained: bool,
    chart: Path | None,
    form: Form,
) -> None:
    from sim.cli.claims_json import as_csv, as_json
    from sim.cli.claims_text import print_claims, print_working

    if form is Form.JSON:
        print_json(as_json(judged, found.articles, language, None if chart is None else str(chart)))
        return
    if form is Form.CSV:
        sys.stdout.write(as_csv(judged, language))
        return
    if explained:
        for one in judged:
            print_working(one, found.articles, language)
    else:
        print_claims(judged, language)
    if chart is not None:
        say(f"{chart} shows it.")
