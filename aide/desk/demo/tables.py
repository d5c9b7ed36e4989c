"""The demo's systems and datasets as documents, read from the tables beside this module. Only the demo uses it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from registry import documents, locations

FOLDER = Path(__file__).parent / "tables"
FILES = ("pg_crm", "pg_billing", "kafka_events", "s3_lake", "sftp_partners", "hive_dwh")

Document = dict[str, Any]

_WORDS = {
    "varchar": "character varying",
    "char": "character",
    "bool": "boolean",
    "timestamptz": "timestamp with time zone",
    "timestamp": "timestamp without time zone",
    "timetz": "time with time zone",
    "time": "time without time zone",
    "float4": "real",
    "float8": "double precision",
}
# A line such as `+place billing`: what such columns are called, and what each is suggested to be.
_SEVERAL = {
    "name": (("first_name", "varchar(80)", "person_name"), ("last_name", "varchar(80)", "person_name")),
    "mail": (("email", "varchar(254)", "email"),),
    "call": (("phone", "varchar(32)", "phone"),),
    "place": (
        ("street", "varchar(160)", "address"),
        ("postal_code", "varchar(12)", "address"),
        ("city", "varchar(80)", "address"),
    ),
}
_LINE = re.compile(
    r"(?P<name>\S+)\s+(?P<type>\S+?)(?P<required>!)?"
    r"(?:\s+:=\s*(?P<generated>\(.*\)))?(?:\s+=\s*(?P<default>\S+))?"
    r"(?:\s+\?(?P<suggested>[a-z_/]+)(?:~(?P<level>[a-z]+))?)?(?:\s+#(?P<confirmed>[a-z_]+))?"
    r"(?:\s+--\s*(?P<comment>.*))?\Z"
)
_ENUM = re.compile(r"enum:(\w+)\((.*)\)")


@dataclass(frozen=True)
class Suggested:
    """A column that is to be suggested as personal data. `level` is empty, `name` (name only) or `trap`."""

    dataset: str
    path: str
    tags: tuple[str, ...]
    level: str


@dataclass
class Source:
    """A system of the demo with its documents, by the names that the registry has for its datasets."""

    values: dict[str, Any]
    documents: dict[str, Document] = field(default_factory=dict)
    suggested: list[Suggested] = field(default_factory=list)
    confirmed: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def code(self) -> str:
        return str(self.values["code"])

    @property
    def kind(self) -> str:
        return str(self.values["kind"])


def sources() -> list[Source]:
    """The six systems, read anew: whoever gets them may change them."""
    return [_source(yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))) for name in FILES]


def field_of(document: Document, name: str) -> Document:
    """The top-level field of that name."""
    found: Document = next(each for each in document["fields"] if each["name"] == name)
    return found


def make_field(line: str, *, flavor: str = "postgresql", schema: str = "") -> Document:
    """One field from one line."""
    return _field(line, flavor=flavor, schema=schema)[0]


def numbered(document: Document) -> Document:
    """The document as a crawl would give it now, its fields in their present order."""
    fields = [{**each, "position": n} for n, each in enumerate(document["fields"], start=1)]
    return documents.clean({**document, "fields": fields})


def _source(said: dict[str, Any]) -> Source:
    values = said["system"]
    source = Source(values)
    for name, told in said["datasets"].items():
        document = _document(source, str(name), told)
        source.documents[locations.dataset_name(document) if document["schema"] else name] = document
    return source


def _document(source: Source, name: str, told: dict[str, Any]) -> Document:
    values = source.values
    schema = values.get("schema", "")
    dataset = f"{schema}.{name}" if schema else name
    fields: list[Document] = []
    for depth, line in _lines(told["columns"]):
        made, match = _field(line, flavor=values["flavor"], schema=schema)
        if depth:
            fields[-1].setdefault("fields", []).append(made)
            continue
        fields.append(made)
        if match["suggested"]:
            tags = tuple(match["suggested"].split("/"))
            source.suggested.append(Suggested(dataset, made["name"], tags, match["level"] or ""))
        if match["confirmed"]:
            source.confirmed.append((dataset, made["name"], match["confirmed"]))
    for stamp, native in values["stamps"].items():
        fields.append(_field(f"{stamp} {native}", flavor=values["flavor"], schema=schema)[0])
    first = fields[0]["name"]
    keyed = values["kind"] == "rdbms"
    return documents.clean(
        {
            "schema": schema,
            "name": name,
            "kind": locations.default_object_kind(values["kind"]),
            "comment": told["comment"],
            "fields": fields,
            "primary_key": {"name": f"{name}_pkey", "columns": [first]} if keyed else None,
            "unique": [
                {"name": f"{name}_{'_'.join(columns)}_once", "columns": columns, "kind": "constraint"}
                for columns in told.get("unique") or ()
            ],
        }
    )


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for raw in text.splitlines():
        line = raw.strip()
        if not line:
            continue
        if not line.startswith("+"):
            yield int(raw.startswith("  ")), line
            continue
        several, _, prefix = line[1:].partition(" ")
        for name, native, tag in _SEVERAL[several]:
            yield 0, f"{prefix}_{name} {native} ?{tag}" if prefix else f"{name} {native} ?{tag}"


def _field(line: str, *, flavor: str, schema: str) -> tuple[Document, re.Match[str]]:
    match = _LINE.match(line)
    if match is None:
        raise ValueError(f"This is no line of a table: {line}")
    native = match["type"]
    made: Document = {
        "name": match["name"],
        "nullable": match["required"] is None,
        "default": match["default"],
    }
    enum = _ENUM.match(native)
    if enum is not None:
        made |= {
            "native_type": f"{schema}.{enum[1]}", "type_name": enum[1], "type_schema": schema, "type_kind": "enum",
            "parameters": {"values": enum[2].split(",")},
        }  # fmt: skip
    elif flavor == "postgresql":
        head, bracket, rest = native.partition("(")
        made["native_type"] = f"{_WORDS.get(head, head)}{bracket}{rest}"
    else:
        made["native_type"] = native
    if match["generated"]:
        made["generated"] = {"kind": "stored", "expression": match["generated"]}
    if match["comment"]:
        made["comment"] = match["comment"]
    return made, match
