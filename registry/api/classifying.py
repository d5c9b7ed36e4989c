"""The classifier over the API: which kinds of personal data columns may hold. Writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts.roles import Capability
from aide.core.api.views import StrictParameters
from registry import pii, rulebook

C = Capability
MOST_COLUMNS = 10_000
_LONGEST = {"table": 1_000, "column": 1_000, "type": 10_000, "comment": 65_536, "language": 20}
_TEXT = {"type": "string"}


@extend_schema_field(
    {
        "type": "array",
        "maxItems": MOST_COLUMNS,
        "items": {
            "type": "object",
            "required": ["column"],
            "properties": {
                "table": {**_TEXT, "description": "Its name, alone or as schema.table; it decides much."},
                "column": _TEXT,
                "type": {**_TEXT, "description": "The type as the source spells it."},
                "comment": _TEXT,
                "language": {**_TEXT, "description": "The language of the names, such as `de`, if known."},
            },
        },
    }
)
class ColumnsField(serializers.Field[list[pii.Column], Any, Any, Any]):
    """Columns as `[{table, column, type, comment}]`, read at once: a form for each would take seconds."""

    default_error_messages = {
        "not_a_list": "Give a list of columns.",
        "max_length": f"Ask for at most {MOST_COLUMNS} columns at a time.",
    }

    def to_internal_value(self, data: Any) -> list[pii.Column]:
        if not isinstance(data, list):
            self.fail("not_a_list")
        if len(data) > MOST_COLUMNS:
            self.fail("max_length")
        return [_column(each, number) for number, each in enumerate(data)]

    def to_representation(self, value: Any) -> Any:
        return value


def _column(data: Any, number: int) -> pii.Column:
    if not isinstance(data, Mapping):
        raise _refusal(number, "invalid", "Give an object.")
    if data.get("column") is None:
        raise _refusal(number, "required", "A column has a name.", "column")
    texts = {}
    for key, most in _LONGEST.items():
        value = data.get(key)
        if value is None:
            value = ""
        if not isinstance(value, str):
            raise _refusal(number, "invalid", "Give a text.", key)
        if len(value) > most:
            raise _refusal(number, "max_length", f"At most {most} characters.", key)
        texts[key] = value
    return pii.Column(texts["table"], texts["column"], texts["type"], texts["comment"], texts["language"])


def _refusal(number: int, code: str, sentence: str, key: str = "") -> serializers.ValidationError:
    said = [ErrorDetail(sentence, code)]
    return serializers.ValidationError({str(number): {key: said} if key else said})


class ClassifyForm(serializers.Serializer[Any]):
    """Columns of one schema or of many; those of one table help each other."""

    columns = ColumnsField()


class SuggestedTag(serializers.Serializer[Any]):
    """A kind of personal data that the column may hold, and why."""

    tag = serializers.CharField(help_text="The code of a PII tag.")
    confidence = serializers.FloatField(help_text="0 to 1; below 0.9 when only the name speaks for it.")
    rule = serializers.CharField()
    rule_version = serializers.CharField()
    evidence = serializers.CharField(help_text="In words.")
    name_only = serializers.BooleanField(help_text="Nothing but the column's name speaks for it.")


class ClassifiedColumn(serializers.Serializer[Any]):
    """Best first; empty when nothing speaks for personal data."""

    tags = SuggestedTag(many=True)


class ClassifyAnswer(serializers.Serializer[Any]):
    """One item a column, in the same order."""

    items = ClassifiedColumn(many=True)


class ClassifyView(StrictParameters):
    """`POST /pii/classify`, with the rules in force."""

    rights = {"post": C.VIEW}

    @extend_schema(operation_id="pii_classify", request=ClassifyForm, responses={200: ClassifyAnswer})
    def post(self, request: Request) -> Response:
        form = ClassifyForm(data=request.data)
        form.is_valid(raise_exception=True)
        found = pii.classify(form.validated_data["columns"], rules=rulebook.current())
        return Response({"items": [{"tags": [_shown(each) for each in several]} for several in found]})


def _shown(suggestion: pii.Suggestion) -> dict[str, Any]:
    return {
        "tag": suggestion.tag,
        "confidence": suggestion.confidence,
        "rule": suggestion.rule,
        "rule_version": suggestion.rule_version,
        "evidence": suggestion.evidence,
        "name_only": suggestion.name_only,
    }
