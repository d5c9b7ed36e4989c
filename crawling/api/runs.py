"""Crawl runs over the API: start or upload, watch, cancel, retry, read the report, decide a whole run."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts.idempotency import once
from aide.accounts.roles import Capability
from aide.core.api.filters import choice, flag, moment, number, ref
from aide.core.api.shapes import CodeField, JsonObject, Shape
from aide.core.api.strict import StrictForm
from aide.core.api.views import ReadMixin, refuse_unless
from aide.core.api.wire import JSONRenderer
from aide.core.errors import Conflict
from aide.core.problems import ApiValidationError
from crawling import crawl, report, review
from crawling.api.decisions import DecisionForm, OutcomeShape
from crawling.api.plans import ScopeField
from crawling.models import CrawlRun
from registry.models import System

C = Capability


class ProgressShape(serializers.Serializer[Any]):
    """How far a run is."""

    current_object = serializers.CharField(allow_blank=True)
    schemas_done = serializers.IntegerField()
    schemas_total = serializers.IntegerField()
    tables_done = serializers.IntegerField()
    tables_total = serializers.IntegerField()


class CrawlRunShape(Shape):
    """One look at a source, with how it went and what it found."""

    system = serializers.CharField(source="system.code", read_only=True)
    plan_id = serializers.IntegerField(read_only=True, allow_null=True)
    retry_of_id = serializers.IntegerField(read_only=True, allow_null=True)
    started_by = serializers.CharField(
        source="started_by.email", read_only=True, default=None, allow_null=True
    )
    progress = ProgressShape(source="*", read_only=True)
    error = serializers.SerializerMethodField()
    error_code = serializers.SerializerMethodField()

    class Meta:
        model = CrawlRun
        fields = (
            "id", "system", "status", "trigger", "dry_run", "config", "plan_id", "retry_of_id", "started_by",
            "created_at", "started_at", "finished_at", "heartbeat_at", "cancel_requested_at", "progress",
            "coverage", "summary", "warnings", "timings", "error", "error_code",
        )  # fmt: skip
        read_only_fields = fields

    def get_error(self, run: CrawlRun) -> str | None:
        return run.error or None

    def get_error_code(self, run: CrawlRun) -> str | None:
        return run.error_code or None


class NewRunForm(StrictForm):
    """A crawl to be carried out by this server, or, with `snapshot`, one that the caller carried out."""

    system = CodeField(queryset=System.objects.select_related("flavor"))
    config = ScopeField(required=False, allow_null=True)
    snapshot = JsonObject(required=False, allow_null=True)
    dry_run = serializers.BooleanField(required=False, default=False)


class TextRenderer(BaseRenderer):
    """The report for people."""

    media_type = "text/plain"
    format = "txt"
    charset = "utf-8"

    def render(self, data: Any, accepted_media_type: Any = None, renderer_context: Any = None) -> Any:
        return data if isinstance(data, str | bytes) else JSONRenderer().render(data)


class CrawlRunViewSet(ReadMixin):
    """Crawl runs: POST starts one (202) or takes in a snapshot (201)."""

    queryset = CrawlRun.objects.select_related("system__flavor", "started_by")
    serializer_class = CrawlRunShape
    system_path = "system__code"
    rights = {
        "read": C.VIEW,
        "create": C.START_CRAWL,
        "cancel": C.START_CRAWL,
        "retry": C.START_CRAWL,
        "decide_and_apply": C.DECIDE,
    }
    filters = {
        "id": number(),
        "system": ref("system__code"),
        "status": choice(list(CrawlRun.Status.values)),
        "trigger": choice(list(CrawlRun.Trigger.values)),
        "plan_id": number("plan_id"),
        "dry_run": flag(),
        "created_at": moment(),
        "finished_at": moment(),
    }
    sorts = {
        "id": "pk",
        "system": "system__code",
        "status": "status",
        "created_at": "created_at",
        "finished_at": "finished_at",
    }
    default_sort = ("-pk",)
    extra_parameters = {"report": frozenset({"format"})}

    def get_queryset(self) -> Any:
        rows = super().get_queryset()
        return rows if self.action == "report" else rows.defer("report")

    @extend_schema(
        request=NewRunForm,
        responses={
            201: OpenApiResponse(CrawlRunShape, description="The snapshot was compared."),
            202: OpenApiResponse(CrawlRunShape, description="The run is queued."),
        },
    )
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return once(request, lambda: self._create(request))

    def _create(self, request: Request) -> Response:
        form = NewRunForm(data=request.data, context=self.get_serializer_context())
        form.is_valid(raise_exception=True)
        values = form.validated_data
        system = values["system"]
        refuse_unless(request.user, C.START_CRAWL, system)
        how = {"config": values.get("config"), "by": request.user, "dry_run": values["dry_run"]}
        snapshot = values.get("snapshot")
        if snapshot is not None:
            run = crawl.upload(system, snapshot, **how)
            return self.answer(run, status=status.HTTP_201_CREATED)
        run = crawl.start(system, trigger=CrawlRun.Trigger.API, **how)
        return self.answer(run, status=status.HTTP_202_ACCEPTED)

    @extend_schema(request=None, responses=CrawlRunShape)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Ask a run to stop; what it has read becomes no proposal."""
        run = self.get_object()
        refuse_unless(request.user, C.START_CRAWL, run.system)
        return self.answer(crawl.cancel(run, by=request.user))

    @extend_schema(request=None, responses={202: CrawlRunShape})
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Crawl again with the same scope; after a run that could not read some objects, only those."""
        run = self.get_object()
        refuse_unless(request.user, C.START_CRAWL, run.system)
        again = crawl.retry(run, by=request.user, trigger=CrawlRun.Trigger.API)
        return self.answer(again, status=status.HTTP_202_ACCEPTED)

    @extend_schema(
        parameters=[OpenApiParameter("format", enum=["json", "text"], default="json")],
        responses={(200, "application/json"): dict, (200, "text/plain"): str},
        filters=False,
    )
    @action(detail=True, methods=["get"], renderer_classes=[JSONRenderer, TextRenderer])
    def report(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """What the run found, as JSON or as text."""
        wanted = request.query_params.get("format")
        if wanted is None:
            wanted = "text" if request.accepted_renderer.format == "txt" else "json"
        if wanted not in {"json", "text"}:
            raise ApiValidationError([{"field": "format", "code": "invalid", "detail": "Use json or text."}])
        run = self.get_object()
        if not run.report:
            raise Conflict("NO_REPORT", _why_no_report(run))
        if wanted == "json":
            return Response(run.report, content_type="application/json")
        return HttpResponse(report.text(run.report), content_type="text/plain; charset=utf-8")

    @extend_schema(request=DecisionForm, responses=OutcomeShape)
    @action(detail=True, methods=["post"], url_path="decide-and-apply")
    def decide_and_apply(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Decide everything that waits after this run, and carry it out."""
        return once(request, lambda: self._decide_and_apply(request))

    def _decide_and_apply(self, request: Request) -> Response:
        run = self.get_object()
        refuse_unless(request.user, C.DECIDE, run.system)
        decision = DecisionForm.read(request.data)
        proposals = review.proposals_of(run)
        review.decide(proposals, by=request.user, **decision)
        outcome = review.apply(proposals, by=request.user, comment=decision["comment"])
        return Response(outcome.to_dict())


def _why_no_report(run: CrawlRun) -> str:
    if run.status in CrawlRun.ACTIVE:
        return f"Run {run.pk} has not ended, so there is no report yet."
    return f"Run {run.pk} has no report: {run.error or run.get_status_display().lower()}"
