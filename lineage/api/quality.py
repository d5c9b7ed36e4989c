"""What events tell when they are looked at together: sessions of a resource, quality by subject, event schemas."""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts.roles import Capability
from aide.core.api.filters import flag, number, read_moment, text
from aide.core.api.pagination import whole_number
from aide.core.api.permissions import READ
from aide.core.api.shapes import JsonObject, Shape
from aide.core.api.strict import StrictForm
from aide.core.api.views import ReadMixin, StrictParameters
from aide.core.problems import ApiValidationError
from lineage import events, quality, schemas, searching, sessions
from lineage.models import Event, EventSchema

C = Capability
MOST_AUDITED = 50_000
MOST_OF_A_RESOURCE = 5_000
USUAL_SPAN = dt.timedelta(days=7)
_TIMES = [OpenApiParameter("from", str), OpenApiParameter("to", str)]


class FindingShape(serializers.Serializer[Any]):
    """One thing that is not well about a subject's events."""

    rule = serializers.ChoiceField(["missing_key", "irregular_resource", "not_closed", "schema"])
    action = serializers.CharField(allow_blank=True)
    what = serializers.CharField(allow_blank=True)
    of = serializers.IntegerField()
    detail = serializers.CharField()
    count = serializers.IntegerField()
    examples = serializers.ListField(child=serializers.CharField())


class SubjectQualityShape(serializers.Serializer[Any]):
    """A subject, the part of its events without a finding, and the findings."""

    subject = serializers.CharField(allow_blank=True)
    events = serializers.IntegerField()
    score = serializers.FloatField()
    findings = FindingShape(many=True)


class QualityAnswer(serializers.Serializer[Any]):
    """The audit of a span of time; with `is_capped` of its newest events only."""

    to = serializers.CharField()
    events = serializers.IntegerField()
    is_capped = serializers.BooleanField()
    subjects = SubjectQualityShape(many=True)

    def get_fields(self) -> dict[str, Any]:
        return {"from": serializers.CharField(), **super().get_fields()}


