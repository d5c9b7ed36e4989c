"""Untrusted schema documents: checked within bounds and completed with defaults."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from registry.documents.paths import field_path
from registry.documents.usual import (
    MAX_DEPTH,
    MAX_NAME,
    MAX_NUMBER,
    MAX_TEXT,
    UnusualError,
    text_problem,
    usual_field,
    usual_json,
)

MAX_FIELDS = 10_000
MAX_KEYS = 10_000
MAX_ERRORS = 50

_DATASET = frozenset({
    "schema", "name", "kind", "comment", "attributes", "fields", "primary_key", "unique", "foreign_keys",
})  # fmt: skip
_FIELD = frozenset({
    "name", "position", "native_position", "native_type", "type_name", "type_schema", "type_kind", "parameters",
    "nullable", "default", "primary_key", "comment", "generated", "identity", "on_update", "hidden", "fields",
})  # fmt: skip
_ADDED_TO_DATASET = frozenset({"dataset_id", "version", "fingerprint", "published_at"})
_ADDED_TO_FIELD = frozenset({"field_id", "data_type", "type_params", "rendered", "description", "pii_tags"})
_KIND = re.compile(r"[a-z][a-z0-9_]{0,31}")


class DocumentInvalid(ValueError):  # noqa: N818 (named like its siblings in the registry)
    """A document is refused; `errors` holds (path, message) pairs, at most 50."""

    def __init__(self, errors: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{path}: {message}" if path else message for path, message in errors))
        self.errors = errors


def clean(document: Any) -> dict[str, Any]:
    """The document with every key of the neutral shape, fields in order and positions 1, 2, 3 …

    A field needs `name` and `native_type`; all else has a default. The keys that the registry adds to its answers
    are left out, so that such an answer may be sent back. Anything else is refused with its path.
    """
    return _Checker().dataset(document)


class _Checker:
    def __init__(self) -> None:
        self.errors: list[tuple[str, str]] = []
        self.fields_seen = 0

    def bad(self, path: str, message: str) -> None:
        if len(self.errors) < MAX_ERRORS:
            self.errors.append((path, message))

    def dataset(self, document: Any) -> dict[str, Any]:
        if not isinstance(document, Mapping):
            raise DocumentInvalid([("", "A schema document is a JSON object.")])
        self.known_keys(document, _DATASET, _ADDED_TO_DATASET, "")
        out: dict[str, Any] = {
            "schema": self.text(document.get("schema"), "schema", limit=MAX_NAME),
            "name": self.text(document.get("name"), "name", limit=MAX_NAME),
            "kind": self.kind(document.get("kind")),
            "comment": self.text(document.get("comment"), "comment") or None,
            "attributes": self.mapping(document.get("attributes"), "attributes") or {},
            "fields": self.fields(document.get("fields"), "fields", depth=1),
            "primary_key": self.primary_key(document.get("primary_key")),
            "unique": self.each(document.get("unique"), "unique", self.unique),
            "foreign_keys": self.each(document.get("foreign_keys"), "foreign_keys", self.foreign_key),
        }
        if not self.errors:
            self.join_keys(out)
        if self.errors:
            raise DocumentInvalid(self.errors)
        return out

    def known_keys(
        self, value: Mapping[Any, Any], known: frozenset[str], ignored: frozenset[str], path: str
    ) -> None:
        if value.keys() <= known:
            return
        for key in value:
            if key not in known and key not in ignored:
                self.bad(_at(path, str(key)[:100]), "There is no such key in a schema document.")

    def kind(self, value: Any) -> str:
        kind = self.text(value, "kind", limit=32) or "table"
        if not _KIND.fullmatch(kind):
            self.bad("kind", "A kind is a short word of lower-case letters, digits and underscores.")
        return kind

    def fields(self, value: Any, path: str, *, depth: int) -> list[dict[str, Any]]:
        if value is None:
            return []
        if not isinstance(value, list | tuple):
            self.bad(path, "This must be a list of fields.")
            return []
        if depth > MAX_DEPTH:
            self.bad(path, f"Fields may be nested {MAX_DEPTH} levels deep.")
            return []
        self.fields_seen += len(value)
        if self.fields_seen > MAX_FIELDS:
            self.bad(path, f"A dataset may have {MAX_FIELDS} fields.")
            return []
        out = [self.field(each, f"{path}[{n}]", depth=depth) for n, each in enumerate(value)]
        seen: set[str] = set()
        for n, field in enumerate(out):
            if field["name"] in seen:
                self.bad(f"{path}[{n}].name", f"The field {field['name']!r} is there twice.")
            seen.add(field["name"])
        return self.in_order(out, path)

    def in_order(self, fields: list[dict[str, Any]], path: str) -> list[dict[str, Any]]:
        places = [field["position"] for field in fields]
        if None not in places:
            if len(set(places)) != len(places):
                self.bad(path, "Two fields have the same position.")
            fields = sorted(fields, key=lambda field: field["position"])
        for n, field in enumerate(fields, 1):
            field["position"] = n
        return fields

    def field(self, value: Any, path: str, *, depth: int) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            self.bad(path, "A field is a JSON object.")
            return {"name": f"\0{path}", "position": None}
        self.known_keys(value, _FIELD, _ADDED_TO_FIELD, path)
        usual = usual_field(value)
        if usual is not None:
            return usual
        name = self.text(value.get("name"), f"{path}.name", limit=MAX_NAME)
        if name is None:
            self.bad(f"{path}.name", "A field needs a name.")
            name = f"\0{path}"
        native = self.text(value.get("native_type"), f"{path}.native_type")
        if native is None:
            self.bad(f"{path}.native_type", "A field needs a native_type.")
        out: dict[str, Any] = {
            "name": name,
            "position": self.whole(value.get("position"), f"{path}.position", least=1),
            "native_type": native,
            "type_name": self.text(value.get("type_name"), f"{path}.type_name", limit=MAX_NAME),
            "parameters": self.mapping(value.get("parameters"), f"{path}.parameters") or {},
            "nullable": self.flag(value.get("nullable"), f"{path}.nullable", default=True),
            "default": self.text(value.get("default"), f"{path}.default"),
            "primary_key": self.whole(value.get("primary_key"), f"{path}.primary_key", least=1),
            "comment": self.text(value.get("comment"), f"{path}.comment") or None,
            "generated": self.rule(value.get("generated"), f"{path}.generated"),
            "identity": self.rule(value.get("identity"), f"{path}.identity"),
            "hidden": self.flag(value.get("hidden"), f"{path}.hidden", default=False),
        }
        for key in ("type_schema", "type_kind", "on_update"):
            text = self.text(value.get(key), f"{path}.{key}", limit=MAX_NAME)
            if text is not None:
                out[key] = text
        native_position = self.whole(value.get("native_position"), f"{path}.native_position", least=-(2**15))
        if native_position is not None:
            out["native_position"] = native_position
        nested = self.fields(value.get("fields"), f"{path}.fields", depth=depth + 1)
        if nested:
            out["fields"] = nested
        return out

    def rule(self, value: Any, path: str) -> dict[str, Any] | None:
        out = self.mapping(value, path)
        if not out:
            return None
        for key in ("kind", "expression"):
            if out.get(key) is not None and not isinstance(out[key], str):
                self.bad(f"{path}.{key}", "This must be a text.")
        if not out.get("kind"):
            self.bad(f"{path}.kind", "This must say which kind it is.")
        return out

    def primary_key(self, value: Any) -> dict[str, Any] | None:
        out = self.mapping(value, "primary_key")
        if out is None:
            return None
        out["name"] = self.text(out.get("name"), "primary_key.name", limit=MAX_NAME)
        out["columns"] = self.names(out.get("columns"), "primary_key.columns")
        return out if out["columns"] else None

    def unique(self, value: dict[str, Any], path: str) -> dict[str, Any]:
        value["name"] = self.text(value.get("name"), f"{path}.name", limit=MAX_NAME)
        value["columns"] = self.texts(value.get("columns"), f"{path}.columns")
        value["kind"] = self.text(value.get("kind"), f"{path}.kind", limit=32) or "constraint"
        self.text(value.get("predicate"), f"{path}.predicate")
        self.texts(value.get("expressions"), f"{path}.expressions")
        return value

    def foreign_key(self, value: dict[str, Any], path: str) -> dict[str, Any]:
        value["name"] = self.text(value.get("name"), f"{path}.name", limit=MAX_NAME)
        value["columns"] = self.texts(value.get("columns"), f"{path}.columns")
        value["ref_schema"] = self.text(value.get("ref_schema"), f"{path}.ref_schema", limit=MAX_NAME)
        value["ref_table"] = self.text(value.get("ref_table"), f"{path}.ref_table", limit=MAX_NAME)
        value["ref_columns"] = self.texts(value.get("ref_columns"), f"{path}.ref_columns")
        for key in ("on_update", "on_delete", "match"):
            self.text(value.get(key), f"{path}.{key}", limit=100)
        self.texts(value.get("on_delete_columns"), f"{path}.on_delete_columns")
        if not value["columns"] or not value["ref_table"]:
            self.bad(path, "A foreign key needs columns and ref_table.")
        return value

    def join_keys(self, out: dict[str, Any]) -> None:
        """Key columns must exist; the key's places in the fields and the key itself say the same."""
        here = known_columns(out)
        for path, columns in column_lists(out):
            for name in columns:
                if name not in here:
                    self.bad(path, f"There is no field {name!r}.")
        places = sorted((f["primary_key"], f["name"]) for f in out["fields"] if f["primary_key"] is not None)
        if out["primary_key"] is None and places:
            out["primary_key"] = {"name": None, "columns": [name for _, name in places]}
        elif places and [name for _, name in places] != out["primary_key"]["columns"]:
            self.bad("primary_key", "The key's columns and the places in the fields do not agree.")
        number_key(out)

    def each(
        self, value: Any, path: str, check: Callable[[dict[str, Any], str], dict[str, Any]]
    ) -> list[dict[str, Any]]:
        if value is None:
            return []
        if not isinstance(value, list | tuple) or len(value) > MAX_KEYS:
            self.bad(path, f"This must be a list of at most {MAX_KEYS} objects.")
            return []
        out = []
        for n, item in enumerate(value):
            entry = self.mapping(item, f"{path}[{n}]")
            if entry is None:
                self.bad(f"{path}[{n}]", "This must be a JSON object.")
            else:
                out.append(check(entry, f"{path}[{n}]"))
        return out

    def names(self, value: Any, path: str) -> list[str]:
        names = self.texts(value, path)
        if len(set(names)) != len(names):
            self.bad(path, "A column is there twice.")
        return names

    def texts(self, value: Any, path: str) -> list[str]:
        if value is None:
            return []
        if not isinstance(value, list | tuple) or len(value) > MAX_FIELDS:
            self.bad(path, "This must be a list of texts.")
            return []
        return [self.text(each, f"{path}[{n}]", required=True) or "" for n, each in enumerate(value)]

    def text(self, value: Any, path: str, *, limit: int = MAX_TEXT, required: bool = False) -> str | None:
        if value is None and not required:
            return None
        if not isinstance(value, str):
            self.bad(path, "This must be a text.")
            return "" if required else None
        problem = text_problem(value, limit=limit)
        if problem:
            self.bad(path, problem)
        return value

    def flag(self, value: Any, path: str, *, default: bool) -> bool:
        if value is None:
            return default
        if not isinstance(value, bool):
            self.bad(path, "This must be true or false.")
        return bool(value)

    def whole(self, value: Any, path: str, *, least: int) -> int | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**31:
            self.bad(path, f"This must be a whole number from {least}.")
            return None
        return value

    def mapping(self, value: Any, path: str) -> dict[str, Any] | None:
        if value is None:
            return None
        if not isinstance(value, Mapping):
            self.bad(path, "This must be a JSON object.")
            return None
        try:
            return usual_json(value, 0)
        except UnusualError:
            return self.json(value, path, depth=0)

    def json(self, value: Any, path: str, *, depth: int) -> Any:
        """A copy of any JSON value, as long as it is within bounds."""
        if depth > MAX_DEPTH:
            self.bad(path, f"Values may be nested {MAX_DEPTH} levels deep.")
            return None
        if isinstance(value, Mapping):
            out = {}
            for key, inner in value.items():
                name = self.text(key, path, limit=MAX_NAME, required=True) or ""
                out[name] = self.json(inner, _at(path, name[:100]), depth=depth + 1)
            return out
        if isinstance(value, list | tuple):
            return [self.json(v, f"{path}[{n}]", depth=depth + 1) for n, v in enumerate(value)]
        if isinstance(value, str):
            return self.text(value, path)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float) and -MAX_NUMBER <= value <= MAX_NUMBER:
            return value
        self.bad(path, "This is not a JSON value, or a number out of bounds.")
        return None


def known_columns(document: Mapping[str, Any]) -> set[str]:
    """What a key may name: top-level fields by name, nested ones by path."""
    here = {field["name"] for field in document["fields"]}
    stack: list[tuple[tuple[str, ...], dict[str, Any]]] = [
        ((field["name"],), field) for field in document["fields"] if field.get("fields")
    ]
    while stack:
        names, field = stack.pop()
        here.add(names[0] if len(names) == 1 else field_path(names))
        stack.extend(((*names, nested["name"]), nested) for nested in field.get("fields") or ())
    return here


def column_lists(document: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Every list of this dataset's columns that a key holds, with its path."""
    lists = []
    if document.get("primary_key"):
        lists.append(("primary_key.columns", document["primary_key"]["columns"]))
    for part in ("unique", "foreign_keys"):
        lists += [(f"{part}[{n}].columns", key["columns"]) for n, key in enumerate(document[part])]
    return lists


def number_key(document: dict[str, Any]) -> None:
    """Each top-level field's place in the primary key, as the key says it."""
    key = document.get("primary_key")
    places = {name: n for n, name in enumerate(key["columns"], 1)} if key else {}
    for field in document["fields"]:
        field["primary_key"] = places.get(field["name"])


def _at(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
