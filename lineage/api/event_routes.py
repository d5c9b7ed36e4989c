"""Routes of metadata events and of the outbox."""

from __future__ import annotations

from django.urls import URLPattern

from aide.core.api.routes import Router
from lineage.api.events import EventViewSet, door
from lineage.api.outbox import OutboxViewSet

router = Router()
router.register("metadata", EventViewSet)
router.register("outbox", OutboxViewSet)

urlpatterns = list(router.urls)
for _pattern in urlpatterns:
    if isinstance(_pattern, URLPattern) and _pattern.name == "event-list":
        _pattern.callback = door(_pattern.callback)
