"""Which type holds every value of another: warehouses, messages, files, Oracle and SQL Server by their own rules."""

from __future__ import annotations

import pytest

from registry.compatibility import fits
from registry.seeding import bundled_catalogue
from registry.typesystem import parse

FITS = {
    "hive": [
        "tinyint > smallint",
        "int > bigint",
        "int > decimal(10,0)",
        "bigint > decimal(21,2)",
        "int > double",
        "float > double",
        "decimal(10,2) > decimal(12,2)",
        "varchar(10) > varchar(20)",
        "varchar(10) > string",
        "char(5) > string",
        "array<int> > array<bigint>",
        "map<string,int> > map<string,bigint>",
        "struct<a:int> > struct<a:bigint,b:string>",
    ],
    "iceberg": [
        "int > long",
        "float > double",
        "decimal(9,2) > decimal(18,2)",
        "list<int> > list<long>",
        "unknown > string",
        "struct<a:int,b:string> > struct<b:string,c:date,a:long>",
    ],
    "kafka_avro": [
        "int > long",
        "int > double",
        "float > double",
        'int > ["null","long"]',
        '["null","int"] > ["string","null","int"]',
        '{"type":"bytes","logicalType":"decimal","precision":9,"scale":2} > '
        '{"type":"bytes","logicalType":"decimal","precision":12,"scale":2}',
        '{"type":"enum","name":"S","symbols":["A"]} > {"type":"enum","name":"S","symbols":["B","A"]}',
        '{"type":"array","items":"int"} > {"type":"array","items":"long"}',
    ],
    "kafka_json": [
        '{"type":"string","maxLength":5} > {"type":"string","maxLength":9}',
        '{"type":"string","maxLength":5} > string',
        '{"type":"string","pattern":"a+"} > string',
        '{"type":"integer","minimum":0,"maximum":9} > integer',
        "integer > number",
        '{"enum":["a"]} > {"enum":["a","b"]}',
        '{"enum":["a"]} > string',
        "string > {}",
        '{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]} > '
        '{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"}}}',
    ],
    "kafka_protobuf": [
        "int32 > int64",
        "uint32 > int64",
        "sint32 > sint64",
        "enum A {X} > enum A {X,Y}",
        "message A {int32 a;} > message A {int64 a; string b;}",
        "repeated int32 > repeated int64",
    ],
    "parquet": [
        "int(8,true) > int32",
        "uint16 > int32",
        "int32 > int64",
        "float > double",
        "decimal(9,2) > decimal(18,4)",
        "timestamp(micros,true) > timestamp(micros,true)",
        "list<int32> > list<int64>",
    ],
    "csv": ["integer > decimal", "decimal(10,2) > decimal(12,2)", "string(5) > string"],
    "oracle": [
        "NUMBER(10,2) > NUMBER(12,2)",
        "NUMBER(10,2) > NUMBER",
        "VARCHAR2(20) > VARCHAR2(30)",
        "VARCHAR2(20) > VARCHAR2(20 CHAR)",
        "VARCHAR2(20 CHAR) > VARCHAR2(80)",
        "VARCHAR2(20) > CLOB",
        "TIMESTAMP(3) > TIMESTAMP(6)",
        "DATE > TIMESTAMP(0)",
        "RAW(8) > RAW(16)",
        "BINARY_FLOAT > BINARY_DOUBLE",
        "TIMESTAMP WITH LOCAL TIME ZONE > TIMESTAMP WITH TIME ZONE",
    ],
    "sqlserver": [
        "tinyint > smallint",
        "int > bigint",
        "int > decimal(12,2)",
        "money > decimal(19,4)",
        "varchar(20) > nvarchar(20)",
        "nvarchar(20) > nvarchar(max)",
        "datetime > datetime2(3)",
        "smalldatetime > datetime2(0)",
        "time(3) > time",
        "datetime2(3) > datetime2",
        "real > float",
        "varbinary(8) > varbinary(max)",
        "int > float",
    ],
}
DOES_NOT_FIT = {
    "hive": [
        "bigint > int",
        "bigint > double",
        "string > varchar(10)",
        "decimal(10,2) > decimal(10,3)",
        "int > string",
        "timestamp > timestamp with local time zone",
        "varchar(5) > char(5)",
        "struct<a:int,b:int> > struct<b:int,a:int>",
        "struct<a:int> > struct<b:int>",
        "date > timestamp",
        "char(5) > char(8)",
    ],
    "iceberg": [
        "long > int",
        "int > double",
        "int > decimal(10,0)",
        "decimal(9,2) > decimal(12,4)",
        "date > timestamp",
        "timestamp > timestamptz",
        "string > binary",
        "struct<a:int,b:int> > struct<a:int>",
    ],
    "kafka_avro": [
        "long > int",
        "int > float",
        "long > double",
        "string > bytes",
        "bytes > string",
        '["null","int"] > int',
        '["null","string"] > ["null","int"]',
        "timestamp-millis > timestamp-micros",
        '{"type":"bytes","logicalType":"decimal","precision":9,"scale":2} > '
        '{"type":"bytes","logicalType":"decimal","precision":12,"scale":4}',
        '{"type":"enum","name":"S","symbols":["A","B"]} > {"type":"enum","name":"S","symbols":["A"]}',
        '{"type":"enum","name":"S","symbols":["A"]} > {"type":"enum","name":"T","symbols":["A"]}',
        '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]} > '
        '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int"}]}',
    ],
    "kafka_json": [
        "string > integer",
        "number > integer",
        "string > date",
        '{"type":"string","maxLength":9} > {"type":"string","maxLength":5}',
        'string > {"type":"string","pattern":"a+"}',
        'integer > {"type":"integer","minimum":0}',
        '{"enum":["a","b"]} > {"enum":["a"]}',
        '{"type":"object","properties":{"a":{"type":"integer"}}} > '
        '{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}',
    ],
    "kafka_protobuf": [
        "int64 > int32",
        "int32 > uint32",
        "int32 > sint64",
        "fixed32 > fixed64",
        "float > double",
        "string > bytes",
        "int32 > google.protobuf.Int32Value",
        "enum A {X} > enum B {X,Y}",
        "google.protobuf.Timestamp > string",
    ],
    "parquet": [
        "int64 > int32",
        "uint32 > int32",
        "int64 > double",
        "decimal(9,2) > decimal(9,3)",
        "string > byte_array",
        "timestamp(micros,true) > timestamp(micros,false)",
        "timestamp(nanos,true) > timestamp(micros,true)",
    ],
    "csv": [
        "string > integer",
        "decimal > integer",
        "date(dd/MM/yyyy) > date",
        "date(dd/MM/yyyy) > date(MM/dd/yyyy)",
    ],
    "oracle": [
        "NUMBER > NUMBER(10,2)",
        "NUMBER(10,2) > NUMBER(10,4)",
        "VARCHAR2(20 CHAR) > VARCHAR2(20)",
        "CLOB > VARCHAR2(4000)",
        "TIMESTAMP > TIMESTAMP WITH TIME ZONE",
        "TIMESTAMP > DATE",
        "TIMESTAMP WITH TIME ZONE > TIMESTAMP WITH LOCAL TIME ZONE",
        "CHAR(5) > CHAR(8)",
        "NUMBER(10,0) > VARCHAR2(20)",
        "BINARY_DOUBLE > NUMBER",
    ],
    "sqlserver": [
        "smallint > tinyint",
        "tinyint > bit",
        "bigint > float",
        "int > real",
        "nvarchar(20) > varchar(20)",
        "datetime2 > datetime",
        "datetime > smalldatetime",
        "datetime2 > datetimeoffset",
        "varchar(20) > char(20)",
        "money > decimal(19,2)",
        "uniqueidentifier > varchar(36)",
        "varbinary(8) > binary(8)",
    ],
}


@pytest.mark.parametrize(("flavor", "pair"), [(f, pair) for f, pairs in FITS.items() for pair in pairs])
def test_every_old_value_fits(flavor: str, pair: str) -> None:
    old, new = (parse(bundled_catalogue(flavor), each) for each in pair.split(" > "))
    assert None not in (old.code, new.code)
    found = fits(old, new, catalogue=bundled_catalogue(flavor))
    assert found.ok, found.why


@pytest.mark.parametrize(
    ("flavor", "pair"), [(f, pair) for f, pairs in DOES_NOT_FIT.items() for pair in pairs]
)
def test_some_old_values_do_not_fit(flavor: str, pair: str) -> None:
    old, new = (parse(bundled_catalogue(flavor), each) for each in pair.split(" > "))
    assert None not in (old.code, new.code)
    found = fits(old, new, catalogue=bundled_catalogue(flavor))
    assert not found.ok
    assert found.why
