"""Base serializers: they give things their shape on the wire and decide nothing."""

from __future__ import annotations

import re
from typing import Any

from django.db.models import Model
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.validators import UniqueValidator

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@extend_schema_field(OpenApiTypes.STR)
class CodeField(serializers.SlugRelatedField):
    """A reference by code to something that is there (not deleted)."""

    default_error_messages = {"does_not_exist": "There is no {value}.", "invalid": "Use a code."}

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("slug_field", "code")
        super().__init__(**kwargs)

    def get_queryset(self) -> Any:
        return alive(super().get_queryset())

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or _UNSTORABLE.search(data):
            self.fail("invalid")
        found = self.get_queryset().filter(**{self.slug_field or "code": data}).first()
        if found is None:
            self.fail("does_not_exist", value=data[:100])
        return found


@extend_schema_field(OpenApiTypes.INT)
class IdField(serializers.PrimaryKeyRelatedField):
    """A reference by id, named `<name>_id`, to something that is there (not deleted)."""

    default_error_messages = {"does_not_exist": "There is nothing with id {pk_value}."}

    def get_queryset(self) -> Any:
        return alive(super().get_queryset())

    def use_pk_only_optimization(self) -> bool:
        return True

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, bool) or not isinstance(data, int | str):
            self.fail("incorrect_type", data_type=type(data).__name__)
        if not re.fullmatch(r"[0-9]{1,18}", str(data)):
            self.fail("does_not_exist", pk_value=str(data)[:30])
        return super().to_internal_value(int(data))


def alive(queryset: Any) -> Any:
    return queryset.alive() if hasattr(queryset, "alive") else queryset


class TextList(serializers.ListField):
    """A list of short texts."""

    child = serializers.CharField(max_length=200)

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("max_length", 500)
        super().__init__(**kwargs)


@extend_schema_field({"type": "object", "additionalProperties": True})
class JsonObject(serializers.JSONField):
    """A JSON object; other JSON values are refused."""

    default_error_messages = {"not_object": "Use an object."}

    def to_internal_value(self, data: Any) -> Any:
        value = super().to_internal_value(data)
        if not isinstance(value, dict):
            self.fail("not_object")
        return value


class Shape(serializers.ModelSerializer[Any]):
    """A model on the wire. Uniqueness is the database's; what a source owns cannot be written.

    `Meta.source_owned` names read-only keys that may be sent back unchanged, but not changed.
    """

    def build_standard_field(self, field_name: str, model_field: Any) -> Any:
        field_class, kwargs = super().build_standard_field(field_name, model_field)
        if "validators" in kwargs:
            kwargs["validators"] = [v for v in kwargs["validators"] if not isinstance(v, UniqueValidator)]
        return field_class, kwargs

    def get_validators(self) -> list[Any]:
        return list(getattr(self.Meta, "validators", []))

    def get_unique_together_constraints(self, model: Any) -> Any:
        return iter(())

    def get_unique_together_validators(self) -> list[Any]:
        return []

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict):
            self._refuse_source_owned(data)
        return super().to_internal_value(data)

    def _refuse_source_owned(self, data: dict[str, Any]) -> None:
        owned = getattr(self.Meta, "source_owned", ())
        sent = [name for name in owned if name in data]
        if not sent or not isinstance(self.instance, Model):
            return
        present = self.to_representation(self.instance)
        errors = {
            name: [serializers.ErrorDetail("This comes from the source and cannot be written.", "read_only")]
            for name in sent
            if data[name] != present.get(name)
        }
        if errors:
            raise serializers.ValidationError(errors)
