"""Schema versions and their bindings over the API: drafts piece by piece, or a whole document at once."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts.api.audited import AuditedViewSet
from aide.accounts.roles import Capability
from aide.core.api.filters import choice, flag, moment, number, ref, text
from aide.core.api.shapes import IdField, JsonObject, Shape
from aide.core.api.views import refuse_unless
from aide.core.errors import Conflict, FieldError, Invalid
from registry import documents, locations, reading, versions
from registry.api.datasets import document_errors
from registry.api.systems import STAMP_FILTERS, STAMP_SORTS, STAMPS, STAMPS_READ_ONLY
from registry.models import Dataset, DatasetSchema, Field, FieldBinding, TypeInstance

C = Capability


class DatasetSchemaShape(Shape):
    """One version of a dataset's schema."""

    dataset_id = IdField(
        source="dataset", queryset=Dataset.objects.select_related("system__flavor", "current_schema")
    )
    version_num = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    status = serializers.CharField(read_only=True)
    attributes = JsonObject(required=False)
    primary_key = JsonObject(required=False, allow_null=True)
    unique = serializers.ListField(source="unique_keys", child=JsonObject(), required=False)
    foreign_keys = serializers.ListField(child=JsonObject(), required=False)
    published_by = serializers.CharField(
        source="published_by.email", read_only=True, allow_null=True, default=None
    )
    document = serializers.JSONField(
        write_only=True, required=False, help_text="A whole schema document; it is published at once."
    )

    class Meta:
        model = DatasetSchema
        fields = (
            "id",
            "dataset_id",
            "version_num",
            "status",
            "fingerprint",
            "origin",
            "published_at",
            "published_by",
            "object_kind",
            "comment",
            "attributes",
            "primary_key",
            "unique",
            "foreign_keys",
            "document",
            *STAMPS,
        )
        read_only_fields = ("fingerprint", "origin", "published_at", *STAMPS_READ_ONLY)


