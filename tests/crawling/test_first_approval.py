"""The first approval of many datasets: in batches as one by one, with only the broken ones left open."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from aide.audit.models import AuditEntry
from crawling import crawl, review
from crawling.models import Change, Decision, Draft, Proposal
from crawling.review import applying
from registry import reading
from registry.models import Dataset, DatasetSchema, Field, FieldBinding, System
from tests.factories import make_user
from tests.flows.sources import Source, sqlite_source
from tests.reviews import make_review

TABLES = 45
"""More than are written by a single INSERT."""


@pytest.fixture
def source(tmp_path: Any, type_catalogues: None) -> Source:
    source = sqlite_source(tmp_path / "many.sqlite3")
    made = [
        f"CREATE TABLE t{n:02} (id integer NOT NULL PRIMARY KEY, amount decimal(12,{n % 5}) DEFAULT {n}, "
        f"name varchar({n + 1}) UNIQUE, double{n} integer GENERATED ALWAYS AS (amount * {n}) VIRTUAL, "
        f'before_id integer REFERENCES t{max(0, n - 1):02} (id), "sp ace.{n}" blob, untyped, при{n} text)'
        for n in range(TABLES)
    ]
    source.execute(";".join([*made, "CREATE VIEW all_of_it AS SELECT * FROM t01"]))
    return source


def _approve(source: Source, *, at_once: int, monkeypatch: pytest.MonkeyPatch) -> System:
    monkeypatch.setattr(applying, "BATCH", at_once)
    system = source.system()
    steward = make_user("steward")
    system.stewards.add(steward)
    run = crawl.crawl_now(system, trigger="command")
    review.decide(review.proposals_of(run), approve="all", by=steward)
    outcome = review.apply(review.proposals_of(run), by=steward, comment="The first look.")
    assert len(outcome.applied) == TABLES + 1
    assert not outcome.failed
    return system


def _all_of(system: System) -> dict[str, list[Any]]:
    """Everything that an approval leaves, without ids and times."""
    datasets = Dataset.objects.filter(system=system)
    schemas = DatasetSchema.objects.filter(dataset__in=datasets)
    names = {each.pk: reading.place_of(each) for each in datasets}
    documents = reading.documents_of([each.pk for each in schemas], names=names)
    decided = Decision.objects.filter(change__proposal__system=system)
    audited = AuditEntry.objects.filter(system_code=system.code)
    rows: dict[str, Any] = {
        "datasets": datasets.values_list(
            "name", "kind", "location", "status", "object_kind", "source_comment", "row_version", "description"
        ),
        "versions": schemas.values_list(
            "dataset__name", "version_num", "status", "origin", "fingerprint", "attributes", "unique_keys"
        ),
        "fields": Field.objects.filter(dataset__in=datasets).values_list(
            "dataset__name", "path", "name", "parent__path", "source_comment", "retired_at", "tags", "owner",
            "row_version",
        ),
        "bindings": FieldBinding.objects.filter(dataset_schema__in=schemas).values_list(
            "dataset_schema__dataset__name", "field__path", "name", "position", "native_type", "is_nullable",
            "type_instance__rendered", "type_instance__data_type__code", "default", "generated", "identity",
            "hidden", "row_version",
        ),
        "changes": Change.objects.filter(proposal__system=system).values_list(
            "dataset_name", "state", "applied_version__version_num"
        ),
        "proposals": Proposal.objects.filter(system=system).values_list("dataset_name", "status", "dataset__name"),
        "decisions": decided.values_list("change__dataset_name", "verdict", "order", "reason"),
        "audit": audited.values_list("action", "object_type", "object_name", "risk", "reason", "via"),
    }  # fmt: skip
    found = {name: sorted(map(repr, each)) for name, each in rows.items()}
    found["documents"] = sorted(repr(each) for each in documents.values())
    found["current"] = sorted(map(repr, datasets.filter(current_schema__dataset=F("pk")).values_list("name")))
    return found


@pytest.mark.django_db(transaction=True)
def test_a_batch_leaves_what_one_by_one_leaves(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    in_batches = _all_of(_approve(source, at_once=500, monkeypatch=monkeypatch))
    one_by_one = _all_of(_approve(source, at_once=1, monkeypatch=monkeypatch))
    for name, rows in in_batches.items():
        assert rows == one_by_one[name], name
    assert len(in_batches["fields"]) == len(in_batches["bindings"]) == TABLES * 8 + 8
    assert len(in_batches["decisions"]) == len(in_batches["current"]) == TABLES + 1
    assert not Draft.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("broken", [(0,), (20, 21, 22), (44,)])
def test_only_the_broken_datasets_of_a_batch_stay_open(
    type_catalogues: None, source: Source, broken: tuple[int, ...]
) -> None:
    system = source.system()
    steward = make_user("steward")
    system.stewards.add(steward)
    run = make_review(system, datasets=0, changes=0, new=TABLES)
    changes = list(Change.objects.filter(proposal__crawl_run=run).order_by("pk"))
    for n in broken:
        changes[n].after["fields"][0]["name"] = 7
        changes[n].save()
    review.decide(review.proposals_of(run), approve="all", by=steward)
    outcome = review.apply(review.proposals_of(run), by=steward)

    assert sorted(each["change_id"] for each in outcome.failed) == [changes[n].pk for n in broken]
    assert len(outcome.applied) == TABLES - len(broken)
    assert Dataset.objects.filter(system=system).count() == TABLES - len(broken)
    open_now = Change.objects.filter(proposal__crawl_run=run, state=Change.State.OPEN)
    assert sorted(open_now.values_list("pk", flat=True)) == [changes[n].pk for n in broken]
    assert Draft.objects.count() == len(broken)


@pytest.mark.django_db
def test_the_statements_of_an_approval_do_not_grow_with_its_datasets(
    type_catalogues: None, source: Source
) -> None:
    def statements(new: int) -> int:
        system = source.system()
        steward = make_user("steward")
        system.stewards.add(steward)
        run = make_review(system, datasets=0, changes=0, new=new)
        review.decide(review.proposals_of(run), approve="all", by=steward)
        proposals = review.proposals_of(run)
        with CaptureQueriesContext(connection) as captured:
            assert len(review.apply(proposals, by=steward).applied) == new
        return len(captured)

    statements(2)
    few, many = statements(45), statements(190)
    assert many <= few + 4, (few, many)
