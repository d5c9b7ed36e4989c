"""What each engine gives back of a value that is put into a column of a type."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

from registry.typesystem import Catalogue, TypeExpr
from tests.registry.cast_model import (
    INFINITY,
    LOB,
    LOST,
    NO_NAN,
    When,
    float_format,
    fraction_digits,
    integers,
    lob,
    years_of,
    zone_of,
)


def kept(catalogue: Catalogue, expr: TypeExpr, value: Any) -> Any:
    """What a column of this type gives back of a value that is put into it."""
    flavor, code = catalogue.flavor, expr.code or ""
    logical = getattr(catalogue.get(code), "logical_type", "")
    if isinstance(value, bool):
        return (
            value
            if logical in ("boolean", "json") or integers(flavor, expr) or code == "number"
            else written(flavor, expr, value)
        )
    if (flavor, code) in (("kafka_avro", "union"), ("kafka_json", "one_of")):
        parts = [kept(catalogue, part, value) for part in expr.children.values()]
        return next((part for part in parts if part is not LOST), LOST)
    for kind, keep in KEEPERS:
        if isinstance(value, kind) and (found := keep(catalogue, expr, logical, value)) is not None:
            return found
    return written(flavor, expr, value)


def keep_number(catalogue: Catalogue, expr: TypeExpr, logical: str, value: Any) -> Any:
    flavor, params, code = catalogue.flavor, expr.params, expr.code or ""
    number = Decimal(value)
    if span := integers(flavor, expr):
        return (
            number
            if number.is_finite() and number == number.to_integral_value() and span[0] <= number <= span[1]
            else LOST
        )
    if letter := float_format(flavor, expr):
        if not number.is_finite():
            return LOST if flavor in NO_NAN else value
        if params.get("unsigned") and number < 0:
            return LOST
        try:
            back = struct.unpack(letter, struct.pack(letter, float(value)))[0]
        except OverflowError:
            return LOST
        return Decimal(back) if isinstance(value, Decimal) else back
    if logical == "decimal" or code == "number":
        return keep_decimal(flavor, expr, number, value)
    return None


def keep_decimal(flavor: str, expr: TypeExpr, number: Decimal, value: Any) -> Any:
    params = expr.params
    if not number.is_finite():
        return value if flavor == "postgresql" and "precision" not in params else LOST
    if params.get("unsigned") and number < 0:
        return LOST
    with localcontext() as context:
        context.prec = 400
        if flavor == "sqlite":
            return Decimal(repr(float(number))) if isinstance(value, Decimal) else value
        if flavor == "oracle" and "precision" not in params:
            context.prec = 38
            return +number
        scale = {"money": 4, "smallmoney": 4}.get(expr.code or "", params.get("scale"))
        back = number if scale is None else number.quantize(Decimal(1).scaleb(-scale), rounding=ROUND_HALF_UP)
        whole = {"money": 15, "smallmoney": 6}.get(expr.code or "")
        if "precision" in params:
            whole = params["precision"] - params.get("scale", 0)
        if whole is not None and abs(back) >= Decimal(10) ** whole:
            return LOST
        return back if isinstance(value, Decimal) else float(back)


def keep_when(catalogue: Catalogue, expr: TypeExpr, logical: str, value: When) -> Any:
    flavor = catalogue.flavor
    clock, dated = value.day == 0 and value.year == 0, logical in ("date", "timestamp", "timestamp_tz")
    if (clock and logical not in ("time", "time_tz")) or (not clock and not dated):
        return None
    if flavor in ("sqlite",) or (flavor == "csv" and "format" not in expr.params):
        return value if logical != "date" or not value.seconds else LOST
    zone = zone_of(flavor, expr, logical)
    if logical != "date" and (value.zone is None) != (zone is None):
        return LOST
    if value.zone not in (None, "utc") and zone == "utc":
        return LOST
    digits = fraction_digits(flavor, expr)
    if clock:
        last = {"postgresql": 86_400, "mysql": 3_020_399, "mariadb": 3_020_399}.get(flavor, 86_399)
        first = -3_020_399 if flavor in ("mysql", "mariadb") else 0
        if not first <= value.seconds <= last:
            return LOST
    else:
        first, last, infinite = years_of(flavor, expr, logical)
        if (value.year == INFINITY and not infinite) or (
            value.year != INFINITY and not first <= value.year <= last
        ):
            return LOST
        if logical == "date" and (value.seconds or value.nanos):
            return LOST
    if expr.code == "smalldatetime" and value.seconds % 60:
        return LOST
    unit = 10 ** (9 - max(digits, 0))
    back = replace(value, nanos=value.nanos // unit * unit)
    if (flavor, expr.code) == ("sqlserver", "datetime") and back.nanos % 1_000_000_000 not in (
        0,
        997_000_000,
    ):
        return LOST
    return back


def keep_text(catalogue: Catalogue, expr: TypeExpr, logical: str, value: str) -> Any:
    if logical == "uuid":
        return value
    if logical == "enum":
        labels = next(
            (expr.params[key] for key in ("labels", "values", "symbols") if expr.params.get(key)), ()
        )
        return value if value in labels else LOST
    if logical == "bits" and set(value) <= {"0", "1"}:
        length = expr.params.get("length", 1 if expr.code == "bit" else 10**9)
        fits = len(value) == length if expr.code == "bit" else len(value) <= length
        return value if fits else LOST
    if logical == "boolean" and value in ("0", "1"):
        return value
    if expr.code == "number" and expr.params.get("precision") == 1 and value in ("0", "1"):
        return value
    return None


def keep_bytes(catalogue: Catalogue, expr: TypeExpr, logical: str, value: bytes) -> Any:
    if logical not in ("bytes", "bytes_fixed"):
        return None
    code, params = expr.code or "", expr.params
    length = params.get("length", params.get("size", lob(catalogue.flavor, code)))
    if isinstance(length, int) and (
        len(value) > length or (logical == "bytes_fixed" and len(value) != length)
    ):
        return LOST
    return LOST if catalogue.flavor == "oracle" and code == "raw" and not value else value


KEEPERS: tuple[tuple[Any, Callable[..., Any]], ...] = (
    (Decimal | float, keep_number), (When, keep_when), (str, keep_text), (bytes, keep_bytes),
)  # fmt: skip


def written(flavor: str, expr: TypeExpr, value: Any) -> Any:
    """The value written down in a type for texts (or a JSON document), when it has room for it."""
    text = value if isinstance(value, str) else value.hex() if isinstance(value, bytes) else _spelled(value)
    params, code = expr.params, expr.code or ""
    length = params.get("length", params.get("maxLength"))
    size = len(text)
    if flavor == "oracle" and code in ("varchar2", "char"):
        size = len(text) if params.get("unit") == "char" else len(text.encode())
        if len(text.encode()) > 4000:
            return LOST
    elif flavor == "sqlserver" and (code.startswith("n") or code == "sysname"):
        size = len(text.encode("utf-16-le")) // 2
    elif flavor in ("mysql", "mariadb") and code in LOB:
        length, size = LOB[code], len(text.encode())
    if isinstance(value, bytes):
        size = 4 * -(-len(value) // 3)
    if isinstance(length, int) and size > length:
        return LOST
    if flavor == "oracle" and not text:
        return LOST
    if code in ("char", "nchar") and text != text.rstrip(" "):
        return LOST
    return value


def _spelled(value: Any) -> str:
    if isinstance(value, When):
        if not value.year and not value.day:
            return f"-838:59:59.{value.nanos:09}+15:59:59"
        return f"{value.year}-{value.month:02}-{value.day:02}T23:59:59.{value.nanos:09}+15:59:59"[:42]
    if isinstance(value, float):
        return repr(value)
    return format(value, "f") if isinstance(value, Decimal) and value.is_finite() else str(value)


def same(one: Any, other: Any) -> bool:
    """Equal, NaN included."""
    if one is LOST or other is LOST:
        return False
    if isinstance(one, Decimal | float) and isinstance(other, Decimal | float):
        return (math.isnan(one) and math.isnan(other)) or one == other
    return bool(one == other)
