"""The graph in the shapes of Marquez's API, for its web interface and scripts. Reads only.

Node ids join namespace and name with a colon, though namespaces hold colons: every way of parting them is looked up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from django.db import connection
from django.db.models import QuerySet

from lineage.merging.nodes import key_of
from lineage.models import Job, JobDataset, Node, NodeName, Run
from lineage.models.runs import Role
from lineage.reach import Codes, uses_within
from lineage.resolve import find_node

MOST = 2_000
STATES = {
    "START": "RUNNING",
    "RUNNING": "RUNNING",
    "COMPLETE": "COMPLETED",
    "ABORT": "ABORTED",
    "FAIL": "FAILED",
}


def dataset_id(node: Node) -> str:
    return f"dataset:{node.namespace}:{node.name}"


def job_id(job: Job) -> str:
    return f"job:{job.namespace}:{job.name}"


def partings(text: str) -> list[tuple[str, str]]:
    """Every (namespace, name) that a text with colons may be, as it is and with its escapes undone."""
    found: dict[tuple[str, str], None] = {}
    for place in [place for place, mark in enumerate(text) if mark == ":"][:50]:
        namespace, name = text[:place], text[place + 1 :]
        if namespace and name:
            found[namespace, name] = None
            found[unquote(namespace), unquote(name)] = None
    return list(found)


def dataset_at(text: str) -> Node | None:
    """The node that `namespace:name` is about; of several, the one with the longest namespace."""
    keys = {key_of(*pair): pair for pair in partings(text)}
    rows = NodeName.objects.filter(key__in=keys).select_related("node__dataset")
    listed = sorted(rows, key=lambda row: len(row.namespace))
    if listed:
        return listed[-1].node
    for namespace, name in reversed(partings(text)):
        node, _ = find_node(namespace, name)
        if node is not None:
            return node
    return None


def job_at(text: str) -> Job | None:
    """The job that `namespace:name` is about."""
    rows = Job.objects.filter(key__in=[key_of(*pair) for pair in partings(text)])
    return max(rows, key=lambda row: len(row.namespace), default=None)


def lineage_of(start: Node | Job, *, depth: int, codes: Codes = None) -> dict[str, Any]:
    """Datasets and jobs around a start, as a list of nodes with the edges that come in and go out.

    With `codes` only what these systems have of it, and the start.
    """
    uses = uses_within(JobDataset.objects.all(), codes)
    if isinstance(start, Node):
        uses |= JobDataset.objects.filter(node=start)
    jobs: dict[int, None] = {}
    nodes: dict[int, None] = {}
    (jobs if isinstance(start, Job) else nodes)[start.pk] = None
    fresh_jobs, fresh_nodes = list(jobs), list(nodes)
    links: dict[tuple[int, int, str], None] = {}
    for _ in range(depth):
        rows = list(_links(uses.filter(job_id__in=fresh_jobs)) if fresh_jobs else ())
        rows += list(_links(uses.filter(node_id__in=fresh_nodes)) if fresh_nodes else ())
        links |= dict.fromkeys(rows)
        room = max(MOST - len(jobs) - len(nodes), 0)
        fresh_jobs = [pk for pk in dict.fromkeys(job for job, _, _ in rows) if pk not in jobs][:room]
        fresh_nodes = [pk for pk in dict.fromkeys(node for _, node, _ in rows) if pk not in nodes][:room]
        jobs |= dict.fromkeys(fresh_jobs)
        nodes |= dict.fromkeys(fresh_nodes)
        if not fresh_jobs and not fresh_nodes:
            break
    kept = [link for link in links if link[0] in jobs and link[1] in nodes]
    return {"graph": _graph(jobs, nodes, kept, codes=codes)}


def _links(rows: QuerySet[JobDataset]) -> Iterable[tuple[int, int, str]]:
    return rows.order_by("pk").values_list("job_id", "node_id", "role")[:20_000]


def _graph(
    job_ids: Iterable[int], node_ids: Iterable[int], links: Sequence[tuple[int, int, str]], *, codes: Codes
) -> list[dict[str, Any]]:
    jobs = Job.objects.in_bulk(list(job_ids))
    nodes = Node.objects.in_bulk(list(node_ids))
    comes: dict[str, list[dict[str, str]]] = defaultdict(list)
    goes: dict[str, list[dict[str, str]]] = defaultdict(list)
    for job_pk, node_pk, role in links:
        ends = [dataset_id(nodes[node_pk]), job_id(jobs[job_pk])]
        origin, destination = ends if role == Role.INPUT else reversed(ends)
        edge = {"origin": origin, "destination": destination}
        goes[origin].append(edge)
        comes[destination].append(edge)
    latest = latest_runs(jobs.values())
    shapes = job_shapes(list(jobs.values()), latest=latest, codes=codes)
    listed = [(job_id(jobs[pk]), "JOB", shapes[pk]) for pk in jobs]
    listed += [(dataset_id(node), "DATASET", dataset_shape(node)) for node in nodes.values()]
    return [
        {"id": key, "type": kind, "data": data, "inEdges": comes[key], "outEdges": goes[key]}
        for key, kind, data in sorted(listed, key=lambda each: each[0])
    ]


def dataset_shape(node: Node) -> dict[str, Any]:
    """A dataset as Marquez answers it."""
    facets = facets_of(node)
    fields = facets.get("schema", {}).get("fields")
    source = facets.get("dataSource", {}).get("name")
    words = facets.get("documentation", {}).get("description")
    return {
        "id": {"namespace": node.namespace, "name": node.name},
        "type": "STREAM" if node.namespace.startswith("kafka") else "DB_TABLE",
        "name": node.name,
        "physicalName": node.name,
        "createdAt": node.first_seen,
        "updatedAt": node.last_seen,
        "namespace": node.namespace,
        "sourceName": source if isinstance(source, str) else "default",
        "fields": [_field(each) for each in fields if isinstance(each, Mapping)]
        if isinstance(fields, list)
        else [],
        "tags": _tags(facets),
        "lastModifiedAt": node.last_seen,
        "lastLifecycleState": facets.get("lifecycleStateChange", {}).get("lifecycleStateChange"),
        "description": words if isinstance(words, str) else None,
        "currentVersion": None,
        "columnLineage": None,
        "facets": facets,
        "deleted": node.is_gone,
    }


def _field(value: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": str(value.get("name") or ""),
        "type": value.get("type"),
        "tags": [],
        "description": value.get("description"),
    }


def _tags(facets: Mapping[str, Any]) -> list[str]:
    listed = facets.get("tags", {}).get("tags")
    found = (
        [each.get("key") for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
    )
    return sorted({key for key in found if isinstance(key, str)})


def facets_of(row: Any) -> dict[str, Any]:
    """The facets that are there, without their times."""
    return {
        name: entry["value"]
        for name, entry in row.facets.items()
        if isinstance(entry.get("value"), Mapping) and entry["value"].get("_deleted") is not True
    }


def latest_runs(jobs: Iterable[Job]) -> dict[int, Run]:
    """The newest run of each job, in one statement."""
    ids = [job.pk for job in jobs]
    newest: dict[int, Run] = {}
    rows = Run.objects.filter(job_id__in=ids).select_related("job").order_by("job_id", "-last_seen", "-pk")
    if connection.vendor == "postgresql":
        return {row.job_id: row for row in rows.distinct("job_id")}
    for row in rows:
        newest.setdefault(row.job_id, row)
    return newest


def job_shapes(
    jobs: Sequence[Job], *, latest: Mapping[int, Run], codes: Codes = None
) -> dict[int, dict[str, Any]]:
    """Jobs as Marquez answers them, with what they read and write; one statement for all."""
    uses: dict[tuple[int, str], list[dict[str, str]]] = defaultdict(list)
    rows = uses_within(JobDataset.objects.filter(job_id__in=[job.pk for job in jobs]), codes).order_by("pk")
    names = ("job_id", "role", "node__namespace", "node__name")
    for pk, role, namespace, name in rows.values_list(*names)[:50_000]:
        uses[pk, role].append({"namespace": namespace, "name": name})
    found = {}
    for job in jobs:
        facets = facets_of(job)
        run = latest.get(job.pk)
        location = facets.get("sourceCodeLocation", {}).get("url")
        found[job.pk] = {
            "id": {"namespace": job.namespace, "name": job.name},
            "type": "STREAM" if facets.get("jobType", {}).get("processingType") == "STREAMING" else "BATCH",
            "name": job.name,
            "simpleName": job.name.rpartition(".")[2],
            "parentJobName": None,
            "parentJobUuid": None,
            "createdAt": job.first_seen,
            "updatedAt": job.last_seen,
            "namespace": job.namespace,
            "inputs": uses[job.pk, Role.INPUT],
            "outputs": uses[job.pk, Role.OUTPUT],
            "location": location if isinstance(location, str) else None,
            "description": job.description or None,
            "latestRun": run_shape(run) if run is not None else None,
            "latestRuns": [run_shape(run)] if run is not None else [],
            "facets": facets,
            "currentVersion": None,
            "labels": [],
            "tags": _tags(facets),
        }
    return found


def run_shape(run: Run) -> dict[str, Any]:
    """A run as Marquez answers it."""
    facets = facets_of(run)
    nominal = facets.get("nominalTime", {})
    duration = None
    if run.started_at is not None and run.ended_at is not None:
        duration = int((run.ended_at - run.started_at).total_seconds() * 1000)
    return {
        "id": str(run.run_id),
        "createdAt": run.first_seen,
        "updatedAt": run.last_seen,
        "nominalStartTime": nominal.get("nominalStartTime"),
        "nominalEndTime": nominal.get("nominalEndTime"),
        "state": STATES.get(run.state, "NEW"),
        "startedAt": run.started_at,
        "endedAt": run.ended_at,
        "durationMs": duration,
        "args": {},
        "jobVersion": None,
        "inputDatasetVersions": [],
        "outputDatasetVersions": [],
        "facets": facets,
    }


def namespace_shape(name: str, first: Any, last: Any) -> dict[str, Any]:
    """A namespace as Marquez answers it."""
    return {
        "name": name,
        "createdAt": first,
        "updatedAt": last,
        "ownerName": "anonymous",
        "description": None,
        "isHidden": False,
    }
