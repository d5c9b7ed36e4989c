"""Runs, uploads and reports over the API."""

from __future__ import annotations

import gzip
import json
import uuid
from typing import Any

import pytest
from aide_crawler import inspect

from aide.work.models import WorkItem
from aide.work.runner import drain
from crawling.models import CrawlRun, Observation, Proposal
from tests.factories import api_client, make_api_key, make_service, make_user
from tests.flows.desk import API, Desk, contents, ok
from tests.flows.sources import Source, sqlite_source

SOURCE = """
CREATE TABLE parts (id integer NOT NULL PRIMARY KEY, name varchar(50) NOT NULL, weight numeric(6,2));
CREATE TABLE bins (id integer NOT NULL PRIMARY KEY, part_id integer REFERENCES parts (id));
CREATE VIEW heavy AS SELECT id, name FROM parts WHERE weight > 10;
"""


@pytest.fixture
def source(tmp_path: Any, type_catalogues: None) -> Source:
    source = sqlite_source(tmp_path / "parts.sqlite3")
    source.execute(SOURCE)
    return source


@pytest.fixture
def desk(source: Source) -> Desk:
    return Desk(source.system())


def _snapshot(source: Source) -> dict[str, Any]:
    return inspect(source.url).to_dict()


def _one_field(**values: Any) -> dict[str, Any]:
    return {"schema": "main", "name": "x", "fields": [{"name": "f", "native_type": "text", **values}]}


def _nested(*names: str) -> dict[str, Any]:
    inner: list[dict[str, Any]] = []
    for name in names:
        inner = [{"name": name, "native_type": "record", "fields": inner}]
    return {"schema": "main", "name": "x", "fields": inner}


def test_starting_a_crawl_answers_with_the_queued_run(desk: Desk) -> None:
    answer = desk.by_engineer.post(f"{API}/crawl-runs", {"system": desk.system.code}, format="json")
    assert answer.status_code == 202
    run = answer.json()
    assert (run["status"], run["system"], run["trigger"]) == ("queued", desk.system.code, "api")
    assert run["started_by"] == desk.engineer.email
    assert run["config"] == {"schemas": [], "tables": [], "exclude_schemas": [], "exclude_tables": []}
    drain()
    run = desk.run(run["id"])
    assert run["status"] == "completed"
    assert run["coverage"]["listed"] == 3
    assert run["summary"]["new_datasets"] == 3
    assert run["started_at"] <= run["heartbeat_at"] <= run["finished_at"]


@pytest.mark.parametrize("slash", ["", "/"])
def test_paths_answer_with_and_without_the_closing_slash(desk: Desk, slash: str) -> None:
    answer = desk.by_engineer.post(f"{API}/crawl-runs{slash}", {"system": desk.system.code}, format="json")
    assert answer.status_code == 202
    run = answer.json()["id"]
    assert desk.by_engineer.post(f"{API}/crawl-runs/{run}/cancel{slash}").status_code == 200
    for path in ("crawl-runs", "crawl-plans", "proposals", f"crawl-runs/{run}"):
        assert desk.by_engineer.get(f"{API}/{path}{slash}").status_code == 200


def test_a_second_run_is_refused_with_the_first_ones_id(desk: Desk, source: Source) -> None:
    first = ok(desk.by_engineer.post(f"{API}/crawl-runs", {"system": desk.system.code}, format="json"))
    for body in (
        {"system": desk.system.code},
        {"system": desk.system.code, "dry_run": True},
        {"system": desk.system.code, "snapshot": _snapshot(source)},
    ):
        answer = desk.by_engineer.post(f"{API}/crawl-runs", body, format="json")
        assert (answer.status_code, answer.json()["error_code"]) == (409, "CRAWL_ALREADY_RUNNING")
        assert answer.json()["run_id"] == first["id"]
    answer = desk.by_engineer.post(f"{API}/crawl-runs/{first['id']}/retry")
    assert (answer.status_code, answer.json()["error_code"]) == (409, "CRAWL_ALREADY_RUNNING")
    drain()
    assert desk.crawl()["status"] == "completed"


