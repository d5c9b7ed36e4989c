"""What engines do differently from each other: ranges of dates, digits, lengths. Pure; read by `reading` only.

Sources: the engines' manuals on data types, the specifications of Avro, Iceberg and Parquet, RFC 3339.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from registry.typesystem import TypeExpr
from registry.typesystem.mysql import BLOB_BYTES, CHARSET_BYTES, TEXT_BYTES, charset_of
from registry.values.model import (
    ANY_ZONE,
    INSTANT,
    LOCAL,
    OFFSET,
    Bits,
    Clock,
    Day,
    Exact,
    Flag,
    Instant,
    Moment,
    Named,
    Octets,
    Span,
    Text,
    Values,
    Whole,
)

RANGES = {f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 24, 32, 64)} | {
    f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)
}

FIRST, LAST = (1, 1, 1, 0, 0, 0), (9999, 12, 31, 23, 59, 59)
Range = tuple[Instant | None, Instant | None]
_FOUR_DIGITS: Range = (FIRST, LAST)
_ANY: Range = (None, None)
_MICROS: Range = ((-290307, 1, 1, 0, 0, 0), (294246, 12, 31, 23, 59, 59))
_MILLIS: Range = ((-292_275_054, 1, 1, 0, 0, 0), (292_278_993, 12, 31, 23, 59, 59))
_NANOS: Range = ((1677, 9, 21, 0, 12, 44), (2262, 4, 11, 23, 47, 15))
_DAYS: Range = ((-5_877_640, 1, 1, 0, 0, 0), (5_881_579, 12, 31, 23, 59, 59))
_BY_UNIT = {"millis": (3, _MILLIS), "micros": (6, _MICROS), "nanos": (9, _NANOS)}


@dataclass(frozen=True)
class Habits:
    """How an engine keeps numbers and times, unless a type says otherwise. Fraction None is any number of digits."""

    days: Range = _FOUR_DIGITS
    moments: Range = _FOUR_DIGITS
    infinity: bool = False
    fraction: int | None = 6
    clock: tuple[int, int] = (0, 86_399)
    float_specials: bool = True
    decimal_specials: bool = False


_MYSQL = Habits(
    days=((1000, 1, 1, 0, 0, 0), LAST), moments=((1000, 1, 1, 0, 0, 0), LAST), fraction=0,
    clock=(-3_020_399, 3_020_399), float_specials=False,
)  # fmt: skip
HABITS = {
    "postgresql": Habits(
        days=((-4712, 1, 1, 0, 0, 0), (5_874_897, 12, 31, 23, 59, 59)),
        moments=((-4712, 1, 1, 0, 0, 0), (294_276, 12, 31, 23, 59, 59)),
        infinity=True, clock=(0, 86_400), decimal_specials=True,
    ),
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
    "sqlite": Habits(fraction=9, float_specials=False),
    "oracle": Habits(moments=((-4711, 1, 1, 0, 0, 0), LAST)),
    "sqlserver": Habits(fraction=7, float_specials=False),
    "hive": Habits(fraction=9),
    "iceberg": Habits(days=_DAYS, moments=_MICROS),
    "kafka_avro": Habits(days=_DAYS),
    "kafka_json": Habits(
        days=((0, 1, 1, 0, 0, 0), LAST), moments=((0, 1, 1, 0, 0, 0), LAST), fraction=None, float_specials=False
    ),
    "kafka_protobuf": Habits(fraction=9),
    "parquet": Habits(days=_DAYS),
    "csv": Habits(fraction=None),
}  # fmt: skip

AS_WRITTEN = "as written"
"""The variant of JSON types that keep the text as it came."""

_MOST_MONTHS = 2**31 - 1
_UNSIGNED_32 = 2**32 - 1


def special(flavor: str, expr: TypeExpr, *, writing: bool) -> Values | None:
    """The values of a type that differs from its logical type's usual ones; None for all others."""
    own = _OWN.get((flavor, expr.code or "")) or _OWN.get((_FAMILY.get(flavor, flavor), expr.code or ""))
    return own(expr.params, writing) if own else None


