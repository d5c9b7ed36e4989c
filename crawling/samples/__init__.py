"""The bundled sample shop, our own: a SQLite database for the demo and the tests, and what came next."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

FOLDER = Path(__file__).parent


def build_shop(path: Path) -> None:
    """Make the shop's database file; one that is there already is replaced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    try:
        _run(fresh, "shop.sql")
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def change_shop(path: Path) -> None:
    """Do to a shop's database what its developers did next; whole, or not at all."""
    _run(path, "shop_next.sql")


def _run(path: Path, script: str) -> None:
    text = (FOLDER / script).read_text(encoding="utf-8")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        try:
            connection.executescript(f"BEGIN;\n{text}\nCOMMIT;")
        except sqlite3.Error:
            connection.rollback()
            raise
