"""Reads what is agreed about columns of CSV and other delimited files. Pure."""

from __future__ import annotations

import re
from typing import Any

from registry.typesystem import generic
from registry.typesystem.model import Catalogue
from registry.typesystem.reading import Found, Reading

_FORMATTED = re.compile(r"(?P<name>\w+)\s*\(\s*(?P<format>.*?)\s*\)", re.DOTALL)


def read(reading: Reading) -> Found | None:
    match = _FORMATTED.fullmatch(reading.text.strip())
    typedef = reading.catalogue.find(match["name"]) if match else None
    if match and typedef is not None and "format" in typedef.takes:
        return Found(typedef.code, {"format": match["format"].strip("'\"") or match["format"]})
    return generic.read(reading)


def normal(catalogue: Catalogue, code: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    if code == "decimal" and "precision" in params:
        params.setdefault("scale", 0)
    return code, params
