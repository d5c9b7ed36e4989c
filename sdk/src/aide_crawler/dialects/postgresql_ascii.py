"""Text of PostgreSQL databases without an encoding (SQL_ASCII), where any bytes may be stored."""

from __future__ import annotations

from typing import Any

from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.adapt import Loader


class _AnyText(Loader):
    """UTF-8, and bytes that are none by their numbers (`\\xe9`), so that no two names become one."""

    def load(self, data: Buffer) -> str:
        return bytes(data).decode("utf-8", "backslashreplace")


def read_any_bytes(connection: Connection[Any]) -> None:
    """Let the connection read text and names of any bytes, which the server would not convert."""
    connection.execute("set client_encoding to sql_ascii")
    connection.commit()
    for name in ("text", "varchar", "name", "bpchar", '"char"'):
        connection.adapters.register_loader(name, _AnyText)
