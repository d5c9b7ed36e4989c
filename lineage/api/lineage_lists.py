"""Lists of what pipelines reported: events, runs, jobs; names that stewards bind, and edges that people draw."""

from __future__ import annotations

import json
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts.roles import Capability
from aide.core.api.filters import choice, edge, moment, number, text
from aide.core.api.pagination import CursorOrPageOfItems
from aide.core.api.shapes import Shape
from aide.core.api.strict import StrictForm
from aide.core.api.views import ListMixin, ReadMixin, StrictParameters
from aide.core.problems import ApiValidationError
from lineage import drawing, reach, resolve
from lineage.models import Job, LineageEvent, NodeName, Run

C = Capability


class WithinReach(ListMixin):
    """A list that shows a caller who is limited to some systems what concerns these."""

    within: reach.Narrowing

    def get_queryset(self) -> QuerySet[Any]:
        codes = reach.codes_for(getattr(self.request, "user", None))
        return type(self).within(super().get_queryset(), codes)


class LineageEventShape(Shape):
    """An event as it came, with what was odd about it."""

    kind = serializers.CharField(read_only=True, help_text="run, job or dataset")
    event = serializers.SerializerMethodField(help_text="The event itself.")

    class Meta:
        model = LineageEvent
        fields = (
            "id", "kind", "event_type", "event_time", "run_id", "job_namespace", "job_name", "producer", "oddities",
            "state", "error", "digest", "received_at", "event",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get_event(self, row: LineageEvent) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(row.body)
        return found


class LineageEventViewSet(WithinReach):
    """Raw OpenLineage events, newest first."""

    queryset = LineageEvent.objects.all()
    within = staticmethod(reach.events_within)
    serializer_class = LineageEventShape
    pagination_class = CursorOrPageOfItems
    filters = {
        "run_id": text(),
        "job": text("job_name"),
        "job_namespace": text(),
        "event_type": text(),
        "kind": choice(list(LineageEvent.Kind.values)),
        "state": choice(list(LineageEvent.State.values)),
        "event_time": moment(),
        "from": edge("event_time__gte"),
        "to": edge("event_time__lte"),
        "received_at": moment(),
    }
    sorts = {"id": "pk", "event_time": "event_time"}
    default_sort = ("-pk",)


class RunShape(Shape):
    """One run of a job, all its events together."""

    job = serializers.CharField(source="job.name", read_only=True)
    job_namespace = serializers.CharField(source="job.namespace", read_only=True)

    class Meta:
        model = Run
        fields = (
            "id", "run_id", "job", "job_namespace", "state", "state_at", "started_at", "ended_at", "parent_run_id",
            "facets", "first_seen", "last_seen",
        )  # fmt: skip
        read_only_fields = fields


class RunViewSet(WithinReach):
    """Runs, those seen last first."""

    queryset = Run.objects.select_related("job")
    within = staticmethod(reach.runs_within)
    serializer_class = RunShape
    filters = {
        "job": text("job__name"),
        "job_namespace": text("job__namespace"),
        "state": text(),
        "last_seen": moment(),
        "started_at": moment(),
    }
    sorts = {"last_seen": "last_seen", "started_at": "started_at", "id": "pk"}
    default_sort = ("-last_seen",)


class JobShape(Shape):
    """A job of a pipeline."""

    class Meta:
        model = Job
        fields = ("id", "namespace", "name", "description", "facets", "first_seen", "last_seen")
        read_only_fields = fields


class JobViewSet(WithinReach):
    """Jobs that events named."""

    queryset = Job.objects.all()
    within = staticmethod(reach.jobs_within)
    serializer_class = JobShape
    filters = {"namespace": text(), "name": text(), "last_seen": moment()}
    sorts = {"name": "name", "namespace": "namespace", "last_seen": "last_seen", "id": "pk"}
    default_sort = ("namespace", "name")


class NameShape(Shape):
    """A name that events use, and what it was found to be."""

    dataset_id = serializers.IntegerField(source="node.dataset_id", read_only=True, allow_null=True)
    bound_by = serializers.CharField(source="bound_by.email", read_only=True, allow_null=True, default=None)
    last_seen = serializers.DateTimeField(source="node.last_seen", read_only=True)

    class Meta:
        model = NodeName
        fields = (
            "id",
            "namespace",
            "name",
            "matched",
            "why",
            "dataset_id",
            "bound_by",
            "node_id",
            "last_seen",
        )
        read_only_fields = fields


class BindForm(StrictForm):
    """Which dataset a name means."""

    dataset_id = serializers.IntegerField(min_value=1, max_value=2**63 - 1)


class NameViewSet(ReadMixin):
    """Names that events use: `?matched=unresolved` are those that the registry does not know."""

    queryset = NodeName.objects.select_related("node", "bound_by")
    serializer_class = NameShape
    system_path = "node__dataset__system__code"
    rights = {"bind": (C.EDIT_LINEAGE, C.DECIDE), "unbind": (C.EDIT_LINEAGE, C.DECIDE)}
    filters = {
        "matched": choice(list(NodeName.Matched.values)),
        "namespace": text(),
        "name": text(),
        "dataset_id": number("node__dataset_id"),
    }
    sorts = {"id": "pk", "name": "name", "namespace": "namespace"}

    @extend_schema(operation_id="lineage_names_bind", request=BindForm, responses={200: NameShape})
    def bind(self, request: Request, pk: str, *args: Any, **kwargs: Any) -> Response:
        """A steward's alias: everything that was said under this name belongs to the dataset."""
        form = BindForm(data=request.data)
        form.is_valid(raise_exception=True)
        name = self.get_object()
        row = resolve.bind(name.pk, dataset_id=form.validated_data["dataset_id"], by=self.caller)
        return Response(NameShape(row).data)

    @extend_schema(operation_id="lineage_names_unbind", request=None, responses={200: NameShape})
    def unbind(self, request: Request, pk: str, *args: Any, **kwargs: Any) -> Response:
        """Takes an alias back."""
        row = resolve.unbind(self.get_object().pk, by=self.caller)
        return Response(NameShape(row).data)


class EndForm(StrictForm):
    """One end of an edge: a dataset, or a name that events use; with a field, one column."""

    dataset_id = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=2**63 - 1)
    namespace = serializers.CharField(required=False, allow_blank=True, max_length=1_000)
    name = serializers.CharField(required=False, allow_blank=True, max_length=2_000)
    field = serializers.CharField(required=False, allow_blank=True, max_length=2_000)


