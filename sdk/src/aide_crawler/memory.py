"""Puts the search for unreachable cycles off while very many objects that stay are made; anybody may use it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_inside = 0
_was_on = False


@contextmanager
def collecting_later() -> Iterator[None]:
    """Objects are still freed when their last reference goes; only the collector of cycles waits.

    It would look through all objects over and over while they become more, a fifth of the time and growing. May be
    nested and used by several threads at once; the collector is as before when the last one is through.
    """
    global _inside, _was_on
    with _lock:
        if _inside == 0:
            _was_on = gc.isenabled()
            gc.disable()
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _was_on:
                gc.enable()
