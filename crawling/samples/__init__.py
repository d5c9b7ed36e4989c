"""The bundled sample shop, our own: a SQLite database for the demo and the tests, and what came next."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

FOLDER = Path(__file__).parent
# The shop's life. The file's user_version says how many of these it has seen.
STAGES = ("shop.sql", "shop_next.sql", "shop_later.sql")


def build_shop(path: Path) -> None:
    """Make the shop's database file at its first stage; one that is there already is replaced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    try:
        _run(fresh, 0)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def stage_of(path: Path) -> int:
    """How many stages a shop's file has seen, from 1."""
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def change_shop(path: Path) -> bool:
    """Do to a shop's file what its developers did next, whole or not at all; False when nothing comes next."""
    stage = stage_of(path)
    if stage >= len(STAGES):
        return False
    _run(path, stage)
    return True


def _run(path: Path, stage: int) -> None:
    text = (FOLDER / STAGES[stage]).read_text(encoding="utf-8")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        try:
            connection.executescript(f"BEGIN;\n{text}\nPRAGMA user_version = {stage + 1};\nCOMMIT;")
        except sqlite3.Error:
            connection.rollback()
            raise
