"""Values that a column of a native type may hold, mostly at the edges."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from registry.typesystem import Catalogue, TypeExpr
from tests.registry.cast_model import (
    INFINITY,
    LOB,
    NO_NAN,
    When,
    float_format,
    fraction_digits,
    integers,
    lob,
    years_of,
    zone_of,
)


def source_values(catalogue: Catalogue, expr: TypeExpr) -> st.SearchStrategy[Any] | None:
    """Values that a column of this type may hold, mostly at its edges; None where this model has nothing to say."""
    flavor, code, params = catalogue.flavor, expr.code or "", expr.params
    logical = getattr(catalogue.get(code), "logical_type", "")
    span = integers(flavor, expr)
    if span:
        return (st.sampled_from(span) | st.integers(*span)).map(Decimal)
    if letter := float_format(flavor, expr):
        plain = st.floats(allow_nan=False, allow_infinity=False, width={"e": 16, "f": 32, "d": 64}[letter])
        plain = plain.filter(lambda value: not params.get("unsigned") or value >= 0)
        return plain if flavor in NO_NAN else plain | st.sampled_from([math.nan, math.inf, -math.inf])
    if logical == "decimal" or (flavor, code) == ("kafka_json", "number"):
        return decimals(flavor, expr)
    if logical == "boolean":
        return st.booleans()
    if logical in ("string", "string_fixed") and code not in ("rowid", "urowid", "field_mask", "hierarchyid"):
        return texts(flavor, expr, padded=logical == "string_fixed" or code == "bpchar")
    if logical in ("bytes", "bytes_fixed"):
        length = {"rowversion": 8}.get(code, params.get("length", params.get("size", lob(flavor, code))))
        length = length if isinstance(length, int) else 3000
        least = length if logical == "bytes_fixed" else (1 if flavor == "oracle" and code == "raw" else 0)
        return st.sampled_from([least, length]).map(lambda n: b"\xff" * n)
    if logical == "uuid":
        return st.uuids().map(str)
    if logical == "enum":
        labels = next((params[key] for key in ("labels", "values", "symbols") if params.get(key)), None)
        return st.sampled_from(labels) if labels else None
    if logical in ("date", "time", "time_tz", "timestamp", "timestamp_tz"):
        return moments(flavor, expr, logical)
    if logical == "bits":
        length = params.get("length", 1 if code == "bit" else 70)
        return st.text("01", min_size=length if code == "bit" else 0, max_size=length)
    return None


def decimals(flavor: str, expr: TypeExpr) -> st.SearchStrategy[Any] | None:
    params, code = expr.params, expr.code
    specials = st.sampled_from([Decimal("NaN"), Decimal("Infinity")])
    if (flavor, code) == ("sqlserver", "money"):
        whole, scale = 15, 4
    elif (flavor, code) == ("sqlserver", "smallmoney"):
        whole, scale = 6, 4
    elif params.get("precision") is None or (flavor, code) == ("oracle", "float"):
        wide = st.sampled_from(
            [Decimal(10) ** 39 + 1, Decimal("1.5E-30"), Decimal("123456789012345678.9"), Decimal(-7)]
        )
        return wide | specials if flavor == "postgresql" else wide
    else:
        scale = params.get("scale", 0)
        whole = params["precision"] - scale
    largest = Decimal(f"{'9' * (whole + scale) or '0'}E{-scale}")
    unit = Decimal(f"1E{-scale}")
    low = Decimal(0) if params.get("unsigned") else largest.copy_negate()
    return st.sampled_from([largest, low, unit, Decimal(0)])


def texts(flavor: str, expr: TypeExpr, *, padded: bool) -> st.SearchStrategy[Any]:
    params, code = expr.params, expr.code or ""
    length = params.get("length", params.get("maxLength"))
    length = length if isinstance(length, int) else None
    ascii_only = flavor == "sqlserver" and not code.startswith("n") and code != "sysname"
    charset = params.get("charset", "")
    wide = "x" if ascii_only or charset in ("latin1", "ascii") else "€" if charset == "utf8mb3" else "😀"
    width = 1
    if flavor == "oracle":
        width = 2 if code in ("nchar", "nvarchar2") else 1 if params.get("unit") == "char" else 4
    elif flavor == "sqlserver" and not ascii_only:
        width, length = 2, 128 if code == "sysname" else length
    elif flavor in ("mysql", "mariadb") and code in LOB:
        length, width = LOB[code], len(wide.encode()) if wide != "x" else 1
    elif flavor == "postgresql" and code in ("name", "pg_char"):
        length, width = (63, 4) if code == "name" else (1, 4)
    most = 70_000 if length is None else length
    found = [wide * (most // width), "x" * most, "a "[:most]]
    if padded:
        found = [each.rstrip(" ") for each in found]
    least = params.get("minLength", 0)
    if flavor != "oracle" and not least:
        found.append("")
    return st.sampled_from([each for each in found if each or flavor != "oracle"] or ["x"])


def moments(flavor: str, expr: TypeExpr, logical: str) -> st.SearchStrategy[Any]:
    first, last, infinite = years_of(flavor, expr, logical)
    if "yyyy" not in expr.params.get("format", "yyyy"):
        first, last = 2000, 2000
    fraction = max(fraction_digits(flavor, expr), 0)
    nanos = int("9" * fraction + "0" * (9 - fraction)) if fraction else 0
    if (flavor, expr.code) == ("sqlserver", "datetime"):
        nanos = 997_000_000
    seconds = 0 if fraction_digits(flavor, expr) < 0 or expr.code == "smalldatetime" else 59
    zone = zone_of(flavor, expr, logical)
    if logical in ("time", "time_tz"):
        ends = [0, 86_340 + seconds]
        ends += {"postgresql": [86_400], "mysql": [3_020_399, -3_020_399], "mariadb": [3_020_399]}.get(
            flavor, []
        )
        return st.sampled_from(
            [When(seconds=each, nanos=nanos if 0 < each < 86_400 else 0, zone=zone) for each in ends]
        )
    if logical == "date":
        found = [When(year, 1, 31) for year in (first, last, 2024)]
    else:
        found = [When(year, 6, 30, 86_340 + seconds, nanos, zone) for year in (first, last, 2024)]
    return st.sampled_from([*found, *([When(INFINITY, zone=zone)] if infinite else [])])
