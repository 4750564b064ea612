"""Byte mutations of good files: cut, doubled, swapped, flipped, and patched with what breaks readers."""

from __future__ import annotations

from random import Random

__all__ = ["PIECES", "mutated"]

PIECES: tuple[bytes, ...] = (
    b"&a [*a]",
    b"*a",
    b"&a ",
    b"<<: *a",
    b"!!python/object:os.system x",
    b"!x ",
    b"%YAML 1.1\n",
    b"--- ",
    b"...\n",
    b"? ",
    b": ",
    b"- ",
    b"{",
    b"}",
    b"[",
    b"]",
    b"[[[[[[[[[[[[[[[[[[[[[[[[",
    b"{a: " * 30,
    b"|\n",
    b">\n",
    b"#",
    b"'",
    b'"',
    b"\\x00",
    b"\t",
    b"\r\n",
    b"\r",
    b"\n",
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xc2\x85",
    b"\xe2\x80\xa8",
    b"\xe2\x80\xae",
    b".nan",
    b".inf",
    b"-.inf",
    b"NaN",
    b"1e999",
    b"-1",
    b"9" * 400,
    b"0x" + b"f" * 300,
    b"0o7",
    b"1_000",
    b"12:30:45",
    b"2026-02-30",
    b"9999-12-31",
    b"null",
    b"~",
    b"true",
    b"yes",
    b"../../x",
    b"/dev/zero",
    b"a" * 3000,
    b"strategies:\n",
    b"extends: x.yaml\n",
    b"name: [1]\n",
    b"null: 1\n",
    b"1: 1\n",
    b"? [a]\n: b\n",
    b"=cmd()",
    b"\xf0\x9f\x98\x80",
    b"\xcd\xa1" * 40,
    b"@",
    b"`",
    b"%",
)


def mutated(data: bytes, random: Random, most: int = 6) -> bytes:
    """The bytes with up to `most` changes."""
    for _ in range(random.randint(1, most)):
        data = _changed(data, random)
    return data


def _changed(data: bytes, random: Random) -> bytes:
    if not data:
        return random.choice(PIECES)
    place = random.randrange(len(data) + 1)
    stop = min(len(data), place + random.choice([0, 0, 1, 2, 10, 80]))
    kind = random.randrange(10)
    if kind == 0:  # a bit
        place = min(place, len(data) - 1)
        return data[:place] + bytes([data[place] ^ (1 << random.randrange(8))]) + data[place + 1 :]
    if kind == 1:  # cut off
        return data[:place]
    if kind == 2:  # doubled
        return data[:stop] + data[place:stop] + data[stop:]
    if kind == 3:  # lines swapped, or indented otherwise
        lines = data.split(b"\n")
        first, second = random.randrange(len(lines)), random.randrange(len(lines))
        lines[first], lines[second] = lines[second], random.choice([b"", b" ", b"  "]) + lines[first]
        return b"\n".join(lines)
    if kind == 4:
        return data.replace(b"\n", b"\r\n")
    if kind == 5:  # one word in the place of another
        words = data.split()
        return data.replace(random.choice(words or [b"x"]), random.choice([*PIECES, *words]), 1)
    return data[:place] + random.choice(PIECES) + data[stop:]
