"""From the names that events use to nodes: found, made, and joined where two names turn out to be one dataset."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils import timezone

from lineage.matching import UNRESOLVED, Match, match
from lineage.merging.uniting import LINKED, unite
from lineage.merging.upserts import chunks, insert_rows, inserted, update_rows
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


def nodes_of(
    seen: Mapping[DatasetName, Seen], *, same: Iterable[tuple[DatasetName, DatasetName]]
) -> dict[DatasetName, Node]:
    """The node of each name, made where there is none; the lock of the graph is held.

    Names in `same` become one node, unless the registry knows both as different datasets. Takes a constant
    number of statements, and some more for each two nodes that become one.
    """
    keys = {name: key_of(*name) for name in seen}
    known = _known_names(keys)
    fresh = [name for name in keys if name not in known]
    matches = match(fresh) if fresh else {}
    groups = _groups(known, matches, fresh)
    nodes = _nodes({pk for group in groups.values() for pk in group.root().node_ids})
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
    return _settle(whole, nodes, seen, keys, matches, set(fresh))


def _known_names(keys: Mapping[DatasetName, str]) -> dict[DatasetName, int]:
    by_key = {key: name for name, key in keys.items()}
    found: dict[DatasetName, int] = {}
    for some in chunks(by_key):
        rows = NodeName.objects.filter(key__in=some).values_list("key", "node_id")
        found.update((by_key[key], node_id) for key, node_id in rows)
    return found


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


def _nodes(ids: Iterable[int]) -> dict[int, Node]:
    found: dict[int, Node] = {}
    for some in chunks(sorted(ids)):
        found |= Node.objects.in_bulk(some)
    return found


def _settle(
    groups: Mapping[DatasetName, _Group],
    nodes: dict[int, Node],
    seen: Mapping[DatasetName, Seen],
    keys: Mapping[DatasetName, str],
    matches: Mapping[DatasetName, Match],
    fresh: set[DatasetName],
) -> dict[DatasetName, Node]:
    listed = _distinct(groups)
    found: dict[int, Node] = {}
    new: dict[int, Node] = {}
    for group in listed:
        rows = sorted((nodes[pk] for pk in group.node_ids), key=lambda row: (row.dataset_id is None, row.pk))
        if not rows:
            namespace, name = min(group.names, key=lambda each: display_rank(*each))
            new[id(group)] = Node(namespace=namespace, name=name, dataset_id=group.dataset_id)
            continue
        node = rows[0]
        for other in rows[1:]:
            unite(node, other)
        found[id(group)] = node
    changed: list[Node] = []
    for group in listed:
        node = found.get(id(group)) or new[id(group)]
        found[id(group)] = node
        _renew(node, group, seen, changed)
    write_nodes([node for node in changed if node.pk])
    insert_rows(Node, list(new.values()))
    _write_names(groups, found, keys, matches, fresh)
    return {name: found[id(group)] for name, group in groups.items()}


def _renew(node: Node, group: _Group, seen: Mapping[DatasetName, Seen], changed: list[Node]) -> None:
    """Times, the name that is shown and the dataset, from what the batch says."""
    first = min(seen[name].first for name in group.names)
    last = max(seen[name].last for name in group.names)
    before = (node.first_seen, node.last_seen, node.namespace, node.name, node.dataset_id)
    node.first_seen = min(node.first_seen, first) if node.first_seen else first
    node.last_seen = max(node.last_seen, last) if node.last_seen else last
    shown = min([(node.namespace, node.name), *group.names], key=lambda each: display_rank(*each))
    node.namespace, node.name = shown
    node.dataset_id = node.dataset_id or group.dataset_id
    if before != (node.first_seen, node.last_seen, node.namespace, node.name, node.dataset_id):
        changed.append(node)


def write_nodes(rows: Sequence[Node]) -> None:
    """Write what merging may change of nodes, in the order of their ids."""
    names = ["namespace", "name", "dataset_id", "facets", "first_seen", "last_seen", "ended_at"]
    update_rows(Node, rows, names)


def _write_names(
    groups: Mapping[DatasetName, _Group],
    found: Mapping[int, Node],
    keys: Mapping[DatasetName, str],
    matches: Mapping[DatasetName, Match],
    fresh: set[DatasetName],
) -> None:
    now = timezone.now()
    rows: list[dict[str, Any]] = []
    for name in fresh:
        node = found[id(groups[name])]
        own = matches[name]
        linked = own.matched == UNRESOLVED and node.dataset_id is not None
        rows.append(
            {
                "key": keys[name],
                "namespace": name.namespace,
                "name": name.name,
                "canonical": canonical_of(name),
                "node_id": node.pk,
                "matched": NodeName.Matched.SYMLINK if linked else own.matched,
                "why": LINKED if linked else own.why[:500],
                "created_at": now,
            }
        )
    inserted(NodeName, rows, unique="key")
    by_node: dict[int, list[DatasetName]] = defaultdict(list)
    for name, group in groups.items():
        by_node[found[id(group)].pk].append(name)
    known = [node.pk for node in found.values() if node.dataset_id and len(by_node[node.pk]) > 1]
    if known:
        mark_linked(known)


def mark_linked(node_ids: Sequence[int]) -> None:
    """Names of nodes that have a dataset are no longer unresolved."""
    NodeName.objects.filter(node_id__in=node_ids, matched=UNRESOLVED).update(
        matched=NodeName.Matched.SYMLINK, why=LINKED
    )


def node_named(name: DatasetName) -> Node | None:
    """The node of a name as it is spelled, or as it reads in normal form."""
    found = Node.objects.filter(names__key=key_of(*name)).first()
    return found or Node.objects.filter(names__canonical=canonical_of(name)).order_by("pk").first()