_FAMILY = {"mariadb": "mysql"}

Own = Callable[[Any, bool], Values | None]


def _always(values: Values) -> Own:
    return lambda params, writing: values


def _moment(zone: str, fraction: int | None, limits: Range, **more: Any) -> Own:
    return _always(Moment(zone, fraction, *limits, **more))


def _by_precision(zone: str, usual: int, limits: Range) -> Own:
    return lambda params, writing: Moment(zone, params.get("precision", usual), *limits)


def _parquet_timestamp(params: Any, writing: bool) -> Values:
    fraction, limits = _BY_UNIT[params["unit"]]
    return Moment(INSTANT if params["utc"] else LOCAL, fraction, *limits)


def _parquet_time(params: Any, writing: bool) -> Values:
    return Clock(_BY_UNIT[params["unit"]][0])


def _parquet_int(params: Any, writing: bool) -> Values:
    low, high = RANGES[f"{'' if params['signed'] else 'u'}int{params['bit_width']}"]
    return Whole(low, high)


def _oracle_number(params: Any, writing: bool) -> Values | None:
    if "precision" in params:
        scale = params.get("scale", 0)
        return Exact(params["precision"] - scale, scale)
    return Exact(126, 130, digits=38 if writing else 40)


def _oracle_interval(params: Any, writing: bool) -> Values:
    return Span(0, 10 ** params.get("precision", 2) - 1, fraction=params.get("fsp", 6))


def _pg_interval(params: Any, writing: bool) -> Values:
    fields = params.get("fields", "")
    seconds = not fields or fields.endswith("second")
    months, clock = not fields or "year" in fields or "month" in fields, not fields or "year" not in fields
    only_months = bool(fields) and fields in ("year", "month", "year to month")
    return Span(
        _MOST_MONTHS if months or not fields else 0,
        0 if only_months else 2**31 - 1,
        seconds=clock and not only_months,
        fraction=params.get("precision", 6) if seconds else 0,
    )


def _sqlite_text_like(values: Values, wide: Values) -> Own:
    return lambda params, writing: wide if writing else values


def _sqlite_decimal(params: Any, writing: bool) -> Values:
    if writing:
        return Exact(15, 15, digits=15)
    if params.get("precision"):
        scale = max(int(params.get("scale", 0)), 0)
        return Exact(max(params["precision"] - scale, 0), scale)
    return Exact(308, 340, digits=17)


def _formatted(kind: str) -> Own:
    """CSV: what the pattern of a date or time keeps; without one it is ISO 8601."""

    def read(params: Any, writing: bool) -> Values:
        pattern = params.get("format")
        bare = re.sub(r"'[^']*'", "", pattern or "")
        if pattern is None:
            fraction: int | None = None
            zone = ANY_ZONE if writing else LOCAL
            step = ""
        else:
            as_python = "%" in bare
            fraction = (6 if "%f" in bare else 0) if as_python else bare.count("S")
            zone = OFFSET if (re.search("%z", bare) if as_python else re.search("[XxZ]", bare)) else LOCAL
            whole = re.search("%S|%T|%X|%c", bare) if as_python else "s" in bare
            step = "" if whole else "without seconds"
        limits = _ANY if pattern is None and writing else _century(bare) if pattern else _FOUR_DIGITS
        if kind == "date":
            return Day(*limits)
        if kind == "time":
            return Clock(fraction if not step else -1, zone=zone == OFFSET)
        return Moment(zone, fraction, *limits, step=step)

    return read


def _century(pattern: str) -> Range:
    two_digits = "%y" in pattern if "%" in pattern else "yyyy" not in pattern and "uuuu" not in pattern
    return ((2000, 1, 1, 0, 0, 0), (2000, 1, 1, 0, 0, 0)) if two_digits else _FOUR_DIGITS


def _sized_blob(code: str) -> Own:
    most = BLOB_BYTES[code]
    return _always(Octets(None if most > 2**31 else most))


