"""Commands that are imported when they are asked for: `fleetsim --help` waits for none of them.

A table gives the name of each command, where its function stands and its line in the help. The parser
of a command is made when the command is chosen, and with it its module and what that imports.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

__all__ = ["Later", "Table", "table_group"]


class Later(NamedTuple):
    """A row of a table of commands."""

    place: str
    """Module and function: `sim.cli.compare:compare`. A function without parameters that returns a
    `typer.Typer` is a group of commands."""
    help: str
    """The line in the help: the first paragraph of the function's own help, which a test compares."""
    is_group: bool = False

    def made(self, name: str) -> Any:
        """Import the function and make its parser."""
        module, _, function = self.place.partition(":")
        found = getattr(import_module(module), function)
        if self.is_group:
            return typer.main.get_command(found())
        alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        alone.command(name)(found)
        return typer.main.get_command(alone)


Table = Mapping[str, Later]
"""Name of a command -> where it is, in the order of the help."""


class _Commands(MutableMapping[str, Any]):
    """The commands of a table as a group wants them; each is made when it is first looked up."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._table[name].made(name)
        return self._made[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        raise TypeError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


def table_group(table: Table) -> type[TyperGroup]:
    """The class of a group whose commands are those of a table: the `cls` of a `typer.Typer`."""

    class Group(TyperGroup):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**{**settings, "commands": None})
            self.commands = _Commands(table)

        def invoke(self, ctx: Any) -> Any:
            """Run the command that is asked for. What its parser says of a bad value is said without the
            word that the library below puts before it."""
            try:
                return super().invoke(ctx)
            except typer.BadParameter as error:
                error.message = error.message.removeprefix("Value error, ")
                raise

        def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  # the signature of the class above
            return list(table)

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            """The list of commands in the help, from the table alone."""
            lines: dict[str, Any] = {name: TyperCommand(name, help=row.help) for name, row in table.items()}
            TyperGroup(commands=lines).format_commands(ctx, formatter)

    return Group
