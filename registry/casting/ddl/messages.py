"""Avro schemas and JSON Schemas of a plan. Pure; used by `registry.casting.ddl` only."""

from __future__ import annotations

import json
from typing import Any

from registry.casting.documents import FieldPlan, TablePlan
from registry.casting.fitting import identity, type_name
from registry.typesystem import TypeExpr


def avro(plan: TablePlan) -> str:
    """A record schema. A nullable field is a union with null; names that Avro cannot have are told in `doc`."""
    schema: dict[str, Any] = {"type": "record", "name": type_name(plan.name)}
    if plan.schema:
        schema["namespace"] = identity(plan.schema)
    doc = _doc(plan.comment, plan.name if type_name(plan.name) != plan.name else "")
    if doc:
        schema["doc"] = doc
    taken: set[str] = set()
    schema["fields"] = [_avro_field(field, taken) for field in plan.known]
    return _text(schema)


def _avro_field(field: FieldPlan, taken: set[str]) -> dict[str, Any]:
    assert field.target is not None
    found = _avro_type(field.target)
    name = identity(field.name)
    while name in taken:
        name += "_"
    taken.add(name)
    made: dict[str, Any] = {"name": name}
    if field.nullable:
        members = found if isinstance(found, list) else [found]
        made |= {"type": members if "null" in members else ["null", *members], "default": None}
        if made["type"][0] != "null":
            made.pop("default")
    else:
        made["type"] = found
    doc = _doc(field.comment, field.name if made["name"] != field.name else "")
    return made | ({"doc": doc} if doc else {})


def _avro_type(expr: TypeExpr) -> Any:
    """The type as JSON, built from its parts, so that its length does not matter."""
    if expr.code == "array":
        return {"type": "array", "items": _avro_type(expr.children["items"])}
    if expr.code == "map":
        return {"type": "map", "values": _avro_type(expr.children["values"])}
    if expr.code == "union":
        return [_avro_type(expr.children[str(n)]) for n in range(len(expr.children))]
    if expr.code == "record":
        names = {key: expr.params[key] for key in ("name", "namespace") if key in expr.params}
        fields = [{"name": name, "type": _avro_type(expr.children[name])} for name in expr.params["fields"]]
        return {"type": "record", **names, "fields": fields}
    return _loaded(expr.rendered)


def json_schema(plan: TablePlan) -> str:
    """A schema of objects. A nullable property may be null, and all others are required."""
    schema: dict[str, Any] = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": plan.name,
        "type": "object",
    }
    if plan.comment:
        schema["description"] = plan.comment
    properties = {}
    for field in plan.known:
        assert field.target is not None
        found = _json_type(field.target)
        found = {"oneOf": [{"type": "null"}, found]} if field.nullable and found else found
        properties[field.name] = {"description": field.comment, **found} if field.comment else found
    schema["properties"] = properties
    required = [field.name for field in plan.known if not field.nullable]
    return _text(schema | ({"required": required} if required else {}))


def _json_type(expr: TypeExpr) -> dict[str, Any]:
    if expr.code == "array":
        return {"type": "array", "items": _json_type(expr.children["items"])}
    if expr.code == "map":
        return {"type": "object", "additionalProperties": _json_type(expr.children["values"])}
    if expr.code == "one_of":
        return {"oneOf": [_json_type(expr.children[str(n)]) for n in range(len(expr.children))]}
    if expr.code == "object":
        properties = {name: _json_type(expr.children[name]) for name in expr.params["fields"]}
        required = {"required": expr.params["required"]} if expr.params.get("required") else {}
        return {"type": "object", "properties": properties, **required}
    found = _loaded(expr.rendered)
    return found if isinstance(found, dict) else {"type": found}


def _loaded(rendered: str) -> Any:
    return json.loads(rendered) if rendered[:1] in ("{", "[") else rendered


def _doc(comment: str, original: str) -> str:
    return f"{original}: {comment}" if comment and original else comment or original


def _text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
