"""Marquez's lists: namespaces, datasets, jobs, runs, search, events and tags. With its limit and offset."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote

from django.db.models import Max, Min, OuterRef, Q, QuerySet, Subquery
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from aide.core.api.filters import read_moment
from aide.core.api.pagination import TOTAL_CAP, whole_number
from aide.core.api.permissions import READ
from aide.core.api.views import StrictParameters
from aide.core.errors import NotFound
from aide.core.problems import ApiValidationError
from lineage import marquez, reach
from lineage.merging.nodes import key_of, node_named
from lineage.models import Job, LineageEvent, Node, Run
from lineage.openlineage import DatasetName
from registry.models import PIITag

_PAGE = [
    OpenApiParameter("limit", OpenApiTypes.INT, description="1 to 500; default 100."),
    OpenApiParameter("offset", OpenApiTypes.INT, description="How many to leave out first."),
]
_ANY = {200: {"type": "object", "additionalProperties": True}}
MOST_OFFSET = 1_000_000


class MarquezList(StrictParameters):
    """One of Marquez's lists."""

    rights = {"get": READ}
    extra_parameters = {"": frozenset({"limit", "offset"})}

    @property
    def codes(self) -> reach.Codes:
        """The systems that the caller is limited to."""
        return reach.codes_for(self.caller)

    def jobs(self) -> QuerySet[Job]:
        return reach.jobs_within(Job.objects.all(), self.codes)

    def nodes(self) -> QuerySet[Node]:
        return reach.nodes_within(Node.objects.all(), self.codes)

    def jobs_answer(self, rows: list[Job], total: int) -> Response:
        shapes = marquez.job_shapes(rows, latest=marquez.latest_runs(rows), codes=self.codes)
        return Response({"jobs": [shapes[row.pk] for row in rows], "totalCount": total})

    def page(self, request: Request, rows: QuerySet[Any]) -> tuple[list[Any], int]:
        """(rows of this page, how many there are up to the cap)."""
        limit = whole_number(request, "limit", default=100, highest=500)
        offset = _offset(request)
        total = rows.order_by()[: TOTAL_CAP + 1].count()
        return list(rows[offset : offset + limit]), total


