"""Charts that commands draw when asked, written whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from sim.whole_file import write_whole

__all__ = ["ChartOption", "write_chart", "write_charts"]

ChartOption: TypeAlias = Annotated[
    Path | None, typer.Option("-o", "--out", metavar="FILE.png", help="Draw a chart into this file.")
]


def write_chart(path: Path, picture: bytes, option: str = "--out") -> None:
    """Write the PNG that an option asks for; RunError where the disk does not take it."""
    write_whole(path, picture, "the chart", f"choose another {option} FILE.png")


def write_charts(pictures: Mapping[str, bytes], folder: Path) -> list[Path]:
    """Write pictures by the names of their files into the folder of `-o`, and say where they are; RunError
    where the disk does not take one."""
    for name, picture in pictures.items():
        write_whole(folder / name, picture, "the chart", "choose another -o FOLDER")
    return [folder / name for name in pictures]
