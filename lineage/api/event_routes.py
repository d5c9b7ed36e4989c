"""Routes of metadata events, of what they tell together, and of the outbox."""

from __future__ import annotations

from typing import Any

from django.urls import path

from aide.core.api.routes import Router
from lineage.api.door import door
from lineage.api.events import EventViewSet, receive_raw
from lineage.api.outbox import OutboxViewSet
from lineage.api.quality import EventSchemaViewSet, QualityView, SessionsView

router = Router()
router.register("metadata/schemas", EventSchemaViewSet)
router.register("metadata", EventViewSet)
router.register("outbox", OutboxViewSet)

# The address that is called most comes first, since addresses are tried one after the other.
urlpatterns: list[Any] = [
    path(
        "metadata",
        door(EventViewSet.as_view({"get": "list", "post": "create"}), receive_raw),
        name="event-list",
    ),
    path("metadata/quality", QualityView.as_view()),
    path("metadata/sessions/<path:resource>", SessionsView.as_view()),
    *(each for each in router.urls if getattr(each, "name", "") != "event-list"),
]
