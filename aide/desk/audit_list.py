"""The audit log as the desk shows it: by time, person, kind, system and risk, with its evidence pack."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_date

from aide.accounts.models import User
from aide.accounts.roles import Capability, systems_limit
from aide.audit.admin import ActionFilter, AuditEntryAdmin, RiskFilter
from aide.core.ids import row_id
from registry.models import System

MOST_CHOICES = 300
QUICK = (
    ("Last 90 days", "days=90"),
    ("Breaking, last 90 days", "days=90&risk=breaking"),
    ("Personal data, last 90 days", "days=90&risk=pii"),
)


class SpanFilter(admin.ListFilter):
    """By time: the last days, or from one day to another, both included."""

    title = "date"
    template = "admin/audit/span.html"
    spans = (("1", "last day"), ("7", "last 7 days"), ("30", "last 30 days"), ("90", "last 90 days"))
    names = ("days", "from", "to")

    def __init__(self, request: HttpRequest, params: dict[str, Any], model: Any, model_admin: Any) -> None:
        super().__init__(request, params, model, model_admin)
        for name in self.names:
            if name in params:
                self.used_parameters[name] = params.pop(name)[-1]
        self.others: list[tuple[str, str]] = []

    def has_output(self) -> bool:
        return True

    def expected_parameters(self) -> Any:
        return list(self.names)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        days = self.used_parameters.get("days")
        if days:
            spans = dict(self.spans)
            since = timezone.now() - timedelta(days=int(days)) if days in spans else None
            queryset = queryset.filter(at__gte=since) if since else queryset.none()
        for name, bound, later in (("from", "at__gte", 0), ("to", "at__lt", 1)):
            text = str(self.used_parameters.get(name, ""))
            if text:
                day = _day(text)
                queryset = queryset.filter(**{bound: day + timedelta(days=later)}) if day else queryset.none()
        return queryset

    def choices(self, changelist: Any) -> Any:
        used = self.used_parameters
        own = {"q": changelist.query} if changelist.query else {}
        self.others = [
            *own.items(),
            *((n, v) for n, vs in changelist.filter_params.items() if n not in self.names for v in vs),
        ]
        yield {
            "selected": not used,
            "query_string": changelist.get_query_string(remove=self.names),
            "display": "any",
        }
        for code, words in self.spans:
            query = changelist.get_query_string({"days": code}, ["from", "to"])
            yield {"selected": used.get("days") == code, "query_string": query, "display": words}
        if used.get("from") or used.get("to"):
            words = " ".join(f"{name} {used[name]}" for name in ("from", "to") if used.get(name))
            yield {"selected": True, "query_string": changelist.get_query_string(), "display": words}


def _day(text: str) -> datetime | None:
    try:
        day = parse_date(text)
        return (
            timezone.make_aware(datetime.combine(day, time.min)) if day and 1900 < day.year < 9000 else None
        )
    except ValueError:
        return None


class PersonFilter(admin.SimpleListFilter):
    title = "person"
    parameter_name = "person"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        people = User.objects.order_by("full_name", "email").only("pk", "full_name", "email")
        return [(str(each.pk), str(each)) for each in people[:MOST_CHOICES]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset.filter(actor=row_id(value)) if value else queryset


class SystemFilter(admin.SimpleListFilter):
    title = "system"
    parameter_name = "system"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        systems = System.objects.order_by("code")
        limit = systems_limit(request.user, Capability.READ_AUDIT)
        if limit is not None:
            systems = systems.filter(pk__in=limit)
        return [(code, code) for code in systems.values_list("code", flat=True).distinct()[:MOST_CHOICES]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset.filter(system_code=value) if value else queryset


class DeskAuditAdmin(AuditEntryAdmin):
    """Adds what needs to know people and systems."""

    change_list_template = "admin/audit/auditentry/change_list.html"
    list_filter = (  # type: ignore[assignment]
        SpanFilter, PersonFilter, ActionFilter, SystemFilter, RiskFilter,
    )  # fmt: skip

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        query = request.GET.urlencode()
        evidence = reverse("admin:audit_evidence")
        here = request.path
        extra = {
            "evidence_url": f"{evidence}?{query}" if query else evidence,
            "quick": [{"words": words, "url": f"{here}?{q}", "on": query == q} for words, q in QUICK],
        }
        return super().changelist_view(request, {**extra, **(extra_context or {})})
