"""Metadata events over the API: sent one by one or many at once, searched, read."""

from __future__ import annotations

import base64
import binascii
import datetime as dt
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts.idempotency import once
from aide.accounts.roles import Capability
from aide.core.api.filters import MAX_LIKE, MAX_LISTED, Filter, edge, moment, text
from aide.core.api.pagination import CursorOrPageOfItems
from aide.core.api.schema import MAX_BULK
from aide.core.api.shapes import Shape
from aide.core.api.views import ReadMixin
from aide.core.api.wire import JSONParser, load_json
from aide.core.errors import Invalid
from aide.core.problems import ApiValidationError
from lineage import events, metadata, searching
from lineage.metadata import RefusedError
from lineage.models import Event

C = Capability
VALUES = "additionalValues."
_TIMES = frozenset({"from", "to", "timestamp", "timestamp__gte", "timestamp__lte"})


class EventShape(Shape):
    """A metadata event as it was stored."""

    timestamp = serializers.SerializerMethodField(help_text="Seconds since 1970.")
    additionalValues = serializers.DictField(  # noqa: N815 (the original's name)
        source="additional_values", child=serializers.CharField(allow_blank=True)
    )
    received_at = serializers.SerializerMethodField()

    class Meta:
        model = Event
        fields = (
            *("id", "resource", "subject", "action", "timestamp", "additionalValues"),
            *("event_id", "received_at"),
        )
        read_only_fields = fields

    def get_timestamp(self, row: Event) -> float:
        return metadata.to_seconds(row.happened_at)

    def get_received_at(self, row: Event) -> str:
        return events.stamp(row.received_at)


class NewestFirst(CursorOrPageOfItems):
    """Pages, or with `?cursor=` one after the other, in the order in which things happened."""

    def paginate_queryset(  # type: ignore[override]
        self, queryset: QuerySet[Any], request: Request, view: Any = None
    ) -> list[Any] | None:
        if request.query_params.get("cursor") is None:
            return super().paginate_queryset(queryset, request, view)
        if "sort" in request.query_params or "page" in request.query_params:
            detail = "A cursor goes from the newest to the oldest; leave out page and sort."
            raise ApiValidationError([{"field": "cursor", "code": "invalid", "detail": detail}])
        return self.follow(queryset, request)

    def rows_after(self, queryset: QuerySet[Any], cursor: str) -> QuerySet[Any]:
        rows = queryset.order_by("-happened_at", "-pk")
        return searching.before(rows, *_read_cursor(cursor)) if cursor else rows

    def mark_of(self, row: Any) -> str:
        said = f"{metadata.to_seconds(row.happened_at)!r}|{row.pk}"
        return base64.urlsafe_b64encode(said.encode()).decode().rstrip("=")


class EventParser(JSONParser):
    """Strict JSON, but a number beyond all bounds in an array refuses its own event only."""

    def load(self, raw: bytes) -> Any:
        return load_events(raw)


def load_events(raw: bytes) -> Any:
    """The event or events of a body; ValueError for what is no JSON."""
    return load_json(raw, read_float=float if raw[:100].lstrip()[:1] == b"[" else None)


def _read_time(value: str) -> dt.datetime:
    try:
        return metadata.read_time(value)
    except RefusedError as error:
        raise ValueError(error.reason) from error


_TIME = Filter("happened_at", _read_time, frozenset({"", "gte", "lte"}), (("type", "string"),))
_SENT = {
    "type": "object",
    "properties": {
        "resource": {"type": "string", "maxLength": metadata.MAX_TEXT},
        "subject": {"type": "string", "maxLength": metadata.MAX_TEXT},
        "action": {"type": "string", "maxLength": metadata.MAX_ACTION},
        "timestamp": {
            "description": "Seconds since 1970, or ISO 8601 (without a zone: UTC).",
            "oneOf": [{"type": "number"}, {"type": "string"}],
        },
        "additionalValues": {"type": "object", "additionalProperties": True},
        "event_id": {"type": "string", "minLength": 1, "maxLength": metadata.MAX_EVENT_ID},
    },
}
_KEPT = {
    "type": "object",
    "required": ["id", "resource", "subject", "action", "timestamp", "additionalValues", "event_id"],
    "properties": {
        "id": {"type": "integer"},
        "resource": {"type": "string"},
        "subject": {"type": "string"},
        "action": {"type": "string"},
        "timestamp": {"type": "number"},
        "additionalValues": {"type": "object", "additionalProperties": {"type": "string"}},
        "event_id": {"type": "string"},
        "received_at": {"type": "string", "format": "date-time"},
    },
}
_ANSWERS = {
    "type": "object",
    "required": ["items"],
    "properties": {
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["event_id", "status", "reason"],
                "properties": {
                    "event_id": {"type": ["string", "null"]},
                    "status": {"type": "string", "enum": [events.STORED, events.DUPLICATE, events.REFUSED]},
                    "reason": {"type": "string"},
                },
            },
        }
    },
}
_ONE_VALUE = OpenApiParameter(
    "additionalValues.{key}",
    str,
    description="Events that have this value under the key; also with `__like` and `__in`.",
)


