"""A client of AIDE's HTTP API, async and sync, and an offline spool for events."""

from __future__ import annotations

from aide_sdk.client import AideClient, SyncAideClient
from aide_sdk.engine import Retries
from aide_sdk.errors import (
    AideError,
    AuthError,
    ConflictError,
    NotFoundError,
    RateLimitedError,
    SpoolFullError,
    TransportError,
    ValidationError,
)
from aide_sdk.spool import Bounds, EventSpool, SpoolState

__all__ = [
    "AideClient",
    "AideError",
    "AuthError",
    "Bounds",
    "ConflictError",
    "EventSpool",
    "NotFoundError",
    "RateLimitedError",
    "Retries",
    "SpoolFullError",
    "SpoolState",
    "SyncAideClient",
    "TransportError",
    "ValidationError",
]