class QualityView(StrictParameters):
    """`GET /metadata/quality`: for each subject, what its events lack, name oddly or leave open."""

    rights = {"read": READ}

    def known_parameters(self) -> frozenset[str]:
        return frozenset({"from", "to", "subject"})

    @extend_schema(
        operation_id="metadata_quality",
        parameters=[*_TIMES, OpenApiParameter("subject", str)],
        responses=QualityAnswer,
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        until = _time(request, "to") or timezone.now()
        since = _time(request, "from") or _before(until)
        found = Event.objects.filter(happened_at__gte=since, happened_at__lte=until)
        if "subject" in request.query_params:
            found = found.filter(subject=request.query_params["subject"])
        told, is_capped = searching.told(found, most=MOST_AUDITED)
        subjects = quality.audit(told, until=until, check=schemas.active_checker().check)
        return Response(
            {
                "from": events.stamp(since),
                "to": events.stamp(until),
                "events": len(told),
                "is_capped": is_capped,
                "subjects": [asdict(each) for each in subjects],
            }
        )


class StepShape(serializers.Serializer[Any]):
    """One event of a session."""

    event_id = serializers.CharField()
    at = serializers.CharField()
    action = serializers.CharField(allow_blank=True)
    phase = serializers.CharField()
    stage = serializers.CharField(allow_blank=True)
    seconds_after = serializers.FloatField(allow_null=True)
    parameters = serializers.DictField(child=serializers.CharField(allow_blank=True))
    metrics = serializers.DictField(child=serializers.FloatField())
    counts = serializers.DictField(child=serializers.FloatField())
    values = serializers.DictField(child=serializers.CharField(allow_blank=True))


class SessionShape(serializers.Serializer[Any]):
    """One run on a resource."""

    subject = serializers.CharField(allow_blank=True)
    about = serializers.CharField(allow_blank=True)
    run = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(["open", "completed", "failed"])
    began_at = serializers.CharField()
    ended_at = serializers.CharField(allow_null=True)
    seconds = serializers.FloatField()
    parameters = serializers.DictField(child=serializers.CharField(allow_blank=True))
    metrics = serializers.DictField(child=serializers.FloatField())
    counts = serializers.DictField(child=serializers.FloatField())
    steps = StepShape(many=True)


class SessionsAnswer(serializers.Serializer[Any]):
    """The sessions of a resource, newest first; with `is_capped` of its newest events only."""

    resource = serializers.CharField()
    events = serializers.IntegerField()
    is_capped = serializers.BooleanField()
    sessions = SessionShape(many=True)


class SessionsView(StrictParameters):
    """`GET /metadata/sessions/{resource}`: all events of one resource as a timeline of its runs."""

    rights = {"read": READ}

    def known_parameters(self) -> frozenset[str]:
        return frozenset({"from", "to", "limit"})

    @extend_schema(
        operation_id="metadata_sessions",
        parameters=[*_TIMES, OpenApiParameter("limit", int)],
        responses=SessionsAnswer,
    )
    def get(self, request: Request, resource: str, *args: Any, **kwargs: Any) -> Response:
        most = whole_number(request, "limit", default=1000, highest=MOST_OF_A_RESOURCE)
        found = Event.objects.filter(resource=resource)
        if (since := _time(request, "from")) is not None:
            found = found.filter(happened_at__gte=since)
        if (until := _time(request, "to")) is not None:
            found = found.filter(happened_at__lte=until)
        told, is_capped = searching.told(found, most=most)
        made = reversed(sessions.sessions(told))
        return Response(
            {
                "resource": resource,
                "events": len(told),
                "is_capped": is_capped,
                "sessions": [_session(each) for each in made],
            }
        )


class EventSchemaShape(Shape):
    """A version of what events of a kind must hold."""

    class Meta:
        model = EventSchema
        fields = ("id", "name", "version", "subject", "action", "schema", "is_active", "note", "created_at")
        read_only_fields = fields


class EventSchemaForm(StrictForm):
    """A new version of a schema."""

    name = serializers.RegexField(r"^[^\s:/][^:/]{0,198}\Z", max_length=200)
    schema = JsonObject()
    subject = serializers.CharField(required=False, allow_blank=True, max_length=1000, default="")
    action = serializers.CharField(required=False, allow_blank=True, max_length=255, default="")
    note = serializers.CharField(required=False, allow_blank=True, max_length=10_000, default="")


class EventSchemaChange(StrictForm):
    """What may change about a version; its content never does."""

    is_active = serializers.BooleanField(required=False)
    note = serializers.CharField(required=False, allow_blank=True, max_length=10_000)


class EventSchemaViewSet(ReadMixin):
    """What events must hold, in versions."""

    queryset = EventSchema.objects.all()
    serializer_class = EventSchemaShape
    rights = {"write": C.EDIT_CURATED}
    filters = {
        "id": number(),
        "name": text(),
        "version": number(),
        "subject": text(),
        "action": text(),
        "is_active": flag(),
    }
    sorts = {"id": "pk", "name": "name", "version": "version"}
    default_sort = ("name", "-version")

    @extend_schema(request=EventSchemaForm, responses={201: EventSchemaShape})
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        form = EventSchemaForm(data=request.data)
        form.is_valid(raise_exception=True)
        made = schemas.register(**form.validated_data, by=self.caller)
        return self.answer(made, status=status.HTTP_201_CREATED)

    @extend_schema(request=EventSchemaChange, responses=EventSchemaShape)
    def partial_update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        form = EventSchemaChange(data=request.data)
        form.is_valid(raise_exception=True)
        found = self.get_object()
        values = form.validated_data
        changed = schemas.set_active(
            found,
            is_active=values.get("is_active", found.is_active),
            note=values.get("note"),
            by=self.caller,
        )
        return self.answer(changed)


def _session(each: sessions.Session) -> dict[str, Any]:
    return {
        "subject": each.subject,
        "about": each.about,
        "run": each.run,
        "state": each.state,
        "began_at": events.stamp(each.began_at),
        "ended_at": events.stamp(each.ended_at) if each.ended_at else None,
        "seconds": each.seconds,
        "parameters": each.parameters,
        "metrics": each.metrics,
        "counts": each.counts,
        "steps": [{**asdict(step), "at": events.stamp(step.at)} for step in each.steps],
    }


def _time(request: Request, name: str) -> dt.datetime | None:
    said = request.query_params.get(name)
    if said is None:
        return None
    try:
        return read_moment(said)
    except ValueError as error:
        raise ApiValidationError([{"field": name, "code": "invalid", "detail": str(error)}]) from error


def _before(until: dt.datetime) -> dt.datetime:
    try:
        return until - USUAL_SPAN
    except OverflowError:
        return until