_OWN: dict[tuple[str, str], Own] = {
    ("postgresql", "interval"): _pg_interval,
    ("postgresql", "bit"): lambda params, writing: Bits(params.get("length", 1), fixed=True),
    **{("postgresql", code): _always(Named(f"postgresql {code}")) for code in (
        "point", "line", "lseg", "box", "path", "polygon", "circle", "cube")},
    ("postgresql", "json"): _always(Named("json", variant=AS_WRITTEN)),
    ("postgresql", "macaddr8"): _always(Named("macaddr8", 23)),
    # A block of addresses: no other engine has a type for one, and its text says all.
    ("postgresql", "cidr"): _always(Named("inet", 43, variant="text")),
    ("mariadb", "json"): _always(Named("json", variant=AS_WRITTEN)),
    ("mariadb", "inet4"): _always(Named("inet", 15)),
    ("mariadb", "inet6"): _always(Named("inet", 45)),
    ("sqlite", "json"): _always(Named("json", variant=AS_WRITTEN)),
    ("parquet", "json"): _always(Named("json", variant=AS_WRITTEN)),
    ("kafka_json", "ipv4"): _always(Named("inet", 15, variant="text")),
    ("kafka_json", "ipv6"): _always(Named("inet", 45, variant="text")),
    ("mysql", "bit"): lambda params, writing: Bits(params.get("length", 1), fixed=True),
    ("mysql", "boolean"): _always(Flag()),
    ("mysql", "timestamp"): lambda params, writing: Moment(
        INSTANT, params.get("fsp", 0), (1970, 1, 1, 0, 0, 1), (2038, 1, 19, 3, 14, 7)),
    **{("mysql", code): _sized_blob(code) for code in BLOB_BYTES},
    ("sqlite", "date"): _sqlite_text_like(Day(*_FOUR_DIGITS), Day(None, None, infinity=True)),
    ("sqlite", "time"): _sqlite_text_like(Clock(9), Clock(None, -(10**9), 10**9, zone=True)),
    ("sqlite", "datetime"): _sqlite_text_like(
        Moment(LOCAL, 9, *_FOUR_DIGITS), Moment(ANY_ZONE, None, None, None, infinity=True)),
    ("sqlite", "numeric"): _sqlite_decimal,
    ("sqlite", "decimal"): _sqlite_decimal,
    ("sqlite", "any"): _always(Named("variant", writable=False, variant="sqlite")),
    ("oracle", "number"): _oracle_number,
    ("oracle", "float"): lambda params, writing: Exact(126, 130, digits=int(params["precision"] * 0.30103) + 1),
    ("oracle", "date"): _moment(LOCAL, 0, ((-4711, 1, 1, 0, 0, 0), LAST)),
    ("oracle", "timestamptz"): _by_precision(OFFSET, 6, ((-4711, 1, 1, 0, 0, 0), LAST)),
    ("oracle", "interval_ym"): lambda params, writing: Span(
        (10 ** params.get("precision", 2)) * 12 - 1, 0, seconds=False, fraction=0),
    ("oracle", "interval_ds"): _oracle_interval,
    ("oracle", "raw"): lambda params, writing: Octets(params["length"], empty=False),
    ("sqlserver", "money"): _always(Exact(15, 4)),
    ("sqlserver", "smallmoney"): _always(Exact(6, 4)),
    ("sqlserver", "datetimeoffset"): _by_precision(OFFSET, 7, _FOUR_DIGITS),
    ("sqlserver", "datetime"): _moment(
        LOCAL, 3, ((1753, 1, 1, 0, 0, 0), LAST), step="in steps of a 300th of a second"),
    ("sqlserver", "smalldatetime"): _moment(
        LOCAL, 0, ((1900, 1, 1, 0, 0, 0), (2079, 6, 6, 23, 59, 0)), step="without seconds"),
    ("sqlserver", "rowversion"): _always(Octets(8, fixed=True)),
    ("sqlserver", "hierarchyid"): _always(Named("hierarchy", 4000)),
    ("hive", "interval_year_month"): _always(Span(_MOST_MONTHS, 0, seconds=False, fraction=0)),
    ("hive", "interval_day_time"): _always(Span(0, 2**31 - 1, fraction=9)),
    ("iceberg", "timestamp_ns"): _moment(LOCAL, 9, _NANOS),
    ("iceberg", "timestamptz_ns"): _moment(INSTANT, 9, _NANOS),
    ("kafka_avro", "big_decimal"): _always(Exact(None, None)),
    **{("kafka_avro", f"{local}timestamp_{unit}"): _moment(LOCAL if local else INSTANT, *_BY_UNIT[unit])
       for local in ("", "local_") for unit in _BY_UNIT},
    ("kafka_avro", "time_millis"): _always(Clock(3)),
    ("kafka_avro", "time_micros"): _always(Clock(6)),
    ("kafka_avro", "duration"): _always(Span(_UNSIGNED_32, _UNSIGNED_32, fraction=3, negative=False)),
    ("kafka_avro", "null"): _always(Named("null", 0)),
    ("kafka_json", "any"): _always(Named("json")),
    ("kafka_json", "decimal"): lambda params, writing: Exact(
        params["precision"] - params["scale"] if "precision" in params else None, params["scale"]),
    ("kafka_json", "date_time"): _moment(OFFSET, None, ((0, 1, 1, 0, 0, 0), LAST)),
    ("kafka_json", "duration"): _always(Span(None, None, fraction=0, negative=False)),
    ("kafka_json", "email"): _always(Text()),
    ("kafka_json", "uri"): _always(Text()),
    ("kafka_protobuf", "duration"): _always(Span(0, 0, fraction=9)),
    ("parquet", "timestamp"): _parquet_timestamp,
    ("parquet", "time"): _parquet_time,
    ("parquet", "int"): _parquet_int,
    ("parquet", "int96"): _moment(LOCAL, 9, ((-4712, 1, 1, 0, 0, 0), _DAYS[1])),
    ("parquet", "interval"): _always(Span(_UNSIGNED_32, _UNSIGNED_32, fraction=3, negative=False)),
    ("csv", "date"): _formatted("date"),
    ("csv", "time"): _formatted("time"),
    ("csv", "datetime"): _formatted("datetime"),
}  # fmt: skip


