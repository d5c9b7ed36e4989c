"""Parameters that hold a set of values: digits, lengths, written forms. Pure; used by `registry.casting` only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from registry.values import Exact, Float, Labels, Named, Text, Values, Whole
from registry.values.numbers import digits_of
from registry.values.texts import written_form

Made = tuple[str, dict[str, Any]]

_LEAST_SCALE = 6
_NAMES = {"postgresql": "PostgreSQL", "mysql": "MySQL", "mariadb": "MariaDB", "sqlite": "SQLite", "oracle": "Oracle",
          "sqlserver": "SQL Server", "hive": "Hive", "iceberg": "Iceberg", "kafka_avro": "Avro",
          "kafka_json": "JSON Schema", "kafka_protobuf": "Protobuf", "parquet": "Parquet", "csv": "CSV"}  # fmt: skip
_UNWRITTEN = ("text_search", "money")


def exact(
    values: Values, most_digits: int, most_scale: int, unlimited: tuple[int, int] | None
) -> dict[str, Any]:
    """Precision and scale for numbers; `unlimited` stands in for numbers without limits (None: no parameters).

    When there are too many digits, those before the point win, and of the others six at least are kept.
    """
    whole: int | None
    scale: int | None
    own: int | None
    if isinstance(values, Whole):
        whole, scale, own = digits_of(values), 0, None
    elif isinstance(values, Exact):
        whole, scale, own = values.whole, values.scale, values.digits
    else:
        raise TypeError("only numbers have digits")
    if whole is None or scale is None or own is not None:
        known = None if unlimited is None else {"precision": unlimited[0], "scale": unlimited[1]}
        if known and scale is not None and own is None:
            known["scale"] = min(scale, most_scale)
        return known or {}
    whole, scale = max(whole, 0), max(min(scale, most_scale), 0)
    if whole + scale > most_digits:
        scale = min(scale, max(most_digits - whole, min(scale, _LEAST_SCALE)))
    return {"precision": max(min(whole + scale, most_digits), 1), "scale": scale}


def floating(values: Float, single: str, double: str) -> Iterator[Made]:
    yield (single if values.bits <= 24 else double), {}


def digits(fraction: int | None, most: int, *, name: str = "precision") -> dict[str, Any]:
    """The fraction of a second, no longer than the engine has it."""
    return {name: most if fraction is None else max(min(fraction, most), 0)}


def text_form(values: Values, *, network: bool = False) -> Text | None:
    """The values as they are written down; None for those that nobody would want as text.

    Network addresses are wanted as text only where a type of the source is one, or the target has nothing but texts.
    """
    if isinstance(values, Named):
        if values.name in _UNWRITTEN:
            return None
        if values.name == "inet" and values.variant != "text" and not network:
            return None
        if values.name in ("variant", "opaque", "null"):
            return Text()
    form = written_form(values)
    if form is None:
        return None
    return Text(form[0] or None, characters="unicode" if isinstance(values, Labels) else "ascii")


def identity(name: str) -> str:
    """A name as programs take it: letters, digits and underscores, not beginning with a digit."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name) or "_"
    return kept if not kept[0].isdigit() else f"_{kept}"


def type_name(name: str) -> str:
    """`street_no` as the name of a type: `StreetNo`."""
    parts = [part for part in identity(name).split("_") if part]
    found = "".join(part[:1].upper() + part[1:] for part in parts) or "Value"
    return found if not found[0].isdigit() else f"T{found}"


def flavor_name(code: str) -> str:
    """A flavor as sentences call it."""
    return _NAMES.get(code, code)
