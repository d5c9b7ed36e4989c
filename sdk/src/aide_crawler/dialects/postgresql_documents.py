"""Builds documents in the neutral shape from rows of PostgreSQL's catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aide_crawler.dialects.coverage import CoverageNotes
from aide_crawler.dialects.postgresql_types import TypeFacts, Types
from aide_crawler.limits import Progress
from aide_crawler.watch import Watch

Row = tuple[Any, ...]
_KINDS = {"r": "table", "p": "partitioned_table", "v": "view", "m": "materialized_view", "f": "foreign_table"}
_ACTIONS = {"a": "NO ACTION", "r": "RESTRICT", "c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"}
_MATCHES = {"s": "SIMPLE", "f": "FULL", "p": "PARTIAL"}
_IDENTITIES = {"a": "always", "d": "by_default"}
_GENERATED = {"s": "stored", "v": "virtual"}
_CHECK_EVERY = 200
_LOCKED = "Another session holds a lock on it, or dropped it, while it was read."
_TYPE_GONE = "A type of it was dropped while it was read."


@dataclass
class Catalogue:
    """The rows about the relations in the scope, by relation."""

    relations: dict[int, tuple[str, bool, Row]] = field(default_factory=dict)
    partition_counts: Mapping[int, int] = field(default_factory=dict)
    columns: list[Row] = field(default_factory=list)
    types: Types = field(default_factory=lambda: Types((), version=0))
    defaults: dict[tuple[int, int], str | None] = field(default_factory=dict)
    comments: dict[tuple[int, int], str] = field(default_factory=dict)
    constraints: Mapping[int, list[Row]] = field(default_factory=dict)
    indexes: Mapping[int, list[Row]] = field(default_factory=dict)
    sequences: dict[tuple[int, int], Row] = field(default_factory=dict)


class UnreadableError(Exception):
    """A relation of which a part is missing; str() is the reason for the coverage."""


def build(catalogue: Catalogue, notes: CoverageNotes, watch: Watch) -> list[dict[str, Any]]:
    """The documents, sorted by schema and name; what cannot be read goes to the notes as failed."""
    columns: dict[int, list[Row]] = {}
    for row in catalogue.columns:
        columns.setdefault(row[0], []).append(row)
    catalogue.columns = []
    names = {oid: {row[1]: row[2] for row in rows} for oid, rows in columns.items()}
    order = sorted(
        catalogue.relations, key=lambda oid: (catalogue.relations[oid][0], catalogue.relations[oid][2][2])
    )
    schemas = sorted({catalogue.relations[oid][0] for oid in order})
    place = {schema: index for index, schema in enumerate(schemas)}
    datasets = []
    for index, oid in enumerate(order):
        schema, _, row = catalogue.relations[oid]
        if index % _CHECK_EVERY == 0:
            watch.check()
        watch.progress(Progress(schema, row[2], place[schema], len(schemas), index, len(order)))
        notes.listed += 1
        try:
            datasets.append(_dataset(catalogue, oid, columns.pop(oid, []), names))
        except UnreadableError as reason:
            notes.fail(schema, row[2], str(reason))
    return datasets


def _dataset(
    catalogue: Catalogue, oid: int, columns: list[Row], names: dict[int, dict[int, str]]
) -> dict[str, Any]:
    schema, usable, row = catalogue.relations[oid]
    own = names.get(oid, {})
    if row[3] == "p" and row[10] is None:
        raise UnreadableError(_LOCKED)
    constraints = catalogue.constraints.get(oid, ())
    primary = next((k for k in constraints if k[2] == "p"), None)
    key_places = {number: place for place, number in enumerate(primary[3], 1)} if primary else {}
    unique_constraints = {k[4] for k in constraints if k[2] == "u"}
    return {
        "schema": schema,
        "name": row[2],
        "kind": _KINDS[row[3]],
        "comment": row[9],
        "attributes": _attributes(row, usable=usable, partitions=catalogue.partition_counts.get(oid, 0)),
        "fields": [
            _field(catalogue, column, position, key_places.get(column[1]))
            for position, column in enumerate(columns, 1)
        ],
        "primary_key": None
        if primary is None
        else {
            "name": primary[1],
            "columns": [own[number] for number in primary[3]],
            "deferrable": primary[5],
        },
        "unique": sorted(
            (_unique(index, own, index[2] in unique_constraints) for index in catalogue.indexes.get(oid, ())),
            key=lambda unique: unique["name"],
        ),
        "foreign_keys": sorted(
            (_foreign_key(k, own, names.get(k[8])) for k in constraints if k[2] == "f"),
            key=lambda key: key["name"],
        ),
    }


def _attributes(row: Row, *, usable: bool, partitions: int) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    if row[5] == "u":
        attributes["persistence"] = "unlogged"
    if row[6]:
        attributes["row_security"] = True
    if row[7]:
        attributes["force_row_security"] = True
    if row[3] == "m":
        attributes["populated"] = row[8]
    if row[3] == "p":
        attributes["partition_key"] = row[10]
        attributes["partition_count"] = partitions
    if row[12]:
        attributes["inherits"] = row[12]
    for key, value in (("of_type", row[13]), ("foreign_server", row[14]), ("extension", row[15])):
        if value is not None:
            attributes[key] = value
    if row[16] is False:
        attributes["select_privilege"] = False
    if not usable:
        attributes["schema_usage"] = False
    return attributes


def _field(catalogue: Catalogue, row: Row, position: int, key_place: int | None) -> dict[str, Any]:
    (
        relation,
        number,
        name,
        oid,
        modifier,
        not_null,
        identity,
        generated,
        has_default,
        dimensions,
        _,
        collation,
    ) = row
    facts = catalogue.types.readable.get((oid, modifier))
    if facts is None:
        facts = catalogue.types.get(oid, modifier)
        if facts is None or facts.is_gone:
            raise UnreadableError(_TYPE_GONE)
    key = (relation, number)
    expression = None
    if has_default:
        expression = catalogue.defaults.get(key)
        if expression is None:
            raise UnreadableError(_LOCKED)
    sequence = catalogue.sequences.get(key)
    return {
        "name": name,
        "position": position,
        "native_position": number,
        "native_type": facts.native,
        "type_name": facts.name,
        "type_schema": facts.schema,
        "type_kind": facts.kind,
        "parameters": facts.parameters
        if collation is None and dimensions <= 1
        else _parameters(facts, dimensions=dimensions, collation=collation),
        "nullable": not (not_null or facts.not_null),
        "default": None if generated else expression,
        "primary_key": key_place,
        "comment": catalogue.comments.get(key),
        "generated": {"kind": _GENERATED[generated], "expression": expression} if generated else None,
        "identity": _identity(sequence, identity) if sequence or identity else None,
        "hidden": False,
    }


def _parameters(facts: TypeFacts, *, dimensions: int, collation: str | None) -> dict[str, Any]:
    if collation is None and dimensions <= 1:
        return facts.parameters
    parameters = dict(facts.parameters)
    if dimensions > 1:
        parameters["declared_dimensions"] = dimensions
    if collation is not None:
        parameters["collation"] = collation
    return parameters


def _identity(sequence: Row | None, identity: str) -> dict[str, Any] | None:
    if sequence is None:
        return {"kind": _IDENTITIES[identity]} if identity else None
    (_, name, start, increment, minimum, maximum, cycle, cache, used_by_default) = sequence[2:]
    if identity:
        return {
            "kind": _IDENTITIES[identity],
            "start": start,
            "increment": increment,
            "min": minimum,
            "max": maximum,
            "cycle": cycle,
            "cache": cache,
        }
    if used_by_default:
        return {"kind": "serial", "sequence": name, "start": start, "increment": increment}
    return None


def _unique(row: Row, own: dict[int, str], is_constraint: bool) -> dict[str, Any]:
    (_, name, _, numbers, key_count, has_predicate, has_expressions, not_distinct, predicate, expressions) = (
        row
    )
    unique: dict[str, Any] = {
        "name": name,
        "columns": [own[number] for number in numbers[:key_count] if number],
        "kind": "constraint" if is_constraint else "index",
    }
    if (has_predicate and predicate is None) or (
        has_expressions and (expressions is None or None in expressions)
    ):
        raise UnreadableError(_LOCKED)
    if has_predicate:
        unique["predicate"] = predicate
    if has_expressions and expressions:
        unique["expressions"] = expressions
    if not_distinct:
        unique["nulls_not_distinct"] = True
    return unique


def _foreign_key(row: Row, own: dict[int, str], referenced: dict[int, str] | None) -> dict[str, Any]:
    (_, name, _, numbers, _, deferrable, deferred, validated, _, their_numbers, schema, table) = row[:12]
    (on_update, on_delete, match, set_columns, their_names) = row[12:]
    if their_names is None:
        if referenced is None:
            raise UnreadableError(_LOCKED)
        their_names = [referenced[number] for number in their_numbers]
    key: dict[str, Any] = {
        "name": name,
        "columns": [own[number] for number in numbers],
        "ref_schema": schema,
        "ref_table": table,
        "ref_columns": their_names,
        "on_update": _ACTIONS[on_update],
        "on_delete": _ACTIONS[on_delete],
        "match": _MATCHES[match],
        "deferrable": deferrable,
        "initially_deferred": deferred,
        "validated": validated,
    }
    if set_columns:
        key["on_delete_columns"] = [own[number] for number in set_columns]
    return key
