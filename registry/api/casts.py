"""Casts between technologies over the API: the rules, single types, and the plan for a whole dataset."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts.api.audited import RestorableViewSet
from aide.accounts.roles import Capability
from aide.core.api.filters import choice, number, ref, text
from aide.core.api.shapes import CodeField, IdField, JsonObject, Shape
from aide.core.api.views import StrictParameters
from aide.core.errors import NotFound
from aide.core.problems import ApiValidationError
from registry.api.systems import STAMP_FILTERS, STAMP_SORTS, STAMPS, STAMPS_READ_ONLY
from registry.casting import check_rule, write_ddl
from registry.casts import plan_version, planner_for
from registry.catalogues import typedef_of
from registry.models import CastRule, Dataset, DataType, SystemFlavor
from registry.typesystem import parse

C = Capability
MOST_TYPES = 1000
MOST_TEXT = 100_000  # characters of all types together: long nested ones take their time


class CastRuleShape(Shape):
    """What a type becomes in another technology."""

    source_data_type_id = IdField(
        source="source_data_type", queryset=DataType.objects.select_related("flavor")
    )
    target_data_type_id = IdField(
        source="target_data_type", queryset=DataType.objects.select_related("flavor")
    )
    param_mapping = JsonObject(required=False)

    class Meta:
        model = CastRule
        fields = (
            "id",
            "source_data_type_id",
            "target_data_type_id",
            "param_mapping",
            "safety",
            "template",
            *STAMPS,
        )
        read_only_fields = STAMPS_READ_ONLY

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        old: Any = self.instance

        def given(name: str, default: Any = None) -> Any:
            return attrs.get(name, getattr(old, name, default))

        source, target = given("source_data_type"), given("target_data_type")
        faults = check_rule(
            typedef_of(source, flavor=source.flavor.code),
            typedef_of(target, flavor=target.flavor.code),
            given("param_mapping", {}),
            given("template", ""),
        )
        if faults:
            errors: dict[str, list[str]] = {}
            for key, sentence in faults:
                errors.setdefault(key, []).append(sentence)
            raise serializers.ValidationError(errors)
        return attrs


class CastRuleViewSet(RestorableViewSet):
    """Rules that go before what is derived from the values that a type can hold."""

    queryset = CastRule.objects.select_related("source_data_type__flavor", "target_data_type__flavor")
    serializer_class = CastRuleShape
    rights = {"write": C.EDIT_TYPES}
    filters = {
        "id": number(),
        "source_data_type_id": number("source_data_type_id"),
        "target_data_type_id": number("target_data_type_id"),
        "source_flavor": ref("source_data_type__flavor__code"),
        "target_flavor": ref("target_data_type__flavor__code"),
        "safety": choice(list(CastRule.Safety.values)),
        "template": text(),
        **STAMP_FILTERS,
    }
    sorts = {
        **STAMP_SORTS,
        "source_data_type_id": "source_data_type_id",
        "target_data_type_id": "target_data_type_id",
        "safety": "safety",
    }
    default_sort = ("source_data_type_id", "target_data_type_id")


class CastsForm(serializers.Serializer[Any]):
    """Native types of one technology."""

    from_flavor = CodeField(queryset=SystemFlavor.objects.all())
    to_flavor = CodeField(queryset=SystemFlavor.objects.all())
    types = serializers.ListField(
        child=serializers.CharField(max_length=5000, allow_blank=True), max_length=MOST_TYPES
    )

    def validate_types(self, value: list[str]) -> list[str]:
        if sum(len(native) for native in value) > MOST_TEXT:
            raise serializers.ValidationError(f"Ask for at most {MOST_TEXT} characters of types at a time.")
        return value


class CastAnswer(serializers.Serializer[Any]):
    """What one becomes; `rendered` is null when there is no cast."""

    type = serializers.CharField()
    rendered = serializers.CharField(allow_null=True)
    safety = serializers.ChoiceField(choices=["lossless", "lossy", "unsafe", "none"])
    why = serializers.CharField()


class CastsAnswer(serializers.Serializer[Any]):
    items = CastAnswer(many=True)


class CastsView(StrictParameters):
    """`POST /casts`."""

    rights = {"post": C.VIEW}

    @extend_schema(operation_id="casts", request=CastsForm, responses={200: CastsAnswer})
    def post(self, request: Request) -> Response:
        form = CastsForm(data=request.data)
        form.is_valid(raise_exception=True)
        values = form.validated_data
        planner = planner_for(values["from_flavor"].code, values["to_flavor"].code)
        casts = {
            native: planner.cast(parse(planner.source, native)) for native in dict.fromkeys(values["types"])
        }
        items = []
        for native in values["types"]:
            cast = casts[native]
            rendered = cast.target.rendered if cast.target is not None else None
            items.append({"type": native, "rendered": rendered, "safety": cast.safety, "why": cast.why})
        return Response({"items": items})


_FIELD = {
    "type": "object",
    "required": ["name", "from", "to", "safety", "why"],
    "properties": {
        "name": {"type": "string"},
        "from": {"type": "string"},
        "to": {"type": ["string", "null"]},
        "safety": {"type": "string", "enum": ["lossless", "lossy", "unsafe", "none"]},
        "why": {"type": "string"},
        "using": {"type": "string", "description": "The SQL of an explicit rule that converts the values."},
    },
}
_PLAN = {
    "type": "object",
    "required": ["fields", "ddl"],
    "properties": {"fields": {"type": "array", "items": _FIELD}, "ddl": {"type": "string"}},
}


class CastPlanView(StrictParameters):
    """`GET /datasets/{id}/cast-plan?to=hive`: the current version for another technology."""

    rights = {"get": C.VIEW}

    def known_parameters(self) -> frozenset[str]:
        return frozenset({"to"})

    @extend_schema(
        operation_id="datasets_cast_plan",
        parameters=[OpenApiParameter("to", OpenApiTypes.STR, required=True, description="A flavor's code.")],
        responses={200: _PLAN},
    )
    def get(self, request: Request, dataset_id: str) -> Response:
        rows = self.within_reach(Dataset.objects.alive(), "system__code").select_related(
            "current_schema__dataset__system__flavor"
        )
        dataset = rows.filter(pk=int(dataset_id)).first() if _is_id(dataset_id) else None
        if dataset is None:
            raise NotFound("DATASET_NOT_FOUND", "There is no such dataset.")
        code = request.query_params.get("to", "")
        if not SystemFlavor.objects.alive().filter(code=code).exists():
            detail = f"There is no flavor {code[:64]}." if code else "Say which flavor: ?to=hive."
            raise ApiValidationError([{"field": "to", "code": "invalid", "detail": detail}])
        if dataset.current_schema is None:
            raise NotFound("DATASET_SCHEMA_NOT_FOUND", "This dataset has no published version yet.")
        plan = plan_version(dataset.current_schema, to=code)
        fields = [
            {
                "name": field.name,
                "from": field.native,
                "to": field.target.rendered if field.target is not None else None,
                "safety": field.cast.safety,
                "why": field.cast.why,
                **({"using": field.cast.using} if field.cast.using else {}),
            }
            for field in plan.fields
        ]
        return Response({"fields": fields, "ddl": write_ddl(plan)})


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 18
