"""A statement that can be checked, as it stands in a file."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, model_validator

from sim.model.base import LARGEST_AMOUNT, Strict

__all__ = [
    "KINDS",
    "STATES",
    "Also",
    "Article",
    "Claim",
    "Find",
    "Kind",
    "Language",
    "OnlyIf",
    "States",
    "Text",
    "Value",
]

Language = Literal["en", "zh"]
Kind = Literal[
    "price",
    "cost",
    "discount",
    "option",
    "term",
    "breakeven",
    "memory",
    "speed",
    "scaling",
    "utilisation",
    "reliability",
]
KINDS: tuple[str, ...] = get_args(Kind)
States = Literal["exactly", "about", "between", "at least", "at most", "from", "up to"]
STATES: tuple[str, ...] = get_args(States)


class Text(Strict):
    """The same words in English and Chinese; a plain text in a file stands for both."""

    en: str = Field(min_length=1)
    zh: str = Field(min_length=1)

    def said(self, language: Language) -> str:
        """The words in one language."""
        return self.zh if language == "zh" else self.en


def _both(value: Any) -> Any:
    return {"en": value, "zh": value} if isinstance(value, str) else value


Words = Annotated[Text, BeforeValidator(_both)]


class Value(Strict):
    """The number that is stated, as it is written: `low` alone, or a range."""

    low: Decimal = Field(ge=-LARGEST_AMOUNT, le=LARGEST_AMOUNT)
    """Its decimals say how precise it is: 3.9 is 3.85 to 3.95. Put "0.80" in quotes to keep the 0."""
    high: Decimal | None = Field(default=None, ge=-LARGEST_AMOUNT, le=LARGEST_AMOUNT)
    unit: str = Field(min_length=1)
    """As the computation answers: CNY/month, months, GB, h, % ..."""
    to: Decimal | None = Field(default=None, gt=0)
    """Size of the last digit that is stated where the decimals do not show it: 27,000 written as
    2.7 times ten thousand is stated to 1,000."""

    @model_validator(mode="after")
    def _ordered(self) -> Value:
        if self.high is not None and self.high < self.low:
            msg = "high may not be below low"
            raise ValueError(msg)
        return self

    @property
    def step(self) -> Decimal:
        """Size of the last stated digit."""
        if self.to is not None:
            return self.to
        exponents = [
            int(number.as_tuple().exponent) for number in (self.low, self.high) if number is not None
        ]
        return Decimal(1).scaleb(min(0, *exponents))


class Find(Strict):
    """An input that is searched for: at which value would the statement hold?"""

    input: str
    """Key of `inputs`."""
    low: float
    high: float
    """Range that is searched; the answer is the nearest to `low` found by halving."""
    unit: str = ""


class OnlyIf(Strict):
    """A condition under which a statement might hold; whether it then does is computed."""

    condition: Words
    """`{x}` in it is the value that `find` found."""
    inputs: Mapping[str, Any] = {}
    """Replace or add to the inputs of the statement."""
    find: Find | None = None


def _meant(value: Value | None, states: States | None) -> States:
    if states is not None:
        return states
    return "exactly" if value is None or value.high is None else "between"


class Also(Strict):
    """A further number of the same sentence, or a yes or no; the sentence holds only if all of it does."""

    value: Value | None = None
    states: States | None = None
    computation: str
    inputs: Mapping[str, Any] = {}

    @property
    def meant(self) -> States:
        """How the number is meant."""
        return _meant(self.value, self.states)


class Claim(Strict):
    """One statement."""

    id: str = Field(min_length=1, max_length=60)
    article: str = "own"
    """Key of articles.yaml; `own` for a file of the user's."""
    place: str = ""
    """Section of the article."""
    kind: Kind
    statement: Words
    """In our own words."""
    value: Value | None = None
    """None for statements that are true or false."""
    states: States | None = None
    """How the number is meant; default: `between` for a range, `exactly` for one number."""
    computation: str | None = None
    """Key of COMPUTATIONS."""
    inputs: Mapping[str, Any] = {}
    """What the statement itself gives, never the answer."""
    also: tuple[Also, ...] = ()
    """Further numbers of the same sentence, each computed."""
    conditions: tuple[Words, ...] = ()
    """What was assumed and the statement does not say."""
    only_if: tuple[OnlyIf, ...] = ()
    """Tried in this order; the first that makes the statement hold is named in the verdict."""
    contradicts: tuple[str, ...] = ()
    """Ids of other statements of the same fact with another value."""
    cannot: Words | None = None
    """Why no program can check it, in the place of a computation."""
    note: Words | None = None
    """What a reader should know beside the verdict."""
    reviewer_differs: Words | None = None
    """Why the verdict is not the one that the reviewer of the articles gave, where it is not."""

    @model_validator(mode="after")
    def _testable(self) -> Claim:
        if (self.computation is None) == (self.cannot is None):
            msg = "a statement has either a computation or `cannot`, the reason why there is none"
            raise ValueError(msg)
        return self

    @property
    def meant(self) -> States:
        """How the number is meant."""
        return _meant(self.value, self.states)


class Article(Strict):
    """A text whose statements are checked."""

    title: Text
    file: str
    about: Text
