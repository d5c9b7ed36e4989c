"""Casts between any two flavors: what each type becomes, how safe that is, and that nearly every type has one."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator

import pytest

from registry.casting import Cast, Planner, Rule, plan_document, plan_type, planner
from registry.documents import clean
from registry.seeding import bundled_catalogue
from registry.typesystem import TypeDef, TypeExpr, build, parse, render

FLAVORS = (
    "postgresql",
    "mysql",
    "mariadb",
    "sqlite",
    "oracle",
    "sqlserver",
    "hive",
    "iceberg",
    "parquet",
    "csv",
    "kafka_avro",
    "kafka_json",
    "kafka_protobuf",
)
PAIRS = list(itertools.permutations(FLAVORS, 2))


def instances(flavor: str) -> Iterator[tuple[TypeDef, TypeExpr]]:
    """Every example of every type."""
    catalogue = bundled_catalogue(flavor)
    for typedef in catalogue:
        for example in typedef.examples:
            yield typedef, build(catalogue, typedef.code, example.params)


def between(source: str, target: str, *rules: Rule) -> Planner:
    return planner(bundled_catalogue(source), bundled_catalogue(target), rules)


def cast(source: str, target: str, native: str, *rules: Rule) -> Cast:
    plan = between(source, target, *rules)
    return plan.cast(parse(plan.source, native))


EXAMPLES = [
    ("postgresql hive", "numeric(12,2)", "decimal(12,2)", "lossless"),
    ("postgresql hive", "numeric", "decimal(38,18)", "lossy"),
    ("postgresql hive", "numeric(50,10)", "decimal(38,6)", "lossy"),
    ("postgresql hive", "text[]", "array<string>", "lossless"),
    ("postgresql hive", "timestamptz", "timestamp with local time zone", "lossy"),
    ("postgresql hive", "uuid", "string", "lossless"),
    ("postgresql hive", "time", "string", "lossless"),
    ("postgresql hive", "hstore", "map<string,string>", "lossless"),
    ("kafka_protobuf oracle", "google.protobuf.Duration", "INTERVAL DAY(9) TO SECOND(9)", "lossless"),
    ("postgresql oracle", "interval year to month", "INTERVAL YEAR(9) TO MONTH", "lossless"),
    ("postgresql mysql", "boolean", "tinyint", "lossless"),
    ("postgresql mysql", "uuid", "char(36)", "lossless"),
    ("postgresql mysql", "double precision", "double", "lossy"),
    ("postgresql mysql", "text", "longtext", "lossless"),
    ("postgresql mysql", "timestamptz", "timestamp(6)", "lossy"),
    ("postgresql mysql", "time", "time(6)", "lossless"),
    ("postgresql mariadb", "uuid", "uuid", "lossless"),
    ("postgresql mariadb", "bit(8)", "bit(8)", "lossless"),
    ("postgresql sqlserver", "varchar(20)", "nvarchar(40)", "lossless"),
    ("postgresql sqlserver", "varchar(3000)", "nvarchar(max)", "lossless"),
    ("postgresql sqlserver", "time", "time(6)", "lossy"),
    ("postgresql sqlserver", "uuid", "uniqueidentifier", "lossless"),
    ("postgresql oracle", "varchar(20)", "VARCHAR2(20 CHAR)", "lossy"),
    ("postgresql oracle", "text", "CLOB", "lossy"),
    ("postgresql oracle", "bigint", "NUMBER(19,0)", "lossless"),
    ("postgresql oracle", "uuid", "CHAR(36)", "lossless"),
    ("postgresql iceberg", "time", "time", "lossy"),
    ("postgresql iceberg", "smallint", "int", "lossless"),
    (
        "postgresql kafka_avro",
        "numeric(12,2)",
        '{"type":"bytes","logicalType":"decimal","precision":12,"scale":2}',
        "lossless",
    ),
    ("postgresql kafka_avro", "int4[]", '{"type":"array","items":["null","int"]}', "lossless"),
    ("postgresql kafka_json", "varchar(20)", '{"type":"string","maxLength":20}', "lossless"),
    ("postgresql kafka_protobuf", "timestamp", "string", "lossless"),
    ("postgresql parquet", "timestamptz(3)", "timestamp(millis,true)", "lossy"),
    ("mariadb postgresql", "bigint unsigned", "numeric(20,0)", "lossless"),
    ("mariadb postgresql", "int unsigned", "bigint", "lossless"),
    ("mariadb postgresql", "tinyint(1)", "smallint", "lossless"),
    ("mariadb postgresql", "datetime(3)", "timestamp(3) without time zone", "lossless"),
    ("mariadb postgresql", "enum('a','bcd')", "character varying(3)", "lossless"),
    ("mariadb postgresql", "set('a','b')", "character varying(3)", "lossless"),
    ("mariadb postgresql", "time", "time(0) without time zone", "lossy"),
    ("mariadb postgresql", "year", "smallint", "lossless"),
    ("mariadb hive", "bit(1)", "boolean", "lossless"),
    ("mysql mariadb", "mediumint unsigned", "mediumint unsigned", "lossless"),
    ("oracle postgresql", "NUMBER", "numeric", "lossless"),
    ("oracle postgresql", "DATE", "timestamp(0) without time zone", "lossless"),
    ("oracle postgresql", "TIMESTAMP(9)", "timestamp without time zone", "lossy"),
    ("oracle postgresql", "TIMESTAMP WITH TIME ZONE", "timestamp with time zone", "lossy"),
    ("oracle postgresql", "VARCHAR2(20)", "character varying(20)", "lossless"),
    ("oracle sqlserver", "NUMBER(10,2)", "decimal(10,2)", "lossless"),
    ("oracle hive", "NUMBER", "decimal(38,18)", "lossy"),
    ("sqlserver postgresql", "tinyint", "smallint", "lossless"),
    ("sqlserver postgresql", "money", "numeric(19,4)", "lossless"),
    ("sqlserver postgresql", "datetime2", "timestamp without time zone", "lossy"),
    ("sqlserver postgresql", "nvarchar(20)", "character varying(20)", "lossless"),
    ("sqlserver mysql", "varchar(max)", "longtext", "lossless"),
    ("hive postgresql", "struct<a:int,b:string>", "jsonb", "lossless"),
    (
        "hive iceberg",
        "array<struct<a:int,b:map<string,decimal(10,2)>>>",
        "list<struct<a:int,b:map<string,decimal(10,2)>>>",
        "lossless",
    ),
    ("hive kafka_protobuf", "array<array<int>>", "string", "lossless"),
    ("hive iceberg", "uniontype<int,string>", "struct<member0:int,member1:string>", "lossless"),
    ("iceberg hive", "timestamptz", "timestamp with local time zone", "lossy"),
    ("kafka_avro hive", '["null","string"]', "string", "lossless"),
    ("kafka_avro hive", '["int","string"]', "uniontype<int,string>", "lossless"),
    ("kafka_avro postgresql", "timestamp-nanos", "timestamp with time zone", "lossy"),
    ("kafka_protobuf postgresql", "uint64", "numeric(20,0)", "lossless"),
    ("kafka_json hive", '{"type":"string","format":"ipv4"}', "string", "lossless"),
    ("kafka_json postgresql", '{"type":"string","format":"ipv4"}', "inet", "lossless"),
    ("postgresql hive", "cidr", "string", "lossless"),
    ("postgresql mariadb", "cidr", "varchar(43)", "lossless"),
    ("kafka_json hive", "integer", "decimal(38,0)", "lossy"),
    ("kafka_json hive", "{}", "string", "lossless"),
    ("csv postgresql", "date(dd/MM/yyyy)", "date", "lossless"),
    ("csv postgresql", "datetime", "timestamp without time zone", "lossy"),
    ("parquet postgresql", "timestamp(nanos,true)", "timestamp with time zone", "lossy"),
    ("sqlite postgresql", "INTEGER", "bigint", "lossless"),
]


@pytest.mark.parametrize(("pair", "native", "becomes", "safety"), EXAMPLES)
def test_what_a_type_becomes(pair: str, native: str, becomes: str, safety: str) -> None:
    found = cast(*pair.split(), native)
    assert found.target is not None, found.why
    assert (found.target.rendered, found.safety) == (becomes, safety), found.why
    assert found.why


@pytest.mark.parametrize("native", ["inet", "tsvector", "money", "box2d"])
def test_what_users_of_a_warehouse_would_not_expect_has_no_cast(native: str) -> None:
    found = cast("postgresql", "hive", native)
    assert (found.target, found.safety) == (None, "none")
    assert found.why


def test_nearly_every_type_has_a_cast_to_every_other_flavor() -> None:
    covered: dict[tuple[str, str], float] = {}
    for source, target in PAIRS:
        plan = between(source, target)
        codes: dict[str, bool] = {}
        for typedef, expr in instances(source):
            codes[typedef.code] = codes.get(typedef.code, True) and plan.cast(expr).target is not None
        covered[source, target] = sum(codes.values()) / len(codes)
    lines = [
        f"{source:15}" + " ".join(f"{covered.get((source, target), 1):7.1%}" for target in FLAVORS)
        for source in FLAVORS
    ]
    sys.stdout.write("\n" + "\n".join(lines) + "\n")
    assert {pair: share for pair, share in covered.items() if share < 0.95} == {}


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_what_a_type_becomes_is_a_type_of_the_other_flavor(source: str, target: str) -> None:
    plan = between(source, target)
    for _, expr in instances(source):
        found = plan.cast(expr, name="a column")
        assert found.safety in ("lossless", "lossy", "unsafe", "none")
        if found.target is not None:
            again = parse(plan.target, found.target.rendered)
            assert again == found.target, (expr.rendered, found.target.rendered)
            assert render(plan.target, found.target.code or "", found.target.params, found.target.children)


@pytest.mark.parametrize("flavor", FLAVORS)
def test_nothing_changes_within_a_flavor(flavor: str) -> None:
    plan = between(flavor, flavor)
    assert all(plan.cast(expr).target == expr for _, expr in instances(flavor))
    assert {plan.cast(expr).safety for _, expr in instances(flavor)} == {"lossless"}


def test_a_flavor_that_is_not_ours_goes_by_logical_types() -> None:
    from registry.typesystem import Catalogue, Example

    digits = {"properties": {"precision": {"type": "integer", "maximum": 38}, "scale": {"type": "integer"}}}
    types = (
        TypeDef(
            "snow",
            "number",
            "number",
            logical_type="decimal",
            params_schema=digits,
            render_template="number({{ precision }},{{ scale }})",
            examples=(Example({}, "number"),),
        ),
        TypeDef("snow", "text", "text", logical_type="string"),
        TypeDef("snow", "double", "double", logical_type="float64"),
    )
    snow = Catalogue("snow", types)
    source = bundled_catalogue("postgresql")
    found = [
        plan_type(parse(source, each), source=source, target=snow)
        for each in ("numeric(12,2)", "int4", "uuid")
    ]
    assert [each.target.rendered for each in found if each.target] == ["number(12,2)", "number(10,0)", "text"]
    assert {each.safety for each in found} == {"lossless"}
    back = plan_type(parse(snow, "double"), source=snow, target=source)
    assert back.target is not None
    assert back.target.code == "double_precision"


@pytest.mark.parametrize("target", ["int", "decimal", "double", "boolean", "date", "timestamp"])
def test_no_rule_makes_any_text_something_else_without_loss(target: str) -> None:
    rule = Rule("text", target, safety="lossless")
    found = cast("postgresql", "hive", "text", rule)
    assert found.safety != "lossless", found
    assert cast("postgresql", "hive", "text", Rule("text", "binary", safety="lossless")).safety == "lossless"


def test_rules_apply_to_parts_and_the_safest_wins() -> None:
    wide = Rule("integer", "bigint", safety="lossless")
    text = Rule("integer", "string", safety="lossy")
    found = cast("postgresql", "hive", "int4[]", text, wide)
    assert found.target is not None
    assert found.target.rendered == "array<bigint>"
    assert cast("postgresql", "hive", "int4", text, wide).rule == wide
    narrow = Rule("integer", "tinyint", safety="lossless")
    assert cast("postgresql", "hive", "int4", narrow).safety == "lossy"
    assert cast("postgresql", "hive", "int4", Rule("integer", "bigint", safety="unsafe")).safety == "unsafe"


def test_a_document_is_planned_field_by_field_with_nested_fields() -> None:
    nested = [{"name": "street", "native_type": "string"}, {"name": "no", "native_type": "int"}]
    fields = [
        {"name": "id", "native_type": "long", "nullable": False},
        {"name": "address", "native_type": "record", "fields": nested},
        {"name": "ghost", "native_type": "string", "hidden": True},
    ]
    plan = plan_document(
        clean({"schema": "", "name": "people", "fields": fields}), planner=between("kafka_avro", "hive")
    )
    assert [(f.name, f.target and f.target.rendered, f.nullable) for f in plan.fields] == [
        ("id", "bigint", False),
        ("address", "struct<street:string,no:int>", True),
    ]
