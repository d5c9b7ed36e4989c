"""Publishing: versions as content, lasting identities, and a cost that grows by batches."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aide.audit.models import AuditEntry
from registry import documents, reading, versions
from registry.models import Dataset, DatasetSchema, Field, FieldBinding, System, TypeInstance
from registry.versions import Publication
from tests.flows.sources import make_system


@pytest.fixture
def system(type_catalogues: None) -> System:
    return make_system("postgresql", code="pg")


def _field(name: str, native_type: str = "integer", **values: Any) -> dict[str, Any]:
    return {"name": name, "native_type": native_type, **values}


def _document(name: str, *fields: dict[str, Any], **values: Any) -> dict[str, Any]:
    return documents.clean(
        {
            "schema": "public",
            "name": name,
            "kind": "table",
            "fields": list(fields) or [_field("id")],
            **values,
        }
    )


def _publication(document: dict[str, Any], dataset: Dataset | None = None, **values: Any) -> Publication:
    return Publication(
        document=document,
        dataset=dataset,
        name=f"public.{document['name']}",
        location={"database": "app", "schema": "public", "table": document["name"]},
        **values,
    )


def _publish(system: System, *publications: Publication) -> list[versions.Published]:
    return versions.publish_many(publications, system=system, by=None, origin="crawl")


def test_what_is_published_reads_back_the_same(system: System) -> None:
    document = _document(
        "orders",
        _field("id", "bigint", nullable=False, primary_key=1, comment="Key"),
        _field("total", "numeric(12,2)", default="0", parameters={"precision": 12, "scale": 2}),
        _field("tags", "text[]", type_kind="array"),
        primary_key={"name": "orders_pkey", "columns": ["id"]},
        comment="What was bought",
    )
    (published,) = _publish(system, _publication(document))
    assert reading.document_of(published.schema) == document
    assert published.schema.version_num == 1
    assert published.schema.fingerprint


def test_equal_content_makes_no_version_and_writes_nothing_else(system: System) -> None:
    document = _document("orders", _field("id"), _field("a", "varchar(10)"))
    (first,) = _publish(system, _publication(document))
    reordered = copy.deepcopy(document)
    reordered["fields"].reverse()
    for each in (document, documents.clean(reordered)):
        before = (DatasetSchema.objects.count(), FieldBinding.objects.count(), AuditEntry.objects.count())
        (again,) = _publish(system, _publication(each, first.dataset))
        assert (again.created, again.schema.pk) == (False, first.schema.pk)
        assert before == (
            DatasetSchema.objects.count(),
            FieldBinding.objects.count(),
            AuditEntry.objects.count(),
        )


def test_equal_types_are_one_row(system: System) -> None:
    fields = [_field("a", "varchar(10)"), _field("b", "character varying(10)"), _field("c", "varchar(11)")]
    _publish(system, *(_publication(_document(f"t{n}", *fields)) for n in range(5)))
    assert TypeInstance.objects.count() <= 3
    assert FieldBinding.objects.count() == 15


def test_fields_keep_their_identity_through_swaps_and_chains_of_renames(system: System) -> None:
    (first,) = _publish(system, _publication(_document("t", _field("a"), _field("b"), _field("c"))))
    old = dict(Field.objects.filter(dataset=first.dataset).values_list("path", "pk"))
    _publish(
        system,
        _publication(
            _document("t", _field("b"), _field("a"), _field("d")),
            first.dataset,
            renames={"b": "a", "a": "b", "d": "c"},
        ),
    )
    new = dict(Field.objects.filter(dataset=first.dataset, retired_at=None).values_list("path", "pk"))
    assert new == {"b": old["a"], "a": old["b"], "d": old["c"]}
    _publish(
        system, _publication(_document("t", _field("x"), _field("b")), first.dataset, renames={"x": "b"})
    )
    newest = dict(Field.objects.filter(dataset=first.dataset, retired_at=None).values_list("path", "pk"))
    assert newest["x"] == old["a"]
    assert newest["b"] not in old.values(), "a new column under a name that was renamed away is a new one"


def test_nested_fields_follow_the_rename_of_their_parent(system: System) -> None:
    inner = {"fields": [_field("street", "text"), _field("town", "text")]}
    (first,) = _publish(system, _publication(_document("t", _field("home", "struct", **inner))))
    old = dict(Field.objects.filter(dataset=first.dataset).values_list("path", "pk"))
    assert set(old) == {"home", "home.street", "home.town"}
    _publish(
        system,
        _publication(
            _document("t", _field("address", "struct", **inner)), first.dataset, renames={"address": "home"}
        ),
    )
    new = dict(Field.objects.filter(dataset=first.dataset, retired_at=None).values_list("path", "pk"))
    assert new == {
        "address": old["home"],
        "address.street": old["home.street"],
        "address.town": old["home.town"],
    }


def _slack() -> int:
    """How many more statements 55 more datasets may take: SQLite's hold fewer rows each."""
    return 2 if connection.vendor == "postgresql" else 15


