"""What the tests of casts know of engines, apart from the product: ranges, fractions, zones.

Numbers are `Decimal` (with NaN and infinity) or `float`; dates and moments are `When`; everything else is `str`,
`bytes` or `bool`. `LOST` is what does not come back at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from registry.typesystem import TypeExpr

LOST: Any = object()
INFINITY = 10**9


@dataclass(frozen=True)
class When:
    """A date, time of day or moment: `zone` is None, "utc" or an offset in minutes; `day` 0 where there is none."""

    year: int = 0
    month: int = 0
    day: int = 0
    seconds: int = 0
    nanos: int = 0
    zone: Any = None


SIGNED = {
    8: (-128, 127),
    16: (-32768, 32767),
    24: (-8388608, 8388607),
    32: (-(2**31), 2**31 - 1),
    64: (-(2**63), 2**63 - 1),
}
BITS = {
    "tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "integer": 32, "bigint": 64, "long": 64, "int8": 8,
    "int16": 16, "int32": 32, "int64": 64, "sint32": 32, "sint64": 64, "sfixed32": 32, "sfixed64": 64,
    "smallserial": 16, "serial": 32, "bigserial": 64, "int32_value": 32, "int64_value": 64,
}  # fmt: skip
UNSIGNED = {"uint32": 32, "uint64": 64, "fixed32": 32, "fixed64": 64, "uint32_value": 32, "uint64_value": 64,
            "oid": 32, "xid": 32, "cid": 32, "xid8": 64, "pg_lsn": 64}  # fmt: skip
FLOATS = {"real": "f", "float": "f", "double": "d", "double_precision": "d", "float32": "f", "float64": "d",
          "float_value": "f", "double_value": "d", "binary_float": "f", "binary_double": "d",
          "float16": "e"}  # fmt: skip
NO_NAN = ("mysql", "mariadb", "sqlserver", "sqlite", "kafka_json")
# First and last year, whether infinity is held, digits of the fraction.
YEARS = {
    "postgresql": (-4712, 294276, True), "mysql": (1000, 9999, False), "mariadb": (1000, 9999, False),
    "oracle": (-4711, 9999, False), "sqlserver": (1, 9999, False), "hive": (1, 9999, False),
    "iceberg": (-290307, 294246, False), "kafka_json": (0, 9999, False), "kafka_protobuf": (1, 9999, False),
    "sqlite": (1, 9999, False), "csv": (1, 9999, False), "kafka_avro": (-290307, 294246, False),
    "parquet": (-290307, 294246, False),
}  # fmt: skip
DAYS = {"postgresql": (-4712, 5874897, True)} | dict.fromkeys(
    ("iceberg", "kafka_avro", "parquet"), (-5877640, 5881579, False)
)
LOB = {
    "tinytext": 255,
    "text": 65535,
    "mediumtext": 2**24 - 1,
    "tinyblob": 255,
    "blob": 65535,
    "mediumblob": 2**24 - 1,
}


def lob(flavor: str, code: str) -> int | None:
    """The bytes that one of MySQL's large types has room for."""
    return LOB.get(code) if flavor in ("mysql", "mariadb") else None


def integers(flavor: str, expr: TypeExpr) -> tuple[int, int] | None:
    """The range of a whole number type."""
    code, params = expr.code or "", expr.params
    if flavor == "sqlserver" and code == "tinyint":
        return 0, 255
    if flavor in ("sqlite",) and code == "integer":
        return SIGNED[64]
    if flavor == "csv" and code == "integer":
        return -(10**60), 10**60
    if flavor == "kafka_json" and code == "integer":
        return params.get("minimum", -(10**60)), params.get("maximum", 10**60)
    if flavor == "parquet" and code == "int":
        width = params["bit_width"]
        return SIGNED[width] if params["signed"] else (0, 2**width - 1)
    if code == "year":
        return 0, 2155
    if code in UNSIGNED:
        return 0, 2 ** UNSIGNED[code] - 1
    if code not in BITS:
        return None
    low, high = SIGNED[BITS[code]]
    return (0, high - low) if params.get("unsigned") else (low, high)


def float_format(flavor: str, expr: TypeExpr) -> str | None:
    if flavor == "oracle" and expr.code == "float":
        return None
    if (flavor in ("sqlserver", "csv") and expr.code == "float") or (
        flavor == "sqlite" and expr.code == "real"
    ):
        return "d"
    return FLOATS.get(expr.code or "")


def fraction_digits(flavor: str, expr: TypeExpr) -> int:
    """How many digits of a second the type keeps."""
    code, params = expr.code or "", expr.params
    if "format" in params:
        return params["format"].count("S") if "s" in params["format"] else -1
    if "unit" in params:
        return {"millis": 3, "micros": 6, "nanos": 9}[params["unit"]]
    if code == "int96" or code.endswith(("nanos", "_ns")):
        return 9
    if code.endswith("micros") or flavor == "iceberg":
        return 6
    if code.endswith("millis"):
        return 3
    if (flavor, code) in (("oracle", "date"), ("sqlserver", "smalldatetime")):
        return 0
    if (flavor, code) == ("sqlserver", "datetime"):
        return 3
    usual = {"postgresql": 6, "mysql": 0, "mariadb": 0, "oracle": 6, "sqlserver": 7}
    return params.get("precision", params.get("fsp", usual.get(flavor, 9)))


def zone_of(flavor: str, expr: TypeExpr, logical: str) -> Any:
    if (flavor, expr.code) in (
        ("oracle", "timestamptz"),
        ("sqlserver", "datetimeoffset"),
        ("kafka_json", "date_time"),
    ):
        return 120
    if expr.code == "timestamp" and flavor == "parquet":
        return "utc" if expr.params["utc"] else None
    if logical == "time_tz":
        return 60
    return "utc" if logical == "timestamp_tz" else None


def years_of(flavor: str, expr: TypeExpr, logical: str) -> tuple[int, int, bool]:
    code = expr.code or ""
    if logical == "date":
        return DAYS.get(flavor, YEARS[flavor])
    if (
        code in ("timestamp_ns", "timestamptz_ns", "timestamp_nanos", "local_timestamp_nanos")
        or expr.params.get("unit") == "nanos"
    ):
        return 1678, 2261, False
    if code in ("timestamp_millis", "local_timestamp_millis") or expr.params.get("unit") == "millis":
        return -292275054, 292278993, False
    if code == "int96":
        return -4712, 5881579, False
    if flavor in ("mysql", "mariadb") and code == "timestamp":
        return 1971, 2037, False
    special = {
        ("sqlserver", "datetime"): (1753, 9999, False),
        ("sqlserver", "smalldatetime"): (1900, 2078, False),
    }
    return special.get((flavor, code), YEARS[flavor])
