"""The native spellings of warehouses, files, messages, Oracle and SQL Server become one normal type each."""

from __future__ import annotations

import pytest

from registry.seeding import bundled_catalogue
from registry.typesystem import TypeExpr, build, parse

SAME: dict[str, list[tuple[str, ...]]] = {
    "hive": [
        (
            "array<struct<a:int,b:map<string,decimal(10,2)>>>",
            "ARRAY< STRUCT< A : INTEGER COMMENT 'how, many', b: map <string, decimal(10, 2)> > >",
            "array<struct<`a`:int,b:map<string,dec(10,2)>>>",
        ),
        ("decimal", "decimal(10)", "decimal(10,0)", "NUMERIC"),
        ("timestamp with local time zone", "TIMESTAMPLOCALTZ"),
        ("uniontype<int,struct<a:double>>", "UNIONTYPE< INT , STRUCT<a:DOUBLE PRECISION> >"),
        ("struct<`house no`:int>", "struct< `house no` : int NOT NULL >"),
    ],
    "iceberg": [
        (
            "list<struct<a:int,b:string>>",
            "array<struct<a: integer, b: string>>",
            "list<struct<1: a: optional int, 2: b: required string>>",
            '{"type":"list","element-id":3,"element":{"type":"struct","fields":[{"id":1,"name":"a","required":true,'
            '"type":"int"},{"id":2,"name":"b","required":false,"type":"string"}]},"element-required":false}',
        ),
        ("fixed[16]", "fixed(16)", "FIXED [ 16 ]"),
        ("long", "bigint"),
        ("timestamptz", "timestamp_ltz"),
        ("decimal(9,2)", "decimal(9, 2)"),
        ("geography(OGC:CRS84, karney)", "GEOGRAPHY( OGC:CRS84,karney )"),
    ],
    "kafka_avro": [
        ("string", '"string"', '{"type":"string"}', '{"type":"string","avro.java.string":"String"}'),
        (
            "timestamp-millis",
            '{"type":"long","logicalType":"timestamp-millis"}',
            '{"logicalType": "timestamp-millis", "type": "long", "connect.name": "x"}',
        ),
        (
            '{"type":"array","items":"long"}',
            '{"type":{"type":"array","items":{"type":"long"}}}',
            "array<long>",
        ),
        (
            '{"type":"bytes","logicalType":"decimal","precision":4}',
            '{"type":"bytes","logicalType":"decimal","precision":4,"scale":0}',
        ),
        ("bytes", '{"type":"bytes","logicalType":"decimal"}'),
        ("long", '{"type":"long","logicalType":"date"}', '{"type":"long","logicalType":"no-such-thing"}'),
        (
            '{"type":"enum","name":"org.x.S","symbols":["A"]}',
            '{"type":"enum","namespace":"org.x","name":"S","symbols":["A"],"default":"A"}',
        ),
        (
            '{"type":"record","name":"R","fields":[{"name":"a","type":["null","int"]}]}',
            '{"type":"record","name":"R","doc":"…","fields":[{"name":"a","type":["null",{"type":"int"}],"default":null}]}',
        ),
    ],
    "kafka_json": [
        (
            "string",
            '{"type":"string"}',
            '{"type":["string"],"description":"…"}',
            '{"type":"string","minLength":0}',
        ),
        ("date-time", '{"type":"string","format":"date-time"}'),
        ("{}", "true", '{"description":"anything"}'),
        ('{"type":"string","maxLength":20}', '{"maxLength":20.0,"type":"string"}'),
        (
            '{"type":"object","properties":{"a":{"type":"integer"}}}',
            '{"properties":{"a":{"type":"integer","title":"A"}},"required":[]}',
        ),
        ('{"oneOf":[{"type":"null"},{"type":"string"}]}', '{"type":["null","string"]}'),
        ('{"type":"string","enum":["a","b"]}', '{"enum":["a","b"]}'),
        ('{"type":"object","additionalProperties":{}}', '{"type":"object"}'),
    ],
    "kafka_protobuf": [
        ("repeated google.protobuf.Timestamp", "repeated .google.protobuf.Timestamp"),
        ("map<string,int32>", "map< string , int32 >"),
        ("int32", "optional int32"),
        ("enum shop.Colour {RED,GREEN}", "enum .shop.Colour { RED = 0; GREEN = 1; }"),
        (
            "message A {string a; repeated int32 b;}",
            "message A { string a = 1; repeated int32 b = 2 [packed=true]; }",
        ),
        ("confluent.type.Decimal(12,2)", ".confluent.type.Decimal( 12, 2 )"),
    ],
    "parquet": [
        (
            "string",
            "binary (UTF8)",
            "BYTE_ARRAY (STRING)",
            "optional binary name (STRING)",
            "large_string",
            "dictionary<values=string, indices=int32, ordered=0>",
        ),
        (
            "timestamp(micros,true)",
            "INT64 (TIMESTAMP(MICROS,true))",
            "timestamp[us, tz=UTC]",
            "TIMESTAMP_MICROS",
            "TIMESTAMP(isAdjustedToUTC=true, unit=MICROS)",
            "Timestamp(isAdjustedToUTC=true, timeUnit=microseconds, is_from_converted_type=false)",
        ),
        ("time(nanos,false)", "Time(isAdjustedToUTC=false, timeUnit=nanoseconds)"),
        ("int(8,true)", "INT_8", "int8", "int32 (INT(8,true))", "Int(bitWidth=8, isSigned=true)"),
        ("int32", "int(32,true)", "INT_32"),
        ("int(16,false)", "uint16", "UINT_16"),
        ("date", "date32[day]", "int32 (DATE)"),
        (
            "decimal(10,2)",
            "decimal128(10, 2)",
            "fixed_len_byte_array(5) (DECIMAL(10,2))",
            "Decimal(precision=10, scale=2)",
        ),
        ("list<string>", "list<element: string>", "list<item: string not null>", "large_list<utf8>"),
        ("struct<a:int32,b:double>", "struct<a: int32 not null, b: float64>"),
    ],
    "csv": [
        ("string", "TEXT"),
        ("decimal(10)", "decimal(10,0)"),
        ("date( dd/MM/yyyy )", "DATE(dd/MM/yyyy)"),
    ],
    "oracle": [
        ("NUMBER(10,2)", "number( 10 , 2 )", "NUMERIC(10,2)"),
        ("NUMBER(10)", "NUMBER(10,0)"),
        ("NUMBER(38,2)", "NUMBER(*,2)"),
        ("NUMBER", "NUMBER(*)"),
        ("NUMBER(38)", "INTEGER", "smallint", "DECIMAL", "numeric", "DEC", "NUMBER(*,0)"),
        ("UROWID", "UROWID(4000)"),
        ("VARCHAR2(20)", "varchar2(20 byte)", "VARCHAR(20)", "CHARACTER VARYING (20)"),
        ("VARCHAR2(20 CHAR)", "varchar2( 20 char )"),
        ("CHAR", "CHAR(1)", "character(1 BYTE)"),
        ("FLOAT", "FLOAT(126)", "double precision"),
        ("FLOAT(63)", "REAL"),
        ("TIMESTAMP(6) WITH LOCAL TIME ZONE", "timestamp with local time zone"),
        ("TIMESTAMP(3) WITH TIME ZONE", "timestamp (3) with time zone"),
        ("INTERVAL DAY(2) TO SECOND(6)", "interval day to second"),
        ("INTERVAL YEAR (4) TO MONTH", "interval year(4) to month"),
        ("SDO_GEOMETRY", "MDSYS.SDO_GEOMETRY"),
        ("VECTOR(3)", "vector(3, float32)"),
        ("REF person_t", "ref PERSON_T"),
    ],
    "sqlserver": [
        ("nvarchar(max)", "NVARCHAR( MAX )", "[nvarchar](max)", "national character varying(max)"),
        ("datetime2", "datetime2(7)"),
        ("decimal", "numeric(18)", "dec(18,0)"),
        ("real", "float(24)"),
        ("float", "float(53)", "double precision"),
        ("varchar", "varchar(1)"),
        ("rowversion", "timestamp"),
        ("xml(dbo.x)", "xml(CONTENT [dbo].[x])"),
        ("geometry", "[sys].[geometry]", "sys.geometry", "SYS.[geometry]"),
        ("varchar(5)", "sys.varchar(5)"),
    ],
}
DIFFERENT = [
    ("hive", "struct<a:int,b:int>", "struct<b:int,a:int>"),
    ("hive", "uniontype<int,string>", "uniontype<string,int>"),
    ("hive", "array<int>", "array<bigint>"),
    ("hive", "timestamp", "timestamp with local time zone"),
    ("iceberg", "timestamp", "timestamptz"),
    ("iceberg", "fixed[16]", "binary"),
    ("kafka_avro", '["null","string"]', '["string","null"]'),
    ("kafka_avro", "timestamp-millis", "timestamp-micros"),
    ("kafka_json", '{"type":"string","maxLength":1}', '{"type":"string","maxLength":2}'),
    ("kafka_protobuf", "enum A {X,Y}", "enum A {Y,X}"),
    ("kafka_protobuf", "int32", "google.protobuf.Int32Value"),
    ("parquet", "timestamp(micros,true)", "timestamp(micros,false)"),
    ("csv", "date(dd/MM/yyyy)", "date(MM/dd/yyyy)"),
    ("oracle", "VARCHAR2(20)", "VARCHAR2(20 CHAR)"),
    ("oracle", "NUMBER", "NUMBER(38,0)"),
    ("oracle", "DATE", "TIMESTAMP(0)"),
    ("sqlserver", "nvarchar(4000)", "nvarchar(max)"),
    ("sqlserver", "datetime", "datetime2(3)"),
]
UNKNOWN = [
    ("hive", "map<string>"),
    ("hive", "array<"),
    ("hive", "array<blah>"),
    ("hive", "struct<>"),
    ("hive", "varchar(70000)"),
    ("hive", "struct<a:int,A:int>"),
    ("hive", "array<int>>"),
    ("iceberg", "decimal(40,2)"),
    ("iceberg", '{"type":"list"}'),
    ("kafka_avro", "decimal"),
    ("kafka_avro", "org.example.Address"),
    ("kafka_avro", "[]"),
    ("kafka_avro", '{"type":"record"}'),
    ("kafka_avro", "{"),
    ("kafka_json", '{"$ref":"#/x"}'),
    ("kafka_json", '{"enum":[1,2]}'),
    ("kafka_protobuf", "INT32"),
    ("kafka_protobuf", "Address"),
    ("kafka_protobuf", "message A { B b = 1; }"),
    ("parquet", "timestamp[fortnight]"),
    ("oracle", "VARCHAR2(0)"),
    ("oracle", "NUMBER(99)"),
    ("sqlserver", "char(max)"),
    ("sqlserver", "[dbo].[phone]"),
    ("csv", "decimal(x)"),
]


