"""Datasets over the API, and their schema as one document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts.api.audited import RestorableViewSet
from aide.accounts.roles import Capability
from aide.core.api.filters import choice, number, read_moment, ref, text
from aide.core.api.shapes import CodeField, JsonObject, Shape, TextList
from aide.core.api.versions import check_row_version
from aide.core.api.views import refuse_unless
from aide.core.errors import FieldError, Forbidden, Invalid, NotFound
from aide.core.problems import ApiValidationError
from registry import curation, locations, reading
from registry.api.systems import STAMP_FILTERS, STAMP_SORTS, STAMPS, STAMPS_READ_ONLY
from registry.models import Dataset, DatasetSchema, System
from registry.places import PLACE, refuse_moved

C = Capability

# People's words about data; the rest of what people own is housekeeping that engineers do as well.
WORDS = frozenset({"description", "owner", "tags"})
FIXED = ("system", "kind")


class DatasetShape(Shape):
    """A table, topic, prefix, folder or view in a system."""

    system = CodeField(queryset=System.objects.select_related("flavor"))
    name = serializers.CharField(max_length=1000, required=False)
    location = JsonObject(required=False)
    tags = TextList(required=False)
    extra = JsonObject(required=False)
    current_version = serializers.IntegerField(
        source="current_schema.version_num", read_only=True, allow_null=True, default=None
    )

    class Meta:
        model = Dataset
        fields = (
            "id",
            "system",
            "kind",
            "name",
            "object_kind",
            "status",
            "layer",
            "location",
            "description",
            "source_comment",
            "owner",
            "tags",
            "compatibility",
            "extra",
            "current_version",
            *STAMPS,
        )
        read_only_fields = ("source_comment", *STAMPS_READ_ONLY)
        source_owned = ("source_comment",)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        old: Any = self.instance
        if old is not None:
            self._refuse_fixed(old, attrs)
            refuse_moved(old, attrs, present={name: getattr(old, name) for name in PLACE})
            if old.current_schema_id is not None:
                attrs = {name: value for name, value in attrs.items() if name not in PLACE}
        kind = attrs.get("kind") or old.kind
        if "location" in attrs:
            self._check_location(kind, attrs["location"])
        if old is None or "location" in attrs or "name" in attrs:
            self._name(kind, attrs, old)
        if old is None and not attrs.get("object_kind"):
            attrs["object_kind"] = locations.default_object_kind(kind)
        return attrs

    def _refuse_fixed(self, old: Dataset, attrs: dict[str, Any]) -> None:
        for name in FIXED:
            if name in attrs and attrs[name] != getattr(old, name):
                raise serializers.ValidationError({name: ["A dataset keeps its system and its kind."]})

    def _check_location(self, kind: str, location: Mapping[str, Any]) -> None:
        errors = locations.check(kind, location) if location else ()
        if errors:
            raise serializers.ValidationError(
                {f"location.{each.key}".rstrip("."): [each.message] for each in errors}
            )

    def _name(self, kind: str, attrs: dict[str, Any], old: Dataset | None) -> None:
        """The name follows from the location; where both are given for a table, they must agree."""
        location = attrs.get("location") or (old.location if old and "location" not in attrs else {})
        name = attrs.get("name")
        if location:
            made = locations.qualified_name(kind, location)
            if not name:
                attrs["name"] = made
            elif kind == Dataset.Kind.RDBMS and location.get("schema") and name != made:
                raise serializers.ValidationError({"name": [f"At this location the name is {made}."]})
        elif not name and old is None:
            raise serializers.ValidationError({"name": ["Give a name or a location."]})


class DatasetViewSet(RestorableViewSet):
    """Datasets. What people own is written here; the schema is published at `/dataset-schemas`."""

    queryset = Dataset.objects.select_related("system", "current_schema")
    serializer_class = DatasetShape
    system_path = "system__code"
    rights = {
        "create": (C.MANAGE_SYSTEMS, C.PUBLISH),
        "update": (C.EDIT_CURATED, C.MANAGE_SYSTEMS),
        "partial_update": (C.EDIT_CURATED, C.MANAGE_SYSTEMS),
        "write": C.MANAGE_SYSTEMS,
    }
    extra_parameters = {"schema_document": frozenset({"version", "as_of"})}
    filters = {
        "id": number(),
        "system": ref("system__code"),
        "kind": choice(list(Dataset.Kind.values)),
        "name": text(),
        "object_kind": text(),
        "status": choice(list(Dataset.Status.values)),
        "layer": choice([*Dataset.Layer.values, ""]),
        "owner": text(),
        "description": text(),
        "compatibility": text(),
        **STAMP_FILTERS,
    }
    sorts = {
        **STAMP_SORTS,
        "name": "name",
        "system": "system__code",
        "kind": "kind",
        "status": "status",
        "owner": "owner",
    }
    default_sort = ("system__code", "name")

    def check_system(self, instance_or_values: Any) -> None:
        """A key that is limited to some systems writes in those only; rights per key of the body come later."""
        system = (
            instance_or_values.get("system")
            if isinstance(instance_or_values, dict)
            else instance_or_values.system
        )
        user = self.caller
        if system is None or any(
            user.can(one, system) for one in (C.EDIT_CURATED, C.MANAGE_SYSTEMS, C.PUBLISH)
        ):
            return
        raise Forbidden("FORBIDDEN", user.why_not(C.EDIT_CURATED, system))

    def change(self, request: Request, *, partial: bool) -> Response:
        with transaction.atomic():
            dataset = self.locked()
            sent = request.data.get("row_version") if isinstance(request.data, dict) else None
            check_row_version(request, dataset, sent=sent, current=lambda: self.get_serializer(dataset).data)
            form = self.get_serializer(dataset, data=request.data, partial=partial)
            form.is_valid(raise_exception=True)
            changed = {
                name: value for name, value in form.validated_data.items() if getattr(dataset, name) != value
            }
            self._refuse_without_right(dataset, set(changed))
            self._write(dataset, changed)
            dataset = self.get_queryset().get(pk=dataset.pk)
        return self.answer(dataset)

    def _refuse_without_right(self, dataset: Dataset, names: set[str]) -> None:
        if names & WORDS:
            refuse_unless(self.caller, C.EDIT_CURATED, dataset.system)
        if names - WORDS:
            user = self.caller
            curated = names <= set(curation.HUMAN_OWNED[Dataset])
            if not (curated and user.can(C.EDIT_CURATED, dataset.system)):
                refuse_unless(user, C.MANAGE_SYSTEMS, dataset.system)
        if not names:
            self.check_system(dataset)

    def _write(self, dataset: Dataset, changed: dict[str, Any]) -> None:
        human = {name: changed.pop(name) for name in curation.HUMAN_OWNED[Dataset] if name in changed}
        if changed:
            before = self.snapshot(dataset)
            for name, value in changed.items():
                setattr(dataset, name, value)
            dataset.row_version += 1
            dataset.save(update_fields=[*changed, "row_version", "updated_at"])
            self.recorded("update", dataset, before=before, after=self.snapshot(dataset))
        if human:
            curation.edit(dataset, human, by=self.caller)

    @extend_schema(
        operation_id="datasets_schema_document",
        filters=False,
        parameters=[
            OpenApiParameter("version", OpenApiTypes.INT, description="A version; default the current one."),
            OpenApiParameter(
                "as_of", OpenApiTypes.DATETIME, description="The version published last until this moment."
            ),
        ],
        responses=OpenApiTypes.OBJECT,
    )
    @action(detail=True, methods=["get"], url_path="schema")
    def schema_document(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        dataset = self.get_object()
        version = self._version(dataset.schemas.select_related("dataset"), request)
        if version is None:
            raise NotFound("DATASET_SCHEMA_NOT_FOUND", "This dataset has no such version.")
        response = Response(reading.described(version))
        response["ETag"] = f'"{version.fingerprint or version.row_version}"'
        return response

    def _version(self, rows: QuerySet[DatasetSchema], request: Request) -> DatasetSchema | None:
        number_text, moment_text = request.query_params.get("version"), request.query_params.get("as_of")
        published = rows.filter(status=DatasetSchema.Status.PUBLISHED)
        if number_text is not None and moment_text is not None:
            detail = "Give either a version or a moment."
            raise ApiValidationError([{"field": "as_of", "code": "invalid", "detail": detail}])
        if number_text is not None:
            if not (number_text.isascii() and number_text.isdecimal() and len(number_text) <= 9):
                detail = "Use a whole number."
                raise ApiValidationError([{"field": "version", "code": "invalid", "detail": detail}])
            return rows.filter(version_num=int(number_text)).first()
        if moment_text is not None:
            try:
                moment = read_moment(moment_text)
            except ValueError as error:
                detail = str(error)
                raise ApiValidationError([{"field": "as_of", "code": "invalid", "detail": detail}]) from error
            published = published.filter(Q(published_at__lte=moment))
        return published.order_by("-published_at", "-version_num").first()


def document_errors(errors: list[tuple[str, str]], *, at: str = "document") -> Invalid:
    """What is wrong with a document, as an answer of the API."""
    found = [FieldError(f"{at}.{path}" if path else at, "invalid", message) for path, message in errors]
    first = found[0]
    return Invalid(detail=f"{first.field}: {first.detail}", errors=found)
