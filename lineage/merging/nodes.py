"""From the names that events use to nodes: found, made, and joined where two names turn out to be one dataset."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils import timezone

from lineage.matching import UNRESOLVED, Match, match
from lineage.merging.rows import Facets, Known, NodeRow, nodes_by_id, read
from lineage.merging.statements import Script, among, members
from lineage.merging.uniting import LINKED, unite
from lineage.merging.upserts import add_insert, add_update, chunks, inserted
from lineage.models import Node, NodeName
from lineage.openlineage import DatasetName, normal_form
from lineage.openlineage.naming import display_rank


def key_of(namespace: str, name: str) -> str:
    """The key of a pair of texts of any length."""
    return hashlib.sha256(f"{namespace}\0{name}".encode()).hexdigest()


def canonical_of(name: DatasetName) -> str:
    normal = normal_form(*name)
    return key_of(normal.namespace, normal.name)


@dataclass
class Seen:
    """What a batch says about one name: from when to when it was spoken of."""

    first: datetime
    last: datetime

    def also(self, at: datetime) -> None:
        self.first = min(self.first, at)
        self.last = max(self.last, at)


@dataclass
class _Group:
    """Names, rows and a dataset that are one node; one that went into another points there."""

    names: set[DatasetName] = field(default_factory=set)
    node_ids: set[int] = field(default_factory=set)
    dataset_id: int | None = None
    into: _Group | None = None

    def root(self) -> _Group:
        group = self
        while group.into is not None:
            group = group.into
        return group

    def take(self, other: _Group) -> None:
        self.names |= other.names
        self.node_ids |= other.node_ids
        self.dataset_id = self.dataset_id or other.dataset_id
        other.into = self


@dataclass
class Named:
    """The node of each name of a batch, and what each name that is new was found to be. `write` makes them last."""

    rows: dict[DatasetName, NodeRow]
    keys: Mapping[DatasetName, str]
    fresh: Mapping[DatasetName, Match]
    are_united: bool = False

    def make(self) -> None:
        """Write the nodes that are new, so that they have their ids."""
        new = {id(row): row for row in self.rows.values() if not row.pk}
        if new:
            made = inserted(Node, _WRITTEN, [_written(row) for row in new.values()])
            for row, (pk,) in zip(new.values(), made, strict=True):
                row.pk, row.renewed, row.facets.renewed = pk, False, False

    def add(self, script: Script) -> None:
        """Everything else that is to be written of them."""
        add_nodes(script, self.rows.values())
        if self.fresh:
            self._add_names(script)
        count = Counter(row.pk for row in self.rows.values() if row.dataset_id)
        if linked := [pk for pk, names in count.items() if names > 1]:
            add_linked(script, linked)

    def _add_names(self, script: Script) -> None:
        now = timezone.now()
        rows = []
        for name, own in self.fresh.items():
            node = self.rows[name]
            linked = own.matched == UNRESOLVED and node.dataset_id is not None
            matched, why = (NodeName.Matched.SYMLINK, LINKED) if linked else (own.matched, own.why[:500])
            rows.append((self.keys[name], *name, canonical_of(name), node.pk, str(matched), why, now))
        names = ("key", "namespace", "name", "canonical", "node_id", "matched", "why", "created_at")
        add_insert(script, NodeName, names, rows, unique="key")


def nodes_of(seen: Mapping[DatasetName, Seen]) -> dict[DatasetName, NodeRow]:
    """The node of each name, made where there is none; the lock of the graph is held."""
    keys = {name: key_of(*name) for name in seen}
    found = name_nodes(seen, same=(), keys=keys, known=read(Script(), names=keys.values()))
    found.make()
    script = Script()
    found.add(script)
    script.run()
    return found.rows


def name_nodes(
    seen: Mapping[DatasetName, Seen],
    *,
    same: Iterable[tuple[DatasetName, DatasetName]],
    keys: Mapping[DatasetName, str],
    known: Known,
) -> Named:
    """The node of each name, prepared where there is none; the lock of the graph is held.

    Names in `same` become one node, unless the registry knows both as different datasets. `known` is what was read
    by their `keys`. Takes no statement where all names are known, else a constant number, and some more for each
    two nodes that become one.
    """
    nodes = dict(known.nodes)
    there = {name: known.names[key].pk for name, key in keys.items() if key in known.names}
    fresh = [name for name in keys if name not in there]
    matches = match(fresh) if fresh else {}
    groups = _groups(there, matches, fresh)
    if missing := {pk for group in groups.values() for pk in group.root().node_ids if pk not in nodes}:
        nodes |= nodes_by_id(sorted(missing))
    for group in _distinct(groups):
        if group.dataset_id is None:
            group.dataset_id = next(
                (dataset for pk in sorted(group.node_ids) if (dataset := nodes[pk].dataset_id)), None
            )
    for first, second in sorted(set(same)):
        one, other = groups[first].root(), groups[second].root()
        differ = one.dataset_id and other.dataset_id and one.dataset_id != other.dataset_id
        if one is not other and not differ:
            one.take(other)
    whole = {name: group.root() for name, group in groups.items()}
    found = {id(group): _settled(group, nodes, seen) for group in _distinct(whole)}
    are_united = any(len(group.node_ids) > 1 for group in whole.values())
    return Named({name: found[id(group)] for name, group in whole.items()}, keys, matches, are_united)


def _groups(
    known: Mapping[DatasetName, int], matches: Mapping[DatasetName, Match], fresh: Sequence[DatasetName]
) -> dict[DatasetName, _Group]:
    """Names by what they are: of one node, of one spelling, of one dataset."""
    groups: dict[DatasetName, _Group] = {}
    by_node: dict[int, _Group] = {}
    for name, node_id in known.items():
        groups[name] = by_node.setdefault(node_id, _Group(node_ids={node_id}))
        groups[name].names.add(name)
    if not fresh:
        return groups
    canonical = {name: canonical_of(name) for name in fresh}
    spelled_alike = _nodes_by_spelling(canonical.values())
    of_dataset = _nodes_by_dataset(each.dataset_id for each in matches.values() if each.dataset_id)
    by_place: dict[tuple[str, Any], _Group] = {}
    for name in fresh:
        group = _Group(names={name}, dataset_id=matches[name].dataset_id)
        groups[name] = group
        node_id, dataset_id = spelled_alike.get(canonical[name], (0, None))
        if group.dataset_id and dataset_id and dataset_id != group.dataset_id:
            node_id = 0  # the other spelling was bound to something else
        for pk in (node_id, of_dataset.get(group.dataset_id or 0, 0)):
            if pk:
                there = by_node.setdefault(pk, _Group(node_ids={pk})).root()
                if there is not group.root():
                    there.take(group.root())
        places = [("dataset", group.dataset_id)] if group.dataset_id else []
        for place in [*places, ("spelling", (canonical[name], group.dataset_id))]:
            there = by_place.setdefault(place, group).root()
            if there is not group.root():
                there.take(group.root())
    return groups


def _nodes_by_spelling(canonical: Iterable[str]) -> dict[str, tuple[int, int | None]]:
    found: dict[str, tuple[int, int | None]] = {}
    for some in chunks(set(canonical)):
        rows = NodeName.objects.filter(canonical__in=some).order_by("-pk")
        for key, node_id, dataset_id in rows.values_list("canonical", "node_id", "node__dataset_id"):
            found[key] = (node_id, dataset_id)
    return found


def _nodes_by_dataset(ids: Iterable[int | None]) -> dict[int, int]:
    found: dict[int, int] = {}
    for some in chunks({pk for pk in ids if pk}):
        found.update(Node.objects.filter(dataset_id__in=some).values_list("dataset_id", "pk"))
    return found


def _distinct(groups: Mapping[DatasetName, _Group]) -> list[_Group]:
    roots = [group.root() for group in groups.values()]
    return list({id(group): group for group in roots}.values())


def _settled(group: _Group, nodes: Mapping[int, NodeRow], seen: Mapping[DatasetName, Seen]) -> NodeRow:
    """The one node of a group, with the times, the shown name and the dataset that the batch tells."""
    first = min(seen[name].first for name in group.names)
    last = max(seen[name].last for name in group.names)
    if not group.node_ids:
        namespace, name = min(group.names, key=lambda each: display_rank(*each))
        return NodeRow(0, group.dataset_id, namespace, name, Facets(), first, last)
    rows = [nodes[pk] for pk in group.node_ids]
    node = rows[0] if len(rows) == 1 else _united(rows)
    shown = (node.namespace, node.name)
    if len(group.names) > 1 or shown not in group.names:
        shown = min([shown, *group.names], key=lambda each: display_rank(*each))
    before = (node.first_seen, node.last_seen, node.namespace, node.name, node.dataset_id)
    node.first_seen, node.last_seen = min(node.first_seen, first), max(node.last_seen, last)
    node.namespace, node.name = shown
    node.dataset_id = node.dataset_id or group.dataset_id
    node.renewed = before != (node.first_seen, node.last_seen, *shown, node.dataset_id)
    return node


def _united(rows: Sequence[NodeRow]) -> NodeRow:
    ordered = sorted(rows, key=lambda row: (row.dataset_id is None, row.pk))
    whole = Node.objects.in_bulk([row.pk for row in ordered])
    kept = whole[ordered[0].pk]
    for other in ordered[1:]:
        unite(kept, whole[other.pk])
    return nodes_by_id([kept.pk])[kept.pk]


_WRITTEN = ("namespace", "name", "dataset_id", "first_seen", "last_seen", "ended_at", "facets")


def _written(row: NodeRow) -> tuple[Any, ...]:
    told = (row.namespace, row.name, row.dataset_id, row.first_seen, row.last_seen, row.ended_at)
    return (*told, row.facets.value)


def add_nodes(script: Script, rows: Iterable[NodeRow]) -> None:
    """Write what merging renewed of nodes, in the order of their ids; facets only where they are others."""
    renewed = {row.pk: row for row in rows if row.renewed or row.facets.renewed}.values()
    add_update(
        script, Node, ("id", *_WRITTEN), [(row.pk, *_written(row)) for row in renewed if row.facets.renewed]
    )
    bare = [(row.pk, *_written(row)[:-1]) for row in renewed if not row.facets.renewed]
    add_update(script, Node, ("id", *_WRITTEN[:-1]), bare)
    for row in renewed:
        row.renewed = row.facets.renewed = False


def add_linked(script: Script, node_ids: Iterable[int]) -> None:
    """Names of nodes that have a dataset are no longer unresolved."""
    script.add(
        f"UPDATE lineage_nodename SET matched = %s, why = %s WHERE {among('node_id', 'bigint')} AND matched = %s",  # noqa: S608
        *(NodeName.Matched.SYMLINK.value, LINKED, members(node_ids), UNRESOLVED.value),
    )


def mark_linked(node_ids: Iterable[int]) -> None:
    """The same at once."""
    script = Script()
    add_linked(script, node_ids)
    script.run()


def node_named(name: DatasetName) -> Node | None:
    """The node of a name as it is spelled, or as it reads in normal form."""
    found = Node.objects.filter(names__key=key_of(*name)).first()
    return found or Node.objects.filter(names__canonical=canonical_of(name)).order_by("pk").first()