def test_a_snapshot_is_compared_at_once_like_a_crawl(desk: Desk, source: Source) -> None:
    body = {"system": desk.system.code, "snapshot": _snapshot(source)}
    answer = desk.by_engineer.post(f"{API}/crawl-runs", body, format="json")
    assert answer.status_code == 201, answer.content
    run = answer.json()
    assert (run["status"], run["trigger"]) == ("completed", "snapshot")
    assert run["summary"]["new_datasets"] == 3
    assert len(desk.proposals(crawl_run_id=run["id"])) == 3
    assert len(desk.decide(run, approve="all")["applied"]) == 3
    crawled = desk.crawl()
    assert not any(crawled["summary"].values())
    assert desk.proposals() == []
    assert WorkItem.objects.filter(task="crawling.crawl").count() == 0


def test_a_snapshot_may_come_as_gzip(desk: Desk, source: Source) -> None:
    snapshot = _snapshot(source)
    template = snapshot["datasets"][0]
    snapshot["datasets"] = [{**template, "name": f"t{number}"} for number in range(2000)]
    snapshot["coverage"] |= {"listed": 2000, "read": 2000}
    raw = json.dumps({"system": desk.system.code, "snapshot": snapshot, "dry_run": True}).encode()
    answer = desk.by_engineer.generic(
        "POST",
        f"{API}/crawl-runs",
        gzip.compress(raw),
        content_type="application/json",
        HTTP_CONTENT_ENCODING="gzip",
    )
    assert answer.status_code == 201, answer.content[:500]
    assert answer.json()["summary"]["new_datasets"] == 2000


def test_a_body_of_more_than_64_mib_is_refused(desk: Desk) -> None:
    bomb = gzip.compress(b'{"system": "' + b"x" * (65 * 1024 * 1024) + b'"}', compresslevel=1)
    answer = desk.by_engineer.generic(
        "POST",
        f"{API}/crawl-runs",
        bomb,
        content_type="application/json",
        HTTP_CONTENT_ENCODING="gzip",
    )
    assert (answer.status_code, answer.json()["error_code"]) == (413, "PAYLOAD_TOO_LARGE")


@pytest.mark.parametrize(
    ("damage", "where"),
    [
        ({"snapshot_version": 2}, "snapshot.snapshot_version"),
        ({"dialect": "postgresql"}, "snapshot.dialect"),
        ({"datasets": "none"}, "snapshot.datasets"),
        ({"coverage": None}, "snapshot.coverage"),
        ({"scope": {"colour": []}}, "snapshot.scope"),
        ({"datasets": [{"schema": "main", "name": "x", "fields": [{"name": 7}]}]}, "snapshot.datasets[0]"),
        ({"datasets": [{"schema": "main", "name": "x", "fields": [], "kind": []}]}, "snapshot.datasets[0]"),
        ({"datasets": [{"schema": "m" * 600, "name": "x" * 600, "fields": []}]}, "snapshot.datasets[0].name"),
        ({"datasets": [{"schema": "main", "name": "x" * 1001, "fields": []}]}, "snapshot.datasets[0].name"),
        ({"datasets": [_one_field(name="x" * 1001)]}, "snapshot.datasets[0].fields[0].name"),
        ({"datasets": [_one_field(type_name="x" * 501)]}, "snapshot.datasets[0].f.type_name"),
        ({"datasets": [_one_field(type_kind="x" * 33)]}, "snapshot.datasets[0].f.type_kind"),
        ({"datasets": [_one_field(native_position=2**31)]}, "snapshot.datasets[0].fields[0].native_position"),
        ({"datasets": [_nested(*["x" * 900] * 5)]}, "snapshot.datasets[0].xxx"),
        ({"database": "d" * 501}, "snapshot.database"),
        ({"coverage": {"schemas": [], "listed": 2**31}}, "snapshot.coverage.listed"),
        (
            {"coverage": {"schemas": [{"name": "s" * 1001, "status": "failed"}]}},
            "snapshot.coverage.schemas[0].name",
        ),
        (
            {"coverage": {"schemas": [], "failed": [{"schema": "s", "name": "t", "reason": "r" * 10001}]}},
            "snapshot.coverage.failed[0].reason",
        ),
    ],
)
def test_a_snapshot_that_is_none_is_refused_and_leaves_no_run(
    desk: Desk, source: Source, damage: dict[str, Any], where: str
) -> None:
    body = {"system": desk.system.code, "snapshot": _snapshot(source) | damage}
    answer = desk.by_engineer.post(f"{API}/crawl-runs", body, format="json")
    assert (answer.status_code, answer.json()["error_code"]) == (422, "VALIDATION_ERROR"), answer.content
    assert answer.json()["errors"][0]["field"].startswith(where), answer.json()["errors"]
    assert CrawlRun.objects.count() == 0


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "system"),
        ({"system": "nobody"}, "system"),
        ({"system": 7}, "system"),
        ({"config": {"colour": []}}, "config"),
        ({"config": {"tables": "parts"}}, "config"),
        ({"config": {"tables": ["a.b.c"]}}, "config"),
        ({"config": {"tables": ['"open']}}, "config"),
        ({"config": {"tables": [7]}}, "config"),
        ({"config": []}, "config"),
        ({"snapshot": "x"}, "snapshot"),
        ({"dry_run": "perhaps"}, "dry_run"),
    ],
)
def test_a_run_that_cannot_be_is_refused(desk: Desk, body: dict[str, Any], field: str) -> None:
    body = {"system": desk.system.code, **body} if body else body
    answer = desk.by_engineer.post(f"{API}/crawl-runs", body, format="json")
    assert (answer.status_code, answer.json()["error_code"]) == (422, "VALIDATION_ERROR"), answer.content
    assert answer.json()["errors"][0]["field"].startswith(field)


