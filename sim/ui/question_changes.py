"""What differs between the start and the question in hand, entry by entry as a person would say it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sim.ui.question_edits import UNSET, KeyPath

__all__ = ["Change", "changes"]


@dataclass(frozen=True, slots=True)
class Change:
    """One value that is another one now; UNSET where there was or is none."""

    path: KeyPath
    """Entries of lists of named things stand by their name."""
    before: Any
    after: Any


def changes(start: Any, now: Any, path: KeyPath = ()) -> Iterator[Change]:
    """Every change from `start` to `now`. Named entries (strategies, classes) are matched by name.

    Where as many entries have no partner on both sides and the lists are as long as before, they were
    renamed: these are matched by place.
    """
    if isinstance(start, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*start, *now)):
            yield from changes(start.get(key, UNSET), now.get(key, UNSET), (*path, key))
    elif _named(start) and _named(now):
        yield from _of_named(start, now, path)
    elif isinstance(start, list) and isinstance(now, list) and _has_mappings([*start, *now]):
        for place in range(max(len(start), len(now))):
            before = start[place] if place < len(start) else UNSET
            after = now[place] if place < len(now) else UNSET
            yield from changes(before, after, (*path, place))
    elif type(start) is not type(now) or start != now:
        yield Change(path, start, now)


def _of_named(start: list[Any], now: list[Any], path: KeyPath) -> Iterator[Change]:
    old = {str(one["name"]): one for one in start}
    new = {str(one["name"]): one for one in now}
    renamed: dict[str, str] = {}
    if len(start) == len(now):
        pairs = zip(old, new, strict=True)
        renamed = {a: b for a, b in pairs if a not in new and b not in old}
    for name, before in old.items():
        after = new.get(renamed.get(name, name), UNSET)
        yield from (
            changes(before, after, (*path, name))
            if after is not UNSET
            else [Change((*path, name), before, UNSET)]
        )
    for name, after in new.items():
        if name not in old and name not in renamed.values():
            yield Change((*path, name), UNSET, after)


def _named(value: Any) -> bool:
    """Whether this is a list of entries with names that differ."""
    if not isinstance(value, list) or not value:
        return False
    names = [one.get("name") for one in value if isinstance(one, dict)]
    return len(names) == len(value) and None not in names and len(set(map(str, names))) == len(names)


def _has_mappings(items: list[Any]) -> bool:
    return any(isinstance(one, dict) for one in items)
