"""Files that are made to trip a reader, one by one: what is wrong is said, with the place."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sim.catalog import load_catalog
from sim.claims.read import read_claims
from sim.errors import InputError
from sim.load import load
from sim.physics.constants import load_constants
from sim.replication import prepare
from tests.fuzz.bounds import bounded, judged, located
from tests.load_helpers import SMALL

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)
"""Ten thousand million words in half a kilobyte."""

READERS: dict[str, Callable[[Path], object]] = {
    "scenario": load,
    "prices": load_catalog,
    "claims": lambda file: read_claims([file]),
    "calibration": load_constants,
}

FILES: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \n\n",
    "comment": b"# nothing\n",
    "null": b"null\n",
    "word": b"word\n",
    "list": b"- a\n",
    "number": b"1e400\n",
    "zero byte": b"name: a\x00b\n",
    "UTF-16": "name: a\n".encode("utf-16"),
    "no UTF-8": b"name: \xff\xfe\xfa\n",
    "surrogate": b"name: \xed\xa0\x80\n",
    "aliases": BOMB.encode(),
    "alias of itself": b"claims: &a [*a]\noffers: *a\n",
    "mapping in itself": b"host: &a {startup: *a}\noffers: []\n",
    "merged": b"a: &a {x: 1}\nb: {<<: *a}\n",
    "tag": b"name: !!python/object/apply:os.system [id]\n",
    "own tag": b"name: !x 1\n",
    "date that is none": b"name: 2026-02-30\noffers: 2026-13-45 99:99:99\n",
    "binary": b"name: !!binary '*'\n",
    "integer tag": b"name: !!int x\n",
    "directive": b"%YAML 9.9\n---\nname: a\n",
    "two documents": b"name: a\n---\nname: b\n",
    "key twice": b"name: a\nname: b\n",
    "key of a list": b"? [a]\n: b\n",
    "key of a mapping": b"? {a: b}\n: c\n",
    "tab": b"name:\n\t- a\n",
    "open quote": b"name: 'a\n",
    "open bracket": b"name: [a\n",
    "deep": b"name: " + b"[" * 100_000,
    "deep and whole": b"name: " + b"[" * 400 + b"]" * 400 + b"\n",
    "deep mappings": b"".join(b" " * n + b"a:\n" for n in range(300)),
    "huge integer": b"name: " + b"9" * 10_000 + b"\n",
    "huge hexadecimal": b"name: 0x" + b"f" * 10_000 + b"\n",
    "huge float": b"name: 1" + b"0" * 400 + b".5\n",
    "long key": b"k" * 100_000 + b": 1\n",
    "many keys": b"".join(b"k%d: 1\n" % n for n in range(8_000)),
    "long line": b"name: " + b"x" * 3_000_000 + b"\n",
    "long file": b"name: a # " + b"x" * 10 + b"\n" + b"# y\n" * 2_000_000,
    "line separator": "name: a\u2028horizon: 30d\u0085start: x\n".encode(),
}

SPECIAL = ("missing", "folder", "dangling link", "link to itself", "device", "named pipe's name", "no right")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", FILES)
def test_files_that_trip(tmp_path: Path, reader: str, name: str) -> None:
    file = tmp_path / "odd.yaml"
    file.write_bytes(FILES[name])
    answer = judged(lambda: READERS[reader](file), f"{reader}: {name}")
    if answer == "answered":
        # A price list or calibration with nothing in it changes nothing.
        assert reader in ("prices", "calibration"), name
        assert name in ("mapping in itself",) or not FILES[name].strip(), name


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", SPECIAL)
def test_what_is_no_readable_file(tmp_path: Path, reader: str, kind: str) -> None:
    file = tmp_path / "odd.yaml"
    if kind == "folder":
        file.mkdir()
        if reader == "prices":
            (file / "inner.yaml").mkdir()
    elif kind == "dangling link":
        file.symlink_to(tmp_path / "nowhere")
    elif kind == "link to itself":
        file.symlink_to(file)
    elif kind == "device":
        file = Path("/dev/null/x.yaml")
    elif kind == "named pipe's name":
        file = tmp_path / ("x" * 300)
    elif kind == "no right":
        if os.geteuid() == 0:
            pytest.skip("nothing is forbidden to root")
        file.write_text(SMALL)
        file.chmod(0)
    with pytest.raises(InputError) as raised, bounded():
        READERS[reader](file)
    located(raised.value, kind)


OUTSIDE = (
    "../../../etc/passwd",
    "/etc/passwd",
    "x" * 300,
    "a\x00b",
    ".",
    "",
    "link.csv",
    "link.yaml",
    "no\nfile",
    "\ud800",
)


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("key", ["extends", "catalog", "performance", "trace"])
def test_names_of_files_that_lead_away(tmp_path: Path, key: str, name: str) -> None:
    """Its owner may name any file of this machine; what is none is said, with the key."""
    (tmp_path / "link.csv").symlink_to(tmp_path / "link.csv")
    (tmp_path / "link.yaml").symlink_to(tmp_path)
    file = tmp_path / "odd.yaml"
    shown = '"' + name.replace("\n", "\\n").replace("\x00", "\\0").replace("\ud800", "\\ud800") + '"'
    if key == "trace":
        text = SMALL.replace("workload:", f"workload:\n  trace: {{file: {shown}}}")
    else:
        text = f"{key}: {shown}\n{SMALL}"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as raised, bounded():
        prepare(load(file))  # a calibration is read where physics is asked
    located(raised.value, text)


def test_line_ends_of_windows_change_nothing(tmp_path: Path) -> None:
    plain, windows, marked = (tmp_path / f"{n}.yaml" for n in range(3))
    plain.write_bytes(SMALL.encode())
    windows.write_bytes(SMALL.replace("\n", "\r\n").encode())
    marked.write_bytes(SMALL.replace("\n", "\r\n").encode("utf-8-sig"))
    assert load(plain).scenario == load(windows).scenario == load(marked).scenario
    broken = SMALL.replace("count: 2", "count: two").replace("\n", "\r\n")
    windows.write_bytes(broken.encode())
    with pytest.raises(InputError) as raised:
        load(windows)
    assert raised.value.problems[0].line == broken[: broken.index("count: two")].count("\r\n") + 1


def test_a_link_to_a_scenario_reads_beside_the_link(tmp_path: Path) -> None:
    """Files that a scenario names lie beside the name under which it was opened."""
    (tmp_path / "there").mkdir()
    (tmp_path / "here").mkdir()
    (tmp_path / "there" / "base.yaml").write_text(SMALL)
    (tmp_path / "there" / "x.yaml").write_text("extends: base.yaml\nname: other\n")
    (tmp_path / "here" / "x.yaml").symlink_to(tmp_path / "there" / "x.yaml")
    with pytest.raises(InputError, match=r"there is no such file beside x\.yaml"):
        load(tmp_path / "here" / "x.yaml")
    (tmp_path / "here" / "base.yaml").symlink_to(tmp_path / "there" / "base.yaml")
    assert load(tmp_path / "here" / "x.yaml").scenario.name == "other"
