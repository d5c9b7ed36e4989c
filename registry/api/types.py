"""The type catalogue and type instances over the API."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts.api.audited import AuditedViewSet, RestorableViewSet
from aide.accounts.roles import Capability
from aide.core.api.filters import number, ref, text
from aide.core.api.shapes import CodeField, IdField, JsonObject, Shape, TextList
from aide.core.errors import Conflict, FieldError, Invalid
from registry import typesystem, versions
from registry.api.systems import STAMP_FILTERS, STAMP_SORTS, STAMPS, STAMPS_READ_ONLY
from registry.catalogues import catalogue_for, typedef_of
from registry.models import DataType, SystemFlavor, TypeInstance

C = Capability


def params_invalid(error: typesystem.ParamsInvalid, *, at: str = "params") -> Invalid:
    """The type system's complaints as an answer of the API."""
    return Invalid(
        "TYPE_PARAMS_INVALID",
        "The parameters do not fit the type: " + "; ".join(each.message for each in error.errors[:5]),
        errors=[
            FieldError(".".join(part for part in (at, each.path) if part), "invalid", each.message)
            for each in error.errors
        ],
    )


class DataTypeShape(Shape):
    """A native type of one technology."""

    flavor = CodeField(queryset=SystemFlavor.objects.all())
    params_schema = JsonObject(required=False)
    aliases = TextList(required=False)
    slots = serializers.ListField(child=serializers.JSONField(), required=False, max_length=50)
    examples = serializers.ListField(child=JsonObject(), required=False, max_length=100)

    class Meta:
        model = DataType
        fields = (
            "id",
            "flavor",
            "code",
            "name",
            "category",
            "logical_type",
            "kind",
            "params_schema",
            "render_template",
            "slots",
            "aliases",
            "examples",
            *STAMPS,
        )
        read_only_fields = STAMPS_READ_ONLY

    def validate_params_schema(self, value: dict[str, Any]) -> dict[str, Any]:
        faults = typesystem.check_schema(value)
        if faults:
            raise serializers.ValidationError(
                [f"{each.path}: {each.message}".lstrip(": ") for each in faults]
            )
        return value

    def validate_render_template(self, value: str) -> str:
        if value:
            try:
                typesystem.check_template(value)
            except typesystem.TypeSystemError as error:
                raise serializers.ValidationError(str(error)) from error
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        old: Any = self.instance
        names = ("flavor", "code", "name", "params_schema", "render_template", "slots", "examples")
        values = {name: attrs.get(name, getattr(old, name, None)) for name in names}
        self._check_examples(values)
        return attrs

    def _check_examples(self, values: dict[str, Any]) -> None:
        try:
            slots = tuple(typesystem.Slot.read(slot) for slot in values["slots"] or ())
            examples = tuple(typesystem.Example.read(each) for each in values["examples"] or ())
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            words = "A slot is a name; an example has params (an object) and sql (the expected text)."
            raise serializers.ValidationError({"examples": [words]}) from error
        code = values["code"] or ""
        typedef = typesystem.TypeDef(
            flavor=values["flavor"].code,
            code=code,
            name=values["name"] or code,
            slots=slots,
            params_schema=values["params_schema"] or {},
            render_template=values["render_template"] or None,
            examples=examples,
        )
        if slots:
            return
        catalogue = typesystem.Catalogue(typedef.flavor, (typedef,))
        for place, example in enumerate(examples):
            try:
                sql = typesystem.render(catalogue, code, example.params)
            except typesystem.TypeSystemError as error:
                sql = str(error)
            if sql != example.sql:
                words = f"Example {place + 1} should give {example.sql}, but gives: {sql}"
                raise serializers.ValidationError({"examples": [words]})


class RenderForm(serializers.Serializer[Any]):
    """Parameters, and for a nested type the native spelling of what is in each slot."""

    params = JsonObject(required=False)
    children = serializers.DictField(child=serializers.CharField(max_length=2000), required=False)


class RenderAnswer(serializers.Serializer[Any]):
    """What the type writes."""

    sql = serializers.CharField()


