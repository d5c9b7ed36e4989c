"""Parquet's schema text, and a Table Schema (JSON) for delimited files. Pure; used by `registry.casting.ddl` only."""

from __future__ import annotations

import json
from typing import Any

from registry.casting.documents import TablePlan
from registry.casting.fitting import identity
from registry.typesystem import TypeExpr

_PHYSICAL = {"boolean": "boolean", "int32": "int32", "int64": "int64", "int96": "int96", "float": "float",
             "double": "double", "byte_array": "binary"}  # fmt: skip
_INT32_DIGITS, _INT64_DIGITS = 9, 18


def parquet(plan: TablePlan) -> str:
    """A message type as Parquet's tools print and read it."""
    lines = [f"message {identity(plan.name)} {{"]
    for field in plan.known:
        assert field.target is not None
        lines += _parquet_field(field.target, field.name, "optional" if field.nullable else "required", 1)
    return "\n".join([*lines, "}", ""])


def _parquet_field(expr: TypeExpr, name: str, repetition: str, depth: int) -> list[str]:
    pad, label = "  " * depth, identity(name)
    if expr.code == "list":
        inner = _parquet_field(expr.children["element"], "element", "optional", depth + 2)
        return [f"{pad}{repetition} group {label} (LIST) {{", f"{pad}  repeated group list {{", *inner,
                f"{pad}  }}", f"{pad}}}"]  # fmt: skip
    if expr.code == "map":
        key = _parquet_field(expr.children["key"], "key", "required", depth + 2)
        value = _parquet_field(expr.children["value"], "value", "optional", depth + 2)
        return [f"{pad}{repetition} group {label} (MAP) {{", f"{pad}  repeated group key_value {{", *key, *value,
                f"{pad}  }}", f"{pad}}}"]  # fmt: skip
    if expr.code == "struct":
        fields = [
            line
            for part in expr.params["fields"]
            for line in _parquet_field(expr.children[part], part, "optional", depth + 1)
        ]
        return [f"{pad}{repetition} group {label} {{", *fields, f"{pad}}}"]
    physical, logical = _physical(expr)
    return [f"{pad}{repetition} {physical} {label}{f' ({logical})' if logical else ''};"]


def _physical(expr: TypeExpr) -> tuple[str, str]:
    """The physical type, and the logical one as an annotation."""
    code, params = expr.code or "", expr.params
    if code in _PHYSICAL:
        return _PHYSICAL[code], ""
    flags = str(bool(params.get("utc"))).lower()
    if code == "int":
        return (
            "int64" if params["bit_width"] == 64 else "int32"
        ), f"INTEGER({params['bit_width']},{_flag(params)})"
    if code == "decimal":
        return _decimal_base(params["precision"]), f"DECIMAL({params['precision']},{params['scale']})"
    if code == "time":
        return ("int32" if params["unit"] == "millis" else "int64"), f"TIME({params['unit'].upper()},{flags})"
    if code == "timestamp":
        return "int64", f"TIMESTAMP({params['unit'].upper()},{flags})"
    fixed = {"uuid": 16, "interval": 12, "float16": 2}
    if code in fixed:
        return f"fixed_len_byte_array({fixed[code]})", code.upper()
    if code == "fixed_len_byte_array":
        return f"fixed_len_byte_array({params['length']})", ""
    return ("int32" if code == "date" else "binary"), expr.rendered.upper()


def _flag(params: Any) -> str:
    return "true" if params["signed"] else "false"


def _decimal_base(precision: int) -> str:
    if precision <= _INT32_DIGITS:
        return "int32"
    if precision <= _INT64_DIGITS:
        return "int64"
    size = ((10**precision - 1).bit_length() + 8) // 8
    return f"fixed_len_byte_array({size})"


_TABLE_TYPES = {"string": "string", "integer": "integer", "decimal": "number", "float": "number",
                "boolean": "boolean", "date": "date", "time": "time", "datetime": "datetime",
                "binary": "string"}  # fmt: skip


def table_schema(plan: TablePlan) -> str:
    """A Frictionless Table Schema: what the columns of the file hold, in their order."""
    fields = []
    for field in plan.known:
        assert field.target is not None
        expr = field.target
        made: dict[str, Any] = {"name": field.name, "type": _TABLE_TYPES.get(expr.code or "", "string")}
        if expr.code == "binary":
            made["format"] = "binary"
        elif "format" in expr.params:
            made["format"] = expr.params["format"]
        if field.comment:
            made["description"] = field.comment
        rules: dict[str, Any] = {} if field.nullable else {"required": True}
        if expr.code == "string" and "length" in expr.params:
            rules["maxLength"] = expr.params["length"]
        fields.append(made | ({"constraints": rules} if rules else {}))
    schema: dict[str, Any] = {"name": plan.name, "fields": fields}
    if plan.comment:
        schema["description"] = plan.comment
    kept = {field.name for field in plan.known}
    if plan.primary_key and set(plan.primary_key) <= kept:
        schema["primaryKey"] = list(plan.primary_key)
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
