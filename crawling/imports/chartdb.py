"""A ChartDB file → schema documents, and what the file cannot say filled in from the registry. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from registry import documents
from registry.chartdb import FieldType, read_type
from registry.documents import DocumentInvalid, split_path
from registry.locations import dataset_name

Document = dict[str, Any]
MAX_TABLES = 10_000
MAX_ERRORS = 20
MAX_NAME = 1_000
_SAME = ({"mysql", "mariadb"}, {"postgresql", "cockroachdb"}, {"sqlserver", "sql_server"})
_GROWING = {
    "postgresql": "by_default",
    "mysql": "auto_increment",
    "mariadb": "auto_increment",
    "sqlite": "autoincrement",
}


class ChartDBInvalid(ValueError):  # noqa: N818 (named like DocumentInvalid)
    """A file is refused; `errors` holds (path, message) pairs."""

    def __init__(self, errors: Sequence[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{path}: {message}" for path, message in errors))
        self.errors = list(errors)


@dataclass(frozen=True)
class Note:
    """Something of the file that is not taken over, and why."""

    object: str
    reason: str


@dataclass
class _File:
    """The parts of a file by their ids, with what is wrong in it."""

    flavor: str
    default_schema: str
    nested: bool
    table_kind: str
    errors: list[tuple[str, str]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    documents: dict[str, Document] = field(default_factory=dict)
    columns: dict[str, dict[str, str]] = field(default_factory=dict)
    types: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def bad(self, path: str, message: str) -> None:
        if len(self.errors) < MAX_ERRORS:
            self.errors.append((path, message))


@dataclass(frozen=True)
class Reading:
    """What a file holds: clean documents by the name of their dataset, and what was left out."""

    documents: Mapping[str, Document]
    notes: tuple[Note, ...]


def read(
    diagram: Any, *, flavor: str, default_schema: str = "", nested: bool = False, table_kind: str = "table"
) -> Reading:
    """The documents of a file as ChartDB exports it.

    `default_schema` is for tables that name none; with `nested`, names of fields are paths; `table_kind` is what a
    table of the file is in the registry. Raises ChartDBInvalid with the places that are wrong.
    """
    file = _File(flavor, default_schema, nested, table_kind)
    if not isinstance(diagram, Mapping) or not isinstance(diagram.get("tables", []), list):
        raise ChartDBInvalid([("", "This is no ChartDB file: a JSON object with a list of tables.")])
    _check_database(file, diagram.get("databaseType"))
    for n, each in enumerate(_rows(file, diagram, "customTypes")):
        _custom_type(file, each, f"customTypes[{n}]")
    tables = _rows(file, diagram, "tables")
    for n, each in enumerate(tables):
        _table(file, each, f"tables[{n}]")
    _references(file, _rows(file, diagram, "relationships"))
    if file.errors:
        raise ChartDBInvalid(file.errors)
    return Reading(_clean(file), tuple(file.notes))


def _check_database(file: _File, said: Any) -> None:
    known = {"postgresql", "mysql", "mariadb", "sqlite", "oracle", "sql_server", "clickhouse", "cockroachdb"}
    if not isinstance(said, str) or said not in known or said == file.flavor:
        return
    if not any({said, file.flavor} <= group for group in _SAME):
        file.bad("databaseType", f"The file is of {said}, but the system is {file.flavor}.")


def _rows(file: _File, diagram: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    rows = diagram.get(name) or []
    if not isinstance(rows, list) or len(rows) > MAX_TABLES * 10:
        file.bad(name, "This must be a list.")
        return []
    if name == "tables" and len(rows) > MAX_TABLES:
        file.bad(name, f"A file may hold {MAX_TABLES} tables.")
        return []
    found = []
    for n, each in enumerate(rows):
        if isinstance(each, Mapping):
            found.append(each)
        else:
            file.bad(f"{name}[{n}]", "This must be a JSON object.")
    return found


def _custom_type(file: _File, row: Mapping[str, Any], path: str) -> None:
    name, schema = _text(row.get("name")), _text(row.get("schema"))
    if not name:
        file.bad(f"{path}.name", "A type needs a name.")
        return
    told: dict[str, Any] = {
        "type_name": name,
        "type_kind": "enum" if row.get("kind") == "enum" else "composite",
    }
    told |= {"type_schema": schema} if schema else {}
    if told["type_kind"] == "enum":
        values = row.get("values") or []
        told["parameters"] = {
            "values": [v for v in values if isinstance(v, str)] if isinstance(values, list) else []
        }
    else:
        parts = row.get("fields") or []
        told["parameters"] = {
            "attributes": [
                {"name": _text(part.get("field")), "native_type": _text(part.get("type"))}
                for part in (parts if isinstance(parts, list) else [])
                if isinstance(part, Mapping)
            ]
        }
    spellings = [_quoted(name), name]
    if schema:
        spellings += [f"{_quoted(schema)}.{_quoted(name)}"]
    for spelling in spellings:
        file.types.setdefault(spelling, told)


def _quoted(name: str) -> str:
    plain = name.isidentifier() and name.isascii() and name == name.lower()
    return name if plain else '"' + name.replace('"', '""') + '"'


def _table(file: _File, row: Mapping[str, Any], path: str) -> None:
    identity, name = row.get("id"), _text(row.get("name"))
    if not isinstance(identity, str) or not identity:
        file.bad(f"{path}.id", "A table needs an id.")
        return
    if identity in file.documents:
        file.bad(f"{path}.id", f"The id {identity[:50]} is there twice.")
        return
    if not name:
        file.bad(f"{path}.name", "A table needs a name.")
        return
    made: dict[str, tuple[Mapping[str, Any], Document]] = {}
    for n, each in enumerate(_rows_of(file, row, "fields", path)):
        one = _field(file, each, f"{path}.fields[{n}]")
        if one is not None and each["id"] in made:
            file.bad(f"{path}.fields[{n}].id", f"The id {each['id'][:50]} is there twice.")
        elif one is not None:
            made[each["id"]] = (each, one)
    fields = [one for _, one in made.values()]
    fields = _placed(fields) if file.nested else fields
    top = {id(one) for one in fields}
    columns = {key: one["name"] for key, (_, one) in made.items() if id(one) in top}
    marked = [(each, one["name"]) for each, one in made.values() if id(one) in top]
    keyed = [label for each, label in marked if each.get("primaryKey") is True]
    unique = [label for each, label in marked if each.get("unique") is True and label not in keyed]
    document: Document = {
        "schema": _text(row.get("schema")) or file.default_schema,
        "name": name,
        "kind": _kind(file, row),
        "comment": _text(row.get("comments")) or None,
        "fields": fields,
        "primary_key": {"name": None, "columns": keyed} if keyed else None,
        "unique": [],
        "foreign_keys": [],
    }
    _keys(document, _rows_of(file, row, "indexes", path), columns, unique, table=name)
    file.documents[identity], file.columns[identity] = document, columns


def _rows_of(file: _File, row: Mapping[str, Any], name: str, path: str) -> list[Mapping[str, Any]]:
    rows = row.get(name) or []
    if not isinstance(rows, list) or not all(isinstance(each, Mapping) for each in rows):
        file.bad(f"{path}.{name}", "This must be a list of JSON objects.")
        return []
    return rows


def _kind(file: _File, row: Mapping[str, Any]) -> str:
    if row.get("isMaterializedView") is True:
        return "materialized_view"
    return "view" if row.get("isView") is True else file.table_kind


def _field(file: _File, row: Mapping[str, Any], path: str) -> Document | None:
    told = row.get("type")
    if isinstance(told, str):
        told = {"name": told}
    type_name = ""
    if isinstance(told, Mapping):
        type_name = _text(told.get("name")) or _text(told.get("id")).replace("_", " ")
    name = row.get("name")
    if not isinstance(name, str) or not isinstance(row.get("id"), str):
        file.bad(path, "A field needs an id and a name.")
        return None
    written = FieldType(
        type_name,
        length=_length(row.get("characterMaximumLength")),
        precision=_whole(row.get("precision")),
        scale=_whole(row.get("scale")),
        is_array=row.get("isArray") is True,
    )
    made: Document = {
        "name": name,
        "native_type": read_type(written, flavor=file.flavor) if type_name else "",
        "type_name": None if type_name else "",
        "nullable": row.get("nullable") is not False,
        "default": row["default"] if isinstance(row.get("default"), str) else None,
        "comment": _text(row.get("comments")) or None,
    }
    own = file.types.get(type_name)
    if own is not None:
        element = {**own, "native_type": type_name}
        made |= (
            {"type_name": own["type_name"], "type_kind": "array", "parameters": {"element": element}}
            | ({"type_schema": own["type_schema"]} if "type_schema" in own else {})
            if written.is_array
            else own
        )
    if collation := _text(row.get("collation")):
        made["parameters"] = {**made.get("parameters", {}), "collation": collation}
    if row.get("increment") is True:
        made["identity"] = {"kind": _GROWING.get(file.flavor, "by_default")}
    return made


def _placed(fields: Sequence[Document]) -> list[Document]:
    """Fields named by paths, put into their parents."""
    top: list[Document] = []
    by_path: dict[tuple[str, ...], Document] = {}
    for each in fields:
        try:
            names = tuple(split_path(each["name"]))
        except ValueError:
            names = (each["name"],)
        parent = by_path.get(names[:-1]) if len(names) > 1 else None
        if len(names) > 1 and parent is None:
            names = (each["name"],)
        each["name"] = names[-1]
        by_path[names] = each
        (top if parent is None else parent.setdefault("fields", [])).append(each)
    return top


def _keys(
    document: Document,
    indexes: Sequence[Mapping[str, Any]],
    columns: Mapping[str, str],
    unique: Sequence[str],
    *,
    table: str,
) -> None:
    keys: list[list[str]] = []
    for index in indexes:
        ids = index.get("fieldIds")
        names = (
            [columns.get(each, "") for each in ids if isinstance(each, str)] if isinstance(ids, list) else []
        )
        if not names or not all(names):
            continue
        name = _text(index.get("name")) or None
        key = document["primary_key"]
        if index.get("isPrimaryKey") is True:
            if key is None or set(key["columns"]) == set(names):
                document["primary_key"] = {"name": name, "columns": names}
        elif index.get("unique") is True and names not in keys:
            keys.append(names)
            document["unique"].append({"name": name, "columns": names, "kind": "constraint"})
    for name in unique:
        if [name] not in keys:
            label = f"{table}_{name}_key"
            document["unique"].append({"name": label, "columns": [name], "kind": "constraint"})


def _references(file: _File, rows: Sequence[Mapping[str, Any]]) -> None:
    """Rows of one name between the same two tables are the columns of one foreign key."""
    found: dict[tuple[str, str, str], list[tuple[list[str], list[str]]]] = {}
    for row in rows:
        source, target = _end(file, row, "source"), _end(file, row, "target")
        label = _text(row.get("name")) or "a relationship"
        if source is None or target is None:
            file.notes.append(Note(label, "It refers to a table or a field that is not in the file."))
            continue
        ends = (row.get("sourceCardinality"), row.get("targetCardinality"))
        if ends == ("many", "many"):
            file.notes.append(Note(label, "A relationship of many to many is no foreign key."))
            continue
        if ends == ("many", "one"):  # as files were written before the end of 2025
            source, target = target, source
        name = _text(row.get("name"))
        keys = found.setdefault((target[0], source[0], name), [])
        if not name or not keys or target[1] in keys[-1][0] or source[1] in keys[-1][1]:
            keys.append(([], []))
        keys[-1][0].append(target[1])
        keys[-1][1].append(source[1])
    for (child, parent, name), keys in found.items():
        there = file.documents[parent]
        for names, others in keys:
            file.documents[child]["foreign_keys"].append(
                {
                    "name": name or None,
                    "columns": names,
                    "ref_schema": there["schema"],
                    "ref_table": there["name"],
                    "ref_columns": others,
                }
            )


def _end(file: _File, row: Mapping[str, Any], end: str) -> tuple[str, str] | None:
    table, column = row.get(f"{end}TableId"), row.get(f"{end}FieldId")
    if not isinstance(table, str) or not isinstance(column, str) or table not in file.columns:
        return None
    name = file.columns[table].get(column)
    return (table, name) if name is not None else None


def _clean(file: _File) -> dict[str, Document]:
    found: dict[str, Document] = {}
    for n, document in enumerate(file.documents.values()):
        try:
            clean = documents.clean(document)
        except DocumentInvalid as error:
            for path, message in error.errors:
                file.bad(f"tables[{n}].{path}".rstrip("."), message)
            continue
        name = dataset_name(clean)
        if len(name) > MAX_NAME:
            file.bad(f"tables[{n}].name", f"Schema and name may have {MAX_NAME} characters together.")
        if name in found:
            file.bad(f"tables[{n}].name", f"The table {name[:100]} is there twice.")
        found[name] = clean
    if file.errors:
        raise ChartDBInvalid(file.errors)
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    known = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9
    return value if known else None


def _length(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    text = _text(value).strip().lower()
    return text if text == "max" or (text.isascii() and text.isdecimal() and len(text) < 12) else None
