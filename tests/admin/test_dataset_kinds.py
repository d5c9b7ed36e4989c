"""The five kinds on the screens: one form each, its own box of facts, and changes proposed by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml
from django.urls import reverse

from crawling.models import Proposal
from registry.locations import KINDS as KNOWN
from registry.models import Dataset
from registry.versions import Publication
from registry.versions import publish as publish_document
from tests.admin.conftest import Screen
from tests.api.test_dataset_kinds import KINDS, kinds
from tests.factories import make_system

pytestmark = pytest.mark.django_db

WORDS = {
    "rdbms": ["RDBMS table", "Database", "Schema", "Table"],
    "kafka": ["Kafka topic", "Cluster", "Topic", "Value format", "Partitions", "Key"],
    "storage": ["Object store", "Bucket", "Prefix", "Format", "Partition keys"],
    "sftp": ["SFTP file", "Host", "Path", "Glob", "Delimiter", "Encoding", "Header row"],
    "hive": ["Hive table", "Database", "Table", "Location", "Serde", "Partition columns"],
}


def posted(location: dict[str, Any]) -> dict[str, Any]:
    """A location as its form sends it."""
    values: dict[str, Any] = {}
    for key, value in location.items():
        if isinstance(value, list):
            values[f"location_{key}"] = "\n".join(value)
        elif value is not False:
            values[f"location_{key}"] = "on" if value is True else str(value)
    return values


def make(kind: str, **values: Any) -> Dataset:
    flavor, location, name, object_kind, *_ = KINDS[kind]
    system = make_system(f"sys-{kind}", flavor=flavor)
    return Dataset.objects.create(
        system=system, kind=kind, name=name, location=location, object_kind=object_kind, **values
    )


@kinds
def test_each_kind_is_added_by_its_own_form(screen: Callable[..., Screen], kind: str) -> None:
    flavor, location, name, object_kind, *_ = KINDS[kind]
    system = make_system(f"sys-{kind}", flavor=flavor)
    engineer = screen("engineer")
    address = reverse("admin:registry_dataset_add") + f"?kind={kind}"

    form = engineer.get(address).context["adminform"].form
    shown = {each.removeprefix("location_") for each in form.fields if each.startswith("location_")}
    assert shown == set(KNOWN[kind].keys)

    answer = engineer.post(address, {"system": system.pk, "object_kind": object_kind, **posted(location)})
    assert answer.status_code == 302, answer.context["errors"]
    made = Dataset.objects.get(system=system)
    assert (made.kind, made.name, made.object_kind) == (kind, name, object_kind)
    assert made.location == location


@kinds
def test_the_page_shows_the_box_of_its_kind(screen: Callable[..., Screen], kind: str) -> None:
    dataset = make(kind)
    page = screen("viewer").get(reverse("admin:registry_dataset_change", args=[dataset.pk]))
    labels = [label for label, _ in page.context["facts"]]
    assert page.context["kind_word"] == WORDS[kind][0]
    assert [word for word in WORDS[kind][1:] if word not in labels] == []
    assert WORDS[kind][0] in page.content.decode()


@kinds
def test_where_it_is_is_edited_with_that_kinds_entries_and_the_kind_is_none(
    screen: Callable[..., Screen], kind: str
) -> None:
    dataset = make(kind)
    key = {"rdbms": "table", "kafka": "topic", "storage": "bucket", "sftp": "path", "hive": "table"}[kind]
    engineer = screen("engineer")
    address = reverse("admin:registry_dataset_place", args=[dataset.pk])

    form = engineer.get(address).context["form"]
    assert "kind" not in form.fields
    values = {
        **posted(dataset.location | {key: "moved"}),
        "object_kind": dataset.object_kind,
        "kind": "other",
    }
    answer = engineer.post(address, {**values, "seen_version": dataset.row_version})
    assert answer.status_code == 302, answer.context["form"].errors
    dataset.refresh_from_db()
    assert (dataset.kind, dataset.location[key], dataset.row_version) == (kind, "moved", 2)
    assert "moved" in dataset.name

    stale = engineer.post(address, {**values, f"location_{key}": "again", "seen_version": 1})
    assert stale.status_code == 422
    assert "Someone else saved this" in stale.content.decode()
    assert screen("steward").get(address).status_code == 403


def test_a_name_that_is_taken_is_refused(screen: Callable[..., Screen]) -> None:
    dataset = make("kafka")
    Dataset.objects.create(system=dataset.system, kind="kafka", name="taken", location={"topic": "taken"})
    address = reverse("admin:registry_dataset_place", args=[dataset.pk])
    answer = screen("engineer").post(address, {"location_topic": "taken", "object_kind": "topic"})
    assert "already has a dataset called taken" in answer.content.decode()


@pytest.mark.parametrize(("kind", "struct"), [("kafka", "record"), ("hive", "struct<email:string>")])
def test_fields_inside_fields_are_indented_rows(
    screen: Callable[..., Screen], kind: str, struct: str
) -> None:
    dataset = make(kind)
    inner = [{"name": "email", "native_type": "string"}]
    published(dataset, [{"name": "id", "native_type": "string"},
                        {"name": "buyer", "native_type": struct, "fields": inner}])  # fmt: skip
    page = screen("viewer").get(reverse("admin:registry_dataset_change", args=[dataset.pk]))
    rows = [(row["binding"].name, row["depth"]) for row in page.context["rows"]]
    assert rows == [("id", 0), ("buyer", 0), ("email", 1)]
    assert 'class="is-nested depth-1"' in page.content.decode()


def published(dataset: Dataset, fields: list[dict[str, Any]]) -> None:
    from registry.documents import clean
    from registry.reading import place_of

    schema, name = place_of(dataset)
    document = clean({"schema": schema, "name": name, "kind": dataset.object_kind, "fields": fields})
    publish_document(Publication(document, dataset=dataset), system=dataset.system, by=None, origin="api")
    dataset.refresh_from_db()


@kinds
def test_an_engineer_proposes_a_change_as_text(screen: Callable[..., Screen], kind: str) -> None:
    native = KINDS[kind][4]
    dataset = make(kind)
    published(dataset, [{"name": "id", "native_type": native, "nullable": False, "comment": "Key: yes"}])
    engineer = screen("engineer")
    address = reverse("admin:registry_dataset_propose", args=[dataset.pk])

    text = engineer.get(address).context["form"].initial["text"]
    document = yaml.safe_load(text)
    assert document["fields"][0] == {
        "name": "id", "native_type": native, "comment": "Key: yes", "nullable": False,
    }  # fmt: skip
    unchanged = engineer.post(address, {"text": text})
    assert "nothing to propose" in unchanged.content.decode()

    document["fields"].append({"name": "added", "native_type": native})
    answer = engineer.post(address, {"text": yaml.safe_dump(document), "comment": "Asked for by sales"})
    assert answer.status_code == 302
    proposal = Proposal.objects.get()
    assert (proposal.origin, proposal.dataset, proposal.comment) == ("manual", dataset, "Asked for by sales")
    assert [(c.op, c.field_path) for c in proposal.changes.all()] == [("add_field", "added")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("fields: [", "neither JSON nor YAML at line"),
        ("just words", "A document is a mapping with a list of fields."),
        ("fields: &a [{name: x, native_type: y, fields: *a}]", "anchors and aliases are not read"),
        ("fields: [{name: x}]", "fields[0].native_type"),
        ("fields: []", "at least one field"),
        ("[" * 5000, "nested too deep"),
        ("fields: 2026-99-99", "impossible date"),
        ("fields: [{name: x, native_type: y}]\nfields: ]", "neither JSON nor YAML"),
        ('{"fields": [{"name": "id", "native_type": "bigint", "colour": "red"}]}', "There is no such key"),
    ],
    ids=range(9),
)
def test_a_text_that_is_no_document_is_refused_and_kept(
    screen: Callable[..., Screen], dataset: Dataset, text: str, sentence: str
) -> None:
    answer = screen("engineer").post(
        reverse("admin:registry_dataset_propose", args=[dataset.pk]), {"text": text}
    )
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert answer.context["form"].data["text"] == text
    assert not Proposal.objects.exists()


def test_a_type_that_is_edited_loses_the_details_of_the_old_one(
    screen: Callable[..., Screen], dataset: Dataset
) -> None:
    address = reverse("admin:registry_dataset_propose", args=[dataset.pk])
    engineer = screen("engineer")
    text = engineer.get(address).context["form"].initial["text"].replace("varchar(20)", "varchar(30)")
    engineer.post(address, {"text": text})
    (change,) = Proposal.objects.get().changes.all()
    assert (change.op, change.risk, change.field_path) == ("change_parameters", "safe", "phone")


def test_stewards_do_not_propose(screen: Callable[..., Screen], dataset: Dataset) -> None:
    address = reverse("admin:registry_dataset_propose", args=[dataset.pk])
    assert screen("steward").get(address).status_code == 403
    page = screen("viewer").get(reverse("admin:registry_dataset_change", args=[dataset.pk]))
    assert "Propose a change" not in page.content.decode()
