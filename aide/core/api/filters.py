"""Filters and sorting of lists, from what a view declares; a key that it does not declare is refused.

A view declares `filters = {"code": text(), "flavor": ref("flavor__code"), "created_at": moment()}` and
`sorts = {"code": "code"}`. django-filter does the filtering: each view gets a `FilterSet` with one filter a
parameter, whose form field reads the text.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import django_filters
from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.extensions import OpenApiFilterExtension
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
    read = view.filters[name].read
    try:
        return _several(read)(value) if ending == "in" else read(value)
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


def edge(path: str) -> Filter:
    """One end of a span of time; the path ends with `__gte` or `__lte`."""
    return Filter(path, read_moment, frozenset({""}), moment().schema)


def choice(values: list[str], path: str | None = None) -> Filter:
    def read(value: str) -> str:
        if value not in values:
            raise ValueError(f"Use one of {', '.join(values)}.")
        return value

    return Filter(path, read, frozenset({"", "in"}), (("type", "string"), ("enum", list(values))))


def parameter_names(view: Any) -> frozenset[str]:
    """Every query parameter that a list takes from its declared filters."""
    return frozenset(parameter for parameter, _, _ in _parameters(getattr(view, "filters", {})))


def _parameters(filters: Mapping[str, Filter]) -> list[tuple[str, Filter, str]]:
    """(parameter, what it was declared as, ending) of every key with each of its endings."""
    return [
        (f"{name}__{ending}" if ending else name, one, ending)
        for name, one in filters.items()
        for ending in sorted(one.endings)
    ]


class ReadField(forms.Field):
    """A form field that reads the text of one parameter; absent is None, empty is a value like any other."""

    def __init__(self, *, read: Callable[[str], Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.read = read

    def clean(self, value: Any) -> Any:
        if value is None:
            return None
        try:
            return self.read(value)
        except ValueError as error:
            raise ValidationError(str(error), code="invalid") from error


class ParameterFilter(django_filters.Filter):
    """Compares with what the field has read, whatever its value; only an absent parameter filters nothing."""

    field_class = ReadField

    def filter(self, queryset: QuerySet[Any], value: Any) -> QuerySet[Any]:
        return queryset if value is None else queryset.filter(**self.condition(value))

    def condition(self, value: Any) -> dict[str, Any]:
        name, lookup = str(self.field_name), self.lookup_expr
        return {name if lookup == "exact" else f"{name}__{lookup}": value}


class LikeFilter(ParameterFilter):
    """`__like=`: a part of the text in any case, or a pattern with `%`."""

    def condition(self, value: str) -> dict[str, Any]:
        return like(str(self.field_name), value)


def filter_set(filters: Mapping[str, Filter]) -> type[django_filters.FilterSet]:
    """The FilterSet for declared filters; keys by which the view itself filters are not in it."""
    members = {
        parameter: _filter(one, parameter.partition("__")[0], ending)
        for parameter, one, ending in _parameters(filters)
        if one.path != ""
    }
    return type("DeclaredFilters", (django_filters.FilterSet,), members)


def _filter(one: Filter, name: str, ending: str) -> ParameterFilter:
    path = one.path or name
    if ending == "like":
        return LikeFilter(path, label=name, read=_short)
    if ending == "in":
        return ParameterFilter(path, "in", label=name, read=_several(one.read))
    return ParameterFilter(path, ending or "exact", label=name, read=one.read)


class FieldFilters(DjangoFilterBackend):
    """`field=`, `field__like=`, `field__in=a,b`, `field__gte=`, `field__lte=`."""

    def get_filterset_class(self, view: Any, queryset: Any = None) -> type[django_filters.FilterSet] | None:
        kind = type(view)
        if "declared_filter_set" not in vars(kind):
            kind.declared_filter_set = filter_set(getattr(view, "filters", {}))
        return kind.declared_filter_set

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: Any) -> QuerySet[Any]:
        asked_for = self.get_filterset(request, queryset, view)
        if not asked_for.is_valid():
            raise ApiValidationError(
                {"field": parameter, "code": str(error.code), "detail": " ".join(error.messages)}
                for parameter, errors in asked_for.errors.as_data().items()
                for error in errors
            )
        return asked_for.qs


class FieldFiltersInSchema(OpenApiFilterExtension):
    """The parameters of the declared filters in the OpenAPI document."""

    target_class = "aide.core.api.filters.FieldFilters"
    priority = 1

    def get_schema_operation_parameters(
        self, auto_schema: Any, *args: Any, **kwargs: Any
    ) -> list[dict[str, Any]]:
        return [
            {
                "name": parameter,
                "in": "query",
                "required": False,
                "schema": {"type": "string"} if ending in {"in", "like"} else dict(one.schema),
            }
            for parameter, one, ending in _parameters(getattr(auto_schema.view, "filters", {}))
        ]


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


def like(path: str, value: str) -> dict[str, Any]:
    """Contains the text in any case; with `%` in it, the whole value must match the pattern."""
    if "%" not in value:
        return {f"{path}__icontains": value}
    return {f"{path}__like": value}


def _short(value: str) -> str:
    if len(value) > MAX_LIKE:
        raise ValueError(f"At most {MAX_LIKE} characters.")
    if value.count("%") > 10:
        raise ValueError("At most 10 wildcards.")
    return value


def _several(read: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    def read_all(value: str) -> list[Any]:
        parts = [part for part in value.split(",") if part != ""]
        if len(parts) > MAX_LISTED:
            raise ValueError(f"At most {MAX_LISTED} values.")
        return [read(part) for part in parts]

    return read_all


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
