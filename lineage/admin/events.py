"""Metadata events as a list and a page to read; nobody writes them here."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html, format_html_join

from aide.core.admin import ReadOnlyAdmin
from aide.core.html import NOTHING, ago, chip, short_name
from lineage.admin.delivery import DELIVERY_CHIPS, delivery_of
from lineage.models import Event
from lineage.searching import with_value

SHOWN_VALUES = 3
NEIGHBOURS = 20


class TimeFilter(admin.SimpleListFilter):
    """By when it happened; each span is a range of the index by time."""

    title = "time"
    parameter_name = "within"
    spans = (
        ("1h", "last hour", 1),
        ("1d", "last day", 24),
        ("7d", "last 7 days", 168),
        ("30d", "last 30 days", 720),
    )

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(code, words) for code, words, _ in self.spans]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        hours = {code: hours for code, _, hours in self.spans}.get(self.value() or "")
        return (
            queryset.filter(happened_at__gte=timezone.now() - dt.timedelta(hours=hours))
            if hours
            else queryset
        )


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    page_title = "Events"
    lead = "What pipelines and programs reported: who did what to which data, newest first."
    how = (
        "Programs send events with an API key, through the SDK or Kafka. Nobody can change one.\n\n"
        "Search for a whole resource, subject, action or event id, or for a value as key=value."
    )
    empty_sentence = "No event has arrived yet. Make an API key that may send events, and send one."
    change_list_template = "admin/lineage/event/change_list.html"
    change_form_template = "admin/lineage/event/change_form.html"
    list_display = ("when", "resource_name", "subject_name", "action_name", "values_shown", "state")
    list_display_links = ("when",)
    list_filter = (TimeFilter,)
    search_fields = ("resource",)
    ordering = ("-happened_at", "-pk")
    fields = ()

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        """Whole values only: each of the four is found by its own index, however many events there are."""
        term = search_term.strip()
        if not term:
            return queryset, False
        key, equals, value = term.partition("=")
        if equals and key:
            return with_value(queryset, key.strip(), [value.strip()]), False
        return queryset.filter(Q(resource=term) | Q(subject=term) | Q(action=term) | Q(event_id=term)), False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        return lookup in {"resource", "subject", "action"} or bool(
            super().lookup_allowed(lookup, value, request)  # type: ignore[arg-type]
        )

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        changelist = super().get_changelist_instance(request)
        changelist.result_list = list(changelist.result_list)
        self.complete(changelist.result_list)
        return changelist

    def complete(self, rows: list[Any]) -> None:
        states = delivery_of([event.event_id for event in rows])
        for event in rows:
            event.delivery = states[event.event_id]

    @admin.display(description="when", ordering="happened_at")
    def when(self, event: Event) -> Any:
        return ago(event.happened_at)

    @admin.display(description="resource")
    def resource_name(self, event: Event) -> Any:
        return (
            format_html('<span class="mono">{}</span>', short_name(event.resource, length=52))
            if event.resource
            else NOTHING
        )

    @admin.display(description="subject")
    def subject_name(self, event: Event) -> Any:
        return short_name(event.subject, length=40) if event.subject else NOTHING

    @admin.display(description="action")
    def action_name(self, event: Event) -> Any:
        return short_name(event.action, length=36) if event.action else NOTHING

    @admin.display(description="values")
    def values_shown(self, event: Event) -> Any:
        pairs = list(event.additional_values.items())
        lines = format_html_join(
            "",
            '<span class="sub">{}: {}</span>',
            ((short_name(k, length=28), short_name(v, length=36)) for k, v in pairs[:SHOWN_VALUES]),
        )
        more = len(pairs) - SHOWN_VALUES
        return (
            format_html('{}<span class="sub">and {} more</span>', lines, more)
            if more > 0
            else lines or NOTHING
        )

    @admin.display(description="delivery")
    def state(self, event: Any) -> Any:
        return chip(DELIVERY_CHIPS[event.delivery], event.delivery)

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        event = kwargs.get("obj")
        if event is not None:
            near = Event.objects.filter(resource=event.resource).exclude(pk=event.pk)[:NEIGHBOURS]
            delivery = delivery_of([event.event_id])[event.event_id]
            context |= {
                "title": f"{event.action or 'Event'} of {event.subject or 'an unnamed subject'}"[:200],
                "own_title": True,
                "pairs": sorted(event.additional_values.items()),
                "neighbours": list(near) if event.resource else [],
                "delivery": delivery,
                "delivery_chip": DELIVERY_CHIPS[delivery],
            }
        return super().render_change_form(request, context, *args, **kwargs)
