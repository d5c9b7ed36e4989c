"""Routes of the events', the outbox's and the lineage's API."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("", include("lineage.api.event_routes")),
    path("", include("lineage.api.lineage_routes")),
]
