"""Versions compared over the API: two by number, or all that happened since a moment."""

from __future__ import annotations

import datetime as dt

import pytest
from django.utils import timezone

from registry import versions
from registry.documents import clean
from registry.models import Dataset, DatasetSchema
from registry.reading import place_of
from tests.factories import api_client, make_dataset, make_document, make_system, make_user, publish

pytestmark = pytest.mark.django_db
API = "/api/v1"


@pytest.fixture
def viewer():
    return api_client(make_user("viewer"))


def put(dataset: Dataset, *fields: tuple[str, str], renames: dict[str, str] | None = None) -> DatasetSchema:
    """The next version; `renames` as new path → old name."""
    schema, name = place_of(dataset)
    document = clean(make_document(*fields, schema=schema, name=name))
    publication = versions.Publication(document, dataset=dataset, renames=renames or {})
    return versions.publish(publication, system=dataset.system, by=None, origin="crawl").schema


def ask(client, dataset: Dataset, query: str):
    return client.get(f"{API}/datasets/{dataset.pk}/diff?{query}")


def brief(answer) -> set[tuple[str, str | None, object]]:
    assert answer.status_code == 200, answer.content
    return {
        (each["op"], each["path"]["field"], each["after"] if each["op"] == "rename_field" else each["risk"])
        for each in answer.json()["changes"]
    }


def customers() -> Dataset:
    """Five versions: a field renamed twice, one that came and went, one that was widened in steps."""
    dataset = make_dataset("customers")
    put(dataset, ("id", "integer"), ("phone", "text"), ("city", "varchar(10)"))
    put(dataset, ("id", "integer"), ("phone", "text"), ("city", "varchar(20)"), ("brief", "date"))
    put(dataset, ("id", "integer"), ("tel", "text"), ("city", "varchar(30)"), renames={"tel": "phone"})
    put(dataset, ("id", "bigint"), ("tel", "text"), ("city", "varchar(30)"))
    put(dataset, ("id", "bigint"), ("mobile", "text"), ("city", "varchar(30)"), renames={"mobile": "tel"})
    return dataset


def test_the_net_difference_follows_renames_and_leaves_out_what_came_and_went(viewer):
    dataset = customers()
    answer = ask(viewer, dataset, "from=1&to=5")
    assert (answer.json()["from"], answer.json()["to"]) == (1, 5)
    assert brief(answer) == {
        ("rename_field", "phone", "mobile"),
        ("change_type", "id", "safe"),
        ("change_parameters", "city", "safe"),
    }
    (city,) = [each for each in answer.json()["changes"] if each["path"]["field"] == "city"]
    assert set(city) == {"op", "path", "before", "after", "risk", "why"}
    assert city["path"]["dataset"] == "public.customers"
    assert (city["before"]["native_type"], city["after"]["native_type"]) == ("varchar(10)", "varchar(30)")
    assert brief(ask(viewer, dataset, "from=2&to=3")) == {
        ("rename_field", "phone", "tel"),
        ("drop_field", "brief", "breaking"),
        ("change_parameters", "city", "safe"),
    }


def test_the_newer_version_is_the_one_in_force_unless_given(viewer):
    dataset = customers()
    assert ask(viewer, dataset, "from=4").json()["to"] == 5
    assert ask(viewer, dataset, "from=5").json()["changes"] == []
    assert ask(viewer, dataset, "from=3&to=3").json() == {"from": 3, "to": 3, "changes": []}


