"""Filters and sorting of lists, from what a view declares; a key that it does not declare is refused.

A view declares `filters = {"code": text(), "flavor": ref("flavor__code"), "created_at": moment()}` and
`sorts = {"code": "code"}`.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from rest_framework.filters import BaseFilterBackend
from rest_framework.request import Request

from aide.core.problems import ApiValidationError

MAX_LISTED = 500
MAX_LIKE = 200
_BIGGEST = 2**63 - 1


@dataclass(frozen=True)
class Filter:
    """One filterable key: where it leads in the ORM, how its text is read, and with which endings.

    Without a path the key is the path; with an empty one the view itself filters, reading with `asked`.
    """

    path: str | None
    read: Callable[[str], Any]
    endings: frozenset[str]
    schema: tuple[tuple[str, Any], ...]


def by_view(kind: Filter, *endings: str) -> Filter:
    """A key of that kind which the view itself filters by."""
    return Filter("", kind.read, frozenset(endings or {""}), kind.schema)


def asked(request: Request, view: Any, key: str) -> Any:
    """The value of such a key, or None if it was not given; a list for `__in`."""
    value = request.query_params.get(key)
    if value is None:
        return None
    name, _, ending = key.partition("__")
    try:
        read = view.filters[name].read
        return [read(part) for part in value.split(",") if part] if ending == "in" else read(value)
    except ValueError as error:
        raise ApiValidationError([{"field": key, "code": "invalid", "detail": str(error)}]) from error


def text(path: str | None = None) -> Filter:
    return Filter(path, _text, frozenset({"", "like", "in"}), (("type", "string"),))


def ref(path: str) -> Filter:
    """A reference by code."""
    return Filter(path, _text, frozenset({"", "like", "in"}), (("type", "string"),))


def number(path: str | None = None) -> Filter:
    return Filter(path, _number, frozenset({"", "in", "gte", "lte"}), (("type", "integer"),))


def fraction(path: str | None = None) -> Filter:
    return Filter(path, _fraction, frozenset({"", "gte", "lte"}), (("type", "number"),))


def flag(path: str | None = None) -> Filter:
    return Filter(path, _flag, frozenset({""}), (("type", "boolean"),))


def moment(path: str | None = None) -> Filter:
    return Filter(
        path,
        read_moment,
        frozenset({"", "gte", "lte"}),
        (("type", "string"), ("description", "A date or a time in ISO 8601; without a zone it is UTC.")),
    )


def choice(values: list[str], path: str | None = None) -> Filter:
    def read(value: str) -> str:
        if value not in values:
            raise ValueError(f"Use one of {', '.join(values)}.")
        return value

    return Filter(path, read, frozenset({"", "in"}), (("type", "string"), ("enum", list(values))))


def parameter_names(view: Any) -> frozenset[str]:
    """Every query parameter that a list takes from its declared filters."""
    filters: dict[str, Filter] = getattr(view, "filters", {})
    return frozenset(
        f"{name}__{ending}" if ending else name for name, one in filters.items() for ending in one.endings
    )


class FieldFilters(BaseFilterBackend):
    """`field=`, `field__like=`, `field__in=a,b`, `field__gte=`, `field__lte=`."""

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: Any) -> QuerySet[Any]:
        filters: dict[str, Filter] = getattr(view, "filters", {})
        errors: list[dict[str, str]] = []
        for key, value in request.query_params.dict().items():
            name, _, ending = key.partition("__")
            one = filters.get(name)
            if one is None or ending not in one.endings or one.path == "":
                continue  # `known_parameters` has refused what is unknown, the rest is not for us
            try:
                queryset = queryset.filter(**_condition(one, name, ending, value))
            except ValueError as error:
                errors.append({"field": key, "code": "invalid", "detail": str(error)})
        if errors:
            raise ApiValidationError(errors)
        return queryset

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        found = []
        for name, one in getattr(view, "filters", {}).items():
            for ending in sorted(one.endings):
                schema = dict(one.schema)
                if ending in {"in", "like"}:
                    schema = {"type": "string"}
                found.append(
                    {
                        "name": f"{name}__{ending}" if ending else name,
                        "in": "query",
                        "required": False,
                        "schema": schema,
                    }
                )
        return found


class Sorting(BaseFilterBackend):
    """`?sort=-created_at,code` from the view's `sorts`; rows that are equal come in the order of their ids."""

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: Any) -> QuerySet[Any]:
        sorts: dict[str, str] = getattr(view, "sorts", {})
        wanted = request.query_params.get("sort")
        keys = [part.strip() for part in wanted.split(",")] if wanted is not None else []
        order: list[str] = []
        for key in keys:
            bare = key.removeprefix("-")
            if bare not in sorts:
                detail = f"Sort by one of {', '.join(sorts)}." if sorts else "This list has one order."
                raise ApiValidationError([{"field": "sort", "code": "unknown", "detail": detail}])
            order.append(f"-{sorts[bare]}" if key.startswith("-") else sorts[bare])
        if not order:
            order = list(getattr(view, "default_sort", ("pk",)))
        last = "-pk" if order[0].startswith("-") else "pk"
        return queryset.order_by(*order, *([] if "pk" in order or "-pk" in order else [last]))

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        sorts = getattr(view, "sorts", {})
        if not sorts:
            return []
        words = f"Keys, separated by commas, a hyphen before one that falls: {', '.join(sorts)}."
        return [
            {
                "name": "sort",
                "in": "query",
                "required": False,
                "description": words,
                "schema": {"type": "string"},
            }
        ]


