"""Whether a text that is no UTF-8 was written by a Western office or by a Chinese one.

Nearly every file in the Western code page 1252 also decodes as GB18030: an accented letter and the letter
after it become one rare sign (`Prüfung` becomes `Pr黤ung`). What tells them apart is how bytes of 128 and
more stand. In GB18030 nearly every sign in use (GB 2312, 1980) is two of them; in Western text an accented
letter stands alone between letters of ASCII.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

__all__ = ["WESTERN", "is_western"]

WESTERN = "cp1252"


def is_western(blocks: Iterable[bytes]) -> bool:
    """Whether most bytes of 128 and more stand alone, and all are signs of the Western code page."""
    alone = others = 0
    for block in blocks:
        try:
            block.decode(WESTERN)
        except UnicodeDecodeError:
            return False
        high = np.concatenate(([False], np.frombuffer(block, dtype=np.uint8) >= 128, [False]))
        single = int((high[1:-1] & ~high[:-2] & ~high[2:]).sum())
        alone += single
        others += int(high.sum()) - single
    return alone > others
