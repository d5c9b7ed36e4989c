"""Questions that write nothing, for pipelines and the curious."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts.roles import Capability
from aide.core.api.shapes import CodeField, JsonObject
from aide.core.api.views import StrictParameters
from registry import compatibility, documents, typesystem
from registry.api.datasets import document_errors
from registry.catalogues import catalogue_for
from registry.models import SystemFlavor

C = Capability


class ParseForm(serializers.Serializer[Any]):
    """A type as a technology spells it."""

    flavor = CodeField(queryset=SystemFlavor.objects.all())
    native_type = serializers.CharField(max_length=5000, allow_blank=True)


class ParseAnswer(serializers.Serializer[Any]):
    """What the catalogue makes of it; `data_type` is null for a type that it does not know."""

    data_type = serializers.CharField(allow_null=True)
    type_params = serializers.DictField()
    rendered = serializers.CharField()


class ParseTypeView(StrictParameters):
    """`POST /types/parse`."""

    rights = {"post": C.VIEW}

    @extend_schema(operation_id="types_parse", request=ParseForm, responses={200: ParseAnswer})
    def post(self, request: Request) -> Response:
        form = ParseForm(data=request.data)
        form.is_valid(raise_exception=True)
        catalogue = catalogue_for(form.validated_data["flavor"].code)
        found = typesystem.parse(catalogue, form.validated_data["native_type"])
        return Response(
            {"data_type": found.code, "type_params": dict(found.params), "rendered": found.rendered}
        )


class CompatibilityForm(serializers.Serializer[Any]):
    """Two schema documents of one technology, and the level that the change must keep."""

    flavor = CodeField(queryset=SystemFlavor.objects.all())
    level = serializers.ChoiceField(choices=compatibility.LEVELS)
    before = JsonObject(allow_null=True)
    after = JsonObject()


class ReasonAnswer(serializers.Serializer[Any]):
    """One difference as the level sees it."""

    field = serializers.CharField(allow_null=True)
    rule = serializers.CharField()
    old = serializers.JSONField(allow_null=True)
    new = serializers.JSONField(allow_null=True)
    severity = serializers.CharField(help_text="breaking, risky or safe")
    version = serializers.IntegerField(allow_null=True)
    why = serializers.CharField()


class CompatibilityAnswer(serializers.Serializer[Any]):
    """Whether the level allows the change, and every reason."""

    compatible = serializers.BooleanField()
    risk = serializers.CharField(help_text="safe, risky or breaking")
    reasons = ReasonAnswer(many=True)


class CompatibilityView(StrictParameters):
    """`POST /compatibility`."""

    rights = {"post": C.VIEW}

    @extend_schema(
        operation_id="compatibility", request=CompatibilityForm, responses={200: CompatibilityAnswer}
    )
    def post(self, request: Request) -> Response:
        form = CompatibilityForm(data=request.data)
        form.is_valid(raise_exception=True)
        values = form.validated_data
        found = compatibility.verdict(
            _cleaned(values["before"], at="before"),
            _cleaned(values["after"], at="after") or {},
            level=values["level"],
            catalogue=catalogue_for(values["flavor"].code),
        )
        return Response(found.to_dict())


def _cleaned(document: Any, *, at: str) -> dict[str, Any] | None:
    if document is None:
        return None
    try:
        return documents.clean(document)
    except documents.DocumentInvalid as error:
        raise document_errors(error.errors, at=at) from error
