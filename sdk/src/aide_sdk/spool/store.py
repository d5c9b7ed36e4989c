"""Events on disk: a SQLite file in a folder that several processes may share. Only `aide_sdk.spool` uses it."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


_guard = threading.RLock()
"""Held while a file is used, and over a fork: SQLite must not take open files along into a child process."""
_stores: weakref.WeakSet[Store] = weakref.WeakSet()
_draining: dict[Path, int] = {}
"""The folders that this process sends from, with the open lock file."""


def _before_fork() -> None:
    _guard.acquire()
    for store in list(_stores):
        store.close()


def _after_fork_in_child() -> None:
    for descriptor in _draining.values():
        os.close(descriptor)  # the lock stays with the parent
    _draining.clear()
    _guard.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_guard.release, after_in_child=_after_fork_in_child
    )


class Store:
    """The file of a folder. What `add` returned from is on the disk itself (fsync)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._opened: sqlite3.Connection | None = None
        with _guard:
            _stores.add(self)

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._opened is None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            opened = sqlite3.connect(
                self._folder / FILE, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                opened.execute("PRAGMA journal_mode = WAL")
                opened.execute("PRAGMA synchronous = FULL")
                opened.executescript(_TABLES)
            except BaseException:
                opened.close()
                raise
            self._opened = opened
        return self._opened

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        with _guard:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with _guard:
            connection = self._connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def add(self, events: Iterable[tuple[str, str]]) -> None:
        """Append (kind, body)s, all or none."""
        with self._transaction() as connection:
            connection.executemany("INSERT INTO waiting (kind, body) VALUES (?, ?)", events)

    def first(self, *, most: int, most_bytes: int) -> list[Spooled]:
        """The oldest events of one kind, as many as fit, at least one if there is any."""
        rows = self._rows("SELECT seq, kind, body FROM waiting ORDER BY seq LIMIT ?", most)
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
        ((waiting, refused),) = self._rows(
            "SELECT (SELECT count(*) FROM waiting), (SELECT count(*) FROM refused)"
        )
        return int(waiting), int(refused)

    def refused(self) -> list[Refused]:
        return [
            Refused(*row) for row in self._rows("SELECT kind, body, reason, at FROM refused ORDER BY seq")
        ]

    def bytes_used(self) -> int:
        """The size of what is stored; space that was freed does not count."""

        def pragma(name: str) -> int:
            return int(self._rows(f"PRAGMA {name}")[0][0])

        return (pragma("page_count") - pragma("freelist_count")) * pragma("page_size")

    def _rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with _guard:
            return self._connection.execute(statement, values).fetchall()


class DrainLock:
    """Lets one process at a time send from a folder. The operating system frees it when the process dies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    def take(self) -> bool:
        """Whether it is ours now."""
        with _guard:
            if self._folder in _draining:
                return False
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._folder / "draining.lock", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                _lock(descriptor)
            except OSError:
                os.close(descriptor)
                return False
            _draining[self._folder] = descriptor
            return True

    def give_back(self) -> None:
        with _guard:
            descriptor = _draining.pop(self._folder, None)
            if descriptor is not None:
                os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        # A lock of the process, which a child does not get along; `flock` would be shared with it.
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
