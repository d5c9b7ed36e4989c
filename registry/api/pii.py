"""The vocabulary of personal data, and the tags on fields, over the API."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts.api.audited import AuditedViewSet, RestorableViewSet
from aide.accounts.roles import Capability
from aide.core.api.filters import choice, flag, fraction, moment, number, ref, text
from aide.core.api.shapes import CodeField, IdField, Shape, TextList
from aide.core.api.views import refuse_unless
from aide.core.problems import ApiValidationError
from registry import suggesting, tagging
from registry.api.systems import STAMP_FILTERS, STAMP_SORTS, STAMPS, STAMPS_READ_ONLY, check_code
from registry.models import Dataset, Field, FieldTag, PIITag, System

C = Capability
MAX_DECIDED = 1000


class PIITagShape(Shape):
    """A kind of personal data."""

    code = serializers.CharField(max_length=64, validators=[check_code])
    regimes = TextList(required=False)

    class Meta:
        model = PIITag
        fields = ("id", "code", "name", "sensitivity", "regimes", *STAMPS)
        read_only_fields = STAMPS_READ_ONLY


class PIITagViewSet(RestorableViewSet):
    """The vocabulary of personal data."""

    queryset = PIITag.objects.all()
    serializer_class = PIITagShape
    lookup_code = "code"
    rights = {"write": C.MANAGE_USERS}
    blocking = ("field_tags",)
    filters = {
        "id": number(),
        "code": text(),
        "name": text(),
        "sensitivity": number(),
        **STAMP_FILTERS,
    }
    sorts = {**STAMP_SORTS, "code": "code", "name": "name", "sensitivity": "sensitivity"}
    default_sort = ("code",)


class FieldTagShape(Shape):
    """A tag on a field, in one state, since then until then."""

    field_id = IdField(source="field", queryset=Field.objects.select_related("dataset__system"))
    tag = CodeField(queryset=PIITag.objects.all())
    decided_by = serializers.CharField(
        source="decided_by.email", read_only=True, allow_null=True, default=None
    )
    second_by = serializers.CharField(source="second_by.email", read_only=True, allow_null=True, default=None)
    removal_by = serializers.CharField(
        source="removal_by.email", read_only=True, allow_null=True, default=None
    )
    path = TextList(read_only=True)

    class Meta:
        model = FieldTag
        fields = (
            "id",
            "field_id",
            "tag",
            "state",
            "origin",
            "confidence",
            "rule",
            "rule_version",
            "evidence",
            "native_type",
            "name_only",
            "path",
            "returned",
            "reason",
            "decided_by",
            "decided_at",
            "second_by",
            "removal_by",
            "removal_at",
            "removal_reason",
            "batch",
            "since",
            "until",
            "created_at",
            "updated_at",
        )
        read_only_fields = (
            "state",
            "origin",
            "confidence",
            "rule",
            "rule_version",
            "evidence",
            "native_type",
            "name_only",
            "returned",
            "decided_at",
            "removal_at",
            "removal_reason",
            "batch",
            "since",
            "until",
            "created_at",
            "updated_at",
        )


class Rejection(serializers.Serializer[Any]):
    """One suggestion that is no personal data, and why."""

    id = serializers.IntegerField(min_value=1)
    reason = serializers.CharField(max_length=2000)


class Change(serializers.Serializer[Any]):
    """One suggestion that is personal data of another kind."""

    id = serializers.IntegerField(min_value=1)
    tag = CodeField(queryset=PIITag.objects.all())


class DecideForm(serializers.Serializer[Any]):
    """Suggestions by id, all decided or none."""

    accept = serializers.ListField(
        child=serializers.IntegerField(min_value=1), required=False, max_length=MAX_DECIDED
    )
    reject = serializers.ListField(child=Rejection(), required=False, max_length=MAX_DECIDED)
    change = serializers.ListField(child=Change(), required=False, max_length=MAX_DECIDED)


class DecideAnswer(serializers.Serializer[Any]):
    """The tags as they are after the decision; `changed` are the tags chosen instead."""

    accepted = FieldTagShape(many=True)
    rejected = FieldTagShape(many=True)
    changed = FieldTagShape(many=True)


class SuggestForm(serializers.Serializer[Any]):
    """A system, or one dataset."""

    system = CodeField(queryset=System.objects.all(), required=False)
    dataset_id = IdField(queryset=Dataset.objects.select_related("system"), required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) != 1:
            raise serializers.ValidationError({"system": "Name a system or a dataset, one of the two."})
        return attrs


class SuggestAnswer(serializers.Serializer[Any]):
    """How many datasets the rules look at again."""

    datasets = serializers.IntegerField()


class UndoForm(serializers.Serializer[Any]):
    """A batch of suggestions, as `batch` of each tells it."""

    batch = serializers.CharField(max_length=64)


class UndoAnswer(serializers.Serializer[Any]):
    """How many suggestions were refused, and how many were settled before and stay as they are."""

    undone = serializers.IntegerField()
    settled = serializers.IntegerField()


class FieldTagViewSet(AuditedViewSet):
    """Tags on fields. A POST is a person's own tag; suggestions are decided at `/field-tags/decide`.

    DELETE removes a confirmed tag. It takes two people: the first is answered 202 with the tag, whose `removal_by`
    is set while it waits; the same call by another person removes it.
    """

    http_method_names = ["get", "head", "options", "post", "delete"]
    queryset = FieldTag.objects.select_related(
        "tag", "decided_by", "second_by", "removal_by", "field__dataset__system"
    )
    serializer_class = FieldTagShape
    system_path = "field__dataset__system__code"
    rights = {
        "create": C.EDIT_CURATED,
        "decide": C.DECIDE,
        "destroy": C.DECIDE,
        "keep": C.DECIDE,
        "reopen": C.DECIDE,
        "suggest": C.DECIDE,
        "undo": C.DECIDE,
    }
    filters = {
        "id": number(),
        "field_id": number("field_id"),
        "dataset_id": number("field__dataset_id"),
        "system": ref("field__dataset__system__code"),
        "tag": ref("tag__code"),
        "state": choice(list(FieldTag.State.values)),
        "origin": choice(list(FieldTag.Origin.values)),
        "confidence": fraction(),
        "rule": text(),
        "name_only": flag(),
        "batch": text(),
        "removal_at": moment(),
        "since": moment(),
        "until": moment(),
        "decided_at": moment(),
        **STAMP_FILTERS,
    }
    sorts = {
        **STAMP_SORTS,
        "field_id": "field_id",
        "tag": "tag__code",
        "state": "state",
        "confidence": "confidence",
        "since": "since",
        "decided_at": "decided_at",
    }
    default_sort = ("pk",)

    def visible(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(field__dataset__deleted_at__isnull=True)

    def recorded(self, verb: str, instance: Any, *, before: Any = None, after: Any = None) -> None:
        """The rules record what they do."""

    def perform_save(self, serializer: Any) -> FieldTag:
        values = serializer.validated_data
        field = values["field"]
        refuse_unless(self.caller, C.EDIT_CURATED, field.dataset.system)
        return tagging.confirm(field, values["tag"], by=self.caller, reason=values.get("reason", ""))

    @extend_schema(responses={202: FieldTagShape, 204: None})
    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        tagged = self._mine()
        after = tagging.remove(tagged, by=self.caller)
        if after.state == FieldTag.State.REMOVED:
            return Response(status=status.HTTP_204_NO_CONTENT)
        return Response(self.get_serializer(after).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(request=None, responses=FieldTagShape)
    @action(detail=True, methods=["post"])
    def keep(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The removal that waits is called off."""
        return Response(self.get_serializer(tagging.keep(self._mine(), by=self.caller)).data)

    @extend_schema(request=None, responses=FieldTagShape)
    @action(detail=True, methods=["post"])
    def reopen(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A rejection is taken back; the suggestion waits again."""
        return Response(self.get_serializer(tagging.reopen(self._mine(), by=self.caller)).data)

    def _mine(self) -> FieldTag:
        found: FieldTag = self.get_object()
        refuse_unless(self.caller, C.DECIDE, found.field.dataset.system)
        return found

    @extend_schema(request=DecideForm, responses=DecideAnswer)
    @action(detail=False, methods=["post"])
    def decide(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        form = DecideForm(data=request.data)
        form.is_valid(raise_exception=True)
        accept = form.validated_data.get("accept", [])
        reject = {one["id"]: one["reason"] for one in form.validated_data.get("reject", [])}
        change = {one["id"]: one["tag"] for one in form.validated_data.get("change", [])}
        said = Counter([*set(accept), *reject, *change])
        both = sorted(pk for pk, count in said.items() if count > 1)
        if both:
            detail = f"{both[0]} is decided in two ways."
            raise ApiValidationError([{"field": "reject", "code": "contradiction", "detail": detail}])
        with transaction.atomic():
            rows = self._suggestions(set(said))
            decided = tagging.decide(
                accept=[rows[pk] for pk in dict.fromkeys(accept)],
                reject_with={rows[pk]: reason for pk, reason in reject.items()},
                change_to={rows[pk]: tag for pk, tag in change.items()},
                by=self.caller,
            )
        shaped = {name: self.get_serializer(found, many=True).data for name, found in decided.items()}
        return Response(shaped)

    @extend_schema(request=SuggestForm, responses={202: SuggestAnswer})
    @action(detail=False, methods=["post"])
    def suggest(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Have the rules look at a system or a dataset again; what they say arrives soon after."""
        form = SuggestForm(data=request.data)
        form.is_valid(raise_exception=True)
        dataset, system = form.validated_data.get("dataset_id"), form.validated_data.get("system")
        refuse_unless(self.caller, C.DECIDE, dataset.system if dataset is not None else system)
        count = suggesting.suggest_for(by=self.caller, system=system, dataset=dataset)
        return Response({"datasets": count}, status=status.HTTP_202_ACCEPTED)

    @extend_schema(request=UndoForm, responses=UndoAnswer)
    @action(detail=False, methods=["post"])
    def undo(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """No to every suggestion of a batch that still waits."""
        form = UndoForm(data=request.data)
        form.is_valid(raise_exception=True)
        batch = form.validated_data["batch"]
        for system in tagging.systems_of(batch):
            refuse_unless(self.caller, C.DECIDE, system)
        undone = tagging.undo(batch, by=self.caller)
        return Response({"undone": undone.undone, "settled": undone.settled})

    def _suggestions(self, ids: set[int]) -> dict[int, FieldTag]:
        found = {row.pk: row for row in self.get_queryset().filter(pk__in=ids)}
        missing = sorted(ids - set(found))
        if missing:
            detail = f"There is no field tag {missing[0]}."
            raise ApiValidationError([{"field": "accept", "code": "does_not_exist", "detail": detail}])
        for row in found.values():
            refuse_unless(self.caller, C.DECIDE, row.field.dataset.system)
        return found
