"""The main job end to end: crawl a database nobody here wrote rows for, approve, read it back, crawl again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aide_crawler import inspect

from aide.work.runner import drain
from crawling.samples import build_shop, change_shop
from tests.flows.desk import Desk, contents, ok
from tests.flows.sources import Source, make_system

REGISTRY_KEYS = {"dataset_id", "version", "fingerprint", "published_at"}
FIELD_KEYS = {"field_id", "data_type", "type_params", "rendered", "description", "pii_tags"}

LIBRARY = {
    "postgresql": """
        CREATE TYPE shelf AS ENUM ('novel', 'science', 'children');
        CREATE DOMAIN isbn AS varchar(17) CHECK (VALUE <> '') NOT NULL;
        CREATE TYPE address AS (street text, town varchar(80));
        CREATE TABLE authors (
          id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          "Full Name" text NOT NULL,
          born date,
          home address,
          UNIQUE ("Full Name", born)
        );
        COMMENT ON TABLE authors IS 'Who wrote';
        COMMENT ON COLUMN authors.born IS 'If known';
        CREATE TABLE "odd.name" (
          isbn isbn PRIMARY KEY,
          shelf shelf NOT NULL DEFAULT 'novel',
          price numeric(8,2) DEFAULT 0 CHECK (price >= 0),
          gross numeric GENERATED ALWAYS AS (price * 1.2) STORED,
          keywords text[],
          seen timestamptz(3) DEFAULT now(),
          extra jsonb,
          author_id bigint REFERENCES authors (id) ON DELETE SET NULL,
          copies serial
        );
        CREATE UNIQUE INDEX one_per_author ON "odd.name" (author_id) WHERE price > 100;
        CREATE TABLE loans (on_day date NOT NULL, isbn isbn) PARTITION BY RANGE (on_day);
        CREATE TABLE loans_1 PARTITION OF loans FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
        CREATE TABLE loans_2 PARTITION OF loans FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
        CREATE VIEW cheap AS SELECT isbn, price FROM "odd.name" WHERE price < 5;
        CREATE MATERIALIZED VIEW by_shelf AS SELECT shelf, count(*) AS books FROM "odd.name" GROUP BY shelf;
        CREATE SCHEMA archive;
        CREATE TABLE archive.authors (id bigint, name text);
    """,
    "mariadb": """
        CREATE TABLE authors (
          id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
          `Full Name` varchar(200) NOT NULL COMMENT 'As printed',
          born date,
          rank enum('a','b','it''s') NOT NULL DEFAULT 'a',
          flags set('x','y'),
          UNIQUE KEY both_of (`Full Name`, born)
        ) COMMENT='Who wrote';
        CREATE TABLE `odd.name` (
          isbn varchar(17) CHARACTER SET ascii NOT NULL PRIMARY KEY,
          price decimal(8,2) DEFAULT 0,
          gross decimal(10,2) GENERATED ALWAYS AS (price * 1.2) STORED,
          active tinyint(1) NOT NULL DEFAULT 1,
          seen timestamp(3) NOT NULL DEFAULT current_timestamp(3) ON UPDATE current_timestamp(3),
          extra json,
          body mediumtext,
          author_id bigint unsigned,
          CONSTRAINT written_by FOREIGN KEY (author_id) REFERENCES authors (id) ON DELETE SET NULL
        );
        CREATE VIEW cheap AS SELECT isbn, price FROM `odd.name` WHERE price < 5;
    """,
    "sqlite": """
        CREATE TABLE authors (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          "Full Name" VARCHAR(200) NOT NULL,
          born DATE,
          UNIQUE ("Full Name", born)
        );
        CREATE TABLE "odd.name" (
          isbn TEXT PRIMARY KEY NOT NULL,
          price NUMERIC(8,2) DEFAULT 0,
          gross NUMERIC GENERATED ALWAYS AS (price * 1.2) STORED,
          anything,
          author_id INTEGER REFERENCES authors (id) ON DELETE SET NULL
        ) WITHOUT ROWID;
        CREATE TABLE strictly (id INTEGER PRIMARY KEY, raw BLOB, what ANY) STRICT;
        CREATE VIEW cheap AS SELECT isbn, price FROM "odd.name" WHERE price < 5;
    """,
}
DATASETS = {"postgresql": 6, "mariadb": 3, "sqlite": 4}


def test_a_crawled_database_is_served_just_as_it_is(source: Source) -> None:
    source.execute(LIBRARY[source.flavor])
    desk = Desk(source.system())
    run = desk.crawl()
    assert run["status"] == "completed"
    assert run["error"] is None
    assert run["summary"]["new_datasets"] == DATASETS[source.flavor]
    assert run["summary"]["unmapped_types"] == 0, desk.report(run["id"])["unmapped_types"]
    assert run["progress"]["tables_done"] == DATASETS[source.flavor]
    outcome = desk.decide(run, approve="all")
    assert len(outcome["applied"]) == DATASETS[source.flavor]
    assert outcome["failed"] == outcome["waiting"] == []
    _is_served_as_seen(desk, source.url)
    _nothing_is_written_by_another_crawl(desk)


def test_the_bundled_shop_goes_through_review_and_the_next_crawl_too(
    tmp_path: Path, type_catalogues: None
) -> None:
    path = tmp_path / "shop.sqlite3"
    build_shop(path)
    desk = Desk(make_system("sqlite", f"sqlite:///{path}"))
    first = desk.crawl()
    assert first["summary"]["new_datasets"] >= 25
    assert not desk.approve_all(first)["failed"]
    _is_served_as_seen(desk, f"sqlite:///{path}")
    _nothing_is_written_by_another_crawl(desk)

    change_shop(path)
    second = desk.crawl()
    risks = {each["risk"] for each in desk.changes()}
    assert risks == {"safe", "risky", "breaking"}
    outcome = desk.approve_all(second)
    assert outcome["failed"] == outcome["waiting"] == outcome["stale"] == []
    _is_served_as_seen(desk, f"sqlite:///{path}")
    _nothing_is_written_by_another_crawl(desk)


def _is_served_as_seen(desk: Desk, url: str) -> None:
    seen = {(each["schema"], each["name"]): each for each in inspect(url).datasets}
    query = {"system": desk.system.code, "status": "active", "size": 500}
    listed = ok(desk.by_steward.get("/api/v1/datasets", query))["items"]
    assert len(listed) == len(seen)
    for each in listed:
        served = ok(desk.by_steward.get(f"/api/v1/datasets/{each['id']}/schema"))
        assert served["dataset_id"] == each["id"]
        document = _bare(served, REGISTRY_KEYS)
        document["fields"] = [_field(field) for field in document["fields"]]
        expected = seen[document["schema"], document["name"]]
        assert document == _whole(expected), each["name"]


def _field(field: dict[str, Any]) -> dict[str, Any]:
    assert set(field) >= FIELD_KEYS
    bare = _bare(field, FIELD_KEYS)
    if "fields" in bare:
        bare["fields"] = [_field(child) for child in bare["fields"]]
    return bare


def _bare(document: dict[str, Any], keys: set[str]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in keys}


def _whole(document: dict[str, Any]) -> dict[str, Any]:
    """The crawler's document with comments that are empty as null, as the registry serves them."""
    fields = [{**field, "comment": field["comment"] or None} for field in document["fields"]]
    return {**document, "comment": document["comment"] or None, "fields": fields}


def _nothing_is_written_by_another_crawl(desk: Desk) -> None:
    drain()
    before = contents()
    again = desk.crawl()
    assert again["status"] == "completed"
    assert not any(again["summary"].values()), desk.report(again["id"])
    assert desk.proposals() == []
    after = contents()
    assert {name for name in before if before[name] != after[name]} == set()
