"""What was compared and found equal is not read again, and nothing that differs is overlooked for that."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crawling import crawl
from crawling.models import CrawlRun, Observation, Proposal
from crawling.settled import Settled, content_hash_of
from registry import reading, versions
from registry.catalogues import catalogue_for
from registry.documents import clean
from registry.models import Dataset, DataType
from tests.flows.desk import Desk
from tests.flows.sources import Source, sqlite_source

pytestmark = pytest.mark.django_db

TABLES = """
CREATE TABLE parts (id integer NOT NULL PRIMARY KEY, name varchar(50) DEFAULT 'x', odd strange_type);
CREATE TABLE bins (id integer NOT NULL PRIMARY KEY, part_id integer REFERENCES parts (id));
CREATE TABLE wide (id integer NOT NULL PRIMARY KEY, weight integer, colour varchar(20), shape text, price real);
CREATE VIEW names AS SELECT name FROM parts;
"""


@pytest.fixture
def source(tmp_path: Any, type_catalogues: None) -> Source:
    source = sqlite_source(tmp_path / "parts.sqlite3")
    source.execute(TABLES)
    return source


@pytest.fixture
def desk(source: Source) -> Desk:
    """After the first approval."""
    desk = Desk(source.system())
    desk.approve_all(desk.crawl())
    return desk


def _crawl(desk: Desk, **how: Any) -> CrawlRun:
    return crawl.crawl_now(desk.system, trigger="command", **how)


def _reads_fields(desk: Desk, **how: Any) -> bool:
    with CaptureQueriesContext(connection) as captured:
        run = _crawl(desk, **how)
    assert run.status == CrawlRun.Status.COMPLETED
    return any("registry_fieldbinding" in each["sql"] for each in captured)


def _told(run: CrawlRun) -> Any:
    return {key: value for key, value in run.report.items() if key != "run_id"}


def test_an_unchanged_source_is_compared_without_the_registrys_documents(desk: Desk) -> None:
    before = list(Observation.objects.order_by("pk").values())
    assert not _reads_fields(desk)
    assert not _reads_fields(desk, dry_run=True)
    assert list(Observation.objects.order_by("pk").values()) == before, "nothing is written"
    assert not Proposal.objects.filter(status__in=Proposal.LIVE).exists()


def test_the_report_is_the_same(desk: Desk) -> None:
    quick = _told(_crawl(desk))
    Observation.objects.update(settled="")
    assert _reads_fields(desk)
    assert not _reads_fields(desk)
    Observation.objects.update(settled="")
    assert _told(_crawl(desk)) == quick
    assert quick["summary"]["unmapped_types"] == len(quick["unmapped_types"])


def test_only_what_changed_at_the_source_is_proposed(desk: Desk, source: Source) -> None:
    source.execute(
        "ALTER TABLE parts ADD COLUMN size integer; CREATE TABLE more (id integer); DROP VIEW names"
    )
    quick = _told(_crawl(desk))
    assert quick["summary"] | {"unmapped_types": 0} == {
        **dict.fromkeys(quick["summary"], 0), "new_datasets": 1, "removed_datasets": 1, "new_fields": 1
    }  # fmt: skip
    seen = Observation.objects.filter(gone_at__isnull=True)
    marks = dict(seen.values_list("dataset_name", "settled"))
    assert sorted(name for name, mark in marks.items() if mark) == ["main.bins", "main.wide"]
    Observation.objects.update(settled="")
    assert _told(_crawl(desk)) == quick


def test_a_rename_beside_settled_tables_is_found(desk: Desk, source: Source) -> None:
    source.execute("ALTER TABLE wide RENAME TO wide_ones")
    quick = _crawl(desk)
    Observation.objects.update(settled="")
    assert _told(_crawl(desk)) == _told(quick)
    assert [each["op"] for each in quick.report["renames"]] == ["rename_dataset"]


def test_a_version_that_people_published_is_compared(desk: Desk) -> None:
    dataset = Dataset.objects.get(system=desk.system, name="main.bins")
    assert dataset.current_schema is not None
    document = reading.document_of(dataset.current_schema)
    document["comment"] = "What people wrote"
    publication = versions.Publication(document=clean(document), dataset=dataset)
    versions.publish(publication, system=desk.system, by=None, origin="manual")
    run = _crawl(desk)
    assert [each["op"] for each in run.report["other_changes"]] == ["change_comment"]


def test_a_dataset_that_went_and_came_back_is_compared(desk: Desk, source: Source) -> None:
    source.execute("ALTER TABLE bins RENAME TO away")
    _crawl(desk, config={"tables": ["bins"]})
    assert Observation.objects.get(dataset_name="main.bins").gone_at is not None
    source.execute("ALTER TABLE away RENAME TO bins")
    assert _reads_fields(desk)
    assert not _reads_fields(desk)


def test_other_types_of_the_flavor_let_everything_be_compared_again(desk: Desk) -> None:
    assert not _reads_fields(desk)
    row = DataType.objects.filter(flavor__code="sqlite")[0]
    row.aliases = [*row.aliases, "quite_another_name"]
    row.row_version += 1
    row.save()
    assert _reads_fields(desk)
    assert not _reads_fields(desk)


def test_the_mark_is_over_document_version_and_rules(desk: Desk) -> None:
    catalogue = catalogue_for("sqlite")
    found = {"main.parts": {"name": "parts", "fields": []}}
    settled = Settled(desk.system, found, catalogue=catalogue)
    other = Settled(desk.system, {"main.parts": {"name": "parts", "fields": [{}]}}, catalogue=catalogue)
    marks = {settled.mark("main.parts", 1), settled.mark("main.parts", 2), other.mark("main.parts", 1)}
    assert len(marks) == 3
    assert settled.document("main.parts", 1) is None


def test_equal_documents_have_one_hash_however_their_parts_are_shared() -> None:
    shared: dict[str, Any] = {"length": 20}
    name = "".join(["na", "me"])
    one = {"name": name, "fields": [{"parameters": shared}, {"parameters": shared}], "é": "\ud800"}
    other = {"name": "name", "fields": [{"parameters": {"length": 20}} for _ in range(2)], "é": "\ud800"}
    assert content_hash_of(one) == content_hash_of(other)
    assert content_hash_of(one) != content_hash_of({**other, "é": None})
