"""Pages, filters and sorting of lists."""

from __future__ import annotations

import pytest

from registry.models import SystemKind
from tests.factories import (
    api_client,
    make_dataset,
    make_kind,
    make_system,
    make_user,
    publish,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def viewer():
    return api_client(make_user("viewer"))


def codes(answer):
    return [one["code"] for one in answer.json()["items"]]


def test_a_page_says_how_much_there_is(viewer):
    for n in range(5):
        make_kind(f"K{n}")
    page = viewer.get("/api/v1/system-kinds?page=2&size=2").json()
    assert [one["code"] for one in page.pop("items")] == ["K2", "K3"]
    assert page == {
        "total": 5,
        "total_is_capped": False,
        "page": 2,
        "size": 2,
        "pages": 3,
        "has_next": True,
    }
    last = viewer.get("/api/v1/system-kinds?page=3&size=2").json()
    assert last["has_next"] is False
    beyond = viewer.get("/api/v1/system-kinds?page=9&size=2").json()
    assert (beyond["items"], beyond["total"]) == ([], 5)


def test_a_total_is_capped_at_ten_thousand(viewer):
    SystemKind.objects.bulk_create([SystemKind(code=f"K{n}", name="x") for n in range(10_001)])
    page = viewer.get("/api/v1/system-kinds?page=201&size=50").json()
    assert page["total"] == 10_000
    assert page["total_is_capped"] is True
    assert len(page["items"]) == 1
    assert page["has_next"] is False


@pytest.mark.parametrize(
    "query",
    [
        "page=0",
        "page=x",
        "page=-1",
        "page=99999999999999999999",
        "size=0",
        "size=501",
        "unknown=1",
        "code__gte=a",
        "code__nonsense=1",
        "id=x",
        "id=1e3",
        "id__in=1,x",
        "id=99999999999999999999999999",
        "created_at__gte=yesterday",
        "created_at__gte=99999-01-01",
        "sort=password",
        "sort=-",
        "sort=",
        "code=a&code=b",
        "code=%00",
        "code__like=" + "x" * 201,
        "cursor=abc",
    ],
)
def test_what_a_list_does_not_understand_is_422(viewer, query):
    answer = viewer.get(f"/api/v1/system-kinds?{query}")
    assert answer.status_code == 422, answer.content
    assert answer.json()["error_code"] == "VALIDATION_ERROR"
    assert answer.json()["errors"][0]["field"] in query


def test_filters_narrow_and_sorts_order(viewer):
    for code, name in (("A1", "Apple"), ("B_2", "banana"), ("BX2", "Cherry"), ("C3", "100% apple")):
        make_kind(code, name=name)
    get = viewer.get
    assert codes(get("/api/v1/system-kinds?code=A1")) == ["A1"]
    assert codes(get("/api/v1/system-kinds?code__in=A1,C3,nope")) == ["A1", "C3"]
    assert codes(get("/api/v1/system-kinds?name__like=APPLE")) == ["A1", "C3"]
    assert codes(get("/api/v1/system-kinds?code__like=b_2")) == ["B_2"]
    assert codes(get("/api/v1/system-kinds?name__like=app%25")) == ["A1"]
    assert codes(get("/api/v1/system-kinds?sort=-id&code__in=A1,C3")) == ["C3", "A1"]
    assert codes(get("/api/v1/system-kinds?sort=name,-code&name__like=app")) == ["C3", "A1"]
    assert codes(get("/api/v1/system-kinds?created_at__gte=2001-01-01&created_at__lte=2001-01-02")) == []
    assert len(codes(get("/api/v1/system-kinds?created_at__gte=2001-01-01T00:00:00+02:00"))) == 4


def test_a_pattern_matches_the_whole_text_and_nothing_but_percent_is_special(viewer):
    names = {"A": "total_2", "B": "totals2", "C": r"to\tal.2", "D": "two\nlines", "E": "Totalx_2x"}
    for code, name in names.items():
        make_kind(code, name=name)
    for pattern, expected in {
        "to%_2": ["A"],
        "TO%2": ["A", "B", "C"],
        "%tal%2%": ["A", "B", "C", "E"],
        "to%.2": ["C"],
        "to\\%": ["C"],
        "two%lines": ["D"],
        "%%": ["A", "B", "C", "D", "E"],
        "[a-z]%": [],
        "(%": [],
    }.items():
        assert codes(viewer.get("/api/v1/system-kinds", {"name__like": pattern})) == expected, pattern


def test_a_pattern_that_nearly_matches_in_very_many_ways_ends(viewer):
    make_kind("LONG", name="a" * 200)
    assert codes(viewer.get("/api/v1/system-kinds", {"name__like": "%a" * 10 + "b"})) == []


@pytest.mark.parametrize(
    "path",
    [
        "users",
        "api-keys",
        "system-kinds",
        "system-flavors",
        "data-types",
        "credential-refs",
        "systems",
        "datasets",
        "fields",
        "dataset-schemas",
        "field-bindings",
        "type-instances",
        "pii-tags",
        "field-tags",
    ],
)
def test_every_list_takes_a_constant_number_of_queries(path, django_assert_max_num_queries):
    admin = api_client(make_user("admin"))
    system = make_system()
    system.namespace_rows.create(namespace="postgres://one:5432")
    for _ in range(6):
        publish(make_dataset(system=system), ("id", "bigint"), ("amount", "numeric(10,2)"))
        make_user("steward", "viewer").systems.add(system)
    with django_assert_max_num_queries(9):
        answer = admin.get(f"/api/v1/{path}?size=500")
    assert answer.status_code == 200
