"""Schedules over the API."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts.api.audited import AuditedViewSet
from aide.accounts.roles import Capability
from aide.core.api.filters import flag, moment, number, ref
from aide.core.api.shapes import CodeField, JsonObject, Shape
from aide.core.api.strict import StrictForm
from aide.core.api.views import refuse_unless
from crawling import plans
from crawling.crawl.runs import scope_of
from crawling.models import Change, CrawlPlan
from crawling.preview import preview
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


class PreviewForm(StrictForm):
    """A scope to look at before it is a plan's or a run's."""

    system = CodeField(queryset=System.objects.select_related("flavor", "credential_ref"))
    scope = ScopeField(required=False, allow_null=True)


class PreviewedSchemaShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    status = serializers.ChoiceField(choices=["listed", "failed"])
    reason = serializers.CharField(allow_blank=True)
    datasets = serializers.IntegerField()


class PreviewedDatasetShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    object_kind = serializers.CharField()
    fields_count = serializers.IntegerField()
    is_known = serializers.BooleanField()


class PreviewedProblemShape(serializers.Serializer[Any]):
    object = serializers.CharField()
    state = serializers.ChoiceField(choices=["failed", "skipped"])
    reason = serializers.CharField()


class PreviewShape(serializers.Serializer[Any]):
    """What a crawl of the scope would read; each list holds its first 50."""

    ok = serializers.BooleanField()
    sentence = serializers.CharField()
    total = serializers.IntegerField()
    schemas = PreviewedSchemaShape(many=True)
    datasets = PreviewedDatasetShape(many=True)
    problems = PreviewedProblemShape(many=True)
    problems_total = serializers.IntegerField()
    not_seen = serializers.ListField(child=serializers.CharField())
    not_seen_total = serializers.IntegerField()


class CrawlPlanViewSet(AuditedViewSet):
    """When a system is crawled, within which scope, and which changes need no person."""

    queryset = CrawlPlan.objects.select_related("system__flavor")
    serializer_class = CrawlPlanShape
    system_path = "system__code"
    rights = {
        "read": Capability.VIEW,
        "write": Capability.MANAGE_SYSTEMS,
        "preview": Capability.START_CRAWL,
    }
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

    @extend_schema(request=PreviewForm, responses={200: PreviewShape}, filters=False)
    @action(detail=False, methods=["post"])
    def preview(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """What a crawl of a scope would read, looked up at the source now; nothing is written."""
        form = PreviewForm(data=request.data, context=self.get_serializer_context())
        form.is_valid(raise_exception=True)
        system = form.validated_data["system"]
        refuse_unless(request.user, Capability.START_CRAWL, system)
        return Response(preview(system, form.validated_data.get("scope")).to_dict())
