"""Types in ChartDB's way: an id and a name, with lengths and the mark of an array beside them; and back. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from registry.typesystem import Catalogue, parse

_DATABASES = {
    "postgresql": "postgresql",
    "mysql": "mysql",
    "mariadb": "mariadb",
    "sqlite": "sqlite",
    "oracle": "oracle",
    "sqlserver": "sql_server",
}
# PostgreSQL's types that ChartDB calls by their short names: the words before and after the lengths.
_SHORT = {
    "int": ("integer", ""),
    "varchar": ("character varying", ""),
    "char": ("character", ""),
    "varbit": ("bit varying", ""),
    "timestamptz": ("timestamp", " with time zone"),
    "timestamp": ("timestamp", " without time zone"),
    "timetz": ("time", " with time zone"),
    "time": ("time", " without time zone"),
}
_LONG = {f"{head}{tail}": short for short, (head, tail) in _SHORT.items()}
_OWN_KINDS = frozenset({"enum", "composite", "domain", "range", "multirange"})
_COUNTED = re.compile(r"char|binary|bit|raw|string|text|blob|fixed|clob", re.IGNORECASE)
_SPELLED = re.compile(
    r"(?P<head>[^()\[\]\"'<>]+?)\s*(?:\(\s*(?P<first>\d+|max)\s*(?:,\s*(?P<second>-?\d+)\s*)?\))?"
    r"(?P<tail>\s+[^()\[\]\"'<>]+)?(?P<array>\[\])?",
    re.IGNORECASE,
)
# Words that come after the lengths.
_AFTER = re.compile(r"(\S+)( (?:with|without|unsigned|signed|zerofill)\b.*)", re.IGNORECASE)


@dataclass(frozen=True)
class FieldType:
    """A field's type as ChartDB keeps it; `length` is a text there, the others are numbers."""

    name: str
    length: str | None = None
    precision: int | None = None
    scale: int | None = None
    is_array: bool = False

    @property
    def id(self) -> str:
        return self.name.lower().replace(" ", "_")


def database_type(flavor: str) -> str:
    """ChartDB's word for a flavor; what it does not know is generic."""
    return _DATABASES.get(flavor, "generic")


def type_of(field: Mapping[str, Any], *, flavor: str, catalogue: Catalogue | None = None) -> FieldType:
    """The type of a document's field. Equal types are written alike, whatever their spelling."""
    native = field.get("native_type") or ""
    inner = (field.get("parameters") or {}).get("element") or {}
    if catalogue is not None and not {field.get("type_kind"), inner.get("type_kind")} & _OWN_KINDS:
        found = parse(catalogue, native, field=_without_collation(field))
        native = found.rendered if found.code is not None and found.rendered else native
    return write_type(native, flavor=flavor)


def _without_collation(field: Mapping[str, Any]) -> dict[str, Any]:
    """The collation has a place of its own; the character set has none."""
    parameters = field.get("parameters") or {}
    kept = {key: value for key, value in parameters.items() if key not in {"collation", "charset"}}
    return {**field, "parameters": kept}


def write_type(native: str, *, flavor: str) -> FieldType:
    """A native spelling in parts, if `read_type` makes the same spelling of these; else whole, as a name."""
    text = " ".join(native.split())
    found = _SPELLED.fullmatch(text)
    if found is not None:
        written = _in_parts(found, flavor=flavor)
        is_short = flavor == "postgresql" and written.name.lower() in _SHORT and not found["tail"]
        if is_short or _squeeze(read_type(written, flavor=flavor)) == _squeeze(text):
            return written
    element = text.removesuffix("[]")
    is_array = flavor == "postgresql" and element != text and bool(element)
    return FieldType(element if is_array else text, is_array=is_array)


def _in_parts(found: re.Match[str], *, flavor: str) -> FieldType:
    name = found["head"] + (found["tail"] or "").rstrip()
    if flavor == "postgresql":
        name = _LONG.get(name.lower(), name)
    first, second, is_array = found["first"], found["second"], bool(found["array"])
    if first is None:
        return FieldType(name, is_array=is_array)
    if second is None and (_COUNTED.search(name) or not first.isdecimal()):
        return FieldType(name, length=first, is_array=is_array)
    if not first.isdecimal():
        return FieldType(name, is_array=is_array)
    scale = int(second) if second is not None else None
    return FieldType(name, precision=int(first), scale=scale, is_array=is_array)


def read_type(written: FieldType, *, flavor: str) -> str:
    """The native spelling that a type in ChartDB's way stands for."""
    name, lengths = written.name, _lengths(written)
    short = _SHORT.get(name.lower()) if flavor == "postgresql" else None
    after = _AFTER.fullmatch(name)
    if short is not None:
        native = f"{short[0]}{lengths}{short[1]}"
    elif after is not None and lengths:
        native = f"{after[1]}{lengths}{after[2]}"
    else:
        native = f"{name}{lengths}"
    return f"{native}[]" if written.is_array else native


def _lengths(written: FieldType) -> str:
    if written.length:
        return f"({written.length})"
    if written.precision is None:
        return ""
    return f"({written.precision})" if written.scale is None else f"({written.precision},{written.scale})"


def _squeeze(text: str) -> str:
    return re.sub(r"\s*([(),])\s*", r"\1", text)
