"""Putting the collector of cycles off: while anybody asks for it, and as it was before afterwards."""

from __future__ import annotations

import gc
import threading

import pytest
from aide_crawler.memory import collecting_later


def test_the_collector_waits_and_comes_back() -> None:
    assert gc.isenabled()
    with collecting_later():
        assert not gc.isenabled()
        with collecting_later():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_comes_back_after_an_error() -> None:
    with pytest.raises(ValueError, match="broken"), collecting_later():
        raise ValueError("broken")
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with collecting_later():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_it_waits_for_the_last_of_several_threads() -> None:
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with collecting_later():
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with collecting_later():
        thread.start()
        assert entered.wait(10)
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()
