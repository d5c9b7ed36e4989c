"""Addresses that stay: `/admin/go/urn:aide:dataset:12/` leads to the page of a thing, whatever it is called now."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.urls import reverse

from aide.core.ids import row_id
from registry.models import PIITag, System

PREFIX = "urn:aide:"
PAGES = {
    "system": "admin:registry_system_change",
    "dataset": "admin:registry_dataset_change",
    "field": "admin:registry_field_change",
    "version": "admin:registry_datasetschema_change",
    "type": "admin:registry_datatype_change",
    "tag": "admin:registry_piitag_change",
    "run": "admin:crawling_crawlrun_change",
    "review": "admin:crawling_review",
    "schedule": "admin:crawling_crawlplan_change",
    "event": "admin:lineage_event_change",
    "entry": "admin:audit_auditentry_change",
    "person": "admin:accounts_user_change",
    "batch": "admin:desk_batch",
}
BY_CODE: dict[str, Any] = {"system": System, "tag": PIITag}


def urn_of(kind: str, key: Any) -> str:
    """The lasting name of a thing, such as urn:aide:dataset:12."""
    return f"{PREFIX}{kind}:{key}"


def go(request: HttpRequest, urn: str) -> HttpResponseRedirect:
    """Lead to the page, with the query as it is: the page itself says who may see it, or that it is gone."""
    kind, _, key = urn.removeprefix(PREFIX).partition(":")
    if kind not in PAGES or not key:
        raise Http404
    target = reverse(PAGES[kind], args=[_number(kind, key)])
    query = request.GET.urlencode()
    return HttpResponseRedirect(f"{target}?{query}" if query else target)


def _number(kind: str, key: str) -> Any:
    if kind == "batch":
        try:
            return uuid.UUID(key)
        except ValueError:
            raise Http404 from None
    number = row_id(key)
    if not number and kind in BY_CODE:
        rows = BY_CODE[kind].objects.alive().filter(code=key[:64].replace("\x00", ""))
        number = rows.values_list("pk", flat=True).first() or 0
    if not number:
        raise Http404
    return number
