"""The graph as Marquez answers it: `GET /lineage?nodeId=` and `GET /column-lineage?nodeId=`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db.models import Q
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from aide.core.api.pagination import whole_number
from aide.core.api.permissions import READ
from aide.core.api.views import StrictParameters
from aide.core.errors import NotFound
from aide.core.problems import ApiValidationError
from lineage import graph, marquez, reach
from lineage.merging.columns import column_key
from lineage.models import Job, Node, NodeColumn

_NODE = OpenApiParameter(
    "nodeId",
    OpenApiTypes.STR,
    required=True,
    description="dataset:{namespace}:{name} or job:{namespace}:{name}.",
)
_DEPTH = OpenApiParameter("depth", OpenApiTypes.INT, description="1 to 100; default 20.")


class MarquezEdge(serializers.Serializer[Any]):
    """An edge by the ids of its ends."""

    origin = serializers.CharField()
    destination = serializers.CharField()


class MarquezNode(serializers.Serializer[Any]):
    """A dataset, a job or a column, with its edges."""

    id = serializers.CharField()
    type = serializers.ChoiceField(choices=["DATASET", "JOB", "DATASET_FIELD"])
    data = serializers.JSONField()  # type: ignore[assignment]
    inEdges = MarquezEdge(many=True)  # noqa: N815 (Marquez's name)
    outEdges = MarquezEdge(many=True)  # noqa: N815 (Marquez's name)


class MarquezAnswer(serializers.Serializer[Any]):
    """A graph in Marquez's shape."""

    graph = MarquezNode(many=True)


class MarquezGraph(StrictParameters):
    """`GET /lineage?nodeId=`: datasets and jobs around one of them."""

    rights: dict[str, Any] = {"get": READ}
    extra_parameters = {"": frozenset({"nodeId", "depth"})}

    @extend_schema(operation_id="lineage_marquez", parameters=[_NODE, _DEPTH], responses={200: MarquezAnswer})
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The graph around a dataset or a job, in Marquez's shape."""
        kind, _, rest = _node_id(request).partition(":")
        if kind not in {"dataset", "job"} or not marquez.partings(rest):
            raise _wrong("Use dataset:{namespace}:{name} or job:{namespace}:{name}.")
        start = marquez.job_at(rest) if kind == "job" else marquez.dataset_at(rest)
        codes = reach.codes_for(request.user)
        if start is None or not _is_near(start, codes):
            raise NotFound("NODE_NOT_FOUND", f"No event has named this {kind}.")
        depth = whole_number(request, "depth", default=20, highest=graph.MAX_DEPTH)
        return Response(marquez.lineage_of(start, depth=depth, codes=codes))