class EdgeForm(StrictForm):
    """An edge that a person draws."""

    source = EndForm()  # type: ignore[assignment]
    target = EndForm()
    reason = serializers.CharField(max_length=500)


class EdgeAnswer(serializers.Serializer[Any]):
    """The edge that was drawn."""

    id = serializers.IntegerField()
    level = serializers.ChoiceField(choices=["dataset", "column"])
    source_id = serializers.IntegerField()
    target_id = serializers.IntegerField()
    first_seen = serializers.DateTimeField()
    reason = serializers.CharField()


class EdgesView(StrictParameters):
    """`POST /lineage/edges`: draw an edge by hand."""

    rights = {"post": C.EDIT_LINEAGE}

    @extend_schema(operation_id="lineage_edges_draw", request=EdgeForm, responses={201: EdgeAnswer})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Says that one dataset, or one column, is made from another. No event ever changes it."""
        form = EdgeForm(data=request.data)
        form.is_valid(raise_exception=True)
        values = form.validated_data
        ends = [
            drawing.End(one.get("dataset_id"), one.get("namespace", ""), one.get("name", ""))
            for one in (values["source"], values["target"])
        ]
        row = drawing.draw(
            *ends,
            by=self.caller,
            reason=values["reason"],
            source_field=values["source"].get("field", ""),
            target_field=values["target"].get("field", ""),
        )
        answer = {
            "id": row.pk,
            "level": "column" if values["source"].get("field") else "dataset",
            "source_id": row.source_id,
            "target_id": row.target_id,
            "first_seen": row.first_seen,
            "reason": row.reason,
        }
        return Response(EdgeAnswer(answer).data, status=201)


class EdgeView(StrictParameters):
    """`DELETE /lineage/edges/{id}?reason=`: the edge ends now."""

    rights = {"delete": C.EDIT_LINEAGE}
    extra_parameters = {"": frozenset({"reason", "level"})}

    @extend_schema(
        operation_id="lineage_edges_end",
        parameters=[
            OpenApiParameter("reason", OpenApiTypes.STR, required=True),
            OpenApiParameter("level", OpenApiTypes.STR, enum=["dataset", "column"]),
        ],
        responses={204: None},
    )
    def delete(self, request: Request, pk: int, *args: Any, **kwargs: Any) -> Response:
        """Its past stays: `as_of` still shows it."""
        level = request.query_params.get("level", "dataset")
        if level not in {"dataset", "column"}:
            raise ApiValidationError(
                [{"field": "level", "code": "invalid", "detail": "Use dataset or column."}]
            )
        drawing.end(pk, level=level, by=self.caller, reason=request.query_params.get("reason", "")[:500])
        return Response(status=204)
