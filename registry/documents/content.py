"""What of a schema document is content: the canonical form that versions, fingerprints and differences rest on.

Each part is a function of that part alone, so that parts can be exchanged one by one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from registry.documents.expressions import normal_default, normal_expression
from registry.typesystem import Catalogue, TypeExpr, mark_of, parse, remember

_NO_ACTION = "NO ACTION"
_RESTRICT_IS_NO_ACTION = frozenset({"mysql", "mariadb"})
_INVENTS_VIEW_DEFAULTS = frozenset({"mysql", "mariadb"})
_IDENTITY_DEFAULTS = {"start": 1, "increment": 1, "cycle": False, "cache": 1, "min": 1}
_IDENTITY_KEYS = ("kind", "start", "increment", "min", "max", "cycle", "cache")
_INTEGER_BOUNDS = frozenset(sign * (2**bits - 1) - (sign < 0) for bits in (15, 31, 63) for sign in (1, -1))
_HEAD = re.compile(r"[^(<]*")
_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


def dumps(value: Any) -> str:
    """JSON with one spelling for equal values."""
    return _encode(value)


def digest(value: Any) -> str:
    return hashlib.sha256(dumps(value).encode("utf-8", "surrogatepass")).hexdigest()


def canonical(
    document: Mapping[str, Any], *, catalogue: Catalogue | None, positional: bool = False
) -> dict[str, Any]:
    """Only what counts as content. Equal canonical forms are the same version of a dataset."""
    flavor = catalogue.flavor if catalogue is not None else None
    kind = document.get("kind") or "table"
    out: dict[str, Any] = {
        "kind": kind,
        "comment": document.get("comment") or None,
        "fields": fields_content(
            document.get("fields") or (),
            catalogue=catalogue,
            with_defaults=has_own_defaults(kind, flavor=flavor),
        ),
        "primary_key": key_columns(document),
        "unique": sorted((unique_content(u) for u in document.get("unique") or ()), key=dumps),
        "foreign_keys": sorted(
            (foreign_key_content(f, flavor=flavor) for f in document.get("foreign_keys") or ()), key=dumps
        ),
    }
    if positional:
        out["order"] = [field["name"] for field in document.get("fields") or ()]
    return out


def fingerprint(document: Mapping[str, Any], *, catalogue: Catalogue | None, positional: bool = False) -> str:
    """sha256 of the canonical form, in hexadecimal digits."""
    return digest(canonical(document, catalogue=catalogue, positional=positional))


def has_own_defaults(kind: str, *, flavor: str | None) -> bool:
    """MariaDB invents the defaults of view columns; they say nothing."""
    return not (kind == "view" and flavor in _INVENTS_VIEW_DEFAULTS)


def key_columns(document: Mapping[str, Any]) -> list[str] | None:
    key = document.get("primary_key")
    return list(key["columns"]) if key and key.get("columns") else None


def fields_content(
    fields: Sequence[Mapping[str, Any]], *, catalogue: Catalogue | None, with_defaults: bool = True
) -> dict[str, Any]:
    return {
        field["name"]: field_content(field, catalogue=catalogue, with_defaults=with_defaults)
        for field in fields
    }


def field_content(
    field: Mapping[str, Any], *, catalogue: Catalogue | None, with_defaults: bool = True
) -> dict[str, Any]:
    """One field with its nested ones; its place, and its place in the key, are not part of it."""
    out = {
        "type": type_content(field, catalogue=catalogue),
        "nullable": bool(field.get("nullable", True)),
        "default": default_content(field) if with_defaults else None,
        "comment": field.get("comment") or None,
        "generated": generated_content(field.get("generated")),
        "identity": identity_content(field.get("identity")),
        "on_update": normal_default(field.get("on_update")),
    }
    if field.get("fields") is not None:
        out["fields"] = fields_content(field["fields"], catalogue=catalogue, with_defaults=with_defaults)
    return out


def default_content(field: Mapping[str, Any]) -> str | None:
    """The default. That of a serial column is the next of its own sequence, whatever the sequence is called."""
    default = normal_default(field.get("default"))
    own = (field.get("identity") or {}).get("kind") == "serial"
    return "nextval()" if own and default and default.startswith("nextval(") else default


def generated_content(generated: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if not generated:
        return None
    return {
        "kind": generated.get("kind"),
        "expression": normal_expression(generated.get("expression") or ""),
    }


def identity_content(identity: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The rule that hands out numbers. Bounds that only repeat the type's, and a counter's state, do not count."""
    if not identity:
        return None
    out = {}
    for key in _IDENTITY_KEYS:
        value = identity.get(key)
        if value is None or (key in _IDENTITY_DEFAULTS and value == _IDENTITY_DEFAULTS[key]):
            continue
        if key in ("min", "max") and value in _INTEGER_BOUNDS:
            continue
        out[key] = value
    return out


def unique_content(unique: Mapping[str, Any]) -> dict[str, Any]:
    """What is unique under which condition. Without prefixes, the columns of a key are a set."""
    prefixes = unique.get("prefix_lengths") or None
    columns = list(unique.get("columns") or ())
    predicate = unique.get("predicate")
    return {
        "columns": columns if prefixes else sorted(columns),
        "predicate": normal_expression(predicate) if predicate else None,
        "expressions": sorted(normal_expression(str(e)) for e in unique.get("expressions") or ()),
        "partial": bool(unique.get("partial") or predicate),
        "nulls_not_distinct": bool(unique.get("nulls_not_distinct")),
        "prefix_lengths": prefixes,
    }