def text_of_flavor(flavor: str, expr: TypeExpr, *, padded: bool) -> Values:
    """Texts, with what the length counts and which characters there are."""
    params, code = expr.params, expr.code or ""
    length = params.get("length", params.get("maxLength"))
    length = length if isinstance(length, int) else None
    if flavor == "postgresql":
        if code in ("name", "pg_char"):
            return Text(63 if code == "name" else 1, "byte")
        return Text(length, padded=padded or code == "bpchar")
    if flavor in ("mysql", "mariadb"):
        characters = _repertoire(charset_of(params))
        if code in TEXT_BYTES:
            most = TEXT_BYTES[code]
            width = CHARSET_BYTES.get(charset_of(params), 1)
            limit = None if most > 2**31 else most if characters in ("unicode", "bmp") else most // width
            unit = "byte" if characters in ("unicode", "bmp") else "character"
            return Text(limit, unit, characters)
        return Text(length, "character", characters, padded=padded)
    if flavor == "oracle":
        unit = {"nchar": "utf16", "nvarchar2": "utf16"}.get(code, params.get("unit", "byte"))
        unit = "character" if unit == "char" else unit
        return Text(
            length if length else 4000 if code in ("rowid", "urowid") else None,
            unit,
            padded=padded,
            empty=False,
        )
    if flavor == "sqlserver":
        if code == "sysname":
            return Text(128, "utf16")
        national = code.startswith("n")
        return Text(
            length, "utf16" if national else "character", "unicode" if national else "latin1", padded=padded
        )
    return Text(length, padded=padded)


def _repertoire(charset: str) -> str:
    known = {"utf8mb4": "unicode", "utf16": "unicode", "utf16le": "unicode", "utf32": "unicode", "gb18030": "unicode",
             "utf8mb3": "bmp", "ucs2": "bmp", "latin1": "latin1", "ascii": "ascii"}  # fmt: skip
    return known.get(charset, charset)
