"""Reads the types of Parquet files: logical and physical names, converted types of old, and Arrow's names. Pure."""

from __future__ import annotations

import re
from typing import Any

from registry.typesystem import nested
from registry.typesystem.model import NOTHING, Catalogue
from registry.typesystem.reading import Found, Reading

_NAMES = {
    "list": "list",
    "large_list": "list",
    "array": "list",
    "map": "map",
    "struct": "struct",
    "group": "struct",
}
_UNITS = {"s": "millis", "ms": "millis", "millis": "millis", "us": "micros", "micros": "micros", "ns": "nanos",
          "nanos": "nanos", "milliseconds": "millis", "microseconds": "micros", "nanoseconds": "nanos"}  # fmt: skip
_CONVERTED: dict[str, tuple[str, dict[str, Any]]] = {
    "time_millis": ("time", {"unit": "millis", "utc": True}),
    "time_micros": ("time", {"unit": "micros", "utc": True}),
    "timestamp_millis": ("timestamp", {"unit": "millis", "utc": True}),
    "timestamp_micros": ("timestamp", {"unit": "micros", "utc": True}),
}
_PHYSICAL = r"(?:boolean|int32|int64|int96|float|double|binary|byte_array|fixed_len_byte_array(?:\(\d+\))?)"
_ANNOTATED = re.compile(
    rf"(?:(?:optional|required)\s+)?{_PHYSICAL}\s+(?:\w+\s+)?\((?P<logical>.+)\)", re.IGNORECASE
)
_SIZED = re.compile(r"(?P<un>u?)int_?(?P<bits>8|16|32|64)")
_INT = re.compile(r"int(?:eger)?\s*\(\s*(?P<bits>[0-9]{1,18})\s*,\s*(?P<signed>\w+)\s*\)")
_TEMPORAL = re.compile(
    r"(?P<name>time|timestamp|time32|time64)\s*[\[(]\s*(?P<unit>\w+)\s*(?:,\s*(?P<zone>[^)\]]+?)\s*)?[\])]"
)
# As the format's own classes write themselves: `Timestamp(isAdjustedToUTC=true, timeUnit=microseconds)`.
_SPELLED_OUT = re.compile(
    r"(?P<name>time|timestamp)\s*\(\s*isadjustedtoutc\s*=\s*(?P<zone>true|false)\s*,"
    r"\s*(?:time)?unit\s*=\s*(?P<unit>\w+)\s*(?:,[^()]*)?\)"
)
_KEYS = re.compile(r"\b(?:bitwidth|issigned|precision|scale)\s*=\s*", re.IGNORECASE)
_PLACED = re.compile(r"(geometry|geography)\s*(?:\(\s*([^(),]*?)\s*(?:,\s*(\w+)\s*)?\))?", re.IGNORECASE)


def read(reading: Reading) -> Found | None:
    text = nested.without_remarks(reading.text)
    annotated = _ANNOTATED.fullmatch(text)
    if annotated:
        text = annotated["logical"].strip()
    text = _KEYS.sub("", text)
    folded = text.lower()
    if folded in _CONVERTED:
        code, params = _CONVERTED[folded]
        return Found(code, dict(params))
    if folded.startswith("date32") or folded == "date64[ms]":
        return Found("date")
    for pattern, make in (
        (_INT, _integer),
        (_SIZED, _integer),
        (_TEMPORAL, _temporal),
        (_SPELLED_OUT, _temporal),
    ):
        match = pattern.fullmatch(folded)
        if match:
            return make(match)
    placed = _PLACED.fullmatch(text)
    if placed:
        told = {"crs": placed[2] or None, "algorithm": (placed[3] or "").lower() or None}
        return Found(placed[1].lower(), {name: value for name, value in told.items() if value})
    if folded.startswith("dictionary<"):
        parts = nested.split(text[11:].removesuffix(">"))
        value = re.sub(r"^values\s*=\s*", "", parts[0].strip()) if parts else ""
        found = reading.again(value, None)
        return Found(found.code, found.params, found.children) if found.code else None
    return nested.read(
        Reading(reading.catalogue, text, reading.told, reading.again), element="element", names=_NAMES
    )


def normal(catalogue: Catalogue, code: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    if code == "int" and params.get("signed") and params.get("bit_width") in (32, 64):
        return f"int{params['bit_width']}", {}
    if code == "decimal":
        params.setdefault("scale", 0)
    return code, params


def _integer(match: re.Match[str]) -> Found | None:
    groups = match.groupdict()
    signed = groups["signed"] == "true" if "signed" in groups else not groups["un"]
    if groups.get("signed") not in (None, "true", "false"):
        return None
    return Found("int", {"bit_width": int(groups["bits"]), "signed": signed})


def _temporal(match: re.Match[str]) -> Found | None:
    unit = _UNITS.get(match["unit"])
    if unit is None:
        return None
    zone = match["zone"] or ""
    utc = zone.split("=")[-1].strip() != "false" if zone else False
    return Found(match["name"].rstrip("0123456789"), {"unit": unit, "utc": utc}, NOTHING)
