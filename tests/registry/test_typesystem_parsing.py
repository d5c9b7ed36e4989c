"""Native spellings become one normal type, whatever their case, alias, blanks and defaults."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.seeding import bundled_catalogue
from registry.typesystem import Catalogue, TypeExpr, build, parse, render

FLAVORS = (
    "postgresql", "mysql", "mariadb", "sqlite", "oracle", "sqlserver", "hive", "iceberg", "parquet", "csv",
    "kafka_avro", "kafka_json", "kafka_protobuf",
)  # fmt: skip

SAME = {
    "postgresql": [
        ("int4", "INTEGER", " integer ", "pg_catalog.int4", "Int", "serial"),
        ("varchar(20)", "character varying ( 20 )", "CHARACTER  VARYING(20)", "char varying(20)"),
        ("timestamp(3)", "timestamp(3) without time zone", "TIMESTAMP (3) WITHOUT TIME ZONE"),
        ("timestamptz", "timestamp with time zone", "timestamp(6) with time zone"),
        ("time", "time(6)", "time without time zone"),
        ("decimal", "numeric", "dec"),
        ("numeric(12)", "numeric(12,0)", "DECIMAL( 12 , 0 )"),
        ("char", "char(1)", "character(1)", "bpchar(1)", "character"),
        ("char(5)", "national char(5)", "NATIONAL CHARACTER (5)", "nchar(5)", "bpchar(5)"),
        ("varchar(5)", "national char varying(5)", "nchar varying(5)"),
        ('"char"', "pg_catalog.char", 'pg_catalog."char"'),
        ("timestamp(7)", "timestamp(6)", "timestamp(99) without time zone"),
        ("interval day to second(9)", "interval day to second"),
        ("bit", "bit(1)"),
        ("double precision", "float8", "float", "float(53)"),
        ("real", "float4", "float(24)"),
        ("interval", "interval(6)"),
        ("interval day to second(3)", "INTERVAL DAY TO SECOND (3)"),
        ("text[]", "text[][]", "text[3]", "text array", "TEXT ARRAY[4]", "_text"),
        ("timestamp(3) with time zone[]", "timestamptz(3)[]"),
        ("geometry(Point,4326)", "public.geometry(Point, 4326)", "gis.geometry(Point,4326)"),
        ('text collate "C"', 'text COLLATE pg_catalog."C"'),
        ("text", 'text collate "default"'),
    ],
    "mariadb": [
        ("int(11)", "INT", "integer", "int4", "int /* a comment */"),
        ("int(5) unsigned zerofill", "int zerofill", "int unsigned zerofill"),
        ("bool", "boolean", "tinyint(1)", "tinyint(4)", "int1"),
        ("decimal", "decimal(10)", "decimal(10,0)", "numeric", "fixed", "dec(10, 0)"),
        ("char", "char(1)", "character(1)"),
        ("bit", "bit(1)"),
        ("binary", "binary(1)"),
        ("datetime", "datetime(0)"),
        ("year", "year(4)"),
        ("double", "double precision", "real", "float8", "float(30)"),
        ("float", "float(20)", "float4"),
        (
            "varchar(20)",
            "varchar(20) character set utf8mb4",
            "VARCHAR (20) charset utf8mb4 collate utf8mb4_general_ci",
        ),
        ("varchar(9) charset latin1", "varchar(9) character set latin1 collate latin1_swedish_ci"),
        ("varchar(9) character set utf8", "varchar(9) character set utf8mb3"),
        ("text(70000)", "mediumtext", "long varchar", "long", "long varcharacter"),
        ("char(5) binary", "char(5) collate utf8mb4_bin", "char(5) charset utf8mb4 collate utf8mb4_bin"),
        ("varchar(5) charset latin1 binary", "varchar(5) character set latin1 collate latin1_bin"),
        ("nchar(5) binary", "char(5) collate utf8_bin"),
        ("char(5) ascii", "char(5) character set latin1"),
        ("text unicode", "text charset ucs2"),
        ("varchar(5) charset binary", "varbinary(5)", "varchar(5) byte"),
        ("char(5) byte", "binary(5)"),
        ("text(70000) byte", "long byte", "mediumblob", "mediumtext character set binary"),
        ("enum('a','b')", 'enum("a","b")', "enum('a ','b  ')"),
        ("text(60)", "tinytext"),
        ("blob(200)", "tinyblob"),
        ("serial", "bigint unsigned", "bigint(20) unsigned"),
        ("enum('a','b''c')", "ENUM ( 'a' , 'b\\'c' )"),
        ("geometrycollection", "geomcollection"),
    ],
    "sqlite": [
        ("INT", "integer", "BIGINT", "UNSIGNED BIG INT", "INTEGER(11)", "CHARINT", "FLOATING POINT"),
        ("VARCHAR(20)", "VARYING CHARACTER(20)", "varchar( +20 )", "NVARCHAR(20)"),
        ("", "BLOB", "  "),
        ("DOUBLE", "REAL", "float", "DOUBLE PRECISION"),
        ("STRING", "NUMERIC", "XYZZY", "ENUM('a','b')"),
        ("DATETIME", "TIMESTAMP", "timestamp(3) with time zone"),
        ("DECIMAL(10,2)", "decimal(10, 2) unsigned"),
    ],
}
DIFFERENT = [
    ("postgresql", "varchar", "varchar(10)"),
    ("postgresql", "varchar(10)", "varchar(11)"),
    ("postgresql", "timestamp", "timestamptz"),
    ("postgresql", "numeric", "numeric(10,0)"),
    ("postgresql", '"char"', "char"),
    ("postgresql", "bpchar", "char"),
    ("postgresql", "text", "text[]"),
    ("postgresql", "text", 'text collate "C"'),
    ("postgresql", "interval", "interval year to month"),
    ("mariadb", "int", "int unsigned"),
    ("mariadb", "varchar(9)", "varchar(9) character set latin1"),
    ("mariadb", "varchar(9)", "varchar(9) collate utf8mb4_bin"),
    ("mariadb", "json", "longtext"),
    ("mariadb", "enum('a','b')", "enum('b','a')"),
    ("sqlite", "VARCHAR(10)", "TEXT"),
    ("sqlite", "BLOB", "ANY"),
]


@pytest.fixture(params=FLAVORS)
def catalogue(request: pytest.FixtureRequest) -> Catalogue:
    return bundled_catalogue(request.param)


@pytest.mark.parametrize(
    ("flavor", "spellings"), [(flavor, each) for flavor, groups in SAME.items() for each in groups]
)
def test_spellings_of_one_type_are_equal_and_known(flavor: str, spellings: tuple[str, ...]) -> None:
    found = [parse(bundled_catalogue(flavor), each) for each in spellings]
    assert found[0].code is not None
    assert {each.key for each in found} == {found[0].key}
    assert len(set(found)) == 1
    assert {each.rendered for each in found} == {found[0].rendered}
    assert tuple(each.native for each in found) == spellings


@pytest.mark.parametrize(("flavor", "one", "other"), DIFFERENT)
def test_different_types_differ(flavor: str, one: str, other: str) -> None:
    catalogue = bundled_catalogue(flavor)
    assert parse(catalogue, one) != parse(catalogue, other)
    assert None not in (parse(catalogue, one).code, parse(catalogue, other).code)


@pytest.mark.parametrize(
    ("flavor", "native"),
    [
        ("postgresql", "box2d"), ("postgresql", '"My Schema"."Type"'), ("postgresql", "box2d[]"),
        ("postgresql", "varchar(0)"), ("postgresql", "varchar('x"), ("postgresql", "float(60)"),
        ("postgresql", "numeric(1,2,3)"), ("postgresql", ""), ("postgresql", "((("), ("postgresql", "other.text"),
        ("postgresql", "[]"), ("postgresql", "array"), ("postgresql", "."), ("postgresql", "interval fortnight"),
        ("mariadb", "enum"), ("mariadb", "set(1,2)"), ("mariadb", "varchar"), ("mariadb", "jsonb"),
        ("mariadb", "decimal(99,2)"), ("mariadb", "\x00"), ("mysql", "uuid"),
    ],
)  # fmt: skip
def test_an_unknown_type_keeps_its_spelling(flavor: str, native: str) -> None:
    found = parse(bundled_catalogue(flavor), native)
    assert (found.code, found.rendered, found.native) == (None, native, native)


def test_unknown_types_are_equal_by_spelling_without_regard_to_blanks() -> None:
    catalogue = bundled_catalogue("postgresql")
    assert parse(catalogue, "box2d") == parse(catalogue, " box2d ")
    assert parse(catalogue, "box2d") != parse(catalogue, "box3d")


@pytest.mark.parametrize(
    "spelling",
    [
        "numeric({})", "decimal(10, {})", "varchar({})", "varchar2({} byte)", "int({})", "int({}, true)",
        "interval day({}) to second", "interval year({}) to month", "vector({})", "float({})", "year({})",
        "point srid {}", "geometry(point, {})", "fixed({})", "bit({})[{}]", "array<decimal({}, 2)>", "time({})",
    ],
)  # fmt: skip
def test_a_number_of_thousands_of_digits_is_only_a_text(catalogue: Catalogue, spelling: str) -> None:
    native = spelling.replace("{}", "9" * 5000)
    assert parse(catalogue, native).native == native
    parse(catalogue, native, field={"type_name": spelling.split("(")[0], "type_kind": "base"})


@settings(deadline=None)
@given(st.sampled_from(FLAVORS), st.text(max_size=60))
def test_no_text_is_too_strange(flavor: str, native: str) -> None:
    found = parse(bundled_catalogue(flavor), native)
    assert found.native == native
    assert found == parse(bundled_catalogue(flavor), native)
    if flavor == "sqlite":
        assert found.code is not None


PARAMETER_KEYS = ("element", "values", "attributes", "native_type", "base_type", "base_parameters", "checks",
                  "subtype", "collation", "charset", "affinity", "name")  # fmt: skip


@settings(deadline=None)
@given(
    st.sampled_from(FLAVORS),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(PARAMETER_KEYS),
            inner, max_size=4),
        max_leaves=8,
    ),
    st.sampled_from(["enum", "domain", "composite", "array", "range", "base", None, 3]),
    st.sampled_from(["mood", "text[]", "enum('a')", "varchar(20)", "x.y"]),
)  # fmt: skip
def test_no_field_is_too_strange(flavor: str, parameters: Any, kind: Any, native: str) -> None:
    field = {"type_name": "mood", "type_schema": "x", "type_kind": kind, "parameters": parameters}
    assert parse(bundled_catalogue(flavor), native, field=field).native == native


@pytest.mark.parametrize("flavor", FLAVORS)
def test_every_example_comes_back_as_the_type_that_it_is(flavor: str) -> None:
    catalogue = bundled_catalogue(flavor)
    for typedef in catalogue:
        if typedef.kind == "user_defined":
            continue
        for example in typedef.examples:
            found = parse(catalogue, example.sql)
            assert found.code is not None, example.sql
            assert found == parse(catalogue, found.rendered), example.sql
            assert found == build(catalogue, typedef.code, example.params), example.sql
            assert render(catalogue, found.code, found.params, found.children) == found.rendered


@pytest.mark.parametrize("flavor", FLAVORS)
def test_a_database_that_does_not_keep_the_order_of_keys_does_no_harm(flavor: str) -> None:
    bundled = bundled_catalogue(flavor)
    backwards = Catalogue(
        flavor, tuple(replace(each, params_schema=_turned(each.params_schema)) for each in bundled)
    )
    for typedef in bundled:
        for example in typedef.examples:
            expected = parse(bundled, example.sql)
            assert parse(backwards, example.sql) == expected
            assert parse(backwards, example.sql).rendered == expected.rendered


def _turned(value: Any) -> Any:
    return {key: _turned(value[key]) for key in reversed(value)} if isinstance(value, dict) else value


def user_type(kind: str, native: str, schema: str, name: str, **parameters: Any) -> TypeExpr:
    field = {"type_kind": kind, "type_schema": schema, "type_name": name, "parameters": parameters}
    return parse(bundled_catalogue("postgresql"), native, field=field)


def test_user_types_are_known_by_the_field_and_named_as_format_type_names_them() -> None:
    mood = user_type("enum", "mood", "public", "mood", values=["sad", "ok"])
    assert (mood.code, mood.params) == ("enum", {"type_name": "mood", "labels": ["sad", "ok"]})
    assert mood == user_type("enum", "public.mood", "public", "mood", values=["sad", "ok"])
    assert mood != user_type("enum", "mood", "public", "mood", values=["sad", "ok", "glad"])
    assert mood != user_type("enum", "x.mood", "x", "mood", values=["sad", "ok"])
    quoted = user_type("enum", '"My Types"."weird.enum"', "My Types", "weird.enum", values=["a"])
    assert quoted.rendered == '"My Types"."weird.enum"'
    assert user_type("enum", 'public."order"', "public", "order", values=[]).rendered == '"order"'
    assert user_type("enum", "public.text", "public", "text", values=[]).rendered == "public.text"


def test_a_domain_has_its_base_as_a_child_and_its_checks_without_names() -> None:
    one = user_type(
        "domain", "x.money2", "x", "money2",
        base_type="numeric(14,3)", base_parameters={"precision": 14, "scale": 3}, not_null=True, default="0",
        checks=[{"name": "b", "definition": "CHECK (2)"}, {"name": "a", "definition": "CHECK (1)"}],
    )  # fmt: skip
    assert one.children["base"].rendered == "numeric(14,3)"
    assert one.params == {
        "type_name": "x.money2", "check": ["CHECK (1)", "CHECK (2)"], "not_null": True, "default": "0",
    }  # fmt: skip
    nested = user_type(
        "domain", "n", "public", "n", base_type="x.money2", base_parameters={"base_type": "text"}
    )
    assert nested.children["base"].code == "domain"
    assert nested.children["base"].children["base"].code == "text"


def test_arrays_of_user_types_and_ranges_keep_what_they_are_made_of() -> None:
    element = {"native_type": "lvl", "type_kind": "enum", "type_name": "lvl", "type_schema": "public"}
    array = user_type(
        "array", "lvl[]", "public", "lvl", element={**element, "parameters": {"values": ["low"]}}
    )
    assert array.children["element"].params["labels"] == ["low"]
    assert array.rendered == "lvl[]"
    span = user_type("range", "floatspan", "public", "floatspan", subtype="float8")
    assert (span.code, span.children["subtype"].rendered) == ("range", "double precision")
    item = user_type("composite", "item", "public", "item", attributes=[{"name": "n", "native_type": "int4"}])
    assert item.params["attributes"] == [{"name": "n", "type": "integer"}]
    assert user_type("domain", '"a[]"', "public", "a[]", base_type="integer").rendered == '"a[]"'


def test_mariadb_takes_character_sets_and_json_from_the_field() -> None:
    catalogue = bundled_catalogue("mariadb")
    settings = {"charset": "latin1", "collation": "latin1_bin"}
    assert parse(catalogue, "varchar(9)", field={"parameters": settings}).params == {"length": 9, **settings}
    usual = {"charset": "utf8mb4", "collation": "utf8mb4_general_ci", "length": 9}
    assert parse(catalogue, "varchar(9)", field={"parameters": usual}) == parse(catalogue, "varchar(9)")
    json = {"json_alias": True, "charset": "utf8mb4", "collation": "utf8mb4_bin"}
    assert parse(catalogue, "longtext", field={"parameters": json}) == parse(catalogue, "json")


def test_sqlite_goes_by_the_affinity_that_the_table_gives() -> None:
    catalogue = bundled_catalogue("sqlite")
    assert parse(catalogue, "ANY", field={"parameters": {"affinity": "NONE"}}).code == "any"
    assert parse(catalogue, "ANY", field={"parameters": {"affinity": "NUMERIC"}}).code == "numeric"


def test_a_flavor_without_rules_of_its_own_reads_names_and_numbers_in_order(catalogue: Catalogue) -> None:
    other = Catalogue("oracle", catalogue.types)
    for typedef in other:
        assert parse(other, typedef.name).code in (None, typedef.code)
    assert parse(other, "no_such_type(3)").code is None


def test_equality_is_by_meaning_and_nothing_else() -> None:
    catalogue = bundled_catalogue("postgresql")
    assert parse(catalogue, "int4") != "integer"
    assert parse(catalogue, "int4") in {parse(catalogue, "integer")}
    assert build(catalogue, "array", {"element": "int4", "dimensions": 2}) == parse(catalogue, "integer[]")
    assert str(parse(catalogue, "int4")) == "integer"


@pytest.mark.parametrize("flavor", FLAVORS)
def test_what_is_no_type_however_long_is_soon_unknown(flavor: str) -> None:
    """Each of these took a minute and more where a pattern tries every blank and bracket with every other."""
    catalogue, many = bundled_catalogue(flavor), 20_000
    for text in (
        "int[" + " " * many + "x ]",
        "int" + " " * many + "x[",
        "int" + "[]" * many + "x]",
        "decimal(" + "\t" * many + "1 x",
        " " * many + "x",
        "map<" * many,
        "struct<" + "a:int," * many,
        '{"a":' * many,
    ):
        assert parse(catalogue, text).code in (None, "numeric", "blob", "integer"), text[:20]
