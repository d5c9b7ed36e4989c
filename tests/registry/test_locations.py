"""Locations of the five kinds: their keys are checked, and names follow from them without ambiguity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.locations import KINDS, check, dataset_name, is_positional, qualified_name

RIGHT = {
    "rdbms": {"database": "crm", "schema": "public", "table": "customers"},
    "kafka": {
        "topic": "orders.v1", "format": "avro", "partitions": 3, "retention_ms": -1, "key_fields": ["id"],
    },
    "storage": {
        "bucket": "lake", "path": "raw/orders/", "file_format": "parquet", "compression": "snappy",
        "partition_by": ["day"],
    },
    "sftp": {
        "path": "/in", "pattern": "orders_*.csv", "file_format": "csv", "delimiter": ";", "encoding": "utf-8",
        "header": True, "compression": "gzip",
    },
    "hive": {
        "catalog_uri": "thrift://h:9083", "database": "dwh", "table": "orders", "file_format": "orc",
        "is_external": False, "location": "s3://lake/orders", "partition_columns": [],
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", sorted(RIGHT))
def test_a_full_location_is_right(kind):
    assert check(kind, RIGHT[kind]) == ()
    assert set(RIGHT[kind]) == set(KINDS[kind].keys)


@pytest.mark.parametrize("kind", sorted(RIGHT))
def test_unknown_and_missing_keys_are_named(kind):
    found = {error.key for error in check(kind, {"colour": "red"})}
    assert found == {"colour", *KINDS[kind].required}


@pytest.mark.parametrize(
    ("kind", "change", "key"),
    [
        ("rdbms", {"table": 3}, "table"),
        ("rdbms", {"table": "a\0"}, "table"),
        ("rdbms", {"table": "\ud800"}, "table"),
        ("rdbms", {"schema": "x" * 2001}, "schema"),
        ("kafka", {"partitions": "3"}, "partitions"),
        ("kafka", {"partitions": True}, "partitions"),
        ("kafka", {"key_fields": "id"}, "key_fields"),
        ("kafka", {"key_fields": [1]}, "key_fields"),
        ("sftp", {"header": "yes"}, "header"),
    ],
)
def test_wrong_values_are_named(kind, change, key):
    (error,) = check(kind, RIGHT[kind] | change)
    assert error.key == key
    assert error.message.endswith(".")


@pytest.mark.parametrize("location", [None, [], "public.t", 3])
def test_a_location_is_an_object(location):
    assert [error.key for error in check("rdbms", location)] == [""]


def test_an_unknown_kind_is_refused():
    assert [error.key for error in check("fax", {})] == [""]
    with pytest.raises(ValueError, match="fax"):
        qualified_name("fax", {})


@pytest.mark.parametrize(
    ("kind", "location", "name"),
    [
        ("rdbms", {"schema": "public", "table": "t"}, "public.t"),
        ("rdbms", {"schema": "a.b", "table": 'c"d'}, '"a.b"."c""d"'),
        ("rdbms", {"schema": "Sales", "table": "order lines"}, "Sales.order lines"),
        ("kafka", {"topic": "orders.v1"}, "orders.v1"),
        ("storage", {"bucket": "lake", "path": "/raw/orders/"}, "lake/raw/orders"),
        ("storage", {"bucket": "lake"}, "lake"),
        ("sftp", {"path": "/in/", "pattern": "*.csv"}, "/in/*.csv"),
        ("sftp", {"path": "/in/orders.csv"}, "/in/orders.csv"),
        ("hive", {"database": "dwh", "table": "orders"}, "dwh.orders"),
    ],
)
def test_names(kind, location, name):
    assert qualified_name(kind, location) == name


_part = st.text(alphabet='ab."', min_size=1, max_size=4)


@given(_part, _part, _part, _part)
def test_two_tables_never_share_a_name(schema, table, other_schema, other_table):
    names = [
        qualified_name("rdbms", {"schema": s, "table": t})
        for s, t in ((schema, table), (other_schema, other_table))
    ]
    assert (names[0] == names[1]) == ((schema, table) == (other_schema, other_table))


def test_a_document_is_named_like_its_location():
    assert dataset_name({"schema": "a.b", "name": "t"}) == '"a.b".t'
    assert dataset_name({"schema": "", "name": "orders.v1"}) == "orders.v1"


def test_only_sftp_and_csv_files_are_positional():
    assert is_positional("sftp", {"path": "/in", "file_format": "json"})
    assert is_positional("storage", {"bucket": "lake", "file_format": "CSV"})
    assert not is_positional("storage", {"bucket": "lake", "file_format": "parquet"})
    assert not is_positional("rdbms", {"schema": "s", "table": "t"})
