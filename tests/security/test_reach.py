"""A key that is limited to systems sees of lineage what concerns their datasets: in our lists and in Marquez's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lineage import merging
from registry.models import SystemNamespace
from tests.factories import api_client, make_api_key, make_dataset, make_system, make_user
from tests.lineage.events import columns, dataset, run_event

pytestmark = pytest.mark.django_db
MINE, THEIRS = "postgres://mine:5432", "postgres://theirs:5432"


@pytest.fixture
def limited() -> Any:
    """A key for the system `mine`, after jobs of its own, of another system, of both, and of names nobody knows."""
    for code, place in (("mine", MINE), ("theirs", THEIRS)):
        system = make_system(code)
        SystemNamespace.objects.create(system=system, namespace=place)
        for name in ("a", "b"):
            make_dataset(system=system, name=name)

    def there(place: str, name: str, **facets: Any) -> dict[str, Any]:
        return dataset(f"shop.public.{name}", place, **facets)

    flow = {"fields": columns(id=[("shop.public.a", "id")])["fields"]}
    flow["fields"]["id"]["inputFields"][0]["namespace"] = THEIRS
    events = [
        run_event(run=1, job="own", reads=[there(MINE, "a")], writes=[there(MINE, "b")]),
        run_event(run=2, job="foreign", reads=[there(THEIRS, "a")], writes=[there(THEIRS, "b")]),
        run_event(
            run=3, job="shared", reads=[there(THEIRS, "a")], writes=[there(MINE, "b", columnLineage=flow)]
        ),
        run_event(run=4, job="unknown", reads=["nobody.knows.a"], writes=["nobody.knows.b"]),
    ]
    receipts = merging.receive([merging.Incoming(event, json.dumps(event)) for event in events])
    assert all(receipt.merged for receipt in receipts)
    _, secret = make_api_key(make_user("service"), "registry:read", system_codes=["mine"])
    return api_client(secret=secret)


def ask(client: Any, path: str) -> Any:
    answer = client.get(f"/api/v1/{path}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_jobs_and_runs_are_those_that_touch_its_systems(limited: Any) -> None:
    assert {each["name"] for each in ask(limited, "lineage/jobs")["items"]} == {"own", "shared"}
    assert {each["job"] for each in ask(limited, "lineage/runs")["items"]} == {"own", "shared"}
    assert {each["name"] for each in ask(limited, "jobs")["jobs"]} == {"own", "shared"}


def test_raw_events_are_those_that_tell_of_its_systems_alone(limited: Any) -> None:
    for found in (ask(limited, "lineage/events"), ask(limited, "lineage/events?cursor=")):
        assert [each["job_name"] for each in found["items"]] == ["own"]
    found = ask(limited, "events/lineage")
    assert [each["job"]["name"] for each in found["events"]] == ["own"]
    assert found["totalCount"] == 1


def test_marquez_answers_name_no_dataset_of_another_system(limited: Any) -> None:
    for path in (
        "jobs",
        "namespaces",
        "search?q=",
        f"lineage?nodeId=dataset:{MINE}:shop.public.b",
        "lineage?nodeId=job:jobs:shared",
        "namespaces/jobs/jobs/shared",
        f"namespaces/{MINE.replace('/', '%2F')}/datasets",
        f"column-lineage?nodeId=dataset:{MINE}:shop.public.b",
    ):
        text = json.dumps(ask(limited, path))
        assert "theirs" not in text, path
        assert "foreign" not in text, path
        assert "nobody" not in text, path


def test_what_belongs_to_others_is_not_found(limited: Any) -> None:
    for path in (
        f"lineage?nodeId=dataset:{THEIRS}:shop.public.a",
        "lineage?nodeId=job:jobs:foreign",
        f"column-lineage?nodeId=dataset:{THEIRS}:shop.public.a",
        "namespaces/jobs/jobs/foreign",
        f"namespaces/{THEIRS.replace('/', '%2F')}/datasets/shop.public.a",
        f"namespaces/{THEIRS.replace('/', '%2F')}",
    ):
        assert limited.get(f"/api/v1/{path}").status_code == 404, path


def test_whoever_is_not_limited_sees_all(limited: Any) -> None:
    client = api_client(make_user("viewer"))
    assert ask(client, "lineage/jobs")["total"] == 4
    assert ask(client, "lineage/runs")["total"] == 4
    assert ask(client, "lineage/events")["total"] == 4
    assert ask(client, "jobs")["totalCount"] == 4
    assert "theirs" in json.dumps(ask(client, f"column-lineage?nodeId=dataset:{MINE}:shop.public.b"))