class DataTypeViewSet(RestorableViewSet):
    """How each technology's types are read, checked and written."""

    queryset = DataType.objects.select_related("flavor")
    serializer_class = DataTypeShape
    rights = {"write": C.EDIT_TYPES, "render_type": C.VIEW}
    blocking = ("instances",)
    filters = {
        "id": number(),
        "flavor": ref("flavor__code"),
        "code": text(),
        "name": text(),
        "category": text(),
        "logical_type": text(),
        "kind": text(),
        **STAMP_FILTERS,
    }
    sorts = {
        **STAMP_SORTS,
        "flavor": "flavor__code",
        "code": "code",
        "name": "name",
        "category": "category",
        "logical_type": "logical_type",
    }
    default_sort = ("flavor__code", "code")

    @extend_schema(request=RenderForm, responses=RenderAnswer)
    @action(detail=True, methods=["post"], url_path="render")
    def render_type(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        data_type = self.get_object()
        form = RenderForm(data=request.data)
        form.is_valid(raise_exception=True)
        typedef = typedef_of(data_type, flavor=data_type.flavor.code)
        catalogue = catalogue_for(data_type.flavor.code)
        children = {
            slot: typesystem.parse(catalogue, native)
            for slot, native in form.validated_data.get("children", {}).items()
        }
        alone = typesystem.Catalogue(typedef.flavor, (typedef,))
        try:
            sql = typesystem.render(alone, typedef.code, form.validated_data.get("params", {}), children)
        except typesystem.ParamsInvalid as error:
            raise params_invalid(error) from error
        except typesystem.TypeSystemError as error:
            raise Invalid("TYPE_PARAMS_INVALID", str(error)) from error
        return Response({"sql": sql})


class TypeInstanceShape(Shape):
    """A type with its parameters; it never changes."""

    data_type_id = IdField(
        source="data_type",
        queryset=DataType.objects.select_related("flavor"),
        required=False,
        allow_null=True,
    )
    parent_id = IdField(source="parent", queryset=TypeInstance.objects.all(), required=False, allow_null=True)
    type_params = JsonObject(required=False)
    slot = serializers.CharField(max_length=255, required=False, allow_blank=True)
    native_type = serializers.CharField(
        max_length=5000,
        required=False,
        allow_blank=True,
        write_only=True,
        help_text="The spelling of a type that is not in the catalogue.",
    )

    class Meta:
        model = TypeInstance
        fields = (
            "id",
            "data_type_id",
            "type_params",
            "parent_id",
            "slot",
            "rendered",
            "native_type",
            *STAMPS,
        )
        read_only_fields = ("rendered", *STAMPS_READ_ONLY)

    def create(self, validated_data: dict[str, Any]) -> TypeInstance:
        return versions.add_type_instance(
            validated_data.get("data_type"),
            type_params=validated_data.get("type_params"),
            parent=validated_data.get("parent"),
            slot=validated_data.get("slot", ""),
            native_type=validated_data.get("native_type", ""),
        )


class TypeInstanceViewSet(AuditedViewSet):
    """Types with parameters, shared by content; an equal one that exists is the answer to POST."""

    queryset = TypeInstance.objects.all()
    serializer_class = TypeInstanceShape
    rights = {"write": (C.PUBLISH, C.EDIT_TYPES)}
    filters = {
        "id": number(),
        "data_type_id": number("data_type_id"),
        "parent_id": number("parent_id"),
        "slot": text(),
        "rendered": text(),
        **STAMP_FILTERS,
    }
    sorts = {**STAMP_SORTS, "rendered": "rendered"}
    default_sort = ("pk",)

    def recorded(self, verb: str, instance: Any, *, before: Any = None, after: Any = None) -> None:
        """Types are parts of drafts, which are recorded themselves."""

    def check_changeable(self, instance: TypeInstance) -> None:
        if self.action != "destroy":
            raise Conflict("IMMUTABLE", "A type instance never changes; make another one.")

    def perform_delete(self, instance: TypeInstance) -> None:
        versions.delete_type_instance(instance)

    @extend_schema(filters=False, responses=OpenApiTypes.OBJECT)
    @action(detail=True, methods=["get"])
    def tree(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        root = self.get_object()
        rows: dict[int | None, dict[str, Any]] = {root.pk: self._node(root)}
        level = [root.pk]
        while level:
            parts = list(TypeInstance.objects.filter(parent_id__in=level).order_by("slot", "pk"))
            for part in parts:
                rows[part.pk] = self._node(part)
                rows[part.parent_id]["children"].append(rows[part.pk])
            level = [part.pk for part in parts]
        return Response(rows[root.pk])

    def _node(self, instance: TypeInstance) -> dict[str, Any]:
        return {**self.get_serializer(instance).data, "children": []}
