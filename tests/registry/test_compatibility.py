"""Which type holds every value of another, engine by engine, and that the answers hang together."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.compatibility import fits, without_text_settings
from registry.seeding import bundled_catalogue
from registry.typesystem import TypeExpr, parse

FITS = {
    "postgresql": [
        "smallint > integer", "smallint > bigint", "integer > bigint", "smallint > numeric(5,0)",
        "integer > numeric(10,0)", "integer > numeric(12,2)", "bigint > numeric(19)", "bigint > numeric",
        "smallint > real", "smallint > float8", "integer > float8", "real > float8",
        "numeric(10,2) > numeric(12,2)", "numeric(10,2) > numeric(12,4)", "numeric(10,2) > numeric",
        "numeric(3,-2) > numeric(5,0)", "varchar(10) > varchar(20)", "varchar(10) > varchar",
        "varchar(10) > text", "text > varchar", "varchar > text", "varbit(8) > varbit(9)",
        "varbit(8) > varbit", "time(3) > time", "timestamp(0) > timestamp(3)",
        "timestamptz(3) > timestamptz", "interval(2) > interval", "interval day to second(2) > interval(2)",
        "interval year to month > interval(0)", "interval second(1) > interval second(2)", "int4[] > int8[]",
        "varchar(3)[] > text[]", "int4 > integer", "timestamp > timestamp(6)",
    ],
    "mariadb": [
        "tinyint > smallint", "tinyint > int", "tinyint unsigned > smallint", "int unsigned > bigint",
        "int > decimal(10,0)", "bigint > decimal(19,0)", "bigint unsigned > decimal(20,0)",
        "int unsigned > decimal(12,2) unsigned", "mediumint > decimal(7,0)",
        "mediumint unsigned > decimal(8,0)", "decimal > decimal(12,2)", "smallint > float", "int > double",
        "float > double", "float(7,3) > float", "float(7,3) > double(8,4)", "tinyint > double(5,1)",
        "varchar(10) > varchar(20)", "char(5) > varchar(5)", "char(5) > char(6)", "varchar(60) > tinytext",
        "varchar(64) > text", "varchar(64) character set latin1 > tinytext character set latin1",
        "tinytext > text", "text > longtext", "tinytext > varchar(255)", "binary(4) > varbinary(4)",
        "varbinary(255) > tinyblob", "tinyblob > longblob", "bit(3) > bit(4)", "datetime > datetime(3)",
        "time(1) > time(2)", "timestamp > timestamp(6)", "enum('a','b') > enum('c','a','b')",
        "set('a','b') > set('a','c','b')", "point > geometry", "int(4) > int(11)",
    ],
    "sqlite": [
        "INT > BIGINT", "VARCHAR(10) > VARCHAR(20)", "VARCHAR(10) > TEXT", "CHAR(3) > VARCHAR(3)",
        "INTEGER > NUMERIC", "REAL > NUMERIC", "DECIMAL(10,2) > DECIMAL(12,2)", "DECIMAL(10,2) > NUMERIC",
        "DATE > ANY", "BLOB > ANY", "XYZZY > NUMERIC",
    ],
}  # fmt: skip
DOES_NOT_FIT = {
    "postgresql": [
        "integer > smallint", "bigint > integer", "integer > real", "bigint > float8", "bigint > real",
        "float8 > real", "numeric > float8", "numeric(4,0) > integer", "smallint > numeric(4,0)",
        "integer > numeric(10,1)", "bigint > numeric(18,0)", "numeric(10,2) > numeric(10,3)",
        "numeric(10,2) > numeric(12,1)", "numeric > numeric(10,2)", "integer > numeric(12,-1)",
        "varchar(20) > varchar(10)", "text > varchar(10)", "varchar > varchar(10)", "char(5) > char(8)",
        "char(5) > text", "varchar(5) > char(5)", "bit(3) > bit(4)", "bit(3) > varbit(3)", "time > time(3)",
        "timestamp > timestamptz", "timestamptz > timestamp", "timestamp(3) > timestamptz(3)",
        "date > timestamp", "interval > interval(5)", "interval > interval day", "int8[] > int4[]",
        "integer > text", "integer > integer[]", "json > jsonb", "integer > boolean", "integer > box2d",
        "box2d > integer", "text > bytea", "int4range > int8range",
    ],
    "mariadb": [
        "smallint > tinyint", "int unsigned > int", "int > int unsigned", "bigint unsigned > bigint",
        "int > decimal(10,1)", "bigint unsigned > decimal(19,0)", "int > decimal(12,0) unsigned",
        "decimal(10,2) > decimal(12,1)", "int > float", "mediumint > float", "bigint > double",
        "double > float", "float > float(7,3)", "varchar(20) > varchar(10)", "varchar(5) > char(5)",
        "varchar(64) > tinytext", "varchar(20000) > text", "text > tinytext", "text > varchar(255)",
        "varbinary(4) > binary(4)", "binary(4) > binary(5)", "blob > tinyblob", "bit(4) > bit(3)",
        "datetime(3) > datetime", "datetime > timestamp", "timestamp > datetime", "date > datetime",
        "enum('a','b') > enum('a')", "set('a','b') > set('b','a')", "enum('a') > set('a')",
        "enum('a') > varchar(10)", "geometry > point", "varchar(10) > varchar(20) character set latin1",
        "varchar(10) > varchar(20) collate utf8mb4_bin", "int > varchar(20)", "json > longtext",
        "uuid > inet6",
    ],
    "sqlite": [
        "TEXT > INTEGER", "INTEGER > TEXT", "INTEGER > REAL", "NUMERIC > INTEGER",
        "VARCHAR(20) > VARCHAR(10)", "TEXT > VARCHAR(5)", "DECIMAL(10,2) > DECIMAL(10,1)",
        "NUMERIC > DECIMAL(10,2)", "DATE > BOOLEAN", "TEXT > BLOB", "ANY > TEXT", "TEXT > ANY",
    ],
}  # fmt: skip


def pair(flavor: str, text: str) -> tuple[TypeExpr, TypeExpr]:
    """The two types of `old > new`."""
    old, new = text.split(" > ")
    return parse(bundled_catalogue(flavor), old), parse(bundled_catalogue(flavor), new)


def cases(groups: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(flavor, text) for flavor, texts in groups.items() for text in texts]


@pytest.mark.parametrize(("flavor", "text"), cases(FITS))
def test_every_old_value_fits(flavor: str, text: str) -> None:
    old, new = pair(flavor, text)
    fit = fits(old, new, catalogue=bundled_catalogue(flavor))
    assert (fit.ok, old.code is not None, new.code is not None) == (True, True, True), fit.why


@pytest.mark.parametrize(("flavor", "text"), cases(DOES_NOT_FIT))
def test_some_old_value_does_not_fit(flavor: str, text: str) -> None:
    old, new = pair(flavor, text)
    fit = fits(old, new, catalogue=bundled_catalogue(flavor))
    assert not fit.ok, fit.why


@pytest.mark.parametrize(
    ("flavor", "text", "why"),
    [
        ("postgresql", "varchar(50) > varchar(20)", "Values longer than 20 characters would be cut"),
        ("postgresql", "bigint > integer", "Numbers above 2147483647 would not fit"),
        ("postgresql", "numeric(10,2) > numeric(9,2)",
         "Numbers with more than 7 digits before the point would not fit"),
        ("postgresql", "numeric(10,2) > numeric(10,1)",
         "Digits after place 1 behind the point would be rounded away"),
        ("postgresql", "timestamp > timestamptz",
         "A time with and one without a time zone do not mean the same moment"),
        ("postgresql", "timestamp > timestamp(0)", "Fractions of a second would be rounded to whole seconds"),
        ("postgresql", "int8[] > int4[]", "Of each element: numbers above 2147483647 would not fit"),
        ("postgresql", "box2d > integer", "The catalogue does not know box2d, so nothing is certain"),
        ("postgresql", "text > bytea", "text cannot always be read as bytea"),
        ("mariadb", "int > int unsigned", "Negative numbers would not fit"),
        ("mariadb", "enum('a','b') > enum('a')", "The value 'b' can no longer be stored"),
        ("mariadb", "varchar(9) > varchar(9) character set latin1",
         "The character set changes from the usual one to latin1"),
    ],
)  # fmt: skip
def test_the_reason_is_told_in_words(flavor: str, text: str, why: str) -> None:
    old, new = pair(flavor, text)
    assert fits(old, new, catalogue=bundled_catalogue(flavor)).why == why


def test_user_types_go_by_what_they_are_made_of() -> None:
    catalogue = bundled_catalogue("postgresql")

    def user(kind: str, name: str = "t", **parameters: object) -> TypeExpr:
        field = {"type_kind": kind, "type_schema": "public", "type_name": name, "parameters": parameters}
        return parse(catalogue, name, field=field)

    def ok(old: TypeExpr, new: TypeExpr) -> bool:
        return fits(old, new, catalogue=catalogue).ok

    assert ok(user("enum", values=["a", "b"]), user("enum", values=["a", "c", "b"]))
    assert not ok(user("enum", values=["a", "b"]), user("enum", values=["a"]))
    assert not ok(user("enum", values=["a"]), user("enum", "other", values=["a"]))
    check = [{"name": "c", "definition": "CHECK (VALUE > 0)"}]
    assert ok(user("domain", base_type="int4", checks=check), user("domain", base_type="int8"))
    assert not ok(user("domain", base_type="int4"), user("domain", base_type="int4", checks=check))
    assert not ok(user("domain", base_type="int4"), user("domain", base_type="int4", not_null=True))
    one = user("composite", attributes=[{"name": "a", "native_type": "integer"}])
    other = user("composite", attributes=[{"name": "a", "native_type": "bigint"}])
    assert fits(one, other, catalogue=catalogue).why == "What t is made of changes"


def test_text_settings_can_be_left_out_of_a_comparison() -> None:
    catalogue = bundled_catalogue("mariadb")
    old, new = parse(catalogue, "varchar(9)"), parse(catalogue, "varchar(9) collate utf8mb4_bin")
    assert without_text_settings(old) == without_text_settings(new)
    assert without_text_settings(old) is old


def _spellings(flavor: str) -> list[str]:
    texts = [each for groups in (FITS, DOES_NOT_FIT) for each in groups[flavor]]
    found = {expr.rendered for text in texts for expr in pair(flavor, text)}
    found |= {example.sql for typedef in bundled_catalogue(flavor) for example in typedef.examples}
    return sorted(found)


def test_every_type_fits_itself() -> None:
    for flavor in FITS:
        catalogue = bundled_catalogue(flavor)
        for spelling in _spellings(flavor):
            assert fits(parse(catalogue, spelling), parse(catalogue, spelling), catalogue=catalogue).ok


def test_what_fits_in_two_steps_fits_in_one() -> None:
    for flavor in FITS:
        catalogue = bundled_catalogue(flavor)
        types = list({parse(catalogue, spelling) for spelling in _spellings(flavor)})
        takes = {old: {new for new in types if fits(old, new, catalogue=catalogue).ok} for old in types}
        for old in types:
            for between in takes[old]:
                missing = takes[between] - takes[old]
                assert not missing, f"{old} fits {between}, and that fits {', '.join(map(str, missing))}"


def _numbers(flavor: str) -> st.SearchStrategy[str]:
    small, scale = st.integers(1, 30), st.integers(0, 10)
    if flavor == "postgresql":
        return st.one_of(
            st.sampled_from(["smallint", "integer", "bigint", "real", "float8", "numeric", "text", "varchar"]),
            st.builds("numeric({},{})".format, small, st.integers(-5, 10)),
            st.builds("varchar({})".format, small),
            st.builds("{}({})".format, st.sampled_from(["time", "timestamp", "interval", "interval day to second"]),
                      st.integers(0, 6)),
            st.sampled_from(["interval year", "interval day to hour", "interval", "timestamptz"]),
        )  # fmt: skip
    sign = st.sampled_from(["", " unsigned"])
    return st.one_of(
        st.builds("{}{}".format, st.sampled_from(["tinyint", "smallint", "mediumint", "int", "bigint"]), sign),
        st.builds("{}{}".format, st.sampled_from(["float", "double", "decimal"]), sign),
        st.builds(lambda p, s, name, u: f"{name}({max(p, s)},{s}){u}", small, scale,
                  st.sampled_from(["decimal", "float", "double"]), sign),
        st.builds("{}({})".format, st.sampled_from(["char", "varchar", "binary", "varbinary"]), st.integers(0, 255)),
        st.sampled_from(["tinytext", "text", "longtext", "tinyblob", "blob", "varchar(16383)", "varchar(16384)"]),
    )  # fmt: skip


@pytest.mark.parametrize("flavor", ["postgresql", "mariadb"])
def test_fitting_is_transitive_for_any_lengths_and_scales(flavor: str) -> None:
    catalogue = bundled_catalogue(flavor)

    @settings(deadline=None)
    @given(st.lists(_numbers(flavor), min_size=3, max_size=12))
    def holds(spellings: list[str]) -> None:
        types = [parse(catalogue, each) for each in spellings]
        ok = {(a, b) for a in types for b in types if fits(a, b, catalogue=catalogue).ok}
        assert all((each, each) in ok for each in types)
        for a, b in ok:
            assert all((a, c) in ok for c in types if (b, c) in ok), (str(a), str(b))

    holds()


@pytest.mark.parametrize(
    ("flavor", "text", "expected"),
    [
        ("hive", "int > bigint", True),
        ("hive", "bigint > int", False),
        ("hive", "decimal(10,2) > decimal(12,2)", True),
        ("hive", "decimal(10,2) > decimal(10,3)", False),
        ("hive", "varchar(10) > string", True),
        ("hive", "int > string", False),
        ("hive", "array<int> > array<bigint>", True),
        ("hive", "bigint > double", False),
        ("oracle", "VARCHAR2(10) > VARCHAR2(20)", True),
        ("oracle", "NUMBER(10) > NUMBER(5)", False),
        ("sqlserver", "int > bigint", True),
        ("sqlserver", "nvarchar(10) > varchar(10)", False),
        ("sqlserver", "int > varchar(20)", False),
    ],
)
def test_flavors_without_rules_of_their_own_go_by_the_values_that_types_hold(flavor, text, expected):
    catalogue = bundled_catalogue(flavor)
    old, new = (parse(catalogue, each) for each in text.split(" > "))
    assert fits(old, new, catalogue=catalogue).ok is expected