@pytest.mark.parametrize(
    ("flavor", "spellings"), [(flavor, each) for flavor, groups in SAME.items() for each in groups]
)
def test_spellings_of_one_type_are_equal_and_known(flavor: str, spellings: tuple[str, ...]) -> None:
    found = [parse(bundled_catalogue(flavor), each) for each in spellings]
    assert found[0].code is not None
    assert {each.key for each in found} == {found[0].key}
    assert {each.rendered for each in found} == {found[0].rendered}
    assert tuple(each.native for each in found) == spellings


@pytest.mark.parametrize(("flavor", "one", "other"), DIFFERENT)
def test_different_types_differ(flavor: str, one: str, other: str) -> None:
    first, second = (parse(bundled_catalogue(flavor), each) for each in (one, other))
    assert None not in (first.code, second.code)
    assert first != second
    assert first.rendered != second.rendered


@pytest.mark.parametrize(("flavor", "native"), UNKNOWN)
def test_an_unknown_type_keeps_its_spelling(flavor: str, native: str) -> None:
    assert parse(bundled_catalogue(flavor), native) == TypeExpr(None, native=native)


@pytest.mark.parametrize("flavor", SAME)
def test_what_is_nested_too_deeply_is_unknown(flavor: str) -> None:
    for text in (
        "array<" * 5000 + "int" + ">" * 5000,
        "[" * 5000,
        '{"type":' * 5000,
        "repeated " * 5000 + "int32",
    ):
        assert parse(bundled_catalogue(flavor), text).code is None


def test_parts_keep_their_order_and_may_be_spelled_as_parameters() -> None:
    catalogue = bundled_catalogue("hive")
    spelled = build(
        catalogue, "struct", {"fields": [{"name": "b", "type": "int"}, {"name": "a", "type": "string"}]}
    )
    assert spelled == parse(catalogue, "struct<b:int,a:string>")
    assert spelled.params == {"fields": ["b", "a"]}
    assert build(catalogue, "struct", spelled.params, spelled.children) == spelled
    assert build(catalogue, "uniontype", {"members": ["int", "string"]}).children["1"].code == "string"


def test_named_types_of_protobuf_and_oracle_are_known_by_the_field() -> None:
    colour = parse(bundled_catalogue("kafka_protobuf"), "shop.Colour", field={"type_kind": "enum"})
    assert (colour.code, colour.rendered) == ("enum", "enum shop.Colour")
    phones = parse(bundled_catalogue("oracle"), "phones_t", field={"type_kind": "varray"})
    assert (phones.code, phones.params) == ("varray", {"type_name": "PHONES_T"})
