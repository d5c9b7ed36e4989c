"""Drafts against what was published meanwhile, and fields that a draft calls otherwise."""

from __future__ import annotations

import pytest

from aide.core.errors import Conflict
from registry import documents, versions
from registry.models import Dataset, DatasetSchema, Field, System
from registry.versions import Publication
from tests.flows.sources import make_system


@pytest.fixture
def system(type_catalogues: None) -> System:
    return make_system("postgresql", code="pg")


@pytest.fixture
def dataset(system: System) -> Dataset:
    return _publish(system, "id", "mail")


def _publish(system: System, *names: str, dataset: Dataset | None = None) -> Dataset:
    document = documents.clean(
        {
            "schema": "public",
            "name": "people",
            "kind": "table",
            "fields": [{"name": name, "native_type": "integer"} for name in names],
        }
    )
    publication = Publication(
        document=document,
        dataset=dataset,
        name="public.people",
        location={"database": "app", "schema": "public", "table": "people"},
    )
    return versions.publish(publication, system=system, by=None, origin="crawl").dataset


def _draft(dataset: Dataset, names: dict[str, str], *, native_type: str = "integer") -> DatasetSchema:
    draft = versions.add_draft(dataset, by=None)
    for position, (field, name) in enumerate(names.items(), start=1):
        versions.add_binding(
            draft,
            field=dataset.fields.get(path=field),
            by=None,
            name=name,
            position=position,
            native_type=native_type,
        )
    return draft


def test_a_draft_that_a_later_version_overtook_is_refused(system: System, dataset: Dataset) -> None:
    draft = _draft(dataset, {"id": "id"})
    _publish(system, "id", "mail", "phone", dataset=dataset)
    with pytest.raises(Conflict) as refused:
        versions.publish_draft(draft, by=None)
    assert refused.value.code == "STALE_CHANGE"
    assert "Version 3 was published meanwhile" in refused.value.detail
    dataset.refresh_from_db()
    assert dataset.current_schema is not None
    assert dataset.current_schema.version_num == 3


def test_a_field_that_a_draft_calls_otherwise_stays_the_same_field(dataset: Dataset) -> None:
    mail = dataset.fields.get(path="mail")
    published = versions.publish_draft(_draft(dataset, {"id": "id", "mail": "email"}), by=None)
    mail.refresh_from_db()
    assert (mail.name, mail.path, mail.retired_at) == ("email", "email", None)
    assert Field.objects.filter(dataset=dataset).count() == 2
    assert published.schema.bindings.get(name="email").field_id == mail.pk


def test_two_fields_may_swap_their_names_in_a_draft(dataset: Dataset) -> None:
    before = dict(dataset.fields.values_list("path", "pk"))
    versions.publish_draft(_draft(dataset, {"id": "mail", "mail": "id"}, native_type="bigint"), by=None)
    assert dict(dataset.fields.values_list("path", "pk")) == {"mail": before["id"], "id": before["mail"]}
