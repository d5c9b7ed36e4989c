"""Spellings of one place become the same; different places stay apart."""

from __future__ import annotations

import pytest

from lineage.openlineage import authority_of, normal_form, split_name


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("postgresql://DB1.", "a.b.c"), ("postgres://db1:5432", "a.b.c")),
        (("postgres://ann:pw@db1", "a.b.c"), ("postgres://db1:5432", "a.b.c")),
        (("postgres://db1:5432/shop", "public.t"), ("postgres://db1", "shop.public.t")),
        (("postgres://db1", '"a"."b"."c"'), ("postgres://db1", "a.b.c")),
        (("mysql://DB", "`shop`.`t`"), ("mysql://db:3306", "shop.t")),
        (("sqlserver://h", "[a].[dbo].[t]"), ("mssql://h:1433", "a.dbo.t")),
        (("s3a://lake", "/curated/orders/"), ("s3://lake", "curated/orders")),
        (("s3n://lake", "curated/orders/day=2026-03-01/hour=1"), ("s3://lake", "curated/orders")),
        (("gs://lake", "curated/*.parquet"), ("gs://lake", "curated")),
        (("kafka://b2:9092,b1", "orders.v1"), ("kafka://b1:9092,b2:9092", "orders.v1")),
        (("hive://meta", "d.t"), ("hive://META:9083", "d.t")),
        (("hive://meta:10000", "d.t"), ("thrift://meta:9083", "d.t")),
        (("abfs://c@Acc.dfs.core.windows.net", "/a"), ("abfss://c@acc.dfs.core.windows.net", "a")),
        (("file", "/lake/a/"), ("file:///", "lake/a")),
    ],
)
def test_spellings_of_one_place_are_the_same(one, other):
    assert normal_form(*one)[:2] == normal_form(*other)[:2]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("postgres://db1", "a.b.c"), ("postgres://db2", "a.b.c")),
        (("postgres://db1:5432", "a.b.c"), ("postgres://db1:5433", "a.b.c")),
        (("postgres://db1", 'a.b."c.d"'), ("postgres://db1", "a.b.c.d")),
        (("postgres://db1", "a.b.C"), ("postgres://db1", "a.b.c")),
        (("kafka://b", "a.b"), ("kafka://b", "a_b")),
        (("s3://one", "a"), ("s3://two", "a")),
        (("hive://meta:9999", "d.t"), ("hive://meta", "d.t")),
    ],
)
def test_different_places_stay_apart(one, other):
    assert normal_form(*one)[:2] != normal_form(*other)[:2]


def test_what_was_left_out_is_told():
    assert normal_form("s3://b", "t/day=1").why == "day=1 was left out"
    assert normal_form("s3://b", "t").why == ""


@pytest.mark.parametrize("name", ["", ".", "a..b", '"', '"a', '"a"b', "[", "a.`b", "x" * 5000, '""""."'])
def test_no_name_makes_splitting_stumble(name):
    assert isinstance(split_name(name), list)
    assert isinstance(normal_form("postgres://db", name).name, str)
    assert isinstance(authority_of(name), str)