class NamespacesView(MarquezList):
    """`GET /namespaces`."""

    @extend_schema(operation_id="namespaces_marquez", parameters=_PAGE, responses=_ANY)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Every namespace of a job or a dataset."""
        found: dict[str, list[Any]] = {}
        for there in (self.jobs(), self.nodes()):
            rows = (
                there.order_by().values("namespace").annotate(first=Min("first_seen"), last=Max("last_seen"))
            )
            for row in rows.order_by("namespace")[:TOTAL_CAP]:
                span = found.setdefault(row["namespace"], [row["first"], row["last"]])
                span[:] = [min(span[0], row["first"]), max(span[1], row["last"])]
        offset, limit = _offset(request), whole_number(request, "limit", default=100, highest=500)
        names = sorted(found)
        listed = [marquez.namespace_shape(name, *found[name]) for name in names[offset : offset + limit]]
        return Response({"namespaces": listed, "totalCount": len(names)})


class NamespaceView(MarquezList):
    """`GET /namespaces/{namespace}[/datasets|/jobs[/{name}[/versions|/runs]]]`."""

    @extend_schema(operation_id="namespace_marquez", parameters=_PAGE, responses=_ANY)
    def get(self, request: Request, pk: str, *args: Any, **kwargs: Any) -> Response:
        """A namespace, its datasets or jobs, one of them, or the runs of a job."""
        namespace, kind, name, more = _parted(request, pk)
        if not kind:
            return self._namespace(namespace)
        if kind == "datasets":
            return self._datasets(request, namespace) if not name else self._dataset(namespace, name, more)
        return self._jobs(request, namespace) if not name else self._job(request, namespace, name, more)

    def _namespace(self, name: str) -> Response:
        spans = [
            rows.filter(namespace=name).aggregate(first=Min("first_seen"), last=Max("last_seen"))
            for rows in (self.jobs(), self.nodes())
        ]
        there = [span for span in spans if span["first"] is not None]
        if not there:
            raise NotFound("NAMESPACE_NOT_FOUND", "No event has named this namespace.")
        first, last = min(span["first"] for span in there), max(span["last"] for span in there)
        return Response(marquez.namespace_shape(name, first, last))

    def _datasets(self, request: Request, namespace: str) -> Response:
        rows, total = self.page(request, self.nodes().filter(namespace=namespace).order_by("name", "pk"))
        return Response({"datasets": [marquez.dataset_shape(row) for row in rows], "totalCount": total})

    def _dataset(self, namespace: str, name: str, more: str) -> Response:
        node = node_named(DatasetName(namespace, name))
        if node is None or (self.codes is not None and not self.nodes().filter(pk=node.pk).exists()):
            raise NotFound("NODE_NOT_FOUND", "No event has named this dataset.")
        shape = marquez.dataset_shape(node)
        if more == "versions":
            return Response({"versions": [shape | {"version": None}], "totalCount": 1})
        return Response(shape)

    def _jobs(self, request: Request, namespace: str) -> Response:
        return self.jobs_answer(
            *self.page(request, self.jobs().filter(namespace=namespace).order_by("name", "pk"))
        )

    def _job(self, request: Request, namespace: str, name: str, more: str) -> Response:
        job = self.jobs().filter(key=key_of(namespace, name)).first()
        if job is None:
            raise NotFound("JOB_NOT_FOUND", "No event has named this job.")
        if more == "runs":
            rows, total = self.page(request, Run.objects.filter(job=job).order_by("-last_seen", "-pk"))
            return Response({"runs": [marquez.run_shape(row) for row in rows], "totalCount": total})
        if more == "versions":
            return Response({"versions": [], "totalCount": 0})
        return Response(
            marquez.job_shapes([job], latest=marquez.latest_runs([job]), codes=self.codes)[job.pk]
        )


class JobsView(MarquezList):
    """`GET /jobs`."""

    extra_parameters = {"": frozenset({"limit", "offset", "lastRunStates"})}

    @extend_schema(
        operation_id="jobs_marquez",
        parameters=[*_PAGE, OpenApiParameter("lastRunStates", OpenApiTypes.STR)],
        responses=_ANY,
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Jobs of all namespaces, those seen last first."""
        jobs = self.jobs().order_by("-last_seen", "-pk")
        wanted = [word.upper() for word in request.query_params.get("lastRunStates", "").split(",") if word]
        if set(wanted) - {"NEW", *marquez.STATES.values()}:
            raise _wrong("lastRunStates", "Use NEW, RUNNING, COMPLETED, FAILED and ABORTED.")
        if wanted:
            kinds = [kind for kind, state in marquez.STATES.items() if state in wanted]
            last = Run.objects.filter(job=OuterRef("pk")).order_by("-last_seen", "-pk").values("state")[:1]
            found = Q(last_state__in=kinds)
            if "NEW" in wanted:
                found |= Q(last_state__isnull=True) | ~Q(last_state__in=list(marquez.STATES))
            jobs = jobs.annotate(last_state=Subquery(last)).filter(found)
        return self.jobs_answer(*self.page(request, jobs))