class EventViewSet(ReadMixin):
    """aiSSEMBLE metadata events, newest first."""

    queryset = Event.objects.all()
    serializer_class = EventShape
    pagination_class = NewestFirst
    parser_classes = (EventParser,)
    lookup_code = "event_id"
    rights = {"create": C.SEND_EVENTS}
    filters = {
        "resource": text(),
        "subject": text(),
        "action": text(),
        "event_id": text(),
        "from": edge("happened_at__gte"),
        "to": edge("happened_at__lte"),
        "timestamp": _TIME,
        "received_at": moment(),
    }
    sorts = {"timestamp": "happened_at", "id": "pk"}
    default_sort = ("-happened_at",)

    def known_parameters(self) -> frozenset[str]:
        known = super().known_parameters()
        if self.action == "list":
            known |= {name for name in self.request.query_params if name.startswith(VALUES)}
        return known

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        found = super().filter_queryset(queryset)
        if self.action == "list":
            asked = {
                name: value for name, value in self.request.query_params.items() if name.startswith(VALUES)
            }
            few = bool(asked) and bool(_TIMES & set(self.request.query_params)) and searching.are_few(found)
            for name, value in asked.items():
                found = _by_value(found, name, str(value), few=few)
        return found

    @extend_schema(parameters=[_ONE_VALUE])
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().list(request, *args, **kwargs)

    @extend_schema(
        request={"application/json": {"oneOf": [_SENT, {"type": "array", "items": _SENT}]}},
        responses={201: {"oneOf": [_KEPT, _ANSWERS]}},
    )
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        if request.META.get("CONTENT_LENGTH", "") in {"", "0"}:
            raise ParseError("The body is empty.")
        return once(request, lambda: Response(receive(request.data), status=status.HTTP_201_CREATED))


def receive(body: Any) -> dict[str, Any]:
    """Record one event (the answer is what is stored) or an array of them (the answer is one line for each)."""
    if isinstance(body, list):
        if len(body) > MAX_BULK:
            detail = f"At most {MAX_BULK} events at once."
            raise Invalid(detail=detail, errors=[{"field": "", "code": "max_length", "detail": detail}])
        answers = events.accept(body)
        return {"items": [{"event_id": a.event_id, "status": a.status, "reason": a.reason} for a in answers]}
    now = timezone.now()
    try:
        event = metadata.read(body, now=now)
    except RefusedError as refusal:
        wrong = {"field": refusal.field, "code": "refused", "detail": refusal.reason}
        raise Invalid(detail=str(refusal), errors=[wrong]) from refusal
    return events.record_one(event, now=now)


def receive_raw(raw: bytes) -> tuple[int, dict[str, Any]]:
    """The same for a body as it came, with the status of the answer."""
    try:
        body = load_events(raw)
    except ValueError as error:
        raise ParseError(str(error)) from error
    return status.HTTP_201_CREATED, receive(body)


def _by_value(found: QuerySet[Any], name: str, value: str, *, few: bool) -> QuerySet[Any]:
    key = name.removeprefix(VALUES)
    bare, _, ending = key.rpartition("__")
    if bare and ending == "like":
        if len(value) > MAX_LIKE or value.count("%") > 10:
            raise _wrong(name, f"At most {MAX_LIKE} characters and 10 wildcards.")
        return searching.with_value_like(found, bare, value)
    if bare and ending == "in":
        values = [part for part in value.split(",") if part]
        if len(values) > MAX_LISTED:
            raise _wrong(name, f"At most {MAX_LISTED} values.")
        return searching.with_value(found, bare, values, few=few)
    if not key:
        raise _wrong(name, "Name the key after the point.")
    return searching.with_value(found, key, [value], few=few)


def _wrong(field: str, detail: str) -> ApiValidationError:
    return ApiValidationError([{"field": field[:100], "code": "invalid", "detail": detail}])


def _read_cursor(cursor: str) -> tuple[dt.datetime, int]:
    try:
        said = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
        seconds, _, number = said.partition("|")
        if number.isdecimal() and len(number) <= 18:
            return metadata.read_time(float(seconds)), int(number)
    except (binascii.Error, UnicodeError, ValueError):
        pass
    raise _wrong("cursor", "This is no cursor of ours.")
