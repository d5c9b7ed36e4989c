"""Fields over the API: their identity, and what people wrote about them."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts.api.audited import AuditedViewSet
from aide.accounts.roles import Capability
from aide.core.api.filters import asked, by_view, flag, moment, number, ref, text
from aide.core.api.shapes import IdField, Shape, TextList
from aide.core.api.versions import check_row_version
from aide.core.api.views import refuse_unless
from registry import curation, versions
from registry.api.systems import STAMP_FILTERS, STAMP_SORTS, STAMPS, STAMPS_READ_ONLY
from registry.models import Dataset, Field, FieldTag

C = Capability
MAX_TREE = 20_000
CONFIRMED = Prefetch(
    "field_tags",
    queryset=FieldTag.objects.filter(state=FieldTag.State.CONFIRMED, until__isnull=True)
    .select_related("tag")
    .order_by("tag__code"),
    to_attr="confirmed_tags",
)


class FieldShape(Shape):
    """A field's lasting identity; names and types of a version are on its bindings."""

    dataset_id = IdField(source="dataset", queryset=Dataset.objects.select_related("system"))
    parent_id = IdField(source="parent", queryset=Field.objects.all(), required=False, allow_null=True)
    tags = TextList(required=False)
    pii_tags = serializers.SerializerMethodField()

    class Meta:
        model = Field
        fields = (
            "id",
            "dataset_id",
            "parent_id",
            "name",
            "path",
            "description",
            "source_comment",
            "owner",
            "tags",
            "pii_tags",
            "retired_at",
            *STAMPS,
        )
        read_only_fields = ("path", "source_comment", "retired_at", *STAMPS_READ_ONLY)
        source_owned = ("dataset_id", "parent_id", "name", "path", "source_comment", "pii_tags")

    def get_pii_tags(self, field: Field) -> list[str]:
        found = getattr(field, "confirmed_tags", None)
        return [] if found is None else [row.tag.code for row in found]


class FieldViewSet(AuditedViewSet):
    """Fields. Only what people own can be written: description, owner, tags, note."""

    queryset = Field.objects.select_related("dataset__system").prefetch_related(CONFIRMED)
    serializer_class = FieldShape
    system_path = "dataset__system__code"
    rights = {
        "update": C.EDIT_CURATED,
        "partial_update": C.EDIT_CURATED,
        "write": C.PUBLISH,
    }
    list_actions = frozenset({"list", "children"})
    filters = {
        "id": number(),
        "dataset_id": number("dataset_id"),
        "system": ref("dataset__system__code"),
        "parent_id": number("parent_id"),
        "name": text(),
        "path": text(),
        "description": text(),
        "owner": text(),
        "pii_tag": by_view(text(), "", "in"),
        "retired": by_view(flag()),
        "retired_at": moment(),
        **STAMP_FILTERS,
    }
    sorts = {**STAMP_SORTS, "name": "name", "path": "path", "dataset_id": "dataset_id"}
    default_sort = ("dataset_id", "pk")

    def visible(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(dataset__deleted_at__isnull=True)

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Present fields, unless retired ones are asked for; a tag means a confirmed one."""
        if self.action in self.list_actions:
            retired = asked(self.request, self, "retired") or False
            if not any(name.startswith("retired_at") for name in self.request.query_params):
                queryset = queryset.filter(retired_at__isnull=not retired)
            one, several = (asked(self.request, self, key) for key in ("pii_tag", "pii_tag__in"))
            if one is not None:
                queryset = queryset.filter(pk__in=_tagged([one]))
            if several is not None:
                queryset = queryset.filter(pk__in=_tagged(several))
        return super().filter_queryset(queryset)

    # Writing

    def perform_save(self, serializer: Any) -> Field:
        values = dict(serializer.validated_data)
        dataset = values.pop("dataset")
        refuse_unless(self.caller, C.PUBLISH, dataset.system)
        return versions.add_field(
            dataset,
            name=values.pop("name"),
            parent=values.pop("parent", None),
            by=self.caller,
            **values,
        )

    def recorded(self, verb: str, instance: Any, *, before: Any = None, after: Any = None) -> None:
        """The rules record what they do."""

    def answer_rows(self) -> QuerySet[Field]:
        return self.get_queryset()

    def change(self, request: Request, *, partial: bool) -> Response:
        with transaction.atomic():
            field = self.locked()
            refuse_unless(self.caller, C.EDIT_CURATED, field.dataset.system)
            sent = request.data.get("row_version") if isinstance(request.data, dict) else None
            check_row_version(request, field, sent=sent, current=lambda: self.get_serializer(field).data)
            # The identity may be left out of a PUT: it cannot be written.
            form = self.get_serializer(field, data=request.data, partial=True)
            form.is_valid(raise_exception=True)
            owned = curation.HUMAN_OWNED[Field]
            values = {name: form.validated_data[name] for name in owned if name in form.validated_data}
            curation.edit(field, values, by=self.caller)
            field = self.get_queryset().get(pk=field.pk)
        return self.answer(field)

    def perform_delete(self, instance: Field) -> None:
        refuse_unless(self.caller, C.PUBLISH, instance.dataset.system)
        versions.delete_field(instance, by=self.caller)

    # Nested fields

    @extend_schema(responses=FieldShape(many=True))
    @action(detail=True, methods=["get"])
    def children(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        parent = self.get_object()
        rows = self.filter_queryset(self.get_queryset().filter(parent=parent))
        page = self.paginate_queryset(rows)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(filters=False, responses=OpenApiTypes.OBJECT)
    @action(detail=False, methods=["get"], url_path=r"tree/(?P<dataset_id>[^/]+)")
    def tree(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = self.kwargs["dataset_id"]
        if not (key.isascii() and key.isdecimal() and len(key) <= 18):
            raise Http404
        datasets = self.within_reach(Dataset.objects.alive(), "system__code")
        dataset = datasets.filter(pk=int(key)).first()
        if dataset is None:
            raise Http404
        rows = self.get_queryset().filter(dataset=dataset, retired_at__isnull=True).order_by("pk")
        read = list(rows[: MAX_TREE + 1])
        nodes = {row.pk: {**self.get_serializer(row).data, "children": []} for row in read[:MAX_TREE]}
        top: list[dict[str, Any]] = []
        for node in nodes.values():
            parent = nodes.get(node["parent_id"])
            (parent["children"] if parent is not None else top).append(node)
        return Response({"dataset_id": dataset.pk, "items": top, "truncated": len(read) > MAX_TREE})


def _tagged(codes: list[str]) -> Any:
    rows = FieldTag.objects.filter(tag__code__in=codes, state=FieldTag.State.CONFIRMED, until__isnull=True)
    return rows.values("field_id")
