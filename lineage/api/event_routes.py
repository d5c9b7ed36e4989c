"""Routes of metadata events, of what they tell together, and of the outbox."""

from __future__ import annotations

from typing import Any

from django.urls import URLPattern, path

from aide.core.api.routes import Router
from lineage.api.events import EventViewSet, door
from lineage.api.outbox import OutboxViewSet
from lineage.api.quality import EventSchemaViewSet, QualityView, SessionsView

router = Router()
router.register("metadata/schemas", EventSchemaViewSet)
router.register("metadata", EventViewSet)
router.register("outbox", OutboxViewSet)

urlpatterns: list[Any] = [
    path("metadata/quality", QualityView.as_view()),
    path("metadata/sessions/<path:resource>", SessionsView.as_view()),
    *router.urls,
]
for _pattern in urlpatterns:
    if isinstance(_pattern, URLPattern) and _pattern.name == "event-list":
        _pattern.callback = door(_pattern.callback)
