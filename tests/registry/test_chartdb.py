"""A ChartDB file holds what ChartDB demands, is the same each time, and comes back as what it was made from."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crawling import diff
from crawling.imports import chartdb, filling
from registry.chartdb import FieldType, Stamped, diagram, read_type, type_of, write_type
from registry.documents import clean
from registry.seeding import bundled_catalogue
from registry.typesystem import Catalogue, parse
from tests.registry.chartdb_rules import problems

AT = 1_767_603_600_000
CASES = Path(__file__).parents[1] / "crawler" / "cases"
# What ChartDB's files cannot hold: a type's schema where two types share a name, a type named like a builtin one, a
# key to columns that there are not, and a table without a name.
NOT_HELD = {
    "enums_of_one_name",
    "types_named_like_builtin_ones",
    "foreign_keys_of_every_kind",
    "names_of_every_character",
}
FILES = [path for path in sorted(CASES.glob("*/*.json")) if path.name.split(".")[0] not in NOT_HELD]
FLAVORS = (
    "postgresql",
    "mysql",
    "mariadb",
    "sqlite",
    "oracle",
    "sqlserver",
    "hive",
    "iceberg",
    "kafka_avro",
    "csv",
)


def documents_in(path: Path) -> list[dict[str, Any]]:
    case = json.loads(path.read_text(encoding="utf-8"))
    return [clean({**each}) for each in case.get("datasets", [])]


def draw(
    documents: list[dict[str, Any]], *, flavor: str = "postgresql", nested: bool = False
) -> dict[str, Any]:
    return diagram(
        [Stamped(each, AT) for each in documents],
        name="Model",
        flavor=flavor,
        catalogue=bundled_catalogue(flavor),
        nested=nested,
    )


def table(name: str, *fields: dict[str, Any], **values: Any) -> dict[str, Any]:
    return clean({"schema": "shop", "name": name, "fields": list(fields), **values})


def column(name: str, native: str = "bigint", **values: Any) -> dict[str, Any]:
    return {"name": name, "native_type": native, **values}


AUTHOR = table(
    "author",
    column("id", nullable=False, identity={"kind": "always"}),
    column("name", "character varying(120)", comment="As on the cover"),
    primary_key={"name": "author_pkey", "columns": ["id"]},
    comment="People who write",
)
BOOK = table(
    "book",
    column("part", nullable=False),
    column("isbn", "character(13)", nullable=False),
    column("author_id"),
    column("price", "numeric(8,2)", default="0"),
    column("tags", "text[]"),
    column("sold", "timestamp(3) with time zone"),
    column("mood", "shop.mood", type_kind="enum", type_name="mood", type_schema="shop",
           parameters={"values": ["glad", "sad"]}),
    primary_key={"name": "book_pkey", "columns": ["isbn", "part"]},
    unique=[
        {"name": "one_price", "columns": ["price"]},
        {"name": "glad", "columns": ["author_id"], "predicate": "mood = 'glad'"},
    ],
    foreign_keys=[
        {"name": "written_by", "columns": ["author_id"], "ref_schema": "shop", "ref_table": "author",
         "ref_columns": ["id"], "on_delete": "CASCADE"},
        {"name": "elsewhere", "columns": ["author_id"], "ref_schema": "hr", "ref_table": "people",
         "ref_columns": ["id"]},
    ],
)  # fmt: skip
PAGE = table(
    "page",
    column("isbn", "character(13)", nullable=False),
    column("part", nullable=False),
    foreign_keys=[
        {"name": "page_of", "columns": ["isbn", "part"], "ref_schema": "shop", "ref_table": "book",
         "ref_columns": ["isbn", "part"]},
    ],
)  # fmt: skip
SALES = table("sales", column("n"), kind="materialized_view")
SHOP = [AUTHOR, BOOK, PAGE, SALES]


def test_a_file_keeps_to_every_rule_of_the_import() -> None:
    assert problems(draw(SHOP)) == []


def test_a_file_says_what_a_model_says() -> None:
    made = draw(SHOP)
    tables = {each["name"]: each for each in made["tables"]}
    fields = {each["name"]: each for each in tables["book"]["fields"]}

    assert made["databaseType"] == "postgresql"
    assert tables["author"]["comments"] == "People who write"
    assert fields["isbn"]["type"] == {"id": "char", "name": "char"}
    assert fields["isbn"]["characterMaximumLength"] == "13"
    assert (fields["price"]["precision"], fields["price"]["scale"]) == (8, 2)
    assert (fields["tags"]["type"]["id"], fields["tags"]["isArray"]) == ("text", True)
    assert (fields["sold"]["type"]["id"], fields["sold"]["precision"]) == ("timestamptz", 3)
    assert "default" not in fields["isbn"]
    assert (tables["sales"]["isView"], tables["sales"]["isMaterializedView"]) == (True, True)
    assert tables["sales"]["color"] == "#7d7d7d"
    assert made["customTypes"][0]["values"] == ["glad", "sad"]


def test_a_foreign_key_of_two_columns_is_two_relationships_from_one_to_many() -> None:
    made = draw(SHOP)
    names = {each["id"]: each["name"] for each in made["tables"]}
    ends = [
        (each["name"], names[each["sourceTableId"]], names[each["targetTableId"]])
        for each in made["relationships"]
    ]
    assert ends == [
        ("written_by", "author", "book"),
        ("page_of", "book", "page"),
        ("page_of", "book", "page"),
    ]
    assert {each["sourceCardinality"] for each in made["relationships"]} == {"one"}


def test_ids_and_places_depend_on_names_alone() -> None:
    assert draw(SHOP) == draw(SHOP[::-1])
    assert [(each["x"], each["y"]) for each in draw(SHOP)["tables"]] == [
        (0, 0),
        (340, 0),
        (0, 206),
        (340, 366),
    ]


def test_a_composite_key_keeps_its_order() -> None:
    back = chartdb.read(draw(SHOP), flavor="postgresql").documents
    assert back["shop.book"]["primary_key"]["columns"] == ["isbn", "part"]
    assert back["shop.page"]["foreign_keys"][0]["columns"] == ["isbn", "part"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_what_a_database_holds_comes_back_from_its_file(path: Path) -> None:
    flavor = path.parent.name
    documents = documents_in(path)
    first = draw(documents, flavor=flavor)
    assert problems(first) == []

    back = chartdb.read(first, flavor=flavor).documents
    assert draw(list(back.values()), flavor=flavor) == first

    tables = {(each["schema"] or "", each["name"]): each for each in back.values()}
    catalogue = bundled_catalogue(flavor)
    present = {(each["schema"] or "", each["name"]): each for each in documents}
    for place, each in tables.items():
        filled = filling.fill(each, present[place], flavor=flavor, catalogue=catalogue, tables=tables)
        assert diff.diff(present[place], clean(filled), catalogue=catalogue) == ()


@pytest.mark.parametrize("flavor", FLAVORS)
def test_every_type_of_a_catalogue_comes_back_equal(flavor: str) -> None:
    catalogue: Catalogue = bundled_catalogue(flavor)
    for each in catalogue.types:
        for example in each.examples:
            written = type_of({"native_type": example.sql}, flavor=flavor, catalogue=catalogue)
            back = read_type(written, flavor=flavor)
            was, now = parse(catalogue, example.sql), parse(catalogue, back)
            assert (now.code, now.params, now.children) == (was.code, was.params, was.children), example.sql
            assert write_type(back, flavor=flavor).name == written.name


def test_words_after_the_lengths_stay_there() -> None:
    written = write_type("bigint(20) unsigned", flavor="mysql")
    assert written == FieldType("bigint unsigned", precision=20)
    assert read_type(written, flavor="mysql") == "bigint(20) unsigned"


def test_nested_fields_are_rows_named_by_their_path_and_come_back_nested() -> None:
    topic = clean(
        {
            "name": "orders",
            "kind": "topic",
            "fields": [
                {"name": "a.b", "native_type": "string"},
                {"name": "customer", "native_type": "record",
                 "fields": [{"name": "email", "native_type": "string"}]},
            ],
        }
    )  # fmt: skip
    made = draw([topic], flavor="kafka_avro", nested=True)
    assert [each["name"] for each in made["tables"][0]["fields"]] == ['"a.b"', "customer", "customer.email"]
    assert problems(made) == []
    back = chartdb.read(made, flavor="kafka_avro", nested=True, table_kind="topic").documents["orders"]
    assert [each["name"] for each in back["fields"]] == ["a.b", "customer"]
    assert back["fields"][1]["fields"][0]["name"] == "email"
    assert draw([back], flavor="kafka_avro", nested=True) == made


def test_what_a_file_cannot_say_stays_as_it_is() -> None:
    made = draw(SHOP)
    book = next(each for each in made["tables"] if each["name"] == "book")
    book["fields"] = [each for each in book["fields"] if each["name"] != "tags"]
    back = chartdb.read(made, flavor="postgresql").documents
    tables = {(each["schema"], each["name"]): each for each in back.values()}
    catalogue = bundled_catalogue("postgresql")
    filled = filling.fill(back["shop.book"], BOOK, flavor="postgresql", catalogue=catalogue, tables=tables)
    changes = diff.diff(BOOK, clean(filled), catalogue=catalogue)
    assert [(each.op, each.field) for each in changes] == [("drop_field", "tags")]


def test_a_file_of_the_app_is_read() -> None:
    made = json.loads((Path(__file__).parent / "cases" / "chartdb_bakery.json").read_text(encoding="utf-8"))
    found = chartdb.read(made, flavor="postgresql", default_schema="public")
    loaf, batch = found.documents["public.loaf"], found.documents["public.batch"]

    assert [each["native_type"] for each in loaf["fields"]] == [
        "bigint", "character varying(80)", "numeric(6,2)", "text[]", "grain",
    ]  # fmt: skip
    assert loaf["fields"][4]["parameters"] == {"values": ["rye", "wheat"]}
    assert loaf["unique"][0]["columns"] == ["label"]
    # Both directions in which files were written over time.
    assert [each["columns"] for each in batch["foreign_keys"]] == [["loaf_id"], ["baked_for"]]
    assert {each["ref_table"] for each in batch["foreign_keys"]} == {"loaf"}
    assert [each.object for each in found.notes] == ["goes_with", "lost"]


BAD = (None, 5, -1, 1e300, True, "", "x" * 3000, "\ud800", "\x00", [], {}, [[]], {"a": 1}, 10**30)


def test_any_value_in_any_place_is_read_or_refused() -> None:
    made = json.loads((Path(__file__).parent / "cases" / "chartdb_bakery.json").read_text(encoding="utf-8"))
    tried = 0
    for place in places(made):
        for bad in BAD:
            # Anything but a refusal with its places fails here.
            with contextlib.suppress(chartdb.ChartDBInvalid):
                chartdb.read(put(made, place, bad), flavor="postgresql", nested=tried % 2 == 0)
            tried += 1
    assert tried > 1000


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield above
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*above, key))


def put(value: Any, place: tuple[Any, ...], bad: Any) -> Any:
    if not place:
        return bad
    made = json.loads(json.dumps(value))
    inner = made
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = bad
    return made


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda d: d.update(databaseType="mysql"), "databaseType"),
        (lambda d: d.update(tables="none"), ""),
        (lambda d: d["tables"][0].pop("name"), "tables[0].name"),
        (lambda d: d["tables"][1].update(id=d["tables"][0]["id"]), "tables[1].id"),
        (lambda d: d["tables"][0]["fields"][1].update(id=d["tables"][0]["fields"][0]["id"]),
         "tables[0].fields[1].id"),
        (lambda d: d["tables"][0]["fields"].append({"id": "x"}), "tables[0].fields[2]"),
        (lambda d: d["tables"].append(dict(d["tables"][0], id="again")), "tables[4].name"),
        (lambda d: d["tables"].append(7), "tables[4]"),
    ],
)  # fmt: skip
def test_a_broken_file_is_refused_with_the_place(change: Any, where: str) -> None:
    made = json.loads(json.dumps(draw(SHOP)))
    change(made)
    with pytest.raises(chartdb.ChartDBInvalid) as caught:
        chartdb.read(made, flavor="postgresql")
    assert where in [path for path, _ in caught.value.errors]
