"""The audit log over the API: read-only, and a check of its chain."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from aide.audit.checking import verify
from aide.audit.models import AuditEntry
from aide.core.api.filters import choice, edge, flag, moment, number, ref, text
from aide.core.api.pagination import CursorOrPageOfItems
from aide.core.api.shapes import Shape
from aide.core.api.views import ReadMixin
from aide.core.errors import Forbidden

READ_AUDIT = "read_audit"


class AuditEntryShape(Shape):
    """One thing that someone did."""

    class Meta:
        model = AuditEntry
        fields = (
            "id",
            "at",
            "actor_id",
            "actor_name",
            "actor_roles",
            "via",
            "action",
            "object_type",
            "object_id",
            "object_name",
            "system_code",
            "dataset_id",
            "risk",
            "touches_pii",
            "before",
            "after",
            "reason",
            "batch",
            "request_id",
            "ip",
            "user_agent",
            "place",
            "hash",
        )


class VerifyAnswer(serializers.Serializer[Any]):
    """Whether the chain is whole."""

    ok = serializers.BooleanField()
    sealed = serializers.IntegerField()
    unsealed = serializers.IntegerField()
    first_bad_id = serializers.IntegerField(allow_null=True)


class AuditViewSet(ReadMixin):
    """Who did what to what. Stewards see their own systems."""

    queryset = AuditEntry.objects.all()
    serializer_class = AuditEntryShape
    pagination_class = CursorOrPageOfItems
    rights = {"read": READ_AUDIT}
    filters = {
        "id": number(),
        "at": moment(),
        "from": edge("at__gte"),
        "to": edge("at__lte"),
        "actor": text("actor_name"),
        "system": ref("system_code"),
        "actor_id": number("actor_id"),
        "actor_name": text(),
        "via": text(),
        "action": text(),
        "object_type": text(),
        "object_id": text(),
        "object_name": text(),
        "system_code": text(),
        "dataset_id": number(),
        "risk": choice(["", "safe", "risky", "breaking"]),
        "touches_pii": flag(),
        "batch": text(),
        "request_id": text(),
    }
    sorts = {"id": "pk", "at": "at", "action": "action"}
    default_sort = ("-pk",)

    def visible(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        codes = self.caller.system_codes_for(READ_AUDIT)
        return queryset if codes is None else queryset.filter(system_code__in=codes)

    @extend_schema(filters=False, responses=VerifyAnswer)
    @action(detail=False, methods=["get"])
    def verify(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        if self.caller.system_codes_for(READ_AUDIT) is not None:
            raise Forbidden("FORBIDDEN", "Checking the whole log needs the role approver or admin.")
        return Response(asdict(verify()))
