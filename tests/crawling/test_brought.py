"""Proposals without a crawl: ChartDB files and documents by hand, through the same review."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from crawling.models import Change, Mute, Proposal
from registry import diagrams, reading
from registry.models import Dataset, System
from tests.factories import api_client, make_dataset, make_flavor, make_kind, make_system, make_user, publish

pytestmark = pytest.mark.django_db


@pytest.fixture
def engineer() -> Any:
    return api_client(make_user("engineer"))


@pytest.fixture
def shop() -> System:
    system = make_system("shop")
    author = make_dataset("author", system=system)
    publish(
        author,
        ("id", "bigint"),
        ("name", "varchar(80)"),
        primary_key={"name": "author_pkey", "columns": ["id"]},
    )
    publish(
        make_dataset("book", system=system),
        ("id", "bigint"),
        ("author_id", "bigint"),
        foreign_keys=[
            {"name": "wrote", "columns": ["author_id"], "ref_schema": "public", "ref_table": "author",
             "ref_columns": ["id"], "on_delete": "CASCADE"},
        ],
    )  # fmt: skip
    publish(make_dataset("other", system=system))
    return system


def table(diagram: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in diagram["tables"] if each["name"] == name)


def bring(client: Any, system: System | str, document: Any, **values: Any) -> Any:
    code = system if isinstance(system, str) else system.code
    body = {"system": code, "document": document, **values}
    return client.post("/api/v1/proposals/import?format=chartdb", body, format="json")


def test_a_file_that_comes_back_unchanged_proposes_nothing(engineer: Any, shop: System) -> None:
    answer = bring(engineer, shop, diagrams.of_system(shop))
    assert (answer.status_code, answer.json()["count"]) == (200, 0)
    assert sorted(answer.json()["unchanged"]) == ["public.author", "public.book", "public.other"]
    assert not Proposal.objects.exists()


def test_what_a_file_changes_waits_and_is_published_after_a_decision(engineer: Any, shop: System) -> None:
    drawn = diagrams.of_system(shop)
    drawn["tables"] = [each for each in drawn["tables"] if each["name"] != "other"]
    author = table(drawn, "author")
    author["fields"].append(
        {**author["fields"][1], "id": "new", "name": "born", "type": {"id": "date", "name": "date"},
         "characterMaximumLength": None}
    )  # fmt: skip

    answer = bring(engineer, shop, drawn, comment="From the whiteboard")
    assert answer.status_code == 201, answer.content
    (item,) = answer.json()["items"]
    assert (item["origin"], item["dataset_name"], item["crawl_run_id"]) == ("chartdb", "public.author", None)
    assert item["comment"] == "From the whiteboard"
    assert [(each["op"], each["path"]["field"]) for each in item["changes"]] == [("add_field", "born")]

    steward = api_client(make_user("approver"))
    steward.post(f"/api/v1/proposals/{item['id']}/decide", {"approve": "all"}, format="json")
    outcome = steward.post(f"/api/v1/proposals/{item['id']}/apply").json()
    assert outcome["applied"][0]["version_num"] == 2

    dataset = Dataset.objects.get(system=shop, name="public.author")
    assert dataset.current_schema.origin == "chartdb"
    assert [f["name"] for f in reading.document_of(dataset.current_schema)["fields"]] == [
        "id",
        "name",
        "born",
    ]
    book = Dataset.objects.get(system=shop, name="public.book").current_schema
    assert book.foreign_keys[0]["on_delete"] == "CASCADE"


def test_datasets_outside_of_the_file_are_removed_only_when_asked(engineer: Any, shop: System) -> None:
    drawn = diagrams.of_system(shop)
    drawn["tables"] = [table(drawn, "author"), table(drawn, "book")]
    assert bring(engineer, shop, drawn).json()["count"] == 0
    answer = bring(engineer, shop, drawn, remove_missing=True).json()
    assert [(each["dataset_name"], each["changes"][0]["op"]) for each in answer["items"]] == [
        ("public.other", "drop_dataset")
    ]


def test_a_whole_model_goes_into_an_empty_system_and_comes_out_the_same(engineer: Any, shop: System) -> None:
    drawn = diagrams.of_system(shop)
    copied = make_system("copy", name=shop.name)
    answer = bring(engineer, copied, drawn)
    assert [each["changes"][0]["op"] for each in answer.json()["items"]] == ["add_dataset"] * 3
    approver = api_client(make_user("approver"))
    for item in answer.json()["items"]:
        approver.post(f"/api/v1/proposals/{item['id']}/decide", {"approve": "all"}, format="json")
        applied = approver.post(f"/api/v1/proposals/{item['id']}/apply").json()
        assert applied["applied"], applied

    assert undated(diagrams.of_system(copied)) == undated(drawn)
    made = Dataset.objects.get(system=copied, name="public.book")
    assert (made.kind, made.location) == ("rdbms", {"schema": "public", "table": "book"})


def undated(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: undated(each) for key, each in value.items() if key not in {"createdAt", "updatedAt"}}
    return [undated(each) for each in value] if isinstance(value, list) else value


def test_a_drawn_topic_becomes_a_topic(engineer: Any, shop: System) -> None:
    flavor = make_flavor("kafka_avro")
    flavor.kind = make_kind("MESSAGE_QUEUE")
    flavor.save()
    events = make_system("events", flavor="kafka_avro")
    drawn = diagrams.of_system(shop)
    drawn |= {"tables": [table(drawn, "other")], "relationships": [], "databaseType": "generic"}
    del drawn["tables"][0]["schema"]
    (item,) = bring(engineer, events, drawn).json()["items"]
    approver = api_client(make_user("approver"))
    approver.post(f"/api/v1/proposals/{item['id']}/decide", {"approve": "all"}, format="json")
    assert approver.post(f"/api/v1/proposals/{item['id']}/apply").json()["applied"]
    made = Dataset.objects.get(system=events)
    assert (made.kind, made.name, made.location) == ("kafka", "other", {"topic": "other"})
    assert made.object_kind == "topic"


def test_the_same_file_again_keeps_the_proposal_and_a_newer_one_supersedes_it(
    engineer: Any, shop: System
) -> None:
    drawn = diagrams.of_system(shop)
    table(drawn, "author")["fields"][1]["characterMaximumLength"] = "90"
    first = bring(engineer, shop, drawn).json()["items"][0]
    assert bring(engineer, shop, drawn).json()["items"][0]["id"] == first["id"]
    again = copy.deepcopy(drawn)
    table(again, "author")["fields"][1]["characterMaximumLength"] = "95"
    second = bring(engineer, shop, again).json()["items"][0]
    old = Proposal.objects.get(pk=first["id"])
    assert (old.status, old.superseded_by_id) == ("superseded", second["id"])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"tables": 7}, "document"),
        ({"databaseType": "mysql", "tables": []}, "document.databaseType"),
        ({"databaseType": [], "tables": [7]}, "document.tables[0]"),
        ({"tables": [{"id": "1", "name": "t", "fields": [{"id": "2"}]}]}, "document.tables[0].fields[0]"),
    ],
)
def test_a_broken_file_is_refused_and_nothing_is_proposed(
    engineer: Any, shop: System, body: Any, field: str
) -> None:
    answer = bring(engineer, shop, body)
    assert answer.status_code == 422, answer.content
    assert answer.json()["errors"][0]["field"] == field
    assert not Proposal.objects.exists()


def test_another_format_or_parameter_is_refused(engineer: Any, shop: System) -> None:
    body = {"system": shop.code, "document": {"tables": []}}
    for query in ("format=dbml", "colour=red"):
        answer = engineer.post(f"/api/v1/proposals/import?{query}", body, format="json")
        assert answer.status_code == 422, query


def test_an_engineer_proposes_a_document_and_stewards_decide(engineer: Any, shop: System) -> None:
    dataset = Dataset.objects.get(system=shop, name="public.other")
    document = {
        "fields": [{"name": "id", "native_type": "bigint"}, {"name": "name", "native_type": "varchar(9)"}]
    }
    body = {"dataset_id": dataset.pk, "document": document, "comment": "Names are short"}
    answer = engineer.post("/api/v1/proposals", body, format="json")
    assert answer.status_code == 201, answer.content
    proposal = Proposal.objects.get(pk=answer.json()["id"])
    assert (proposal.origin, proposal.base_version) == ("manual", dataset.current_schema)
    change = Change.objects.get(proposal=proposal)
    assert (change.op, change.risk) == ("change_type", "breaking")

    author = make_user("engineer", "approver")
    assert engineer.post(f"/api/v1/proposals/{proposal.pk}/decide", {"approve": "all"}).status_code == 403
    first, second = api_client(make_user("steward", "approver")), api_client(make_user("approver"))
    for client in (first, second):
        client.post(f"/api/v1/proposals/{proposal.pk}/decide", {"approve": "all"}, format="json")
        outcome = client.post(f"/api/v1/proposals/{proposal.pk}/apply").json()
    assert outcome["applied"][0]["version_num"] == 2
    assert author.pk


def test_who_proposed_a_breaking_change_is_not_its_second_person(shop: System) -> None:
    dataset = Dataset.objects.get(system=shop, name="public.other")
    both = api_client(make_user("engineer", "approver"))
    document = {"fields": [{"name": "id", "native_type": "bigint"}]}
    made = both.post(
        "/api/v1/proposals", {"dataset_id": dataset.pk, "document": document}, format="json"
    ).json()
    first = api_client(make_user("approver"))
    first.post(f"/api/v1/proposals/{made['id']}/decide", {"approve": "all"}, format="json")
    first.post(f"/api/v1/proposals/{made['id']}/apply")
    again = both.post(f"/api/v1/proposals/{made['id']}/decide", {"approve": "all"}, format="json")
    assert (again.status_code, again.json()["error_code"]) == (403, "FOUR_EYES_REQUIRED")


def test_a_document_that_says_what_is_in_force_is_refused(engineer: Any, shop: System) -> None:
    dataset = Dataset.objects.get(system=shop, name="public.other")
    document = engineer.get(f"/api/v1/datasets/{dataset.pk}/schema").json()
    answer = engineer.post(
        "/api/v1/proposals", {"dataset_id": dataset.pk, "document": document}, format="json"
    )
    assert answer.status_code == 422
    assert "nothing to propose" in answer.json()["detail"]


def test_a_rejected_proposal_leaves_crawls_alone(engineer: Any, shop: System) -> None:
    drawn = diagrams.of_system(shop)
    table(drawn, "author")["fields"][1]["characterMaximumLength"] = "90"
    (item,) = bring(engineer, shop, drawn).json()["items"]
    approver = api_client(make_user("approver"))
    reject = [{"id": item["changes"][0]["id"], "reason": "Not now", "mode": "mute"}]
    approver.post(f"/api/v1/proposals/{item['id']}/decide", {"reject": reject}, format="json")
    assert approver.post(f"/api/v1/proposals/{item['id']}/apply").json()["rejected"]
    assert Proposal.objects.get(pk=item["id"]).status == "rejected"
    assert not Mute.objects.exists()


def test_a_steward_cannot_propose(shop: System) -> None:
    steward = api_client(make_user("steward"))
    assert bring(steward, shop, {"tables": []}).status_code == 403
