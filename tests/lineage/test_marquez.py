"""What Marquez's web interface and scripts ask for is answered in its shapes."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.factories import api_client, make_user
from tests.lineage.events import PG, columns, dataset, run_event, send

API = "/api/v1"


@pytest.fixture
def reader(db):
    """Two jobs in a row; the first tells its columns."""
    fields = {"fields": [{"name": "mail", "type": "TEXT"}]}
    made = dataset("s.p.b", columnLineage=columns(mail=[("s.p.a", "email")]), schema=fields)
    send(
        run_event("START", run=1, job="first", reads=["s.p.a"], at="2026-03-01T10:00:00Z"),
        run_event("COMPLETE", run=1, job="first", writes=[made], at="2026-03-01T10:00:05Z"),
        run_event("FAIL", run=2, job="second", reads=["s.p.b"], writes=["s.p.c"], at="2026-03-02T10:00:00Z"),
    )
    return api_client(make_user("viewer"))


@pytest.mark.parametrize(
    "node_id", [f"dataset:{PG}:s.p.b", f"dataset:{quote(PG, safe='')}:s.p.b", "job:jobs:first"]
)
def test_the_graph_around_a_node(reader, node_id):
    answer = reader.get(f"{API}/lineage", {"nodeId": node_id, "depth": 20})
    assert answer.status_code == 200, answer.content
    found = {node["id"]: node for node in answer.json()["graph"]}
    assert set(found) == {
        "job:jobs:first", "job:jobs:second", *(f"dataset:{PG}:s.p.{letter}" for letter in "abc"),
    }  # fmt: skip
    middle = found[f"dataset:{PG}:s.p.b"]
    assert middle["type"] == "DATASET"
    assert middle["inEdges"] == [{"origin": "job:jobs:first", "destination": middle["id"]}]
    assert middle["outEdges"] == [{"origin": middle["id"], "destination": "job:jobs:second"}]
    assert middle["data"]["fields"][0]["name"] == "mail"
    job = found["job:jobs:first"]["data"]
    assert job["inputs"] == [{"namespace": PG, "name": "s.p.a"}]
    assert (job["latestRun"]["state"], job["latestRun"]["durationMs"]) == ("COMPLETED", 5000)


def test_depth_is_held(reader):
    found = reader.get(f"{API}/lineage", {"nodeId": f"dataset:{PG}:s.p.a", "depth": 1}).json()["graph"]
    assert {node["id"] for node in found} == {f"dataset:{PG}:s.p.a", "job:jobs:first"}


def test_column_lineage(reader):
    asked = {"nodeId": f"datasetField:{PG}:s.p.b:mail"}
    found = reader.get(f"{API}/column-lineage", asked).json()["graph"]
    assert [node["id"] for node in found] == [
        f"datasetField:{PG}:s.p.a:email", f"datasetField:{PG}:s.p.b:mail",
    ]  # fmt: skip
    assert found[1]["data"]["inputFields"][0]["field"] == "email"
    assert found[1]["data"]["fieldType"] == "TEXT"


def test_namespaces_hold_colons_and_slashes(reader):
    listed = reader.get(f"{API}/namespaces").json()
    assert [each["name"] for each in listed["namespaces"]] == ["jobs", PG]
    place = quote(PG, safe="")
    assert reader.get(f"{API}/namespaces/{place}").json()["name"] == PG
    found = reader.get(f"{API}/namespaces/{place}/datasets", {"limit": 2, "offset": 1}).json()
    assert (found["totalCount"], [each["name"] for each in found["datasets"]]) == (3, ["s.p.b", "s.p.c"])
    assert reader.get(f"{API}/namespaces/{place}/datasets/s.p.b").json()["id"] == {
        "namespace": PG,
        "name": "s.p.b",
    }
    assert reader.get(f"{API}/namespaces/{place}/datasets/s.p.b/versions").json()["totalCount"] == 1
    assert reader.get(f"{API}/namespaces/{place}/datasets/none").status_code == 404


def test_jobs_and_runs(reader):
    assert reader.get(f"{API}/jobs").json()["totalCount"] == 2
    assert reader.get(f"{API}/namespaces/jobs/jobs/second").json()["latestRun"]["state"] == "FAILED"
    runs = reader.get(f"{API}/namespaces/jobs/jobs/first/runs").json()
    assert (runs["totalCount"], runs["runs"][0]["state"]) == (1, "COMPLETED")


def test_search_counts_all_that_is_found(reader):
    found = reader.get(f"{API}/search", {"q": "s.p", "limit": 1}).json()
    assert (found["totalCount"], len(found["results"])) == (3, 1)
    assert found["results"][0]["nodeId"] == f"dataset:{PG}:s.p.a"
    assert reader.get(f"{API}/search", {"q": "fir", "filter": "JOB"}).json()["totalCount"] == 1


def test_events_by_their_time(reader):
    found = reader.get(f"{API}/events/lineage", {"before": "2026-03-02T00:00:00Z", "limit": 1}).json()
    assert found["totalCount"] == 2
    assert found["events"][0]["eventType"] == "COMPLETE"


def test_jobs_are_found_by_the_state_of_their_last_run(reader):
    def names(states):
        return [job["name"] for job in reader.get(f"{API}/jobs", {"lastRunStates": states}).json()["jobs"]]

    assert names("FAILED") == ["second"]
    assert sorted(names("completed,FAILED")) == ["first", "second"]
    assert names("NEW") == []
    assert reader.get(f"{API}/jobs", {"lastRunStates": "ODD"}).status_code == 422
    assert reader.get(f"{API}/search", {"q": "a", "sort": "FOO"}).status_code == 422
