"""Reads SQLite files with tables named like its pragma functions, which such a table would stand for."""

from __future__ import annotations

import re
from typing import Any

from aide_crawler.dialects.connection import Connection

_PLACE = "source"
_FUNCTION = re.compile(r"(?<![\w.])(?=pragma_\w+)")
_HIDES_FUNCTIONS = "select 1 from sqlite_master where name like 'pragma!_%' escape '!' limit 1"


def hides_functions(connection: Connection) -> bool:
    """Whether the file has a table, view or index that could be found in place of a pragma function."""
    return bool(connection.rows(_HIDES_FUNCTIONS))


class BesideConnection(Connection):
    """A connection to an empty database, where the functions are found, with the file attached beside it.

    Statements are written for the file as `main`, and read for the name that it has here.
    """

    def attach(self, location: str, encoding: str) -> None:
        """Attach the file; both databases must have the same encoding."""
        super().rows(f"pragma encoding = '{encoding}'")
        super().rows(f"attach database ? as {_PLACE}", (location,))

    def rows(self, sql: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        moved = sql.replace("'main'", f"'{_PLACE}'").replace(" sqlite_master", f" {_PLACE}.sqlite_master")
        return super().rows(_FUNCTION.sub("main.", moved), parameters)
