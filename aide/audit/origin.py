"""By what way and on whose behalf the present code runs; set by middleware, commands and workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Origin:
    """Where an action comes from. `via` is one of ui, api, command, crawl, system."""

    via: str = "system"
    request_id: str = ""
    ip: str = ""
    user_agent: str = ""


_UNSET = Origin()
_origin: ContextVar[Origin] = ContextVar("audit_origin", default=_UNSET)


def current() -> Origin:
    """The origin of what is running now."""
    return _origin.get()


@contextmanager
def acting(origin: Origin) -> Iterator[None]:
    """Run a block with an origin."""
    token = _origin.set(origin)
    try:
        yield
    finally:
        _origin.reset(token)
