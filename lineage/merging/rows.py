"""Rows of the graph as merging holds them, read by plain statements: to make models takes longer than to merge."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from lineage.merging.statements import Script, among, members, moment
from lineage.openlineage import newest

_decode = msgspec.json.Decoder().decode


class Facets:
    """The facets of a row. Their text is read only when somebody asks for them."""

    __slots__ = ("_text", "_value", "renewed")

    def __init__(self, text: str = "{}") -> None:
        self._text = text
        self._value: dict[str, Any] | None = None
        self.renewed = False

    @property
    def value(self) -> dict[str, Any]:
        if self._value is None:
            self._value = _decode(self._text)
        return self._value

    def take(self, told: Mapping[str, Any]) -> None:
        """Of each facet the newer."""
        if not told:
            return
        before = self.value
        found = newest(before, told)
        if any(before.get(name) is not found[name] for name in told):
            self._value, self.renewed = found, True


@dataclass(slots=True)
class NodeRow:
    """A node; `pk` is 0 until it is written."""

    pk: int
    dataset_id: int | None
    namespace: str
    name: str
    facets: Facets
    first_seen: datetime
    last_seen: datetime
    ended_at: datetime | None = None
    renewed: bool = False


@dataclass(slots=True)
class JobRow:
    pk: int
    key: str
    facets: Facets
    first_seen: datetime
    last_seen: datetime


@dataclass(slots=True)
class RunRow:
    pk: int
    run_id: uuid.UUID
    job_id: int
    state: str
    state_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    parent_run_id: uuid.UUID | None
    facets: Facets
    first_seen: datetime
    last_seen: datetime


@dataclass(slots=True)
class UseRow:
    """What a run did with a node. `was_dropped`: the node had an end when this was read."""

    run_pk: int
    node_id: int
    role: str
    first_seen: datetime
    last_seen: datetime
    facets: Facets
    was_dropped: bool = False


@dataclass
class Known:
    """What is there of all that a batch names."""

    names: dict[str, NodeRow] = field(default_factory=dict)
    nodes: dict[int, NodeRow] = field(default_factory=dict)
    jobs: dict[str, JobRow] = field(default_factory=dict)
    runs: dict[tuple[uuid.UUID, int], RunRow] = field(default_factory=dict)
    uses: list[UseRow] = field(default_factory=list)


_NODE = (
    "n.id, n.dataset_id, n.namespace, n.name, CAST(n.facets AS text), CAST(n.first_seen AS text),"
    " CAST(n.last_seen AS text), CAST(n.ended_at AS text)"
)
_SPAN = "CAST({0}.facets AS text), CAST({0}.first_seen AS text), CAST({0}.last_seen AS text)"


def read(
    script: Script, *, names: Iterable[str], jobs: Iterable[str] = (), runs: Iterable[uuid.UUID] = ()
) -> Known:
    """What is there by the keys of names and jobs and by run ids: one question to the database, after the script."""
    asked_runs = members(runs)
    script.add(
        f"SELECT a.key, {_NODE} FROM lineage_nodename a JOIN lineage_node n ON n.id = a.node_id"  # noqa: S608
        f" WHERE {among('a.key', 'text')}",
        members(names),
    )
    script.add(
        f"SELECT j.id, j.key, {_SPAN.format('j')} FROM lineage_job j WHERE {among('j.key', 'text')}",  # noqa: S608
        members(jobs),
    )
    script.add(
        "SELECT r.id, CAST(r.run_id AS text), r.job_id, r.state, CAST(r.state_at AS text),"  # noqa: S608
        " CAST(r.started_at AS text), CAST(r.ended_at AS text), CAST(r.parent_run_id AS text),"
        f" {_SPAN.format('r')} FROM lineage_run r WHERE {among('r.run_id', 'uuid')}",
        asked_runs,
    )
    script.add(
        f"SELECT u.run_id, u.node_id, u.role, {_SPAN.format('u')}, n.ended_at IS NOT NULL"  # noqa: S608
        " FROM lineage_run r JOIN lineage_rundataset u ON u.run_id = r.id JOIN lineage_node n ON n.id = u.node_id"
        f" WHERE {among('r.run_id', 'uuid')}",
        asked_runs,
    )
    known = Known()
    by_name, by_job, by_run, uses = script.run()[-4:]
    for key, pk, *rest in by_name:
        if pk not in known.nodes:
            known.nodes[pk] = _node(pk, *rest)
        known.names[key] = known.nodes[pk]
    for pk, key, facets, first, last in by_job:
        known.jobs[key] = JobRow(pk, key, Facets(facets), _time(first), _time(last))
    for pk, run_id, job_id, state, at, started, ended, parent, facets, first, last in by_run:
        row = RunRow(
            *(pk, uuid.UUID(run_id), job_id, state, moment(at), moment(started), moment(ended)),
            *(uuid.UUID(parent) if parent else None, Facets(facets), _time(first), _time(last)),
        )
        known.runs[row.run_id, job_id] = row
    for run_pk, node_id, role, facets, first, last, dropped in uses:
        known.uses.append(
            UseRow(run_pk, node_id, role, _time(first), _time(last), Facets(facets), bool(dropped))
        )
    return known


def nodes_by_id(ids: Iterable[int]) -> dict[int, NodeRow]:
    """The nodes with these ids."""
    script = Script()
    script.add(f"SELECT {_NODE} FROM lineage_node n WHERE {among('n.id', 'bigint')}", members(ids))  # noqa: S608
    return {pk: _node(pk, *rest) for pk, *rest in script.run()[0]}


def _node(
    pk: int, dataset_id: int | None, namespace: str, name: str, facets: str, *times: str | None
) -> NodeRow:
    first, last, ended = times
    return NodeRow(pk, dataset_id, namespace, name, Facets(facets), _time(first), _time(last), moment(ended))


def _time(text: str | None) -> datetime:
    found = moment(text)
    assert found is not None
    return found