class SearchView(MarquezList):
    """`GET /search?q=`."""

    extra_parameters = {"": frozenset({"q", "filter", "sort", "limit", "namespace", "before", "after"})}

    @extend_schema(
        operation_id="search_marquez",
        parameters=[
            OpenApiParameter("q", OpenApiTypes.STR, required=True),
            OpenApiParameter("filter", OpenApiTypes.STR, enum=["DATASET", "JOB"]),
            OpenApiParameter("sort", OpenApiTypes.STR, enum=["NAME", "UPDATE_AT"]),
            OpenApiParameter("namespace", OpenApiTypes.STR),
            _PAGE[0],
        ],
        responses=_ANY,
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Datasets and jobs by a part of their names."""
        asked = request.query_params
        wanted = asked.get("q", "")[:200]
        kind = asked.get("filter", "").upper()
        if kind not in {"", "DATASET", "JOB"}:
            raise _wrong("filter", "Use DATASET or JOB.")
        limit = whole_number(request, "limit", default=10, highest=500)
        found: list[dict[str, Any]] = []
        total = 0
        for word, there in (("DATASET", self.nodes()), ("JOB", self.jobs())):
            if kind not in {"", word}:
                continue
            rows = there.filter(name__icontains=wanted)
            if asked.get("namespace"):
                rows = rows.filter(namespace=asked["namespace"])
            total += rows.order_by()[: TOTAL_CAP + 1].count()
            for row in rows.order_by("name", "pk")[:limit]:
                found.append(
                    {
                        "name": row.name,
                        "updatedAt": row.last_seen,
                        "namespace": row.namespace,
                        "type": word,
                        "nodeId": f"{word.lower()}:{row.namespace}:{row.name}",
                    }
                )
        sort = asked.get("sort", "NAME").upper()
        if sort not in {"NAME", "UPDATE_AT"}:
            raise _wrong("sort", "Use NAME or UPDATE_AT.")
        by_time = sort == "UPDATE_AT"
        found.sort(key=lambda each: -each["updatedAt"].timestamp() if by_time else each["name"])
        return Response({"totalCount": total, "results": found[:limit]})


class LineageEventsView(MarquezList):
    """`GET /events/lineage`."""

    extra_parameters = {"": frozenset({"limit", "offset", "before", "after", "sortDirection"})}

    @extend_schema(
        operation_id="events_lineage_marquez",
        parameters=[
            *_PAGE,
            OpenApiParameter("before", OpenApiTypes.DATETIME),
            OpenApiParameter("after", OpenApiTypes.DATETIME),
            OpenApiParameter("sortDirection", OpenApiTypes.STR, enum=["asc", "desc"]),
        ],
        responses=_ANY,
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Raw events by their own time, all kinds, counted as listed."""
        condition = Q()
        for name, lookup in (("before", "event_time__lt"), ("after", "event_time__gte")):
            if name in request.query_params:
                try:
                    condition &= Q(**{lookup: read_moment(request.query_params[name])})
                except ValueError as error:
                    raise _wrong(name, str(error)) from error
        direction = request.query_params.get("sortDirection", "desc").lower()
        if direction not in {"asc", "desc"}:
            raise _wrong("sortDirection", "Use asc or desc.")
        order = ("event_time", "pk") if direction == "asc" else ("-event_time", "-pk")
        rows, total = self.page(
            request, reach.events_within(LineageEvent.objects.filter(condition), self.codes).order_by(*order)
        )
        return Response({"events": [json.loads(row.body) for row in rows], "totalCount": total})


class TagsView(MarquezList):
    """`GET /tags`."""

    @extend_schema(operation_id="tags_marquez", parameters=_PAGE, responses=_ANY)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The tags that datasets may carry: those of the vocabulary of personal data."""

        rows, total = self.page(request, PIITag.objects.order_by("code"))
        return Response(
            {"tags": [{"name": row.code, "description": row.name} for row in rows], "totalCount": total}
        )


def _parted(request: Request, rest: str) -> tuple[str, str, str, str]:
    """(namespace, "datasets" or "jobs", name, "versions" or "runs") of an address whose parts may hold slashes.

    Where the server tells the address as it was sent, escaped slashes do not part; else the first word that is
    one of Marquez's does.
    """
    raw = str(request.META.get("RAW_URI") or request.META.get("REQUEST_URI") or "").partition("?")[0]
    _, found, sent = raw.partition("/namespaces/")
    as_sent = found and unquote(sent).rstrip("/") == rest.rstrip("/")
    parts = [unquote(part) for part in sent.rstrip("/").split("/")] if as_sent else rest.split("/")
    marks = [place for place, part in enumerate(parts) if place and part in {"datasets", "jobs"}]
    split = marks[0] if marks else len(parts)
    namespace = "/".join(parts[:split])
    if split == len(parts) or not namespace:
        return "/".join(parts), "", "", ""
    kind, names = parts[split], parts[split + 1 :]
    last = {"datasets": {"versions"}, "jobs": {"runs", "versions"}}[kind]
    more = names.pop() if len(names) > 1 and names[-1] in last else ""
    return namespace, kind, "/".join(names), more


def _offset(request: Request) -> int:
    text = request.query_params.get("offset", "0")
    return 0 if text == "0" else whole_number(request, "offset", default=0, highest=MOST_OFFSET)


def _wrong(name: str, sentence: str) -> ApiValidationError:
    return ApiValidationError([{"field": name, "code": "invalid", "detail": sentence}])
