"""Hypothesis strategies for schema documents: small alphabets, so that two of them have much in common."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from registry.documents import clean

NAMES = st.sampled_from(["id", "a", "b", "c", "Total", "a.b", 'say "x"', "", "größe", "order"])
TYPES: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "postgresql": [
        ("integer", {}),
        ("int4", {}),
        ("bigint", {}),
        ("numeric(12,2)", {"precision": 12, "scale": 2}),
        ("numeric(10,2)", {"precision": 10, "scale": 2}),
        ("character varying(20)", {"length": 20}),
        ("varchar(40)", {"length": 40}),
        ("text", {}),
        ("text", {"collation": "C"}),
        ("text[]", {"element": {"native_type": "text", "type_name": "text", "parameters": {}}}),
        ("timestamp with time zone", {}),
        ("timestamp(3) without time zone", {"precision": 3}),
        ("lvl", {"values": ["low", "high"]}),
        ("lvl", {"values": ["low", "mid", "high"]}),
        ("pct", {"base_type": "numeric(5,2)", "not_null": False, "default": None, "checks": []}),
        (
            "pct",
            {
                "base_type": "numeric(7,2)",
                "not_null": True,
                "default": "0",
                "checks": [{"definition": "CHECK (x)"}],
            },
        ),
        ("geometry(Point,4326)", {}),
        ("nothing.known", {}),
    ],
    "mariadb": [
        ("int(11)", {"display_width": 11}),
        ("int(7)", {"display_width": 7}),
        ("int(10) unsigned", {"display_width": 10, "unsigned": True}),
        ("bigint(20)", {"display_width": 20}),
        ("varchar(20)", {"length": 20, "charset": "utf8mb4", "collation": "utf8mb4_general_ci"}),
        ("varchar(20)", {"length": 20, "charset": "utf8mb4", "collation": "utf8mb4_bin"}),
        ("enum('a','b')", {"values": ["a", "b"]}),
        ("enum('a','b','c')", {"values": ["a", "b", "c"]}),
        ("longtext", {"charset": "utf8mb4", "collation": "utf8mb4_bin", "json_alias": True}),
        ("geometry", {}),
    ],
    "sqlite": [
        ("INTEGER", {"affinity": "INTEGER"}),
        ("varchar(20)", {"affinity": "TEXT", "arguments": [20]}),
        ("VARCHAR( 20 )", {"affinity": "TEXT", "arguments": [20]}),
        ("", {"affinity": "BLOB"}),
        ("whatever", {"affinity": "NUMERIC"}),
    ],
}
DEFAULTS = st.sampled_from(
    [
        None,
        "NULL",
        "0",
        "'x'::text",
        "'x'",
        "now()",
        "CURRENT_TIMESTAMP",
        "nextval('s.q'::regclass)",
        "(1 + 2)",
        "1+2",
    ]
)
COMMENTS = st.sampled_from([None, "", "note", "other"])
GENERATED = st.sampled_from(
    [None, None, {"kind": "stored", "expression": "(a * b)"}, {"kind": "virtual", "expression": "a*b"}]
)
IDENTITY = st.sampled_from(
    [
        None,
        None,
        {"kind": "always", "start": 1, "increment": 1},
        {"kind": "always"},
        {"kind": "serial", "sequence": "s.q"},
    ]
)
KINDS = st.sampled_from(["table", "table", "view", "materialized_view", "partitioned_table"])
ACTIONS = st.sampled_from(["NO ACTION", "RESTRICT", "CASCADE", None])


@st.composite
def fields(draw: st.DrawFn, flavor: str, depth: int = 0) -> list[dict[str, Any]]:
    out = []
    for name in draw(st.lists(NAMES, unique=True, max_size=5 if depth == 0 else 3)):
        native, parameters = draw(st.sampled_from(TYPES[flavor]))
        field = {
            "name": name,
            "native_type": native,
            "type_name": native.split("(")[0],
            "parameters": parameters,
            "nullable": draw(st.booleans()),
            "default": draw(DEFAULTS),
            "comment": draw(COMMENTS),
            "generated": draw(GENERATED),
            "identity": draw(IDENTITY),
        }
        if draw(st.booleans()) and flavor == "mariadb":
            field["on_update"] = draw(st.sampled_from(["current_timestamp()", "CURRENT_TIMESTAMP"]))
        if depth < 2 and draw(st.integers(0, 4)) == 0:
            field["native_type"] = "struct<x:int>"
            field["parameters"] = {}
            field["fields"] = draw(fields(flavor, depth + 1))
        out.append(field)
    if flavor == "postgresql" and draw(st.booleans()):
        for n, field in enumerate(out, draw(st.integers(1, 3))):
            field["native_position"] = n
    return out


@st.composite
def schema_documents(draw: st.DrawFn, flavor: str) -> dict[str, Any]:
    """A clean document of one flavor; always of the same schema and name."""
    tree = draw(fields(flavor))
    names = [field["name"] for field in tree]
    some = st.lists(st.sampled_from(names), min_size=1, unique=True, max_size=3) if names else st.nothing()
    document: dict[str, Any] = {
        "schema": "s",
        "name": "t",
        "kind": draw(KINDS),
        "comment": draw(COMMENTS),
        "attributes": draw(st.sampled_from([{}, {"engine": "InnoDB"}, {"partition_count": 3}])),
        "fields": tree,
        "primary_key": None,
        "unique": [],
        "foreign_keys": [],
    }
    if names:
        if draw(st.booleans()):
            document["primary_key"] = {"name": "k", "columns": draw(some)}
        document["unique"] = [_unique(draw, some) for _ in range(draw(st.integers(0, 2)))]
        document["foreign_keys"] = [_foreign_key(draw, some) for _ in range(draw(st.integers(0, 2)))]
    return clean(document)


def _unique(draw: st.DrawFn, some: st.SearchStrategy[list[str]]) -> dict[str, Any]:
    unique = {"name": draw(st.sampled_from(["u1", "u2", None])), "columns": draw(some), "kind": "constraint"}
    if draw(st.integers(0, 3)) == 0:
        unique["predicate"] = draw(st.sampled_from(["(a > 0)", "a>0", "b IS NULL"]))
    if draw(st.integers(0, 3)) == 0:
        unique["prefix_lengths"] = [10 for _ in unique["columns"]]
    return unique


def _foreign_key(draw: st.DrawFn, some: st.SearchStrategy[list[str]]) -> dict[str, Any]:
    columns = draw(some)
    return {
        "name": draw(st.sampled_from(["f1", "f2", None])),
        "columns": columns,
        "ref_schema": "s",
        "ref_table": draw(st.sampled_from(["t", "p", "q"])),
        "ref_columns": columns,
        "on_update": draw(ACTIONS),
        "on_delete": draw(ACTIONS),
    }
