"""The thread that sends what is on the disk, in order, as long as it takes. Only `EventSpool` uses it."""

from __future__ import annotations

import logging
import random
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

from aide_sdk.client import SyncAideClient
from aide_sdk.errors import AideError
from aide_sdk.spool.sending import send
from aide_sdk.spool.store import DrainLock, Store

logger = logging.getLogger(__name__)

BATCH = 100
BATCH_BYTES = 1024 * 1024
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 30.0
_OTHERS_TURN = 0.25
_LAST_TURNS = 8


class Drain:
    """Sends from one folder. It starts with the first `wake` and ends with the program, which it holds up for
    as long as the server takes events, and for one failed attempt at most.

    on_settled: is told the bytes on the disk. may_follow: whether the program's end will still bring something.
    """

    def __init__(
        self,
        folder: Path,
        connect: Callable[[], SyncAideClient],
        *,
        on_settled: Callable[[int], None],
        may_follow: Callable[[], bool],
    ) -> None:
        self._folder = folder
        self._connect = connect
        self._on_settled = on_settled
        self._may_follow = may_follow
        self._changed = threading.Condition()
        self._has_work = False
        self._at_once = False
        self._is_closing = False
        self._is_empty = True
        self._thread: threading.Thread | None = None
        self.trouble = ""

    def wake(self, *, at_once: bool = False) -> None:
        """There is something to send, or somebody waits for it (`at_once` ends a pause between attempts)."""
        with self._changed:
            self._has_work, self._is_empty, self._is_closing = True, False, False
            self._at_once = self._at_once or at_once
            self.start()
            self._changed.notify_all()

    def start(self) -> None:
        """Have the thread running, to wait for work."""
        with self._changed:
            if self._thread is None or not self._thread.is_alive():
                self._is_closing = False
                self._thread = threading.Thread(
                    target=self._work, name="event spool: to the server", daemon=False
                )
                self._thread.start()

    def wait_until_empty(self, until: float) -> None:
        with self._changed:
            while not self._is_empty and (left := until - time.monotonic()) > 0:
                self._changed.wait(left)

    def close(self) -> None:
        """End the thread after what it is just doing."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(timeout=10.0)

    def _is_ending(self) -> bool:
        return self._is_closing or not threading.main_thread().is_alive()

    def _work(self) -> None:
        client: SyncAideClient | None = None
        store: Store | None = None
        lock: DrainLock | None = None
        pause, turns = _FIRST_PAUSE, 0
        try:
            while self._wait_for_work():
                try:
                    lock = lock or DrainLock(self._folder)
                    store = store or Store(self._folder)
                    if not lock.take():
                        turns = turns + 1 if self._is_ending() else 0
                        if turns > _LAST_TURNS:
                            return  # it stays on the disk, and whoever sends from this folder sends it
                        self._rest(_OTHERS_TURN)
                        self._look_again(store)
                        continue
                    try:
                        client = client or self._connect()
                        self._send_all(client, store)
                    finally:
                        lock.give_back()
                except (AideError, sqlite3.Error, OSError, ValueError) as error:
                    self._tell(error)
                    if self._is_ending():
                        return
                    asked = error.retry_after if isinstance(error, AideError) else None
                    self._rest(min(asked or pause * (1 - random.random() / 2), _LONGEST_PAUSE))  # noqa: S311
                    pause = min(pause * 2, _LONGEST_PAUSE)
                else:
                    pause = _FIRST_PAUSE
        finally:
            for each in (client, store):
                if each is not None:
                    each.close()

    def _wait_for_work(self) -> bool:
        with self._changed:
            while not self._has_work:
                if self._is_closing or (self._is_ending() and not self._may_follow()):
                    return False
                self._changed.wait(0.1)
            return not self._is_closing

    def _send_all(self, client: SyncAideClient, store: Store) -> None:
        while not self._is_closing:
            with self._changed:
                self._has_work = False
            events = store.first(most=BATCH, most_bytes=BATCH_BYTES)
            if not events:
                self.trouble = ""
                self._note_empty()
                return
            with self._changed:
                self._has_work = True
            outcome = send(client, events)
            store.settle(outcome.done, outcome.refused)
            self._on_settled(store.bytes_used())
            for event, reason in outcome.refused:
                logger.error("The AIDE server refused a %s event for good: %s", event.kind, reason)

    def _look_again(self, store: Store) -> None:
        """While another process sends: it may have sent ours."""
        with self._changed:
            self._has_work = False
        if store.counts()[0] == 0:
            self._note_empty()
        else:
            with self._changed:
                self._has_work = True

    def _note_empty(self) -> None:
        with self._changed:
            if not self._has_work:
                self._is_empty = True
                self._changed.notify_all()

    def _rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        with self._changed:
            while (left := until - time.monotonic()) > 0 and not self._at_once and not self._is_ending():
                self._changed.wait(min(left, 0.1))
            self._at_once = False

    def _tell(self, error: Exception) -> None:
        text = str(error)
        if text != self.trouble:
            logger.warning("Events wait on the disk; the AIDE server does not take them: %s", text)
        self.trouble = text
