"""Events on disk: a SQLite file in a folder that several processes may share. Only `aide_sdk.spool` uses it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

FILE = "events.sqlite3"
_BUSY_SECONDS = 20.0
_TABLES = """
CREATE TABLE IF NOT EXISTS waiting (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, body TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS refused (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, body TEXT NOT NULL, reason TEXT NOT NULL,
    at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
);
"""


@dataclass(frozen=True)
class Spooled:
    """One event on disk. `seq` rises in the order of arrival."""

    seq: int
    kind: str
    body: str


@dataclass(frozen=True)
class Refused:
    """An event that the server will never take, with its reason and the time of the refusal."""

    kind: str
    body: str
    reason: str
    at: str


class Store:
    """One connection to the file, for one thread. What `add` returned from is on the disk itself (fsync)."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._connection = sqlite3.connect(
            folder / FILE,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.executescript(_TABLES)
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def add(self, events: Iterable[tuple[str, str]]) -> None:
        """Append (kind, body)s, all or none."""
        with self._transaction() as connection:
            connection.executemany("INSERT INTO waiting (kind, body) VALUES (?, ?)", events)

    def first(self, *, most: int, most_bytes: int) -> list[Spooled]:
        """The oldest events of one kind, as many as fit, at least one if there is any."""
        rows = self._connection.execute(
            "SELECT seq, kind, body FROM waiting ORDER BY seq LIMIT ?", (most,)
        ).fetchall()
        found: list[Spooled] = []
        size = 0
        for row in rows:
            event = Spooled(*row)
            size += len(event.body)
            if found and (event.kind != found[0].kind or size > most_bytes):
                break
            found.append(event)
        return found

    def settle(self, done: Sequence[Spooled], refused: Sequence[tuple[Spooled, str]] = ()) -> None:
        """Forget what the server has, and put aside what it will never take."""
        with self._transaction() as connection:
            connection.executemany(
                "INSERT INTO refused (kind, body, reason) VALUES (?, ?, ?)",
                [(event.kind, event.body, reason[:1000]) for event, reason in refused],
            )
            gone = [(event.seq,) for event in (*done, *(event for event, _ in refused))]
            connection.executemany("DELETE FROM waiting WHERE seq = ?", gone)

    def counts(self) -> tuple[int, int]:
        """How many wait, and how many were refused."""
        row = self._connection.execute(
            "SELECT (SELECT count(*) FROM waiting), (SELECT count(*) FROM refused)"
        ).fetchone()
        return int(row[0]), int(row[1])

    def refused(self) -> list[Refused]:
        rows = self._connection.execute("SELECT kind, body, reason, at FROM refused ORDER BY seq").fetchall()
        return [Refused(*row) for row in rows]

    def bytes_used(self) -> int:
        """The size of what is stored; space that was freed does not count."""

        def pragma(name: str) -> int:
            return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

        return (pragma("page_count") - pragma("freelist_count")) * pragma("page_size")


class DrainLock:
    """Lets one process at a time send from a folder. The operating system frees it when the process dies."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._connection = sqlite3.connect(
            folder / "draining.sqlite3", timeout=0, isolation_level=None, check_same_thread=False
        )

    def take(self) -> bool:
        """Whether it is ours now."""
        try:
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            return False
        return True

    def give_back(self) -> None:
        self._connection.execute("ROLLBACK")

    def close(self) -> None:
        self._connection.close()