def _statements(system: System, prefix: str, number: int) -> int:
    publications = [
        _publication(_document(f"{prefix}{n}", *(_field(f"c{c}", f"varchar({c + 1})") for c in range(5))))
        for n in range(number)
    ]
    with CaptureQueriesContext(connection) as captured:
        _publish(system, *publications)
    return len(captured)


def test_the_number_of_statements_grows_with_batches_not_with_datasets(system: System) -> None:
    _statements(system, "warm", 1)
    few, many = _statements(system, "few", 5), _statements(system, "many", 60)
    assert many <= few + _slack(), (few, many)
    assert few <= 40


def test_publishing_again_grows_with_batches_too(system: System) -> None:
    def again(prefix: str, number: int) -> int:
        made = _publish(system, *(_publication(_document(f"{prefix}{n}")) for n in range(number)))
        publications = [
            _publication(_document(f"{prefix}{n}", _field("id"), _field("more", "text")), each.dataset)
            for n, each in enumerate(made)
        ]
        with CaptureQueriesContext(connection) as captured:
            _publish(system, *publications)
        return len(captured)

    again("warm", 1)
    few, many = again("few", 5), again("many", 60)
    assert many <= few + _slack(), (few, many)


def test_all_or_none(system: System) -> None:
    good = _publication(_document("good"))
    bad = Publication(
        document={**_document("bad"), "fields": [{"name": None}]}, name="public.bad", location={}
    )
    with pytest.raises(Exception):  # noqa: B017 (whatever it is, nothing may stay)
        _publish(system, good, bad)
    assert Dataset.objects.count() == 0


def test_a_retired_dataset_keeps_everything_and_comes_back(system: System) -> None:
    (first,) = _publish(system, _publication(_document("t")))
    versions.retire([first.dataset], by=None, reason="Gone")
    assert Dataset.objects.get().status == "retired"
    assert Dataset.objects.get().current_schema_id == first.schema.pk
    (back,) = _publish(system, _publication(_document("t")))
    assert (back.dataset.pk, back.created) == (first.dataset.pk, False)
    assert Dataset.objects.get().status == "active"


def test_a_published_version_cannot_be_written(system: System) -> None:
    from aide.core.errors import Conflict

    (first,) = _publish(system, _publication(_document("t")))
    field = Field.objects.get()
    binding = FieldBinding.objects.get()
    for act in (
        lambda: versions.add_binding(first.schema, field=field, by=None),
        lambda: versions.update_binding(binding, by=None, name="x"),
        lambda: versions.delete_binding(binding, by=None),
        lambda: versions.delete_draft(first.schema, by=None),
        lambda: versions.publish_draft(first.schema, by=None),
    ):
        with pytest.raises(Conflict) as refused:
            act()
        assert refused.value.code == "IMMUTABLE"
