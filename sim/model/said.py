"""Sentences of the program, each from a template, so that a page can say them in another language.

The command line and every document hold the English text. `sim/ui/told.py` reads it back by its template
and says it in the page's language: what was kept years ago is told too, and a name of the user in a
sentence stays as it is. Templates stand in the code where they are said; `tests/ui/test_told.py` fails
for one that `sim/ui/words/*/said.yaml` does not have in every language.
"""

from __future__ import annotations

__all__ = ["said"]


def said(template: str, /, **values: object) -> str:
    """The English sentence. `template` is a literal, and its values are written out: `12.3`, `1,204 CNY`.

    A value's name tells the reader what it is: `name` and `than` are names of the user, `reason`, `facts`,
    `miss`, `head`, `on` and `sign` are sentences themselves.
    """
    return template.format(**values)
