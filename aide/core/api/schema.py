"""How the OpenAPI document is written: query parameters, error answers and tags of every operation."""

from __future__ import annotations

from typing import Any, Literal

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers

from aide.core.problems import PROBLEM_TYPE

MAX_BULK = 10_000
_ERRORS: dict[str, str] = {
    "400": "The request cannot be read.",
    "401": "Nobody is logged in.",
    "403": "The caller may not do this.",
    "404": "There is no such thing.",
    "405": "This address does not take this method.",
    "406": "No acceptable form of answer.",
    "409": "The present state does not allow this.",
    "413": "The body is too large.",
    "415": "The content type is not taken.",
    "422": "The input is not valid.",
    "429": "Too many tries.",
    "503": "Not available at the moment.",
}


class ProblemDetail(serializers.Serializer[Any]):
    """One field that is wrong."""

    field = serializers.CharField()
    code = serializers.CharField()
    detail = serializers.CharField()


class Problem(serializers.Serializer[Any]):
    """Any refusal (RFC 9457)."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    error_code = serializers.CharField()
    request_id = serializers.CharField()
    errors = ProblemDetail(many=True)  # type: ignore[assignment]


class AideSchema(AutoSchema):
    """Adds the problem answer to every operation and takes the tag from the first part of the path."""

    def get_tags(self) -> list[str]:
        parts = [part for part in self.path.removeprefix("/api/v1").split("/") if part]
        return [parts[0]] if parts else ["aide"]

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        found = super().get_operation(*args, **kwargs)
        makes = self.method == "POST" and getattr(self.view, "action", "") == "create"
        if found is not None and makes and getattr(self.view, "takes_items", False):
            _take_items(found)
        return found

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> dict[str, Any]:
        bodies = super()._get_response_bodies(direction=direction)
        for status, words in _ERRORS.items():
            if status in bodies:
                continue
            if status in {"413", "415"} and self.method in {"GET", "HEAD", "DELETE"}:
                continue
            bodies[status] = self._get_response_for_code(
                OpenApiResponse(Problem, description=words), status, media_types=[PROBLEM_TYPE]
            )
        return bodies


def _take_items(operation: dict[str, Any]) -> None:
    """One thing, or several in bulk: the body and the answer of a POST."""
    one = operation["requestBody"]["content"]["application/json"]
    items = {"type": "array", "items": one["schema"], "maxItems": MAX_BULK}
    several = {
        "type": "object",
        "required": ["items"],
        "properties": {"items": items},
        "additionalProperties": False,
    }
    one["schema"] = {"oneOf": [one["schema"], several]}
    made = operation["responses"]["201"]["content"]["application/json"]
    answer = {
        "type": "object",
        "required": ["items", "count"],
        "properties": {
            "items": {"type": "array", "items": made["schema"]},
            "count": {"type": "integer", "minimum": 0},
        },
    }
    made["schema"] = {"oneOf": [made["schema"], answer]}


def any_value_is_null_too(result: dict[str, Any], generator: Any, **kwargs: Any) -> dict[str, Any]:
    """A hook for the finished document: "anything or null" is anything, since null fits both."""
    todo: list[Any] = [result]
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            if node.get("oneOf") == [{}, {"type": "null"}]:
                del node["oneOf"]
            todo += node.values()
        elif isinstance(node, list):
            todo += node
    return result
