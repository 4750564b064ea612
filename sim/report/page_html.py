"""HTML written safely: whatever is not marked as HTML is text, and text is escaped.

A page made here loads nothing: its style is inside, allowed by its digest, and its policy forbids
scripts, frames, forms and every request.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

from sim.experiments.wording import plain

__all__ = [
    "Html",
    "Part",
    "contents",
    "document",
    "element",
    "join",
    "lines",
    "listed",
    "picture",
    "section",
    "sentences",
    "table",
    "text",
]


class Html(str):
    """Text that is HTML already; any other text is escaped where it enters an element."""

    __slots__ = ()


Part: TypeAlias = tuple[str, str, Html]
"""Key, title and content of a section."""

VOID = frozenset({"br", "img", "meta"})
"""Elements without content and without an end."""


def text(words: object) -> Html:
    """Text as HTML: escaped, and signs that do not print (but line ends) replaced, which could mislead."""
    seen = "".join(
        sign if sign.isprintable() or sign == "\n" else "\N{REPLACEMENT CHARACTER}" for sign in str(words)
    )
    return Html(html.escape(seen, quote=True))


def element(tag: str, /, *content: object, **attributes: str | bool | None) -> Html:
    """One element. In names of attributes `_` at the end is dropped and others become `-`; those that
    are False or None are left out."""
    written = "".join(
        f" {_attribute(key)}" if value is True else f' {_attribute(key)}="{text(value)}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if tag in VOID:
        return Html(f"<{tag}{written}>")
    return Html(f"<{tag}{written}>{join(content)}</{tag}>")


def _attribute(key: str) -> str:
    return key.removesuffix("_").replace("_", "-")


def join(parts: Iterable[object]) -> Html:
    """Parts one after the other."""
    return Html("".join(part if isinstance(part, Html) else text(part) for part in parts))


def lines(words: str) -> Html:
    """Text with its line ends kept."""
    return Html(element("br").join(text(line) for line in words.split("\n")))


def listed(items: Iterable[object]) -> Html:
    """An unordered list."""
    return element("ul", *(element("li", item) for item in items))


def sentences(texts: Sequence[object]) -> Html:
    """Sentences as a list, without signs that a terminal would obey; nothing where there are none."""
    return listed(plain(str(one)) for one in texts) if texts else Html()


def contents(parts: Iterable[Part]) -> Html:
    """The table of contents of a page: a link to each part."""
    links = (element("li", element("a", title, href=f"#{key}")) for key, title, _ in parts)
    return element("nav", element("ul", *links), aria_label="Contents")


def section(key: str, title: str, *content: object) -> Html:
    """A part of the page with its heading, to which the table of contents leads."""
    return element("section", element("h2", title, id=key), *content, aria_labelledby=key)


def table(
    caption: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    texts: Collection[int] = (0,),
    marked: Collection[int] = (),
    stacked: bool = False,
) -> Html:
    """A table that scrolls by itself where it is wider than the page; its first column names the row.

    `texts`: positions of columns of text, the others hold numbers; `marked`: rows that stand out;
    `stacked`: on a phone cells stand below each other, for rows of sentences that need no headings.
    """
    head = element(
        "tr",
        *(
            element("th", name, scope="col", class_="t" if place in texts else None)
            for place, name in enumerate(columns)
        ),
    )
    body = []
    for number, row in enumerate(rows):
        cells = [
            element("th", cell, scope="row", class_="t" if 0 in texts else None)
            if place == 0
            else element("td", cell, class_="t" if place in texts else None)
            for place, cell in enumerate(row)
        ]
        body.append(element("tr", *cells, class_="chosen" if number in marked else None))
    whole = element("table", element("caption", caption), element("thead", head), element("tbody", *body))
    # What scrolls must be within reach of the keyboard.
    name = "wide stack" if stacked else "wide"
    return element("div", whole, class_=name, role="region", aria_label=caption, tabindex="0")


def picture(data: bytes, alternative: str, caption: str) -> Html:
    """A PNG inside the page."""
    source = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    return element("figure", element("img", src=source, alt=alternative), element("figcaption", caption))


def document(title: str, *content: object) -> str:
    """A whole page."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        Html(f"<style>{STYLE}</style>"),
    )
    body = element("body", *content)
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


STYLE = """
:root{color-scheme:light;--ink:#222;--soft:#5a5a5a;--line:#d5d9de;--good:#1a6b3c;--bad:#9a3b00;--tint:#f3f6fa}
*{box-sizing:border-box}
body{margin:0 auto;max-width:62rem;padding:1rem 1.25rem 3rem;color:var(--ink);background:#fff;
font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Noto Sans CJK SC",sans-serif;
overflow-wrap:anywhere}
h1{font-size:1.7rem;line-height:1.2;margin:.5rem 0 .25rem}
h2{font-size:1.25rem;margin:2.25rem 0 .5rem;padding-top:.5rem;border-top:1px solid var(--line)}
h3{font-size:1.05rem;margin:1.25rem 0 .25rem}
p,ul{margin:.5rem 0}
ul{padding-left:1.25rem}
li{margin:.2rem 0}
.meta,figcaption,.small{color:var(--soft);font-size:.9rem}
.decision{border-left:.35rem solid var(--good);background:var(--tint);padding:.75rem 1rem;margin:1rem 0}
.decision.none{border-color:var(--bad)}
.decision p{margin:.25rem 0}
.decision strong{font-size:1.1rem}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1rem;list-style:none;padding:0;font-size:.9rem}
a{color:#0b5394}
.wide{overflow-x:auto;margin:.75rem 0}
.wide:focus-visible{outline:2px solid #0b5394}
table{border-collapse:collapse;font-size:.9rem;min-width:100%}
caption{text-align:left;font-weight:600;padding:.25rem 0}
th,td{padding:.35rem .6rem;border-bottom:1px solid var(--line);text-align:right;vertical-align:top;
white-space:nowrap;overflow-wrap:break-word;font-variant-numeric:tabular-nums}
th.t,td.t{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:8rem}
thead th,thead th.t{border-bottom:2px solid var(--ink);vertical-align:bottom;white-space:normal;
overflow-wrap:break-word}
tbody th{font-weight:400}
tr.chosen{background:var(--tint)}
tr.chosen th{font-weight:700}
.raised{color:var(--bad);font-weight:600}
figure{margin:1rem 0}
img{max-width:100%;height:auto;border:1px solid var(--line)}
details{margin:.5rem 0}
summary{cursor:pointer;font-weight:600}
pre{overflow-x:auto;background:var(--tint);padding:.75rem;font-size:.8rem;line-height:1.4}
@media (max-width:30rem){body{padding:.75rem .75rem 2rem}h1{font-size:1.4rem}th,td{padding:.3rem .4rem}
.stack thead{display:none}.stack tr,.stack th,.stack td{display:block;text-align:left;
white-space:normal;border:0}.stack tr{border-bottom:1px solid var(--line);padding:.3rem 0}
.stack th,.stack td{padding:.1rem .25rem}}
@media print{body{max-width:none;padding:0;font-size:10pt}nav{display:none}h2{break-after:avoid}
figure,tr,.decision{break-inside:avoid}.wide{overflow:visible}table{font-size:8.5pt}
th,td{padding:.2rem .35rem}th.t,td.t{min-width:4.5rem}
pre{white-space:pre-wrap}a{color:inherit;text-decoration:none}}
"""
"""The style of the page: for screens of any width and for paper."""
