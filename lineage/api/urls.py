"""Routes of the events', the outbox's and the lineage's API."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from django.urls import include, path

urlpatterns: list[Any] = [
    path("", include(module))
    for module in ("lineage.api.event_routes", "lineage.api.lineage_routes")
    if find_spec(module)
]
