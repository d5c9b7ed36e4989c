"""What a declared type can hold, for all technologies at once: a family for each native type. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

UNKNOWN = ""
WORDS = {
    "flag": "yes or no",
    "integer": "a whole number",
    "number": "a number",
    "date": "a date",
    "moment": "a point in time",
    "time": "a time of day",
    "duration": "a duration",
    "text": "text",
    "letter": "a single character",
    "binary": "binary data",
    "json": "JSON",
    "uuid": "a UUID",
    "network": "a network address",
    "place": "a geometry",
    "array": "a list",
    "choice": "one of some values",
    "xml": "XML",
}
_FAMILIES: tuple[tuple[str, str], ...] = (
    ("flag", r"bool(ean)?|bit(\(1\))?|tinyint\(1\)|number\(1(,0)?\)|logical|yes/?no"),
    ("letter", r"(n?char|character|n?varchar2?|character varying|string)\(1( (byte|char))?\)|\"char\""),
    ("integer", r"(un)?signed.*|(big|small|tiny|medium|long|u|hu)?int(eger)?[0-9]*\b.*|(big|small)?serial[0-9]*|long"
                r"|short|byte|year(\(\d\))?|identity.*|counter|fixnum|oid|int(8|16|32|64)|u?int(8|16|32|64|128|256)"
                r"|bigautofield|autofield|positive.*integer.*|number\(\d+(,0)?\)"),
    ("number", r"(small)?money|numeric.*|decimal.*|dec\b.*|number.*|float.*|double.*|real.*|binary_(float|double)"
               r"|bigdecimal|smallmoney|currency"),
    ("moment", r"timestamp.*|datetime.*|smalldatetime|datetimeoffset.*|instant|abstime"),
    ("date", r"date(32|field)?\b(?!time).*"),
    ("duration", r"interval.*|duration|timedelta"),
    ("time", r"time\b.*|timetz.*"),
    ("json", r"jsonb?|object|super|variant|map.*|struct.*|row.*|record.*|dict.*|hstore|document"),
    ("uuid", r"uuid|uniqueidentifier|guid"),
    ("network", r"inet|cidr|macaddr8?|ipv?[46]?(address)?|genericipaddressfield"),
    ("place", r"geometry.*|geography.*|point.*|polygon.*|linestring.*|sdo_geometry|st_.*"
              r"|multi(point|polygon|linestring).*|box|line|lseg|path|circle"),
    ("choice", r"enum.*|set\(.*"),
    ("xml", r"xml(type)?"),
    ("binary", r"bytea|(tiny|medium|long)?blob.*|(var)?binary.*|image|raw.*|long raw|bytes|bfile|imagefield|filefield"
               r"|(bit varying|varbit|bit).*|fixed.*"),
    ("text", r"(tiny|medium|long|n|var|n?c)?text.*|n?(var)?char(acter)?[0-9]*\b.*|character varying.*|national.*"
             r"|n?clob.*|string.*|citext|name|bpchar.*|long varchar.*|utf8|charfield.*|emailfield.*|textfield.*"
             r"|lowcardinality.*|rowversion"),
)  # fmt: skip
_COMPILED = tuple((family, re.compile(pattern)) for family, pattern in _FAMILIES)
_LIST = re.compile(r".*\[\d*\]$|^_[a-z]|^(array|list|set)\b[<(]?|.*\barray$")
_WRAPPED = re.compile(r"^(?:nullable|lowcardinality|optional)\((.*)\)$")


@lru_cache(maxsize=8192)
def family_of(native_type: str) -> str:
    """The family of a native type, as a key of `WORDS`; empty for one that says nothing here."""
    text = " ".join(native_type.lower().split())[:200]
    while found := _WRAPPED.match(text):
        text = found.group(1)
    text = re.sub(r"\s*([(),])\s*", r"\1", text.removeprefix("pg_catalog."))
    if not text:
        return UNKNOWN
    if text == "set" or text.startswith("set("):
        return "choice"
    if _LIST.match(text):
        return "array"
    for family, pattern in _COMPILED:
        if pattern.fullmatch(text):
            return family
    return UNKNOWN
