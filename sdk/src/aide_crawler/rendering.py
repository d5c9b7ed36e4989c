"""Writes a snapshot as JSON, a dataset a line, or as text for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from aide_crawler.names import qualified_name
from aide_crawler.snapshot import Snapshot


def as_json(snapshot: Snapshot) -> Iterator[str]:
    """The snapshot's JSON in pieces, so that a big one is never one text in memory."""
    document = snapshot.to_dict()
    datasets = document.pop("datasets")
    coverage = document.pop("coverage")
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    yield encode(document)[:-1] + ',"datasets":['
    for index, dataset in enumerate(datasets):
        yield (",\n" if index else "\n") + encode(dataset)
    yield '\n],"coverage":' + encode(coverage) + "}\n"


def as_text(snapshot: Snapshot) -> Iterator[str]:
    """Each dataset with its fields and keys, then what was and was not read."""
    for dataset in snapshot.datasets:
        name = qualified_name(dataset["schema"], dataset["name"])
        yield f"{_kind(dataset)} {name}{_remark(dataset['comment'])}\n"
        for field in dataset["fields"]:
            yield f"    {_field(field)}\n"
        yield from (f"    {line}\n" for line in _keys(dataset))
        yield "\n"
    yield from _coverage(snapshot)


def _kind(dataset: dict[str, Any]) -> str:
    return str(dataset["kind"]).replace("_", " ")


def _field(field: dict[str, Any]) -> str:
    parts = [_one_line(field["name"]), field["native_type"] or "(no type)"]
    if not field["nullable"]:
        parts.append("not null")
    if field["default"] is not None:
        parts.append(f"default {_one_line(field['default'])}")
    if field["generated"]:
        parts.append(f"generated as ({_one_line(field['generated']['expression'] or '')})")
    if field["identity"]:
        parts.append(f"identity {field['identity']['kind']}")
    if field["hidden"]:
        parts.append("hidden")
    return "  ".join(parts) + _remark(field["comment"])


def _keys(dataset: dict[str, Any]) -> Iterator[str]:
    if dataset["primary_key"]:
        yield f"primary key ({', '.join(dataset['primary_key']['columns'])})"
    for unique in dataset["unique"]:
        terms = [*unique["columns"], *unique.get("expressions", ())]
        condition = f" where {_one_line(unique['predicate'])}" if unique.get("predicate") else ""
        yield f"unique ({', '.join(terms)}){condition}"
    for key in dataset["foreign_keys"]:
        target = qualified_name(key["ref_schema"], key["ref_table"])
        yield f"foreign key ({', '.join(key['columns'])}) to {target} ({', '.join(key['ref_columns'])})"


def _coverage(snapshot: Snapshot) -> Iterator[str]:
    coverage = snapshot.coverage
    fields = sum(len(dataset["fields"]) for dataset in snapshot.datasets)
    yield f"{coverage.read} of {coverage.listed} datasets read, {fields} fields\n"
    for schema in coverage.schemas:
        if schema.reason is not None:
            yield f"! schema {schema.name}: {_one_line(schema.reason)}\n"
    for label, items in (("skipped", coverage.skipped), ("failed", coverage.failed)):
        for item in items:
            yield f"! {label} {qualified_name(item.schema, item.name)}: {_one_line(item.reason)}\n"


def _remark(comment: str | None) -> str:
    return f"  -- {_one_line(comment)}" if comment else ""


def _one_line(text: str) -> str:
    return " ".join(str(text).split()) if any(char in str(text) for char in "\r\n\t\v\f") else str(text)
