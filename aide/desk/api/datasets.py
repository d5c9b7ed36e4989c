"""Questions about a dataset that the registry alone cannot answer: versions compared, documents checked."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts.roles import Capability
from aide.core.api.filters import read_moment
from aide.core.api.pagination import whole_number
from aide.core.api.shapes import JsonObject
from aide.core.api.views import ReadMixin
from aide.core.errors import FieldError, Invalid, NotFound
from aide.core.problems import ApiValidationError
from aide.desk.net_changes import net_changes
from aide.desk.readers import readers_of
from crawling.diff import Change
from registry import documents, reading, versions
from registry.api.stateless import CompatibilityAnswer
from registry.catalogues import catalogue_for
from registry.compatibility import SAFE, Verdict
from registry.models import Dataset, DatasetSchema

C = Capability
MAX_VERSION = 2**31 - 1


class DocumentForm(serializers.Serializer[Any]):
    """A schema document that might become the next version."""

    document = JsonObject(help_text="A field needs only name and native_type; absent keys take defaults.")


class ReaderAnswer(serializers.Serializer[Any]):
    """A dataset that is made from a field that changes."""

    dataset_id = serializers.IntegerField(allow_null=True, help_text="Empty: not in the registry.")
    field = serializers.CharField(allow_null=True, help_text="Which field it reads, where that is known.")
    owner = serializers.CharField()
    name = serializers.CharField()


class CheckAnswer(CompatibilityAnswer):
    """Whether the dataset's level allows the document, every reason, and who reads what changes."""

    level = serializers.CharField()
    readers = ReaderAnswer(many=True)


class PathAnswer(serializers.Serializer[Any]):
    """What a change is about."""

    dataset = serializers.CharField()
    field = serializers.CharField(allow_null=True)


class ChangeAnswer(serializers.Serializer[Any]):
    """One difference between two versions."""

    op = serializers.CharField()
    path = PathAnswer()
    before = serializers.JSONField(allow_null=True)
    after = serializers.JSONField(allow_null=True)
    risk = serializers.CharField(help_text="safe, risky or breaking")
    why = serializers.CharField()


class DiffAnswer(serializers.Serializer[Any]):
    """The net difference of two versions; `from` is null for the time before the first."""

    to = serializers.IntegerField()
    changes = ChangeAnswer(many=True)

    def get_fields(self) -> dict[str, Any]:
        return {"from": serializers.IntegerField(allow_null=True), **super().get_fields()}


class DatasetQuestions(ReadMixin):
    """`/datasets/{id}/diff` and `/datasets/{id}/check`."""

    queryset = Dataset.objects.select_related("system__flavor", "current_schema")
    system_path = "system__code"
    rights = {"diff": C.VIEW, "check": C.VIEW}
    extra_parameters = {"diff": frozenset({"from", "to", "since"})}

    @extend_schema(
        operation_id="datasets_diff",
        filters=False,
        parameters=[
            OpenApiParameter("from", OpenApiTypes.INT, description="The older version."),
            OpenApiParameter(
                "to", OpenApiTypes.INT, description="The newer version; default the one in force."
            ),
            OpenApiParameter("since", OpenApiTypes.DATETIME, description="Instead: all since this moment."),
        ],
        responses={200: DiffAnswer},
    )
    def diff(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The net difference of two versions, or of the version in force at a moment and the present one."""
        dataset = self.get_object()
        before, after = self._versions(dataset, request)
        changes = () if before == after else net_changes(dataset, before, after)
        return Response(
            {
                "from": before.version_num if before is not None else None,
                "to": after.version_num,
                "changes": [change_answer(change) for change in changes],
            }
        )

    def _versions(self, dataset: Dataset, request: Request) -> tuple[DatasetSchema | None, DatasetSchema]:
        asked = request.query_params
        rows = dataset.schemas.all()
        if "since" in asked:
            if "from" in asked or "to" in asked:
                raise _wrong("since", "Give either two versions or a moment.")
            return _in_force(rows, _moment(asked["since"])), _present(dataset)
        if "from" not in asked:
            raise _wrong("from", "Give the older version, or since with a moment.")
        before = _numbered(rows, request, "from")
        after = _numbered(rows, request, "to") if "to" in asked else _present(dataset)
        if before.version_num > after.version_num:
            raise _wrong("from", f"Version {before.version_num} is newer than version {after.version_num}.")
        return before, after

    @extend_schema(operation_id="datasets_check", request=DocumentForm, responses={200: CheckAnswer})
    def check(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Whether a document might be the next version at the dataset's level. Writes nothing."""
        dataset = self.get_object()
        form = DocumentForm(data=request.data)
        form.is_valid(raise_exception=True)
        document = _clean(form.validated_data["document"], dataset)
        found = versions.judge(dataset, document, catalogue=catalogue_for(dataset.system.flavor.code))
        readers = readers_of(dataset, fields=_touched(found))
        return Response(
            {
                "level": dataset.compatibility,
                **found.to_dict(),
                "readers": [reader.to_dict() for reader in readers],
            }
        )


def change_answer(change: Change) -> dict[str, Any]:
    """A change in the API's shape."""
    return {
        "op": change.op,
        "path": {"dataset": change.dataset, "field": change.field},
        "before": change.before,
        "after": change.after,
        "risk": change.risk,
        "why": change.why,
    }


def _touched(found: Verdict) -> list[str]:
    """The fields whose readers a change may hurt."""
    return sorted({each.field for each in found.reasons if each.field and each.severity != SAFE})


def _clean(document: dict[str, Any], dataset: Dataset) -> dict[str, Any]:
    """The document as it would be published: at the dataset's place and, unless it says so, of its kind."""
    try:
        clean = documents.clean({"kind": dataset.object_kind or None, **document})
    except documents.DocumentInvalid as error:
        errors = [
            FieldError(f"document.{path}".rstrip("."), "invalid", words) for path, words in error.errors
        ]
        raise Invalid(detail=f"{errors[0].field}: {errors[0].detail}", errors=errors) from error
    if not clean["fields"]:
        raise _wrong("document.fields", "A version has at least one field.")
    clean["schema"], clean["name"] = reading.place_of(dataset)
    return clean


def _numbered(rows: QuerySet[DatasetSchema], request: Request, name: str) -> DatasetSchema:
    number = whole_number(request, name, default=1, highest=MAX_VERSION)
    found = rows.filter(version_num=number).first()
    if found is None:
        raise NotFound("DATASET_SCHEMA_NOT_FOUND", f"This dataset has no version {number}.")
    return found


def _in_force(rows: QuerySet[DatasetSchema], moment: Any) -> DatasetSchema | None:
    published = rows.filter(status=DatasetSchema.Status.PUBLISHED, published_at__lte=moment)
    return published.order_by("-published_at", "-version_num").first()


def _present(dataset: Dataset) -> DatasetSchema:
    if dataset.current_schema is None:
        raise NotFound("DATASET_SCHEMA_NOT_FOUND", "This dataset has no published version.")
    return dataset.current_schema


def _moment(text: str) -> Any:
    try:
        return read_moment(text)
    except ValueError as error:
        raise _wrong("since", str(error)) from error


def _wrong(field: str, sentence: str) -> ApiValidationError:
    return ApiValidationError([{"field": field, "code": "invalid", "detail": sentence}])
