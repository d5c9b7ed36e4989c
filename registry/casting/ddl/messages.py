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
    writer = _Avro({schema["name"]: None})
    schema["fields"] = [writer.field(field) for field in plan.known]
    return _text(schema)


class _Avro:
    """What has been named so far: Avro writes a named type out once and refers to it afterwards."""

    def __init__(self, defined: dict[str, Any]) -> None:
        self.defined = defined
        self.taken: set[str] = set()

    def field(self, field: FieldPlan) -> dict[str, Any]:
        assert field.target is not None
        found = self._type(field.target)
        name = identity(field.name)
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        made: dict[str, Any] = {"name": name}
        if field.nullable:
            members = found if isinstance(found, list) else [found]
            nullable = [member for member in members if member != "null"]
            made |= {"type": ["null", *nullable], "default": None}
        else:
            made["type"] = found
        doc = _doc(field.comment, field.name if name != field.name else "")
        return made | ({"doc": doc} if doc else {})

    def _type(self, expr: TypeExpr) -> Any:
        """The type as JSON, built from its parts, so that its length does not matter."""
        if expr.code == "array":
            return {"type": "array", "items": self._type(expr.children["items"])}
        if expr.code == "map":
            return {"type": "map", "values": self._type(expr.children["values"])}
        if expr.code == "union":
            return [self._type(expr.children[str(n)]) for n in range(len(expr.children))]
        if expr.code == "record":
            return self._named(expr, {"type": "record"})
        found = _loaded(expr.rendered)
        return self._named(expr, found) if isinstance(found, dict) and "name" in found else found

    def _named(self, expr: TypeExpr, made: dict[str, Any]) -> Any:
        space = str(expr.params.get("namespace", ""))
        name = str(expr.params.get("name") or made.get("name"))
        while (full := f"{space}.{name}" if space else name) in self.defined:
            if self.defined[full] == expr:
                return full
            name += "_"
        self.defined[full] = expr
        made = {**made, "name": name, **({"namespace": space} if space else {})}
        if expr.code == "record":
            names = expr.params["fields"]
            made["fields"] = [{"name": part, "type": self._type(expr.children[part])} for part in names]
        return made


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
