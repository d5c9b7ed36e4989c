"""The audit log as a list and a page to read; nobody can change or delete a row here."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from aide.audit.models import AuditEntry, ChainHead
from aide.core.admin import ReadOnlyAdmin
from aide.core.html import NOTHING, action_in_words, ago, ago_in_words, chip, short_name

VIA_WORDS = {"ui": "screen", "api": "API", "crawl": "crawl", "command": "command", "system": "AIDE"}


class ActionFilter(admin.SimpleListFilter):
    """By what an action is about: the part before its dot. The choices are written down, not counted."""

    title = "about"
    parameter_name = "about"
    areas = (
        ("change", "decisions"),
        ("tag", "personal-data tags"),
        ("dataset", "datasets"),
        ("field", "fields"),
        ("system", "systems"),
        ("crawl", "crawls"),
        ("login", "log-ins"),
        ("key", "API keys"),
        ("user", "people"),
        ("audit", "exports of the log"),
    )

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return self.areas

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset.filter(action__startswith=f"{value}.") if value else queryset


class RiskFilter(admin.SimpleListFilter):
    title = "risk"
    parameter_name = "risk"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("breaking", "breaking only"), ("pii", "personal data only")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "breaking":
            return queryset.filter(risk="breaking")
        return queryset.filter(touches_pii=True) if self.value() == "pii" else queryset


class AuditEntryAdmin(ReadOnlyAdmin):
    """The list and the page of an entry; `aide.desk` registers it with what needs to know people and systems."""

    page_title = "Audit log"
    lead = "Who did what, when and why. Rows are only ever added, and each is chained to the one before."
    change_form_template = "admin/audit/auditentry/change_form.html"
    list_display = ("when", "who", "did", "what", "why", "where")
    list_display_links = ("when",)
    list_filter = (ActionFilter, RiskFilter)
    search_fields = ("object_name", "actor_name", "reason", "action")
    search_help_text = ""
    ordering = ("-pk",)
    list_per_page = 100
    fields = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEntry]:
        rows = super().get_queryset(request).select_related("actor")
        seen = visible_systems(request.user)
        return rows if seen is None else rows.filter(Q(system_code__in=seen) | Q(actor=request.user.pk))

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        return lookup in {"object_type", "object_id", "dataset_id", "actor", "batch"} or bool(
            super().lookup_allowed(lookup, value, request)  # type: ignore[arg-type]
        )

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        head = ChainHead.objects.filter(pk=1).first()
        sealed = (
            f"{head.count:,} entries are sealed into the chain, the last {ago_in_words(head.sealed_at)}."
            if head and head.sealed_at
            else "No entry is sealed into the chain yet."
        )
        return super().changelist_view(request, {"lead": f"{self.lead} {sealed}", **(extra_context or {})})

    @admin.display(description="when", ordering="id")
    def when(self, entry: AuditEntry) -> Any:
        return ago(entry.at)

    @admin.display(description="who")
    def who(self, entry: AuditEntry) -> Any:
        if not entry.actor_name:
            return format_html('<span class="muted">{}</span>', "AIDE")
        name = str(entry.actor) if entry.actor else entry.actor_name
        return format_html('{}<span class="sub">{}</span>', short_name(name, length=36), entry.actor_roles)

    @admin.display(description="did")
    def did(self, entry: AuditEntry) -> Any:
        extra = chip("breaking", "breaking") if entry.risk == "breaking" else ""
        pii = chip("pii", "PII") if entry.touches_pii else ""
        return format_html("{} {} {}", action_in_words(entry.action), extra, pii)

    @admin.display(description="object")
    def what(self, entry: AuditEntry) -> Any:
        return format_html(
            '<span class="mono">{}</span><span class="sub">{}</span>',
            short_name(entry.object_name, length=52),
            entry.system_code,
        )

    @admin.display(description="reason")
    def why(self, entry: AuditEntry) -> Any:
        return short_name(entry.reason, length=60) if entry.reason else NOTHING

    @admin.display(description="via")
    def where(self, entry: AuditEntry) -> str:
        return VIA_WORDS.get(entry.via, entry.via)

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        entry = kwargs.get("obj")
        if entry is not None:
            context |= {
                "title": f"{action_in_words(entry.action).capitalize()}: {entry.object_name}"[:200],
                "own_title": True,
                "before": pretty(entry.before),
                "after": pretty(entry.after),
                "via": VIA_WORDS.get(entry.via, entry.via),
                "action_words": action_in_words(entry.action),
            }
        return super().render_change_form(request, context, *args, **kwargs)


def pretty(value: Any) -> str:
    return "" if value is None else json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)


def visible_systems(user: Any) -> list[str] | None:
    """Codes of the systems whose rows this person may read; None means all. Stewards read about their own."""
    roles: frozenset[str] = getattr(user, "role_names", frozenset())
    if roles & {"admin", "approver"}:
        return None
    systems = getattr(user, "systems", None)
    return [] if systems is None else list(systems.values_list("code", flat=True))