def foreign_key_content(key: Mapping[str, Any], *, flavor: str | None) -> dict[str, Any]:
    return {
        "columns": list(key.get("columns") or ()),
        "ref_schema": key.get("ref_schema"),
        "ref_table": key.get("ref_table"),
        "ref_columns": list(key.get("ref_columns") or ()),
        "on_update": _action(key.get("on_update"), flavor=flavor),
        "on_delete": _action(key.get("on_delete"), flavor=flavor),
        "on_delete_columns": sorted(key.get("on_delete_columns") or ()),
        "match": str(key.get("match") or "SIMPLE").upper().replace("NONE", "SIMPLE"),
        "deferrable": bool(key.get("deferrable")),
        "initially_deferred": bool(key.get("initially_deferred")),
        "validated": key.get("validated", True) is not False,
    }


def _action(action: str | None, *, flavor: str | None) -> str:
    action = (action or _NO_ACTION).upper()
    return _NO_ACTION if action == "RESTRICT" and flavor in _RESTRICT_IS_NO_ACTION else action


def type_content(field: Mapping[str, Any], *, catalogue: Catalogue | None) -> dict[str, Any]:
    """A type as {base, …}: `base` says which type it is, the other keys how it is parametrised.

    A field with nested fields is told by its base alone: its nested fields carry the rest.
    """
    nested = field.get("fields") is not None
    if catalogue is None or nested:
        return _type_content(field, catalogue=catalogue, nested=nested)
    key = ("content", *mark_of(field))
    known = catalogue.memory.get(key)
    if known is None:
        known = remember(catalogue, key, _type_content(field, catalogue=catalogue, nested=False))
    return dict(known)


def _type_content(field: Mapping[str, Any], *, catalogue: Catalogue | None, nested: bool) -> dict[str, Any]:
    expr = expression_of(field, catalogue=catalogue)
    out: dict[str, Any] = {"base": base_of(expr, field), "nested": nested}
    if nested:
        return out
    out["params"] = _params(expr, field)
    if expr is not None and expr.code is not None:
        out["children"] = _children_params(expr)
    told = catalogue.get(expr.code) if catalogue is not None and expr is not None else None
    out["extra"] = extra_parameters(
        field.get("parameters") or {}, told=told.takes if told is not None else ()
    )
    return out


def expression_of(field: Mapping[str, Any], *, catalogue: Catalogue | None) -> TypeExpr | None:
    return parse(catalogue, field.get("native_type") or "", field=field) if catalogue is not None else None


def base_of(expr: TypeExpr | None, field: Mapping[str, Any]) -> Any:
    """Which type it is, without parameters; a type of unknown code by the head of its native spelling."""
    if expr is None or expr.code is None:
        native = normal_expression(field.get("native_type") or (expr.native if expr else ""))
        head = _HEAD.match(native)
        return {"native": head.group() if head else native}
    base: dict[str, Any] = {"code": expr.code}
    if "type_name" in expr.params:
        base["type_name"] = expr.params["type_name"]
    if expr.children:
        base["children"] = {
            slot: base_of(child, {"native_type": child.native}) for slot, child in expr.children.items()
        }
    return base


def _params(expr: TypeExpr | None, field: Mapping[str, Any]) -> Any:
    if expr is None or expr.code is None:
        return normal_expression(field.get("native_type") or "")
    return {k: plain(v) for k, v in expr.params.items() if k not in ("display_width", "type_name")}


def _children_params(expr: TypeExpr) -> dict[str, Any]:
    return {
        slot: {"params": _params(child, {"native_type": child.native}), "children": _children_params(child)}
        for slot, child in expr.children.items()
    }


def plain(value: Any) -> Any:
    """Frozen values as JSON's own."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value]
    return value


def extra_parameters(parameters: Mapping[str, Any], *, told: Sequence[str] = ()) -> dict[str, Any]:
    """What the document says of a type beyond the parameters that the type itself takes (`told`)."""
    out: dict[str, Any] = {}
    for key in ("values", "charset", "collation", "json_alias"):
        known = key in told or (key == "values" and "labels" in told)
        if parameters.get(key) not in (None, False) and not known:
            out[key] = plain(parameters[key])
    if parameters.get("base_type") is not None:
        out["base_type"] = normal_expression(str(parameters["base_type"]))
        out["not_null"] = bool(parameters.get("not_null"))
        out["default"] = normal_default(parameters.get("default"))
        out["checks"] = sorted(normal_expression(_definition(c)) for c in parameters.get("checks") or ())
    if parameters.get("attributes"):
        out["attributes"] = [
            [a.get("name"), normal_expression(a.get("native_type") or "")] for a in parameters["attributes"]
        ]
    if isinstance(parameters.get("element"), Mapping):
        inner = extra_parameters(parameters["element"].get("parameters") or {})
        if inner:
            out["element"] = inner
    return out


def _definition(check: Any) -> str:
    return str(check.get("definition") or "") if isinstance(check, Mapping) else str(check)