def _condition(one: Filter, name: str, ending: str, value: str) -> dict[str, Any]:
    path = one.path or name
    if ending == "like":
        return like(path, value)
    if ending == "in":
        parts = [part for part in value.split(",") if part != ""]
        if len(parts) > MAX_LISTED:
            raise ValueError(f"At most {MAX_LISTED} values.")
        return {f"{path}__in": [one.read(part) for part in parts]}
    return {f"{path}__{ending}" if ending else path: one.read(value)}


def like(path: str, value: str) -> dict[str, Any]:
    """Contains the text in any case; with `%` in it, the whole value must match the pattern."""
    if len(value) > MAX_LIKE:
        raise ValueError(f"At most {MAX_LIKE} characters.")
    if "%" not in value:
        return {f"{path}__icontains": value}
    if value.count("%") > 10:
        raise ValueError("At most 10 wildcards.")
    pattern = ".*".join(re.escape(part) for part in re.split("%+", value))
    return {f"{path}__iregex": f"^{pattern}$"}


def _text(value: str) -> str:
    return value


def _number(value: str) -> int:
    if re.fullmatch(r"-?[0-9]{1,19}", value) and abs(int(value)) <= _BIGGEST:
        return int(value)
    raise ValueError("Use a whole number.")


def _fraction(value: str) -> float:
    if re.fullmatch(r"-?[0-9]{1,18}(\.[0-9]{1,18})?", value):
        return float(value)
    raise ValueError("Use a number.")


def _flag(value: str) -> bool:
    if value.lower() in {"true", "1"}:
        return True
    if value.lower() in {"false", "0"}:
        return False
    raise ValueError("Use true or false.")


def read_moment(value: str) -> dt.datetime:
    """A date (its first moment) or a time in ISO 8601; without a zone it is UTC. ValueError otherwise."""
    try:
        # In a query an unescaped plus sign of a zone arrives as a blank.
        found = parse_datetime(value) or parse_datetime(re.sub(r" (\d\d:?\d\d)\Z", r"+\1", value))
        if found is None:
            day = parse_date(value)
            found = dt.datetime.combine(day, dt.time(), dt.UTC) if day else None
        if found is not None:
            aware = timezone.make_aware(found, dt.UTC) if timezone.is_naive(found) else found
            return aware.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        pass
    raise ValueError("Use a date or a time such as 2026-03-01 or 2026-03-01T12:00:00Z.")
