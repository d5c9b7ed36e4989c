"""Schedules over the API."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from aide.accounts.api.audited import AuditedViewSet
from aide.accounts.roles import Capability
from aide.core.api.filters import flag, moment, number, ref
from aide.core.api.shapes import CodeField, JsonObject, Shape
from crawling import plans
from crawling.crawl.runs import scope_of
from crawling.models import Change, CrawlPlan
from registry.models import System

SCOPE_SCHEMA = {
    "type": "object",
    "properties": {
        name: {"type": "array", "items": {"type": "string"}}
        for name in ("schemas", "tables", "exclude_schemas", "exclude_tables")
    },
    "additionalProperties": False,
}


@extend_schema_field(SCOPE_SCHEMA)
class ScopeField(JsonObject):
    """What a crawl looks at: four lists of name patterns, each of which may be left out."""

    def to_internal_value(self, data: Any) -> Any:
        return scope_of(super().to_internal_value(data), field=self.field_name or "scope").to_dict()


class CrawlPlanShape(Shape):
    """A schedule of one system."""

    system = CodeField(queryset=System.objects.all())
    scope = ScopeField(required=False)
    auto_approve = serializers.ListField(
        child=serializers.ChoiceField(choices=Change.Risk.choices), required=False, max_length=3
    )

    class Meta:
        model = CrawlPlan
        fields = (
            "id", "system", "scope", "cron", "time_zone", "is_active", "auto_approve", "next_due_at", "note",
            "created_at", "updated_at", "row_version",
        )  # fmt: skip
        read_only_fields = ("next_due_at", "created_at", "updated_at", "row_version")

    def validate_auto_approve(self, value: list[str]) -> list[str]:
        return sorted(set(value))

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        present = self.instance or CrawlPlan()
        cron = attrs.get("cron", present.cron)
        zone = attrs.get("time_zone", present.time_zone)
        is_active = attrs.get("is_active", present.is_active)
        due = plans.next_due(cron, zone, after=timezone.now())
        attrs["next_due_at"] = due if is_active else None
        return attrs


class CrawlPlanViewSet(AuditedViewSet):
    """When a system is crawled, within which scope, and which changes need no person."""

    queryset = CrawlPlan.objects.select_related("system__flavor")
    serializer_class = CrawlPlanShape
    system_path = "system__code"
    rights = {"read": Capability.VIEW, "write": Capability.MANAGE_SYSTEMS}
    system_right = Capability.MANAGE_SYSTEMS
    filters = {
        "id": number(),
        "system": ref("system__code"),
        "is_active": flag(),
        "next_due_at": moment(),
        "created_at": moment(),
    }
    sorts = {
        "id": "pk",
        "system": "system__code",
        "next_due_at": "next_due_at",
        "created_at": "created_at",
    }
    default_sort = ("system__code", "pk")