def test_since_takes_the_version_that_was_in_force_at_that_moment(viewer):
    dataset = customers()
    now = timezone.now()
    for schema in dataset.schemas.all():
        days = dt.timedelta(days=10 * (6 - schema.version_num))
        DatasetSchema.objects.filter(pk=schema.pk).update(published_at=now - days)
    for days, number in ((51, None), (49, 1), (35, 2), (11, 4), (9, 5), (-3, 5)):
        moment = (now - dt.timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")
        answer = ask(viewer, dataset, f"since={moment}").json()
        assert (answer["from"], answer["to"]) == (number, 5)
    (added,) = ask(viewer, dataset, "since=1999-01-01").json()["changes"]
    assert (added["op"], added["path"]["field"], added["risk"]) == ("add_dataset", None, "safe")
    assert [each["name"] for each in added["after"]["fields"]] == ["id", "mobile", "city"]
    assert ask(viewer, dataset, f"since={now.date().isoformat()}").json()["changes"] == []


def test_a_name_that_passed_from_one_field_to_another_is_no_continuation(viewer):
    dataset = make_dataset()
    put(dataset, ("id", "bigint"), ("phone", "text"), ("mobile", "text"))
    put(dataset, ("id", "bigint"), ("phone", "text"))
    put(dataset, ("id", "bigint"), ("mobile", "text"), renames={"mobile": "phone"})
    assert brief(ask(viewer, dataset, "from=1&to=3")) == {
        ("drop_field", "mobile", "breaking"),
        ("rename_field", "phone", "mobile"),
    }


def test_renames_in_a_chain_are_told_in_an_order_that_works(viewer):
    dataset = make_dataset()
    put(dataset, ("a", "bigint"), ("b", "text"))
    put(dataset, ("a", "bigint"), ("c", "text"), renames={"c": "b"})
    put(dataset, ("b", "bigint"), ("c", "text"), renames={"b": "a"})
    assert brief(ask(viewer, dataset, "from=1&to=3")) == {
        ("rename_field", "a", "b"),
        ("rename_field", "b", "c"),
    }


def test_fields_that_exchanged_their_names_are_compared_by_name(viewer):
    dataset = make_dataset()
    put(dataset, ("a", "bigint"), ("b", "text"))
    put(dataset, ("a", "bigint"), ("c", "text"), renames={"c": "b"})
    put(dataset, ("b", "bigint"), ("c", "text"), renames={"b": "a"})
    put(dataset, ("b", "bigint"), ("a", "text"), renames={"a": "c"})
    assert brief(ask(viewer, dataset, "from=1&to=4")) == {
        ("change_type", "a", "breaking"),
        ("change_type", "b", "breaking"),
    }


def test_names_with_dots_and_quotes_are_followed_too(viewer):
    dataset = make_dataset()
    put(dataset, ("id", "bigint"), ('od.d "name"', "text"))
    put(dataset, ("id", "bigint"), ("plain", "text"), renames={"plain": 'od.d "name"'})
    assert brief(ask(viewer, dataset, "from=1&to=2")) == {("rename_field", '"od.d ""name"""', "plain")}


def test_nested_fields_are_followed_through_the_rename_of_their_parent(viewer):
    dataset = make_dataset(kind="kafka", name="events", location={})
    inner = {"name": "zip", "native_type": "text"}
    schema, name = place_of(dataset)

    def nested(outer: str, field: dict[str, str], renames: dict[str, str]) -> None:
        document = clean(
            {
                "schema": schema,
                "name": name,
                "fields": [{"name": outer, "native_type": "struct", "fields": [field]}],
            }
        )
        publication = versions.Publication(document, dataset=dataset, renames=renames)
        versions.publish(publication, system=dataset.system, by=None, origin="api")

    nested("address", inner, {})
    nested("home", inner, {"home": "address"})
    nested("home", inner | {"name": "postcode"}, {"home.postcode": "zip"})
    assert brief(ask(viewer, dataset, "from=1&to=3")) == {
        ("rename_field", "address", "home"),
        ("rename_field", "home.zip", "postcode"),
    }


@pytest.mark.parametrize(
    ("query", "status", "where"),
    [
        ("", 422, "from"),
        ("to=2", 422, "from"),
        ("from=3&to=2", 422, "from"),
        ("from=0", 422, "from"),
        ("from=-1", 422, "from"),
        ("from=one", 422, "from"),
        ("from=1.0", 422, "from"),
        ("from=%D9%A1", 422, "from"),
        (f"from={10**30}", 422, "from"),
        ("from=1&to=", 422, "to"),
        ("from=9", 404, ""),
        ("from=1&to=9", 404, ""),
        ("since=yesterday", 422, "since"),
        ("since=2026-13-01", 422, "since"),
        ("since=", 422, "since"),
        ("since=2026-03-01&from=1", 422, "since"),
        ("since=2026-03-01&to=1", 422, "since"),
        ("from=1&version=2", 422, "version"),
        ("from=1&from=2", 422, "from"),
    ],
)
def test_what_cannot_be_compared_is_said_plainly(viewer, query, status, where):
    dataset = make_dataset()
    put(dataset, ("a", "bigint"))
    put(dataset, ("a", "text"))
    put(dataset, ("a", "date"))
    answer = ask(viewer, dataset, query)
    assert answer.status_code == status, answer.content
    if status == 404:
        assert answer.json()["error_code"] == "DATASET_SCHEMA_NOT_FOUND"
    else:
        assert {each["field"] for each in answer.json()["errors"]} == {where}


def test_without_versions_there_is_nothing_to_compare(viewer):
    dataset = make_dataset()
    for query in ("since=2026-03-01", "from=1"):
        assert ask(viewer, dataset, query).json()["error_code"] == "DATASET_SCHEMA_NOT_FOUND"
    assert viewer.get(f"{API}/datasets/x/diff?from=1").json()["error_code"] == "DATASET_NOT_FOUND"
    assert ask(api_client(), dataset, "from=1").status_code == 401
    assert viewer.post(f"{API}/datasets/{dataset.pk}/diff", {}).status_code == 405


def test_both_forms_of_the_path_answer(viewer):
    dataset = customers()
    slashed = viewer.get(f"{API}/datasets/{dataset.pk}/diff/?from=1&to=2")
    assert slashed.json() == ask(viewer, dataset, "from=1&to=2").json()


def test_comparing_takes_a_constant_number_of_statements(viewer, django_assert_max_num_queries):
    system = make_system()
    for width in (5, 200):
        dataset = make_dataset(system=system)
        for native in ("integer", "bigint"):
            publish(dataset, *((f"c{n}", native) for n in range(width)))
        with django_assert_max_num_queries(12):
            answer = ask(viewer, dataset, "from=1&to=2")
        assert len(answer.json()["changes"]) == width


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("version=1", 200),
        ("version=2", 404),
        ("version=0", 404),
        ("version=-1", 422),
        ("version=x", 422),
        ("version=", 422),
        (f"version={10**30}", 422),
        ("as_of=2999-01-01", 200),
        ("as_of=1999-01-01T00:00Z", 404),
        ("as_of=then", 422),
        ("as_of=", 422),
        ("as_of=0000-00-00", 422),
        ("as_of=2026-03-01&version=1", 422),
        ("asof=2026-03-01", 422),
    ],
)
def test_bad_versions_and_moments_of_a_document_are_refused(viewer, query, status):
    dataset = make_dataset()
    put(dataset, ("a", "bigint"))
    answer = viewer.get(f"{API}/datasets/{dataset.pk}/schema?{query}")
    assert answer.status_code == status, answer.content
    if status == 404:
        assert answer.json()["error_code"] == "DATASET_SCHEMA_NOT_FOUND"
