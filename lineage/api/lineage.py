"""OpenLineage over the API: events sent one by one or many at once, and the graph that they draw."""

from __future__ import annotations

import datetime as dt
from typing import Any, cast

import msgspec
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts.roles import Capability
from aide.core.api.filters import read_moment
from aide.core.api.pagination import whole_number
from aide.core.api.permissions import READ
from aide.core.api.views import StrictParameters
from aide.core.errors import Invalid, NotFound
from aide.core.problems import ApiValidationError
from lineage import asking, graph, merging
from lineage.api.bodies import TextParser, many_events, one_event
from lineage.api.marquez_graph import MarquezGraph
from registry.models import Dataset

C = Capability
MOST_NODES = 10_000
_EVENT = {"application/json": {"type": "object", "additionalProperties": True}}


class ReceiptAnswer(serializers.Serializer[Any]):
    """What became of an event."""

    status = serializers.CharField(help_text="stored or duplicate")
    digest = serializers.CharField(help_text="Tells repetitions: sha256 over the event.")
    warnings = serializers.ListField(
        child=serializers.CharField(), help_text="What is odd about it, in words."
    )
    merged = serializers.BooleanField(help_text="False: it is kept, and the graph will follow.")


class FailedEvent(serializers.Serializer[Any]):
    """An event of a batch that was refused."""

    index = serializers.IntegerField()
    reason = serializers.CharField()
    retriable = serializers.BooleanField()


class BatchSummary(serializers.Serializer[Any]):
    """How many events came, and what became of them."""

    received = serializers.IntegerField()
    successful = serializers.IntegerField()
    failed = serializers.IntegerField()
    retriable = serializers.IntegerField()
    non_retriable = serializers.IntegerField()
    duplicates = serializers.IntegerField()


class BatchWarnings(serializers.Serializer[Any]):
    """What is odd about an event of a batch."""

    index = serializers.IntegerField()
    warnings = serializers.ListField(child=serializers.CharField())


class BatchAnswer(serializers.Serializer[Any]):
    """The specification's answer to a batch, with warnings."""

    status = serializers.CharField(help_text="success, partial_success or failure")
    summary = BatchSummary()
    failed_events = FailedEvent(many=True)
    warnings = BatchWarnings(many=True)


class GraphNode(serializers.Serializer[Any]):
    """A dataset or a column, `depth` steps from the start."""

    id = serializers.CharField()
    namespace = serializers.CharField()
    name = serializers.CharField()
    dataset_id = serializers.IntegerField(allow_null=True)
    field = serializers.CharField(allow_null=True)
    depth = serializers.IntegerField()


class GraphEdge(serializers.Serializer[Any]):
    """`target` is made from `source` by a job."""

    source = serializers.CharField()  # type: ignore[assignment]
    target = serializers.CharField()
    job = serializers.CharField()
    job_namespace = serializers.CharField()
    first_seen = serializers.DateTimeField()
    last_seen = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    origin = serializers.CharField()
    transformation = serializers.CharField(required=False)
    masking = serializers.BooleanField(required=False)


class GraphAnswer(serializers.Serializer[Any]):
    """What lies around a start."""

    nodes = GraphNode(many=True)
    edges = GraphEdge(many=True)
    truncated = serializers.BooleanField()


class LineageView(MarquezGraph):
    """`POST /lineage`: one OpenLineage event. `GET /lineage?nodeId=`: the graph in Marquez's shape."""

    parser_classes = (TextParser,)
    rights = {"get": READ, "post": C.SEND_EVENTS}

    def known_parameters(self) -> frozenset[str]:
        return super().known_parameters() if self.request.method == "GET" else frozenset()

    @extend_schema(
        operation_id="lineage_send", request=_EVENT, responses={201: ReceiptAnswer, 200: ReceiptAnswer}
    )
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Store an event; 200 for one that is there already."""
        status, answer = receive_one(_body(request))
        return Response(answer, status=status)


def receive_one(raw: bytes) -> tuple[int, dict[str, Any]]:
    """Store the event that a body is: the status and the content of the answer."""
    item = one_event(_some(raw))
    if isinstance(item.value, list):
        raise _refused("An array of events goes to /lineage/batch.")
    receipt = merging.receive([item])[0]
    if receipt.status == merging.REFUSED:
        raise _refused(receipt.reason)
    answer = {
        "status": receipt.status,
        "digest": receipt.digest,
        "warnings": list(receipt.warnings),
        "merged": receipt.merged,
    }
    return 201 if receipt.status == merging.STORED else 200, answer


class LineageBatchView(StrictParameters):
    """`POST /lineage/batch`: an array of OpenLineage events, each with its own outcome."""

    parser_classes = (TextParser,)
    rights = {"post": C.SEND_EVENTS}

    @extend_schema(
        operation_id="lineage_send_batch",
        request={"application/json": {"type": "array", "items": {"type": "object"}}},
        responses={200: BatchAnswer},
    )
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Store events; one that is refused does not keep the others back."""
        status, answer = receive_many(_body(request))
        return Response(answer, status=status)


