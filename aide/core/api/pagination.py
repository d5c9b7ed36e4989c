"""Pages of a list: exact totals to 10,000, then capped; and a cursor for lists that only grow."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from django.db.models import QuerySet
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response

from aide.core.problems import ApiValidationError

DEFAULT_SIZE = 50
MAX_SIZE = 500
MAX_PAGE = 1_000_000
TOTAL_CAP = 10_000


def whole_number(request: Request, name: str, *, default: int, highest: int) -> int:
    """A query parameter that is a number from 1 to `highest`; anything else is a validation error."""
    text = request.query_params.get(name)
    if text is None:
        return default
    if text.isascii() and text.isdecimal() and len(text) <= 12 and 1 <= int(text) <= highest:
        return int(text)
    detail = f"Use a whole number from 1 to {highest}."
    raise ApiValidationError([{"field": name, "code": "invalid", "detail": detail}])


class PageOfItems(BasePagination):
    """`?page=1&size=50`; one statement for the total, one for the rows."""

    parameters = frozenset({"page", "size"})

    def paginate_queryset(  # type: ignore[override]
        self, queryset: QuerySet[Any], request: Request, view: Any = None
    ) -> list[Any] | None:
        self.page = whole_number(request, "page", default=1, highest=MAX_PAGE)
        self.size = whole_number(request, "size", default=DEFAULT_SIZE, highest=MAX_SIZE)
        start = (self.page - 1) * self.size
        if isinstance(queryset, QuerySet):
            counted = queryset.order_by().values("pk")[: TOTAL_CAP + 1].count()
        else:
            counted = len(queryset)
        self.total_is_capped = counted > TOTAL_CAP
        self.total = min(counted, TOTAL_CAP)
        if not self.total_is_capped and start >= self.total:
            self.has_next = False
            return []
        rows = list(queryset[start : start + self.size + 1])
        self.has_next = len(rows) > self.size
        return rows[: self.size]

    def get_paginated_response(self, data: Any) -> Response:
        return Response(
            {
                "items": data,
                "total": self.total,
                "total_is_capped": self.total_is_capped,
                "page": self.page,
                "size": self.size,
                "pages": -(-self.total // self.size),
                "has_next": self.has_next,
            }
        )

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "required": ["items", "total", "total_is_capped", "page", "size", "pages", "has_next"],
            "properties": {
                "items": schema,
                "total": {"type": "integer", "minimum": 0, "maximum": TOTAL_CAP},
                "total_is_capped": {"type": "boolean"},
                "page": {"type": "integer", "minimum": 1},
                "size": {"type": "integer", "minimum": 1, "maximum": MAX_SIZE},
                "pages": {"type": "integer", "minimum": 0},
                "has_next": {"type": "boolean"},
            },
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        return [
            {
                "name": "page",
                "in": "query",
                "required": False,
                "schema": {"type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": 1},
            },
            {
                "name": "size",
                "in": "query",
                "required": False,
                "schema": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_SIZE,
                    "default": DEFAULT_SIZE,
                },
            },
        ]


class CursorOrPageOfItems(PageOfItems):
    """The same, or with `?cursor=` (empty to begin) newest first with `next_cursor` in place of pages."""

    parameters = PageOfItems.parameters | {"cursor"}

    def paginate_queryset(  # type: ignore[override]
        self, queryset: QuerySet[Any], request: Request, view: Any = None
    ) -> list[Any] | None:
        cursor = request.query_params.get("cursor")
        self.by_cursor = cursor is not None
        if cursor is None:
            return super().paginate_queryset(queryset, request, view)
        return self.follow(queryset, request)

    def follow(self, queryset: QuerySet[Any], request: Request) -> list[Any]:
        """The rows from the cursor on, and where they end."""
        self.by_cursor = True
        self.size = whole_number(request, "size", default=DEFAULT_SIZE, highest=MAX_SIZE)
        found = list(self.rows_after(queryset, request.query_params.get("cursor", ""))[: self.size + 1])
        more = len(found) > self.size
        found = found[: self.size]
        self.next_cursor = self.mark_of(found[-1]) if more else None
        return found

    def rows_after(self, queryset: QuerySet[Any], cursor: str) -> QuerySet[Any]:
        """All rows in the cursor's order, after its place unless it is empty."""
        rows = queryset.order_by("-pk")
        return rows.filter(pk__lt=_read_cursor(cursor)) if cursor else rows

    def mark_of(self, row: Any) -> str:
        """The cursor that leads on after a row."""
        return _write_cursor(row.pk)

    def get_paginated_response(self, data: Any) -> Response:
        if self.by_cursor:
            return Response({"items": data, "size": self.size, "next_cursor": self.next_cursor})
        return super().get_paginated_response(data)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        cursor = {"name": "cursor", "in": "query", "required": False, "schema": {"type": "string"}}
        return [*super().get_schema_operation_parameters(view), cursor]


def _write_cursor(pk: int) -> str:
    return base64.urlsafe_b64encode(f"before:{pk}".encode()).decode().rstrip("=")


def _read_cursor(text: str) -> int:
    try:
        decoded = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("ascii")
        word, _, number = decoded.partition(":")
        if word == "before" and number.isdecimal() and len(number) <= 18:
            return int(number)
    except (binascii.Error, UnicodeError, ValueError):
        pass
    raise ApiValidationError([{"field": "cursor", "code": "invalid", "detail": "This is no cursor of ours."}])
