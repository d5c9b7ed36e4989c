"""Reads PostgreSQL's spellings (DDL and `format_type`) and knows which parameters mean the same. Pure.

User types come with the document's field: `type_kind`, `type_schema`, `type_name` and `parameters`. Their name is
written as `format_type` does with `public` alone on the search path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from registry.typesystem.lexing import Shape, Token, shape, tokens, whole
from registry.typesystem.model import NOTHING, Catalogue, TypeExpr, fold
from registry.typesystem.reading import Found, Reading, as_text, positional, text_list, without

_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_$]*")
_SERIALS = {"smallserial": "smallint", "serial": "integer", "bigserial": "bigint"}
_TIMES = ("time", "timetz", "timestamp", "timestamptz", "interval")
_USER_KINDS = ("enum", "domain", "composite", "range", "multirange")
_RESERVED = frozenset(
    "all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create "  # noqa: SIM905
    "current_catalog current_date current_role current_time current_timestamp current_user default deferrable desc "
    "distinct do else end except false fetch for foreign from grant group having in initially intersect into lateral "
    "leading limit localtime localtimestamp not null offset on only or order placing primary references returning "
    "select session_user some symmetric table then to trailing true union unique user using variadic when where "
    "window with".split()
)


def read(reading: Reading) -> Found | None:
    pieces = tokens(reading.text)
    if not pieces:
        return None
    pieces, collation = _cut_collation(pieces)
    collation = collation or _collation(as_text(reading.parameters.get("collation")))
    found = _read(reading, pieces)
    typedef = reading.catalogue.get(found.code) if found else None
    if found and typedef and collation and "collation" in typedef.takes:
        return Found(found.code, {**found.params, "collation": collation}, found.children)
    return found


def normal(catalogue: Catalogue, code: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    if code in _SERIALS:
        return _SERIALS[code], {}
    if code == "numeric" and "precision" in params:
        params.setdefault("scale", 0)
    elif code in ("char", "bit"):
        params.setdefault("length", 1)
    elif code in _TIMES:
        params = without(params, precision=6)
    elif code == "array":
        params.pop("dimensions", None)
    elif code == "domain":
        params = without({**params, "check": sorted(params.get("check") or ())}, check=[], not_null=False)
    if isinstance(params.get("type_name"), str):
        params["type_name"] = _short(catalogue, params["type_name"])
    return code, params


def _read(reading: Reading, pieces: tuple[Token, ...]) -> Found | None:
    kind = as_text(reading.told.get("type_kind")) or _kind_of(reading.parameters)
    if pieces[-1].raw == "]" or (len(pieces) > 1 and pieces[-1].raw.lower() == "array"):
        return _array(reading)
    if kind in _USER_KINDS and reading.told.get("type_schema") != "pg_catalog":
        return _user_type(reading, kind, pieces)
    cut = shape(pieces)
    if cut is None:
        return None
    name = _builtin_name(reading.catalogue, cut)
    if name is None:
        return None
    if name.startswith("_") and cut.arguments is None and (element := reading.catalogue.find(name[1:])):
        return Found("array", NOTHING, {"element": reading.again(element.name, None)})
    return _base(reading.catalogue, name, cut)


def _array(reading: Reading) -> Found | None:
    element = reading.parameters.get("element")
    if isinstance(element, Mapping) and isinstance(element.get("native_type"), str):
        child = reading.again(element["native_type"], element)
    else:
        inner = _without_dimensions(reading.text)
        if inner == reading.text.rstrip():
            return None
        child = reading.again(inner, None)
    return None if child.code is None else Found("array", NOTHING, {"element": child})


def _without_dimensions(text: str) -> str:
    """What stands before `[3][]`, `array` or `array[4]` at the end."""
    text = text.rstrip()
    while text.endswith("]"):
        start = text.rfind("[")
        size = text[start + 1 : -1].strip()
        if start < 0 or not (size == "" or size.isdecimal()):
            break
        text = text[:start].rstrip()
    words = text[-7:].split()
    is_spelled_out = len(words) > 0 and words[-1].lower() == "array" and text[-6:-5].isspace()
    return text[:-5].rstrip() if is_spelled_out else text


def _user_type(reading: Reading, kind: str, pieces: tuple[Token, ...]) -> Found | None:
    name = as_text(reading.told.get("type_name"))
    schema = as_text(reading.told.get("type_schema"))
    parts = [schema, name] if schema and name else _parts(pieces)
    if not parts:
        return None
    params: dict[str, Any] = {"type_name": quoted(parts)}
    told = reading.parameters
    if kind == "enum" and (labels := text_list(told.get("values"))) is not None:
        params["labels"] = labels
    if kind == "composite" and isinstance(told.get("attributes"), list):
        params["attributes"] = [
            {"name": each["name"], "type": reading.again(each["native_type"], each).rendered}
            for each in told["attributes"]
            if isinstance(each, Mapping) and as_text(each.get("name")) and as_text(each.get("native_type"))
        ]
    if kind == "domain":
        return Found("domain", {**params, **_domain_params(told)}, _domain_base(reading))
    if kind in ("range", "multirange") and as_text(told.get("subtype")):
        return Found(kind, params, {"subtype": reading.again(told["subtype"], None)})
    return Found(kind, params)


def _domain_params(told: Mapping[str, Any]) -> dict[str, Any]:
    params: dict[str, Any] = {}
    checks = told.get("checks")
    if isinstance(checks, list):
        params["check"] = [as_text(c.get("definition")) if isinstance(c, Mapping) else str(c) for c in checks]
    if told.get("not_null"):
        params["not_null"] = True
    if isinstance(told.get("default"), str):
        params["default"] = told["default"]
    return params


def _domain_base(reading: Reading) -> Mapping[str, TypeExpr]:
    base = as_text(reading.parameters.get("base_type"))
    if not base:
        return NOTHING
    inner = reading.parameters.get("base_parameters")
    return {"base": reading.again(base, {"parameters": inner} if isinstance(inner, Mapping) else None)}


def _kind_of(parameters: Mapping[str, Any]) -> str:
    """The kind of a type of which only the parameters are told (the base of a domain)."""
    for name, kind in (("base_type", "domain"), ("attributes", "composite"), ("values", "enum")):
        if parameters.get(name) is not None:
            return kind
    return ""


def _builtin_name(catalogue: Catalogue, cut: Shape) -> str | None:
    """The folded name to look up; None when it can only be a user's own type."""
    named = cut.name
    if not any(token.kind == "quoted" or token.raw == "." for token in named):
        return cut.words
    parts = _parts(named)
    if parts is None or cut.tail:
        return None
    # The word alone is a name for character(1); the name in pg_catalog is the one-byte type of the catalogues.
    spelled = '"char"' if parts[-1] == "char" else parts[-1]
    if len(parts) == 1 or (len(parts) == 2 and parts[0] == "pg_catalog"):
        return spelled if spelled == spelled.lower() else None
    typedef = catalogue.find(spelled)
    return spelled if len(parts) == 2 and typedef is not None and typedef.kind == "extension" else None


