"""Types made of named or numbered parts (structs, unions): how their parts are told and shown to templates. Pure.

A struct's parameter `fields` holds the names in order and each child has its field's name as slot; a union's children
have the slots 0, 1, 2 … In what people write down both may be spelled: `fields: [{name, type}]`, `members: [type]`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from registry.typesystem.model import TypeExpr

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def take_spelled(params: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """The spelled types of the parts by slot, and the parameters with nothing but names in `fields`."""
    rest, spelled = dict(params), {}
    if isinstance(fields := rest.get("fields"), list | tuple):
        rest["fields"] = [_name(field) for field in fields]
        for field in fields:
            if isinstance(field, Mapping) and isinstance(field.get("type"), str):
                spelled[_name(field)] = field["type"]
    listed = rest.pop("members", None)
    if isinstance(listed, list | tuple):
        spelled |= {str(n): each for n, each in enumerate(listed) if isinstance(each, str)}
    return spelled, rest


def members(params: Mapping[str, Any], children: Mapping[str, TypeExpr]) -> list[dict[str, str]]:
    """The parts in their order, as templates take them: `name`, `quoted` (for SQL), `json`, `type`."""
    spelled, rest = take_spelled(params)
    names = rest.get("fields") or sorted({*spelled, *children}, key=_place)
    shown = []
    for name in names:
        child = children.get(name)
        written = child.rendered if child is not None else spelled.get(name, "…")
        shown.append(
            {
                "name": name,
                "quoted": backticked(name),
                "json": json.dumps(name, ensure_ascii=False),
                "type": written,
            }
        )
    return shown


def backticked(name: str) -> str:
    """A name as Hive and Spark write it."""
    return name if _PLAIN.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def in_order(expr: TypeExpr) -> list[tuple[str, TypeExpr]]:
    """The parts of a struct or union with their names or numbers."""
    names = expr.params.get("fields") or sorted(expr.children, key=_place)
    return [(name, expr.children[name]) for name in names if name in expr.children]


def _name(field: Any) -> str:
    return str(field.get("name", "")) if isinstance(field, Mapping) else str(field)


def _place(slot: str) -> tuple[int, str]:
    return (int(slot), "") if slot.isdecimal() and len(slot) < 9 else (10**9, slot)
