"""Named random streams: the same name gives the same numbers, in whatever order they are asked for.

A stream is keyed by the seed, the number of the replication and a name such as
`("arrivals", "support-bot")`. Strategies ask for the same names, so they are compared on common
random numbers; workers ask for the same names, so their number changes nothing.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

__all__ = ["Streams"]


@dataclass(frozen=True, slots=True)
class Streams:
    """The random streams of one replication (`seed` and `replication` are counted from 0)."""

    seed: int
    replication: int = 0

    def generator(self, *name: str | int) -> np.random.Generator:
        """A fresh generator for the stream of this name, at its beginning."""
        text = "\x1f".join(str(part) for part in name)
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        words = [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4)]
        key = np.random.SeedSequence(self.seed, spawn_key=(self.replication, *words))
        return np.random.Generator(np.random.PCG64DXSM(key))