class DatasetSchemaViewSet(AuditedViewSet):
    """Versions. A published one never changes; content equal to the current version is that version."""

    queryset = DatasetSchema.objects.select_related("dataset__system__flavor", "published_by")
    serializer_class = DatasetSchemaShape
    system_path = "dataset__system__code"
    rights = {"write": C.PUBLISH}
    system_right = C.PUBLISH
    filters = {
        "id": number(),
        "dataset_id": number("dataset_id"),
        "system": ref("dataset__system__code"),
        "version_num": number(),
        "status": choice(list(DatasetSchema.Status.values)),
        "origin": choice(list(DatasetSchema.Origin.values)),
        "fingerprint": text(),
        "published_at": moment(),
        **STAMP_FILTERS,
    }
    sorts = {
        **STAMP_SORTS,
        "dataset_id": "dataset_id",
        "version_num": "version_num",
        "published_at": "published_at",
    }
    default_sort = ("dataset_id", "version_num")

    def visible(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(dataset__deleted_at__isnull=True)

    def recorded(self, verb: str, instance: Any, *, before: Any = None, after: Any = None) -> None:
        """The rules record what they do."""

    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        if not (isinstance(request.data, dict) and request.data.get("document") is not None):
            return super().create(request, *args, **kwargs)
        with transaction.atomic():
            form = self.get_serializer(data=request.data)
            form.is_valid(raise_exception=True)
            dataset = form.validated_data["dataset"]
            refuse_unless(self.caller, C.PUBLISH, dataset.system)
            published = publish_document(dataset, form.validated_data["document"], by=self.caller)
            schema = self.get_queryset().get(pk=published.schema.pk)
        return self.answer(
            schema, status=status.HTTP_201_CREATED if published.created else status.HTTP_200_OK
        )

    def create_one(self, data: Any) -> Any:
        """A draft; in bulk, an item with a document is published."""
        form = self.get_serializer(data=data)
        form.is_valid(raise_exception=True)
        values = dict(form.validated_data)
        dataset = values.pop("dataset")
        refuse_unless(self.caller, C.PUBLISH, dataset.system)
        document = values.pop("document", None)
        if document is not None:
            return publish_document(dataset, document, by=self.caller).schema
        return versions.add_draft(dataset, by=self.caller, **values)

    def check_changeable(self, instance: DatasetSchema) -> None:
        refuse_published(instance)

    def perform_save(self, serializer: Any) -> DatasetSchema:
        draft, values = serializer.instance, dict(serializer.validated_data)
        if values.pop("dataset", draft.dataset) != draft.dataset:
            raise _invalid("dataset_id", "A version keeps its dataset.")
        if values.pop("version_num", draft.version_num) != draft.version_num:
            raise _invalid("version_num", "A version keeps its number.")
        if values.pop("document", None) is not None:
            raise _invalid("document", "Publish a document with POST; a draft is written piece by piece.")
        return versions.update_draft(draft, by=self.caller, **values)

    def answer_rows(self) -> QuerySet[DatasetSchema]:
        return self.get_queryset()

    def perform_delete(self, instance: DatasetSchema) -> None:
        versions.delete_draft(instance, by=self.caller)

    @extend_schema(request=None, responses=DatasetSchemaShape)
    @action(detail=True, methods=["post"])
    def publish(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        draft = self.get_object()
        refuse_unless(self.caller, C.PUBLISH, draft.dataset.system)
        try:
            published = versions.publish_draft(draft, by=self.caller)
        except documents.DocumentInvalid as error:
            raise document_errors(error.errors, at="") from error
        return self.answer(self.get_queryset().get(pk=published.schema.pk))


def publish_document(dataset: Dataset, document: Any, *, by: Any) -> versions.Published:
    """Publishes what a caller sent for a dataset; the document may leave out the dataset's own names."""
    usual = dataset.object_kind or locations.default_object_kind(dataset.kind)
    if isinstance(document, dict) and not document.get("kind"):
        document = {**document, "kind": usual}
    try:
        clean = documents.clean(document)
    except documents.DocumentInvalid as error:
        raise document_errors(error.errors) from error
    if not clean["fields"]:
        raise _invalid("document.fields", "A version has at least one field.")
    location = _settle_place(dataset, clean)
    return versions.publish(
        versions.Publication(clean, dataset=dataset, location=location),
        system=dataset.system,
        by=by,
        origin=DatasetSchema.Origin.API,
    )


def _settle_place(dataset: Dataset, clean: dict[str, Any]) -> dict[str, str] | None:
    """Gives the document the dataset's own names; the location to store where the dataset had none."""
    schema, name = reading.place_of(dataset)
    refused = _invalid("document.name", f"This dataset is {dataset.name}.")
    if not clean["name"] or dataset.location or dataset.kind != Dataset.Kind.RDBMS:
        same_schema = not clean["schema"] or not schema or clean["schema"] == schema
        if clean["name"] and not (clean["name"] == name and same_schema):
            raise refused
        clean["schema"], clean["name"] = schema, name
        return None
    if locations.dataset_name(clean) != dataset.name:
        raise refused
    clean["schema"] = clean["schema"] or ""
    return {"schema": clean["schema"], "table": clean["name"]}


def refuse_published(schema: DatasetSchema) -> None:
    if schema.status == DatasetSchema.Status.PUBLISHED:
        raise Conflict("IMMUTABLE", f"Version {schema.version_num} is published and cannot be changed.")


def _invalid(field: str, sentence: str) -> Invalid:
    return Invalid(detail=sentence, errors=[FieldError(field, "invalid", sentence)])


class FieldBindingShape(Shape):
    """A field as it stands in one version."""

    dataset_schema_id = IdField(
        source="dataset_schema", queryset=DatasetSchema.objects.select_related("dataset__system")
    )
    field_id = IdField(source="field", queryset=Field.objects.select_related("parent"))
    parent_field_id = serializers.IntegerField(read_only=True, allow_null=True)
    type_instance_id = IdField(
        source="type_instance", queryset=TypeInstance.objects.all(), required=False, allow_null=True
    )
    name = serializers.CharField(max_length=1000, required=False)
    position = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    primary_key = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False, allow_null=True)
    generated = JsonObject(required=False, allow_null=True)
    identity = JsonObject(required=False, allow_null=True)

    class Meta:
        model = FieldBinding
        fields = (
            "id",
            "dataset_schema_id",
            "field_id",
            "parent_field_id",
            "name",
            "position",
            "is_nullable",
            "type_instance_id",
            "native_type",
            "default",
            "primary_key",
            "comment",
            "generated",
            "identity",
            "on_update",
            "hidden",
            "row_version",
        )
        read_only_fields = ("row_version",)


class FieldBindingViewSet(AuditedViewSet):
    """Fields in versions; writable while the version is a draft."""

    queryset = FieldBinding.objects.select_related("dataset_schema__dataset__system", "field")
    serializer_class = FieldBindingShape
    system_path = "dataset_schema__dataset__system__code"
    rights = {"write": C.PUBLISH}
    filters = {
        "id": number(),
        "dataset_schema_id": number("dataset_schema_id"),
        "field_id": number("field_id"),
        "dataset_id": number("dataset_schema__dataset_id"),
        "type_instance_id": number("type_instance_id"),
        "name": text(),
        "native_type": text(),
        "position": number(),
        "is_nullable": flag(),
        "primary_key": number(),
    }
    sorts = {
        "id": "pk",
        "dataset_schema_id": "dataset_schema_id",
        "position": "position",
        "name": "name",
    }
    default_sort = ("dataset_schema_id", "position", "pk")

    def visible(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(dataset_schema__dataset__deleted_at__isnull=True)

    def recorded(self, verb: str, instance: Any, *, before: Any = None, after: Any = None) -> None:
        """The rules record what they do."""

    def check_system(self, instance_or_values: Any) -> None:
        schema = (
            instance_or_values.get("dataset_schema")
            if isinstance(instance_or_values, dict)
            else instance_or_values.dataset_schema
        )
        if schema is not None:
            refuse_unless(self.caller, C.PUBLISH, schema.dataset.system)

    def check_changeable(self, instance: FieldBinding) -> None:
        refuse_published(instance.dataset_schema)

    def perform_save(self, serializer: Any) -> FieldBinding:
        values = dict(serializer.validated_data)
        if serializer.instance is None:
            schema, field = values.pop("dataset_schema"), values.pop("field")
            return versions.add_binding(schema, field=field, by=self.caller, **values)
        binding = serializer.instance
        if values.pop("dataset_schema", binding.dataset_schema) != binding.dataset_schema:
            raise _invalid("dataset_schema_id", "A binding keeps its version.")
        return versions.update_binding(binding, by=self.caller, **values)

    def perform_delete(self, instance: FieldBinding) -> None:
        versions.delete_binding(instance, by=self.caller)
