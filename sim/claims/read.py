"""Files of statements to checked claims, with every problem at its file, line and key."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from sim.catalog.reading import Document, read_file, validated
from sim.claims.model import Article, Claim, Text
from sim.claims.table import COMPUTATIONS
from sim.errors import InputError, Problem

__all__ = ["OWN", "ClaimSet", "Origin", "load_claims", "read_claims"]

_KEYS = ("articles", "claims")
OWN = "own"
"""Article of statements in a user's file that names none."""
_OWN = Article(
    title=Text(en="your own file", zh="自己的文件"),
    file="",
    about=Text(en="Statements that you have written down.", zh="自己记下的说法。"),
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a claim stands."""

    document: Document
    position: int

    def problem(self, problem: Problem) -> Problem:
        """The problem of a claim, `key` counted from the claim, at its place in the file."""
        keys = [] if problem.key is None else problem.key.split(".")
        path = ("claims", self.position, *(int(key) if key.isdecimal() else key for key in keys))
        line = self.document.line(path)
        shown = ".".join(map(str, path))
        return Problem(problem.rule, self.document.name, line, shown, problem.value, problem.known)


@dataclass(frozen=True, slots=True)
class ClaimSet:
    """Claims in the order in which they are shown, their articles, and where each stands."""

    claims: tuple[Claim, ...]
    articles: Mapping[str, Article]
    origins: Mapping[str, Origin] = field(default_factory=dict)
    """Id -> place in a file."""
    others: Mapping[str, Claim] = field(default_factory=dict)
    """Claims that are not to be judged, but that these may contradict."""


@functools.cache
def load_claims() -> ClaimSet:
    """The shipped claims, in the order of the articles. InputError where a file is wrong."""
    folder = resources.files("sim.claims")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".yaml"))
    found = _joined([_document(folder / name) for name in names])
    places = {article: number for number, article in enumerate(found.articles)}
    ordered = sorted(found.claims, key=lambda claim: (places[claim.article], claim.id))
    return ClaimSet(tuple(ordered), found.articles, found.origins)


def read_claims(paths: Sequence[Path]) -> ClaimSet:
    """The claims of a user's files, in the order in which they stand there.

    They may contradict shipped claims and each other. Raises InputError with file, line and key.
    """
    shipped = load_claims()
    found = _joined([_document(path) for path in paths], shipped)
    if not found.claims:
        rule = "a file of claims has the key `claims`, a list of statements"
        raise InputError(Problem(rule, str(paths[0]) if paths else None))
    return found


def _document(path: Path | Traversable) -> Document:
    name = str(path) if isinstance(path, Path) and not _inside(path) else path.name
    return read_file(path, name)


def _inside(path: Path) -> bool:
    """Whether this is a file of the package, whose folder is nobody's business."""
    return path.parent == Path(__file__).parent


def _joined(documents: Sequence[Document], shipped: ClaimSet | None = None) -> ClaimSet:
    problems = [problem for document in documents for problem in _shape(document)]
    if problems:
        raise InputError(problems)
    articles = {} if shipped is None else {**shipped.articles, OWN: _OWN}
    claims: list[Claim] = []
    origins: dict[str, Origin] = {}
    for document in documents:
        for key, entry in (document.data.get("articles") or {}).items():
            try:
                articles[key] = validated(Article, entry, document, ("articles", key))
            except InputError as error:
                problems += error.problems
    for document in documents:
        for position, entry in enumerate(document.data.get("claims") or []):
            try:
                claim = validated(Claim, entry, document, ("claims", position))
            except InputError as error:
                problems += error.problems
                continue
            here = Origin(document, position)
            if claim.id in origins:
                problems.append(here.problem(Problem("this id stands twice", key="id", value=claim.id)))
            origins[claim.id] = here
            claims.append(claim)
    others = {} if shipped is None else {claim.id: claim for claim in shipped.claims}
    known = {**others, **{claim.id: claim for claim in claims}}
    problems += _names(claims, origins, articles, known)
    if problems:
        raise InputError(problems)
    return ClaimSet(tuple(claims), articles, origins, others)


def _shape(document: Document) -> Iterator[Problem]:
    for name in document.data:
        if name not in _KEYS:
            yield Problem("unknown key", document.name, document.line((name,)), name, name, _KEYS)
    for key, kind, words in (("articles", Mapping, "a mapping"), ("claims", list, "a list")):
        value = document.data.get(key)
        if value is not None and not isinstance(value, kind):
            yield Problem(f"this key holds {words}", document.name, document.line((key,)), key)


def _names(
    claims: Iterable[Claim],
    origins: Mapping[str, Origin],
    articles: Mapping[str, Article],
    known: Mapping[str, Claim],
) -> Iterator[Problem]:
    """Names that lead nowhere: computations, articles, other claims."""
    for claim in claims:
        here = origins[claim.id]
        asked = [("computation", claim.computation)]
        asked += [(f"also.{place}.computation", part.computation) for place, part in enumerate(claim.also)]
        for key, name in asked:
            if name is not None and name not in COMPUTATIONS:
                rule, names = "there is no such computation", tuple(sorted(COMPUTATIONS))
                yield here.problem(Problem(rule, key=key, value=name, known=names))
        if claim.article not in articles:
            rule, names = "the article is not known", tuple(articles)
            yield here.problem(Problem(rule, key="article", value=claim.article, known=names))
        for number, other in enumerate(claim.contradicts):
            if other not in known or other == claim.id:
                rule = "must be the id of another claim"
                key = f"contradicts.{number}"
                yield here.problem(Problem(rule, key=key, value=other, known=_near(other, known)))


def _near(name: str, known: Mapping[str, Claim]) -> tuple[str, ...]:
    """Ids that begin alike: all of them would be a wall of names."""
    return tuple(key for key in known if key[:3] == name[:3])[:12]
