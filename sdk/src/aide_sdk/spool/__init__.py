"""The offline spool: events are on disk within milliseconds, and reach the server whenever it can be reached.

`put` lays an event into memory, a thread writes it to the disk (fsync), and another thread sends what is on the
disk, in order. A caller is held up until its event is on the disk, and never longer than `Bounds.hold`.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aide_sdk.calls import encode
from aide_sdk.client import SyncAideClient
from aide_sdk.errors import SpoolFullError
from aide_sdk.resources.events import identified
from aide_sdk.spool.draining import Drain
from aide_sdk.spool.sending import KINDS
from aide_sdk.spool.store import FILE, Refused, Store

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Bounds:
    """disk: bytes on disk at most. memory: bytes that wait for the disk at most. hold: seconds that `put` may
    hold its caller up. exit: seconds to write the rest to the disk when the program ends."""

    disk: int = 256 * 1024 * 1024
    memory: int = 16 * 1024 * 1024
    hold: float = 0.02
    exit: float = 5.0


@dataclass
class _Pending:
    """An event on its way to the disk."""

    kind: str
    body: str
    is_durable: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class SpoolState:
    """How many events wait for the disk, wait for the server, and were refused by it for good."""

    in_memory: int
    waiting: int
    refused: int
    trouble: str = ""

    @property
    def is_empty(self) -> bool:
        return not self.in_memory and not self.waiting


class EventSpool:
    """Events for one server, in a folder. Processes may share the folder; one of them sends at a time.

    connect: makes the client that events are sent with; called in the sending thread, when there is something
        to send.

    What survives: everything that `put` has returned from within `hold` survives the end of the process in any
    way, and the loss of power as far as the disk keeps its word. Only a disk that takes longer than `hold`
    leaves an event in memory alone for that while, and that is logged.
    """

    def __init__(
        self, folder: str | Path, connect: Callable[[], SyncAideClient], *, bounds: Bounds | None = None
    ) -> None:
        self.folder = Path(folder)
        self._connect = connect
        self._bounds = bounds or Bounds()
        self._start_afresh()

    def _start_afresh(self) -> None:
        self._pid = os.getpid()
        self._changed = threading.Condition()
        self._pending: deque[_Pending] = deque()
        self._pending_bytes = 0
        self._disk_bytes = 0
        self._trouble = ""
        self._is_closing = False
        self._writer: threading.Thread | None = None
        self._drain = Drain(
            self.folder, self._connect, on_settled=self._settled, may_follow=self._has_pending
        )
        left = self.folder / FILE
        if left.exists():  # an earlier process may have left something to send
            self._disk_bytes = left.stat().st_size
            self._drain.wake()

    def put(self, kind: str, event: Mapping[str, Any]) -> str:
        """Take an event (`metadata` or `lineage`). SpoolFullError when the spool has reached its bound.

        A metadata event without an `event_id` gets one, which is returned; the server knows it by that.
        """
        if kind not in KINDS:
            raise ValueError(f"A spooled event is one of {', '.join(KINDS)}.")
        event = identified(dict(event)) if kind == "metadata" else event
        entry = _Pending(kind, encode(event).decode())
        self._notice_fork()
        with self._changed:
            self._refuse_when_full(len(entry.body))
            self._pending.append(entry)
            self._pending_bytes += len(entry.body)
            self._ensure_writer()
            self._changed.notify_all()
        if not entry.is_durable.wait(self._bounds.hold):
            logger.info("The disk of the event spool is slow; an event waits in memory.")
        return str(event.get("event_id") or "")

    def flush(self, timeout: float = 30.0) -> SpoolState:
        """Wait until the server has everything, or for `timeout` seconds; what is left."""
        self._notice_fork()
        until = time.monotonic() + timeout
        self._wait_for_disk(until)
        self._drain.wake(at_once=True)
        self._drain.wait_until_empty(until)
        return self.state()

    def state(self) -> SpoolState:
        """What is where at this moment."""
        self._notice_fork()
        store = Store(self.folder)
        try:
            waiting, refused = store.counts()
        finally:
            store.close()
        with self._changed:
            return SpoolState(len(self._pending), waiting, refused, self._trouble or self._drain.trouble)

    def refused(self) -> list[Refused]:
        """The events that the server refused for good, with its reasons. They stay in the folder."""
        store = Store(self.folder)
        try:
            return store.refused()
        finally:
            store.close()

    def close(self, timeout: float = 5.0) -> SpoolState:
        """`flush`, and end the threads. What the server did not get stays on the disk for the next start."""
        state = self.flush(timeout)
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
            writer = self._writer
        if writer is not None:
            writer.join(self._bounds.exit)
        self._drain.close()
        return state

    def _notice_fork(self) -> None:
        if self._pid != os.getpid():  # what waits in memory is the parent's, and its threads are not here
            self._start_afresh()

    def _refuse_when_full(self, size: int) -> None:
        if self._pending_bytes + size > self._bounds.memory:
            why = self._trouble or "the disk is too slow"
            raise SpoolFullError(
                f"The event spool cannot write to {self.folder} ({why}), and its memory of "
                f"{self._bounds.memory} bytes is full.",
                error_code="SPOOL_FULL",
            )
        if self._disk_bytes + self._pending_bytes + size > self._bounds.disk:
            why = self._drain.trouble or "the server is too slow"
            raise SpoolFullError(
                f"The event spool in {self.folder} has reached its bound of {self._bounds.disk} bytes; "
                f"events do not reach the server ({why}).",
                error_code="SPOOL_FULL",
            )

    def _ensure_writer(self) -> None:
        self._is_closing = False
        if self._writer is None or not self._writer.is_alive():
            # No daemon: the interpreter waits for it, and it sees for itself when the program ends.
            self._writer = threading.Thread(target=self._write, name="event spool: to disk", daemon=False)
            self._writer.start()
            self._drain.start()  # now, since some versions of Python start no threads at the program's end

    def _wait_for_disk(self, until: float) -> None:
        with self._changed:
            if self._pending:
                self._ensure_writer()
            while self._pending and (left := until - time.monotonic()) > 0:
                self._changed.wait(left)

    # The writing thread

    def _write(self) -> None:
        store: Store | None = None
        gives_up_at: float | None = None
        try:
            while True:
                with self._changed:
                    while not self._pending and not self._is_closing and threading.main_thread().is_alive():
                        self._changed.wait(0.1)
                    batch = list(self._pending)
                if not batch:
                    return
                if gives_up_at is None and not threading.main_thread().is_alive():
                    gives_up_at = time.monotonic() + self._bounds.exit
                try:
                    store = store or Store(self.folder)
                    store.add((entry.kind, entry.body) for entry in batch)
                except (sqlite3.Error, OSError) as error:
                    self._tell_trouble(error)
                    if gives_up_at is not None and time.monotonic() > gives_up_at:
                        logger.error("%d events were lost: %s", len(batch), self._trouble)
                        return
                    time.sleep(0.2)
                    continue
                self._written(batch, store.bytes_used())
        finally:
            if store is not None:
                store.close()

    def _written(self, batch: list[_Pending], disk_bytes: int) -> None:
        self._drain.wake()
        with self._changed:
            for entry in batch:
                self._pending.popleft()
                self._pending_bytes -= len(entry.body)
            self._disk_bytes, self._trouble = disk_bytes, ""
            self._changed.notify_all()
        for entry in batch:
            entry.is_durable.set()

    def _has_pending(self) -> bool:
        return bool(self._pending) and self._writer is not None and self._writer.is_alive()

    def _settled(self, disk_bytes: int) -> None:
        with self._changed:
            self._disk_bytes = disk_bytes

    def _tell_trouble(self, error: Exception) -> None:
        text = f"{type(error).__name__}: {error}"
        if text != self._trouble:
            logger.error("Events cannot be written to %s: %s", self.folder, text)
        self._trouble = text


__all__ = ["Bounds", "EventSpool", "Refused", "SpoolState"]