def test_a_dry_run_reports_and_proposes_nothing(desk: Desk, source: Source) -> None:
    for body in ({}, {"snapshot": _snapshot(source)}):
        answer = desk.by_engineer.post(
            f"{API}/crawl-runs", {"system": desk.system.code, "dry_run": True, **body}, format="json"
        )
        drain()
        run = desk.run(answer.json()["id"])
        assert (run["status"], run["dry_run"]) == ("completed", True)
        assert run["summary"]["new_datasets"] == 3
        assert len(desk.report(run["id"])["new_datasets"]) == 3
    assert Proposal.objects.count() == Observation.objects.count() == 0


def test_deciding_a_dry_run_decides_nothing(desk: Desk) -> None:
    desk.crawl()
    dry = desk.crawl(dry_run=True)
    assert desk.decide(dry, approve="all")["applied"] == []
    assert len(desk.proposals()) == 3


def test_the_report_is_json_or_text(desk: Desk) -> None:
    run = desk.crawl()
    path = f"{API}/crawl-runs/{run['id']}/report"
    report = ok(api_client(make_user("viewer")).get(path))
    assert (report["schema_version"], report["system"], report["run_id"]) == (1, desk.system.code, run["id"])
    assert {each["object_name"] for each in report["new_datasets"]} == {
        "main.parts",
        "main.bins",
        "main.heavy",
    }
    assert report == ok(desk.by_steward.get(path, {"format": "json"}))
    text = desk.by_steward.get(path, {"format": "text"})
    assert text["Content-Type"] == "text/plain; charset=utf-8"
    lines = text.content.decode().splitlines()
    assert lines[0] == "=== AIDE Crawler Diff Report ==="
    assert "--- New datasets (3) ---" in lines
    assert any(line.startswith("+ main.heavy (view") for line in lines)
    assert "--- Summary ---" in lines
    assert desk.by_steward.get(path, HTTP_ACCEPT="text/plain").content == text.content
    assert desk.by_steward.get(path, {"format": "xml"}).status_code == 422
    assert desk.by_steward.get(path, {"colour": "red"}).status_code == 422
    both = desk.by_steward.get(path, {"format": "text"}, HTTP_ACCEPT="application/json")
    assert both.content == text.content


def test_a_run_without_a_report_says_why(desk: Desk) -> None:
    started = ok(desk.by_engineer.post(f"{API}/crawl-runs", {"system": desk.system.code}, format="json"))
    for query in ({}, {"format": "text"}):
        answer = desk.by_engineer.get(f"{API}/crawl-runs/{started['id']}/report", query)
        assert (answer.status_code, answer.json()["error_code"]) == (409, "NO_REPORT")
        assert answer["Content-Type"] == "application/problem+json"


