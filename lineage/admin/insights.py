"""Two readings of metadata events: one resource as sessions, and how good the events of each subject are."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from lineage import quality, schemas, searching
from lineage.models import Event
from lineage.sessions import Session, Told, sessions

MOST_OF_A_RESOURCE = 1_000
LATEST_EVENTS = 200
MOST_OFFERED = 20
MOST_AUDITED = 50_000
SPANS = (("1", "the last day"), ("7", "the last 7 days"), ("30", "the last 30 days"))
STATE_CHIPS = {"open": "info", "completed": "ok", "failed": "bad"}
RULES = {
    "missing_key": "A key is missing",
    "irregular_resource": "The resource is named oddly",
    "not_closed": "It never ended",
    "schema": "It breaks a schema",
}


def session_page(request: HttpRequest) -> HttpResponse:
    """All events of one resource, as the runs that they tell of."""
    resource = request.GET.get("resource", "")
    told: list[Told] = []
    is_capped = False
    if resource and "\x00" not in resource:
        told, is_capped = searching.told(Event.objects.filter(resource=resource), most=MOST_OF_A_RESOURCE)
    context: dict[str, Any] = {
        "title": f"Sessions of {resource}"[:200] if resource else "Sessions",
        "resource": resource,
        "sessions": [_shown(each) for each in reversed(sessions(told))],
        "count": len(told),
        "is_capped": is_capped,
        "offered": [] if resource else _latest_resources(),
    }
    return render(request, "admin/lineage/sessions.html", {**admin.site.each_context(request), **context})


def _latest_resources() -> list[str]:
    """Where one may begin without a name: the resources of the latest events."""
    latest = Event.objects.exclude(resource="").order_by("-happened_at", "-pk")
    return list(dict.fromkeys(latest.values_list("resource", flat=True)[:LATEST_EVENTS]))[:MOST_OFFERED]


def _shown(session: Session) -> dict[str, Any]:
    return {
        "session": session,
        "chip": STATE_CHIPS[session.state],
        "seconds": dt.timedelta(seconds=round(session.seconds)),
        "groups": [
            (words, [(key, _plain(value)) for key, value in sorted(values.items())])
            for words, values in (
                ("Parameters", session.parameters),
                ("Metrics", session.metrics),
                ("Records", session.counts),
            )
            if values
        ],
    }


def _plain(value: Any) -> Any:
    """1200 for 1200.0: a count is written as one counts."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def quality_page(request: HttpRequest) -> HttpResponse:
    """What the events of each subject lack, name oddly or leave open, the worst first."""
    days = request.GET.get("days", "7")
    days = days if days in dict(SPANS) else "7"
    now = timezone.now()
    span = Event.objects.filter(happened_at__gte=now - dt.timedelta(days=int(days)), happened_at__lte=now)
    told, is_capped = searching.told(span, most=MOST_AUDITED)
    found = quality.audit(told, until=now, check=schemas.active_checker().check)
    context: dict[str, Any] = {
        "title": "Quality of events",
        "subjects": [
            {
                "subject": each.subject,
                "events": each.events,
                "percent": int(each.score * 100),
                "findings": [{"words": RULES.get(one.rule, one.rule), "one": one} for one in each.findings],
            }
            for each in found
        ],
        "count": len(told),
        "is_capped": is_capped,
        "spans": SPANS,
        "days": days,
    }
    return render(request, "admin/lineage/quality.html", {**admin.site.each_context(request), **context})