class ColumnLineageView(StrictParameters):
    """`GET /column-lineage?nodeId=`: columns upstream, and downstream if asked."""

    rights = {"get": READ}
    extra_parameters = {"": frozenset({"nodeId", "depth", "withDownstream"})}

    @extend_schema(
        operation_id="column_lineage_marquez",
        parameters=[
            OpenApiParameter(
                "nodeId",
                OpenApiTypes.STR,
                required=True,
                description="dataset:{namespace}:{name} or datasetField:{namespace}:{name}:{field}.",
            ),
            _DEPTH,
            OpenApiParameter("withDownstream", OpenApiTypes.BOOL),
        ],
        responses={200: MarquezAnswer},
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The graph of columns around a dataset or a column, in Marquez's shape."""
        codes = reach.codes_for(request.user)
        begin = _columns_at(_node_id(request), codes)
        downstream = request.query_params.get("withDownstream", "false").lower()
        if downstream not in {"true", "false"}:
            raise ApiValidationError(
                [{"field": "withDownstream", "code": "invalid", "detail": "Use true or false."}]
            )
        depth = whole_number(request, "depth", default=20, highest=graph.MAX_DEPTH)
        found = graph.picture(
            begin,
            level=graph.COLUMN,
            direction="both" if downstream == "true" else "up",
            depth=depth,
            most=marquez.MOST,
        )
        return Response({"graph": _column_graph(found, begin=begin, codes=codes)})


def _is_near(start: Job | Node, codes: reach.Codes) -> bool:
    """Whether a caller of these systems may begin here: not at a job or a dataset of others alone."""
    if codes is None or (isinstance(start, Node) and start.dataset_id is None):
        return True
    if isinstance(start, Job):
        return reach.jobs_within(Job.objects.filter(pk=start.pk), codes).exists()
    return reach.nodes_within(Node.objects.filter(pk=start.pk), codes).exists()


def _columns_at(node_id: str, codes: reach.Codes) -> list[int]:
    kind, _, rest = node_id.partition(":")
    if kind == "dataset" and marquez.partings(rest):
        node = marquez.dataset_at(rest)
        if node is not None and _is_near(node, codes):
            return list(node.columns.order_by("pk").values_list("pk", flat=True))
    elif kind == "datasetField" and marquez.partings(rest):
        for place, path in marquez.partings(rest)[::-1]:
            node = marquez.dataset_at(place) if marquez.partings(place) else None
            if node is not None and _is_near(node, codes):
                columns = NodeColumn.objects.filter(node=node, key=column_key(path))
                return list(columns.values_list("pk", flat=True))
    else:
        raise _wrong("Use dataset:{namespace}:{name} or datasetField:{namespace}:{name}:{field}.")
    raise NotFound("NODE_NOT_FOUND", "No event has named this dataset.")


def _column_graph(found: graph.Picture, *, begin: Sequence[int], codes: reach.Codes) -> list[dict[str, Any]]:
    near = NodeColumn.objects.select_related("node")
    if codes is not None:
        near = near.filter(Q(node__dataset__system__code__in=codes) | Q(pk__in=begin))
    rows = near.in_bulk(list(found.depths))
    ids = {pk: f"datasetField:{row.node.namespace}:{row.node.name}:{row.path}" for pk, row in rows.items()}
    comes: dict[int, list[dict[str, str]]] = defaultdict(list)
    goes: dict[int, list[dict[str, str]]] = defaultdict(list)
    sources: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for edge in found.edges:
        if edge.source not in rows or edge.target not in rows:
            continue
        pair = {"origin": ids[edge.source], "destination": ids[edge.target]}
        goes[edge.source].append(pair)
        comes[edge.target].append(pair)
        source = rows[edge.source]
        sources[edge.target].append(
            {
                "namespace": source.node.namespace,
                "dataset": source.node.name,
                "field": source.path,
                "transformationDescription": None,
                "transformationType": edge.transformation or None,
            }
        )
    return [
        {
            "id": ids[pk],
            "type": "DATASET_FIELD",
            "data": {
                "namespace": row.node.namespace,
                "dataset": row.node.name,
                "datasetVersion": None,
                "field": row.path,
                "fieldType": _type_of(row),
                "transformationDescription": None,
                "transformationType": None,
                "inputFields": sources[pk],
            },
            "inEdges": comes[pk],
            "outEdges": goes[pk],
        }
        for pk, row in sorted(rows.items(), key=lambda pair: ids[pair[0]])
    ]


def _type_of(row: NodeColumn) -> str | None:
    fields = marquez.facets_of(row.node).get("schema", {}).get("fields")
    for each in fields if isinstance(fields, list) else ():
        if isinstance(each, dict) and each.get("name") == row.path:
            return str(each.get("type") or "") or None
    return None


def _node_id(request: Request) -> str:
    found = request.query_params.get("nodeId", "")
    if not found or len(found) > 5_000:
        raise _wrong("Give the id of a node.")
    return found


def _wrong(sentence: str) -> ApiValidationError:
    return ApiValidationError([{"field": "nodeId", "code": "invalid", "detail": sentence}])
