"""Waiting for what another process or thread does."""

from __future__ import annotations

import time
from collections.abc import Callable

BUSY = 4.0  # how many times slower than alone a test may run beside others


def wait_until(condition: Callable[[], bool], *, timeout: float = 10.0, every: float = 0.05) -> None:
    """Wait for a condition that another process or thread makes true; fail in words when it does not come.

    `timeout` is in seconds of an idle machine; on a busy one several times as long is waited.
    """
    patience = timeout * BUSY
    deadline = time.monotonic() + patience
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not true after {patience} s: {getattr(condition, '__name__', condition)}")
        time.sleep(every)
