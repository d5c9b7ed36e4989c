"""The Kafka outbox as a list: what waits, what was sent, what could not be, and sending that again."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.html import format_html

from aide.accounts.roles import Capability, can, why_not
from aide.core.admin import ReadOnlyAdmin
from aide.core.errors import DomainError
from aide.core.html import NOTHING, ago, ago_in_words, chip, count_in_words, short_name
from lineage import outbox, topics
from lineage.models import OutboxMessage

Status = OutboxMessage.Status
CHIPS = {Status.PENDING: "plain", Status.DELIVERED: "ok", Status.DEAD: "bad"}
MOST_AT_ONCE = outbox.MAX_REPLAYED


class StatusFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("dead", "could not be delivered"), ("pending", "waiting"), ("delivered", "delivered")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(status=self.value()) if self.value() in Status.values else queryset


class KindFilter(admin.SimpleListFilter):
    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(code, str(label).lower() + "s") for code, label in OutboxMessage.Kind.choices]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        known = self.value() in OutboxMessage.Kind.values
        return queryset.filter(kind=self.value()) if known else queryset


@admin.register(OutboxMessage)
class OutboxMessageAdmin(ReadOnlyAdmin):
    page_title = "Kafka outbox"
    noun = "message"
    lead = "What AIDE promised to Kafka. A message waits here until the broker has said that it has it."
    how = (
        "Messages with the same key keep their order. While the broker is down they wait; nothing is lost.\n\n"
        "A message that Kafka refuses for good is set aside with the reason, and can be sent again."
    )
    empty_sentence = "Nothing has been promised to Kafka yet."
    change_list_template = "admin/lineage/outboxmessage/change_list.html"
    change_form_template = "admin/lineage/outboxmessage/change_form.html"
    list_display = ("created", "state", "kind_word", "topic", "key_short", "tries", "trouble")
    list_display_links = ("created",)
    list_filter = (StatusFilter, KindFilter)
    ordering = ("-pk",)
    fields = ()

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view
        own = [
            path("retry-dead/", view(self.retry_dead), name="lineage_outbox_retry_dead"),
            path("<int:object_id>/retry/", view(self.retry), name="lineage_outbox_retry"),
            path("<int:object_id>/payload/", view(self.payload), name="lineage_outbox_payload"),
        ]
        return [*own, *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[OutboxMessage]:
        rows = super().get_queryset(request)
        match = request.resolver_match
        return rows.defer("payload") if match and str(match.url_name).endswith("_changelist") else rows

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return super().changelist_view(request, {**summary(request), **(extra_context or {})})

    def retry_dead(self, request: HttpRequest) -> HttpResponse:
        """Send what could not be delivered again, the oldest first; POST only."""
        _must_retry(request)
        ids = OutboxMessage.objects.filter(status=Status.DEAD).order_by("pk").values_list("pk", flat=True)
        return self._replayed(request, list(ids[:MOST_AT_ONCE]))

    def retry(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Send one message again; POST only."""
        _must_retry(request)
        return self._replayed(request, [object_id])

    def payload(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """The message's content as a file."""
        if not can(request.user, Capability.RETRY_OUTBOX):
            raise PermissionDenied(why_not(Capability.RETRY_OUTBOX))
        row = OutboxMessage.objects.filter(pk=object_id).first()
        if row is None:
            raise Http404
        headers = {"Content-Disposition": f'attachment; filename="message-{row.pk}.json"'}
        return HttpResponse(row.payload, content_type="application/json", headers=headers)

    def _replayed(self, request: HttpRequest, ids: list[int]) -> HttpResponse:
        try:
            answer = outbox.replay(ids, by=request.user)
        except DomainError as error:
            self.refuse(request, error)
        else:
            count = count_in_words(answer["count"], "message")
            messages.success(request, f"{count} will be sent again.")
        return HttpResponseRedirect(reverse("admin:lineage_outboxmessage_changelist"))

    @admin.display(description="promised", ordering="id")
    def created(self, row: OutboxMessage) -> Any:
        return ago(row.created_at)

    @admin.display(description="state")
    def state(self, row: OutboxMessage) -> Any:
        words = "to the log" if row.sink == "log" else row.get_status_display().lower()
        return chip(CHIPS[Status(row.status)], words)

    @admin.display(description="kind")
    def kind_word(self, row: OutboxMessage) -> str:
        return row.get_kind_display()

    @admin.display(description="key")
    def key_short(self, row: OutboxMessage) -> Any:
        return format_html('<span class="mono">{}</span>', short_name(row.key, length=44))

    @admin.display(description="tries")
    def tries(self, row: OutboxMessage) -> Any:
        return row.attempts or NOTHING

    @admin.display(description="trouble")
    def trouble(self, row: OutboxMessage) -> Any:
        return short_name(row.last_error, length=70) if row.last_error else NOTHING

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        row = kwargs.get("obj")
        if row is not None:
            context |= {
                "title": f"Message {row.pk} to {row.topic}",
                "own_title": True,
                "content": pretty(row.payload),
                "state_chip": self.state(row),
                "may_retry": can(request.user, Capability.RETRY_OUTBOX) and row.status != Status.PENDING,
                "may_download": can(request.user, Capability.RETRY_OUTBOX),
            }
        return super().render_change_form(request, context, *args, **kwargs)


def summary(request: HttpRequest) -> dict[str, Any]:
    """What stands above the list: counts up to 10,000, the oldest that waits, and how the broker is."""
    day = timezone.now() - dt.timedelta(hours=24)
    rows = OutboxMessage.objects.order_by()
    oldest = outbox.oldest_waiting()
    dead = _capped(rows.filter(status=Status.DEAD))
    return {
        "waiting": _capped(rows.filter(status=Status.PENDING)),
        "oldest": ago_in_words(oldest) if oldest else "",
        "dead": dead,
        "sent_today": _capped(rows.filter(status=Status.DELIVERED, delivered_at__gte=day)),
        **_broker(),
        "relays": outbox.relays_alive(),
        "may_retry": bool(dead) and can(request.user, Capability.RETRY_OUTBOX),
        "retry_url": reverse("admin:lineage_outbox_retry_dead"),
    }


def _broker() -> dict[str, Any]:
    """Whether Kafka is used, whether it answered last, and the topics with what their readers are behind."""
    seen = topics.known()
    listed = [
        {"topic": topic, "is_up": seen.up.get(topic, False) if seen else None, "group": "", "lag": None}
        for topic in topics.sent_to()
    ] + [
        {
            "topic": topic,
            "is_up": seen.up.get(topic, False) if seen else None,
            "group": group,
            "lag": seen.lag.get((group, topic)) if seen else None,
        }
        for group, read in topics.read_by().items()
        for topic in read
    ]
    return {
        "is_log_only": not settings.AIDE_KAFKA_SERVERS,
        "is_away": seen is not None and not seen.is_up,
        "topics": listed,
    }


def pretty(payload: str) -> str:
    """JSON with its lines; text that is none as it is."""
    try:
        return json.dumps(json.loads(payload), indent=2, ensure_ascii=False)
    except ValueError:
        return payload


def _capped(rows: QuerySet[OutboxMessage]) -> int:
    return rows[:10_001].count()


def _must_retry(request: HttpRequest) -> None:
    if request.method != "POST" or not can(request.user, Capability.RETRY_OUTBOX):
        raise PermissionDenied(why_not(Capability.RETRY_OUTBOX))