def test_cancelling_and_retrying(desk: Desk) -> None:
    started = ok(
        desk.by_engineer.post(
            f"{API}/crawl-runs", {"system": desk.system.code, "config": {"tables": ["parts"]}}, format="json"
        )
    )
    cancelled = ok(desk.by_engineer.post(f"{API}/crawl-runs/{started['id']}/cancel"))
    assert cancelled["status"] == "cancelled"
    drain()
    assert desk.run(started["id"])["status"] == "cancelled"
    assert ok(desk.by_engineer.post(f"{API}/crawl-runs/{started['id']}/cancel"))["status"] == "cancelled"
    again = desk.by_engineer.post(f"{API}/crawl-runs/{started['id']}/retry")
    assert again.status_code == 202
    assert again.json()["retry_of_id"] == started["id"]
    drain()
    run = desk.run(again.json()["id"])
    assert (run["status"], run["summary"]["new_datasets"]) == ("completed", 1)
    answer = desk.by_engineer.post(f"{API}/crawl-runs/{run['id']}/cancel")
    assert (answer.status_code, answer.json()["error_code"]) == (409, "STALE_CHANGE")


def test_a_retry_after_errors_reads_only_what_failed(desk: Desk, source: Source) -> None:
    snapshot = _snapshot(source)
    snapshot["datasets"] = [each for each in snapshot["datasets"] if each["name"] != "bins"]
    snapshot["coverage"]["failed"] = [{"schema": "main", "name": "bins", "reason": "The table was locked."}]
    run = ok(
        desk.by_engineer.post(
            f"{API}/crawl-runs", {"system": desk.system.code, "snapshot": snapshot}, format="json"
        )
    )
    assert run["status"] == "completed_with_errors"
    again = ok(desk.by_engineer.post(f"{API}/crawl-runs/{run['id']}/retry"))
    drain()
    assert desk.run(again["id"])["coverage"]["listed"] == 1
    assert len(desk.proposals()) == 3


def _retried(desk: Desk, source: Source, coverage: dict[str, Any], **config: Any) -> dict[str, Any]:
    """The scope of the retry of a run with this coverage."""
    snapshot = _snapshot(source)
    snapshot["coverage"] |= coverage
    snapshot["scope"] = config
    body = {"system": desk.system.code, "snapshot": snapshot}
    run = ok(desk.by_engineer.post(f"{API}/crawl-runs", body, format="json"))
    again = ok(desk.by_engineer.post(f"{API}/crawl-runs/{run['id']}/retry"))
    ok(desk.by_engineer.post(f"{API}/crawl-runs/{again['id']}/cancel"))
    return {key: value for key, value in again["config"].items() if value}


def test_a_retry_takes_what_failed_or_was_left_out_and_nothing_else(desk: Desk, source: Source) -> None:
    bins = {"schema": "main", "name": "bins", "reason": "The table was locked."}
    view = {"schema": "main", "name": "odd.view", "reason": "It is broken."}
    assert _retried(desk, source, {"failed": [bins], "skipped": [view]}, exclude_tables=["z*"]) == {
        "tables": ['"main"."bins"', '"main"."odd.view"'],
        "exclude_tables": ["z*"],
    }
    schema = {"name": "other", "status": "failed", "reason": "Denied."}
    assert _retried(desk, source, {"schemas": [schema], "failed": [bins]}, tables=["b*"]) == {
        "schemas": ['"main"', '"other"'],
        "tables": ["b*"],
    }
    assert _retried(desk, source, {"skipped": [view]}, tables=["b*"]) == {"tables": ["b*"]}, "nothing failed"