def receive_many(raw: bytes) -> tuple[int, dict[str, Any]]:
    """Store the events of a body that is an array: the status and the content of the answer."""
    receipts = merging.receive(many_events(_some(raw)))
    failed = [
        {"index": place, "reason": receipt.reason, "retriable": False}
        for place, receipt in enumerate(receipts)
        if receipt.status == merging.REFUSED
    ]
    count, lost = len(receipts), len(failed)
    return 200, {
        "status": "success" if not lost else "failure" if lost == count else "partial_success",
        "summary": {
            "received": count,
            "successful": count - lost,
            "failed": lost,
            "retriable": 0,
            "non_retriable": lost,
            "duplicates": sum(receipt.status == merging.DUPLICATE for receipt in receipts),
        },
        "failed_events": failed,
        "warnings": [
            {"index": place, "warnings": list(receipt.warnings)}
            for place, receipt in enumerate(receipts)
            if receipt.warnings
        ],
    }


_GRAPH_PARAMETERS = [
    OpenApiParameter("dataset_id", OpenApiTypes.INT, description="Begin at a dataset of the registry,"),
    OpenApiParameter("namespace", OpenApiTypes.STR, description="or at a name that events use,"),
    OpenApiParameter("name", OpenApiTypes.STR, description="with its namespace."),
    OpenApiParameter("field", OpenApiTypes.STR, description="One column (its path)."),
    OpenApiParameter("direction", OpenApiTypes.STR, enum=["up", "down", "both"]),
    OpenApiParameter("depth", OpenApiTypes.INT, description="1 to 100; default 5."),
    OpenApiParameter("level", OpenApiTypes.STR, enum=["dataset", "column"]),
    OpenApiParameter("as_of", OpenApiTypes.DATETIME, description="The graph as it was at a moment."),
    OpenApiParameter("limit", OpenApiTypes.INT, description=f"Most nodes, 1 to {MOST_NODES}; default 1,000."),
]


class GraphView(StrictParameters):
    """`GET /lineage/graph`: what lies upstream and downstream."""

    rights = {"get": READ}
    extra_parameters = {
        "": frozenset(
            {"dataset_id", "namespace", "name", "field", "direction", "depth", "level", "as_of", "limit"}
        )
    }

    @extend_schema(operation_id="lineage_graph", parameters=_GRAPH_PARAMETERS, responses={200: GraphAnswer})
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """The start is always there, at depth 0, even if no event has named it."""
        asked = request.query_params
        path = asked.get("field")
        level = _one_of(
            asked, "level", (graph.DATASET, graph.COLUMN), graph.COLUMN if path else graph.DATASET
        )
        if path is not None and level == graph.DATASET:
            raise _wrong("level", "A field is a question about columns; leave out level.")
        limit = getattr(request.user, "system_codes_for", None)
        found = asking.around(
            self._start(request),
            level=level,
            path=path,
            direction=cast(Any, _one_of(asked, "direction", ("up", "down", "both"), "both")),
            depth=whole_number(request, "depth", default=5, highest=graph.MAX_DEPTH),
            as_of=_moment(asked.get("as_of")),
            most=whole_number(request, "limit", default=graph.USUAL_MOST, highest=MOST_NODES),
            within=limit(READ) if limit is not None else None,
        )
        return HttpResponse(msgspec.json.encode(found), content_type="application/json")

    def _start(self, request: Request) -> asking.Start:
        asked = request.query_params
        by_name = "namespace" in asked or "name" in asked
        if "dataset_id" in asked:
            if by_name:
                raise _wrong("dataset_id", "Give either a dataset or a namespace and a name.")
            pk = whole_number(request, "dataset_id", default=0, highest=10**12 - 1)
            rows = self.within_reach(Dataset.objects.alive().select_related("system"), "system__code")
            dataset = rows.filter(pk=pk).first()
            if dataset is None:
                raise NotFound("DATASET_NOT_FOUND", "There is no such dataset.")
            return asking.start_at_dataset(dataset)
        if not asked.get("namespace") or not asked.get("name"):
            raise _wrong("dataset_id", "Give a dataset_id, or a namespace and a name.")
        start = asking.start_at_name(asked["namespace"], asked["name"])
        if start is not None and start.dataset is not None:
            reach = self.within_reach(Dataset.objects.filter(pk=start.dataset.pk), "system__code")
            start = start if reach.exists() else None
        if start is None:
            raise NotFound("NODE_NOT_FOUND", "Neither an event nor the registry knows this name.")
        return start


def _body(request: Request) -> bytes:
    raw = request.data
    return raw if isinstance(raw, bytes) else b""


def _some(raw: bytes) -> bytes:
    if not raw.strip():
        raise ParseError("The body is empty.")
    return raw


def _refused(sentence: str) -> Invalid:
    return Invalid(detail=sentence, errors=[{"field": "", "code": "refused", "detail": sentence}])


def _one_of(asked: Any, name: str, values: tuple[str, ...], default: str) -> str:
    value = asked.get(name, default)
    if value not in values:
        raise _wrong(name, f"Use one of {', '.join(values)}.")
    return str(value)


def _moment(text: str | None) -> dt.datetime | None:
    if text is None:
        return None
    try:
        return read_moment(text)
    except ValueError as error:
        raise _wrong("as_of", str(error)) from error


def _wrong(name: str, sentence: str) -> ApiValidationError:
    return ApiValidationError([{"field": name, "code": "invalid", "detail": sentence}])
