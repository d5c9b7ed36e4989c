"""How the OpenAPI document is written: query parameters, error answers and tags of every operation."""

from __future__ import annotations

from typing import Any, Literal

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers

from aide.core.problems import PROBLEM_TYPE

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