def test_what_failed_to_be_read_is_not_proposed_as_removed(desk: Desk, source: Source) -> None:
    desk.decide(desk.crawl(), approve="all")
    snapshot = _snapshot(source)
    snapshot["datasets"] = []
    snapshot["coverage"]["failed"] = [
        {"schema": "main", "name": name, "reason": "Locked."} for name in ("parts", "bins", "heavy")
    ]
    body = {"system": desk.system.code, "snapshot": snapshot}
    run = ok(desk.by_engineer.post(f"{API}/crawl-runs", body, format="json"))
    assert run["status"] == "completed_with_errors"
    snapshot["coverage"] = {"schemas": [{"name": "main", "status": "failed", "reason": "Denied."}]}
    ok(desk.by_engineer.post(f"{API}/crawl-runs", body, format="json"))
    assert desk.proposals() == []


def test_an_idempotency_key_starts_one_run(desk: Desk) -> None:
    key = {"HTTP_IDEMPOTENCY_KEY": uuid.uuid4().hex}
    body = {"system": desk.system.code}
    first = desk.by_engineer.post(f"{API}/crawl-runs", body, format="json", **key)
    second = desk.by_engineer.post(f"{API}/crawl-runs", body, format="json", **key)
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json() == second.json()
    assert CrawlRun.objects.count() == 1
    other = desk.by_engineer.post(f"{API}/crawl-runs", {**body, "dry_run": True}, format="json", **key)
    assert other.status_code == 422


def test_an_idempotency_key_decides_once(desk: Desk) -> None:
    run = desk.crawl()
    key = {"HTTP_IDEMPOTENCY_KEY": uuid.uuid4().hex}
    path = f"{API}/crawl-runs/{run['id']}/decide-and-apply"
    first = desk.by_steward.post(path, {"approve": "all"}, format="json", **key)
    second = desk.by_steward.post(path, {"approve": "all"}, format="json", **key)
    assert len(first.json()["applied"]) == 3
    assert first.json() == second.json()
    assert second["Idempotent-Replayed"] == "true"
    proposal = Proposal.objects.first()
    assert proposal is not None
    for verb, body in (("decide", {"approve": "all"}), ("apply", {})):
        key = {"HTTP_IDEMPOTENCY_KEY": uuid.uuid4().hex}
        answers = [
            desk.by_steward.post(f"{API}/proposals/{proposal.pk}/{verb}", body, format="json", **key)
            for _ in range(2)
        ]
        assert answers[0].json() == answers[1].json()


def test_who_may_start_crawls(desk: Desk, source: Source) -> None:
    body = {"system": desk.system.code, "snapshot": _snapshot(source)}
    path = f"{API}/crawl-runs"
    assert api_client().post(path, body, format="json").status_code == 401
    assert api_client(make_user("viewer")).post(path, body, format="json").status_code == 403
    assert api_client(make_user("steward")).post(path, body, format="json").status_code == 403
    for client in (desk.by_steward, desk.by_approver, desk.by_engineer, api_client(make_user("admin"))):
        assert client.post(path, body, format="json").status_code == 201
    _, secret = make_api_key(make_service(), "crawl:write")
    assert api_client(secret=secret).post(path, body, format="json").status_code == 201
    _, secret = make_api_key(make_service(), "registry:read")
    assert api_client(secret=secret).post(path, body, format="json").status_code == 403
    _, secret = make_api_key(make_service(), "crawl:write", system_codes=["elsewhere"])
    assert api_client(secret=secret).post(path, body, format="json").status_code == 403
    run = CrawlRun.objects.latest("pk")
    for verb in ("cancel", "retry"):
        assert api_client(make_user("viewer")).post(f"{path}/{run.pk}/{verb}").status_code == 403
    _, secret = make_api_key(make_service(), "crawl:write")
    answer = api_client(secret=secret).post(
        f"{path}/{run.pk}/decide-and-apply", {"approve": "all"}, format="json"
    )
    assert answer.status_code == 403


def test_an_unchanged_upload_writes_only_its_run(desk: Desk, source: Source) -> None:
    desk.decide(desk.crawl(), approve="all")
    drain()
    before = contents()
    ok(
        desk.by_engineer.post(
            f"{API}/crawl-runs", {"system": desk.system.code, "snapshot": _snapshot(source)}, format="json"
        )
    )
    after = contents()
    changed = {name for name in before if before[name] != after[name]}
    assert changed == set()