def _base(catalogue: Catalogue, name: str, cut: Shape) -> Found | None:
    numbers = cut.numbers
    if name == "float" and numbers and len(numbers) == 1:
        if not 1 <= numbers[0] <= 53:
            return None
        return Found("real" if numbers[0] <= 24 else "double_precision")
    if name == "bpchar" and cut.arguments:
        name = "character"
    fields = ""
    if name.startswith("interval "):
        name, fields = "interval", name.removeprefix("interval ")
    typedef = catalogue.find(name)
    if typedef is None:
        return None
    params: dict[str, Any] = {"fields": fields} if fields else {}
    takes = positional(typedef)
    arguments = cut.arguments or ()
    if len(arguments) > len(takes) or any(len(argument) != 1 for argument in arguments):
        return None
    for parameter, (token,) in zip(takes, arguments, strict=False):
        if token.kind != "number" or "." in token.text:
            params[parameter] = token.text
        elif (number := whole(token.text)) is not None:
            # The server takes seven digits of a second and more with a warning, and keeps six.
            params[parameter] = min(number, 6) if typedef.code in _TIMES else number
        else:
            return None
    return Found(typedef.code, params)


def _parts(pieces: tuple[Token, ...]) -> list[str] | None:
    """The unquoted parts of a dotted name; None when it is not one."""
    parts: list[str] = []
    for n, token in enumerate(pieces):
        if n % 2 and token.raw != ".":
            return None
        if n % 2 == 0:
            if token.kind not in ("word", "quoted"):
                return None
            parts.append(token.text if token.kind == "quoted" else token.text.lower())
    return parts if len(pieces) % 2 else None


def quoted(parts: list[str]) -> str:
    """A dotted name with the quotes that PostgreSQL needs."""
    return ".".join(
        part if _PLAIN_NAME.fullmatch(part) and part not in _RESERVED else '"' + part.replace('"', '""') + '"'
        for part in parts
    )


def _short(catalogue: Catalogue, name: str) -> str:
    """The name without `public.`, unless a built-in type would be meant then."""
    pieces = tokens(name)
    parts = _parts(pieces) if pieces else None
    if not parts:
        return name
    if len(parts) == 2 and parts[0] == "public" and catalogue.find(fold(parts[1])) is None:
        parts = parts[1:]
    return quoted(parts)


def _cut_collation(pieces: tuple[Token, ...]) -> tuple[tuple[Token, ...], str]:
    for n, token in enumerate(pieces):
        if n and token.kind == "word" and token.text.lower() == "collate":
            return pieces[:n], _collation("".join(each.raw for each in pieces[n + 1 :]))
    return pieces, ""


def _collation(name: str) -> str:
    """A collation's name in one spelling; empty for the default one."""
    pieces = tokens(name)
    parts = _parts(pieces) if pieces else None
    if parts and parts[0] == "pg_catalog":
        parts = parts[1:]
    return quoted(parts) if parts and parts != ["default"] else ""
