"""OpenLineage over the API: what is accepted, what is said about it, what is refused, and the graph that is read."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from lineage.models import Edge, LineageEvent, NodeName, OutboxMessage
from registry.models import SystemNamespace
from tests.factories import api_client, make_api_key, make_dataset, make_service, make_system, make_user
from tests.lineage.events import PG, columns, dataset, run_event

API = "/api/v1/lineage"


@pytest.fixture
def sender(db):
    _, secret = make_api_key(make_service(), "lineage:write", "registry:read")
    return api_client(secret=secret)


def post(client: Any, body: Any, path: str = API, **headers: Any) -> Any:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.generic("POST", path, raw, content_type="application/json", **headers)


def graph(client: Any, **asked: Any) -> dict[str, Any]:
    answer = client.get(f"{API}/graph", asked)
    assert answer.status_code == 200, answer.content
    return answer.json()


def names(found: dict[str, Any]) -> set[tuple[str, int]]:
    return {(node["name"], node["depth"]) for node in found["nodes"]}


@pytest.mark.parametrize("path", [API, f"{API}/"])
def test_an_event_is_stored_counted_and_promised_to_kafka(sender, path):
    event = run_event(reads=["shop.public.orders"], writes=["shop.public.sums"])
    answer = post(sender, event, path)
    assert answer.status_code == 201, answer.content
    assert answer.json()["warnings"] == []
    listed = sender.get(f"{API}/events").json()
    assert listed["total"] == 1
    assert listed["items"][0]["event"] == event
    message = OutboxMessage.objects.get()
    assert (message.kind, message.key) == ("lineage", "run:jobs/nightly")
    assert json.loads(message.payload) == event


def test_a_repetition_is_200_and_changes_nothing(sender):
    event = run_event(reads=["shop.public.orders"], writes=["shop.public.sums"])
    assert post(sender, event).status_code == 201
    again = post(sender, json.dumps(event, indent=2, sort_keys=True).encode())
    assert (again.status_code, again.json()["status"]) == (200, "duplicate")
    assert (LineageEvent.objects.count(), OutboxMessage.objects.count()) == (1, 1)


def test_a_gzip_body_is_read(sender):
    raw = gzip.compress(json.dumps(run_event(writes=["a.b.c"])).encode())
    assert post(sender, raw, HTTP_CONTENT_ENCODING="gzip").status_code == 201


def test_the_java_client_is_answered(sender):
    raw = json.dumps(run_event(writes=["a.b.c"])).encode()
    kind = "application/json; charset=UTF-8"
    answer = sender.generic("POST", API, raw, content_type=kind, HTTP_ACCEPT=kind)
    assert answer.status_code == 201, answer.content


def test_the_body_is_kept_to_the_letter(sender):
    raw = b'{ "eventTime":"2026-03-01T10:00:00Z",\n "run":{"runId":"a b"}, "x": 1.50 }'
    answer = post(sender, raw)
    assert answer.status_code == 201
    assert LineageEvent.objects.get().body == raw.decode()
    assert any("no UUID" in words for words in answer.json()["warnings"])
    assert any("job is missing" in words for words in answer.json()["warnings"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"eventTime": "yesterday"}, "eventTime"),
        ({"eventTime": None}, "eventTime"),
        ({"run": {"runId": ""}}, "runId"),
        ({"run": {"runId": "x" * 256}}, "runId"),
        ({"run": None, "job": None}, "no run, no job and no dataset"),
        ({"job": {"namespace": "aide", "name": "drawn by hand"}}, "reserved"),
        ({"inputs": [{"namespace": "n", "name": "x" * 2001}]}, "characters"),
    ],
)
def test_what_cannot_be_placed_is_refused_with_a_reason(sender, change, words):
    answer = post(sender, run_event() | change)
    assert answer.status_code == 422
    assert words in answer.json()["detail"]
    assert not LineageEvent.objects.exists()


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff", b"[1", b'{"a": NaN}', b"[" * 100_000])
def test_a_broken_body_is_400(sender, raw):
    assert post(sender, raw).status_code == 400


def test_a_batch_answers_for_each_event(sender):
    fine = run_event(writes=["a.b.c"], schemaURL=None)
    nul = run_event(run=7, producer="\x00")
    answer = post(sender, [fine, run_event(eventTime="?"), fine, nul, 5], f"{API}/batch")
    assert answer.status_code == 200, answer.content
    found = answer.json()
    assert found["status"] == "partial_success"
    assert found["summary"] == {
        "received": 5, "successful": 2, "failed": 3, "retriable": 0, "non_retriable": 3, "duplicates": 1,
    }  # fmt: skip
    assert [each["index"] for each in found["failed_events"]] == [1, 3, 4]
    assert all(each["reason"] and each["retriable"] is False for each in found["failed_events"])
    assert found["warnings"][0] == {"index": 0, "warnings": ["schemaURL is missing."]}
    assert LineageEvent.objects.count() == 1


def test_a_batch_of_a_hundred_takes_as_many_statements_as_one_of_ten(sender, django_assert_max_num_queries):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    def batch(start: int, count: int) -> list[Any]:
        return [
            run_event(
                run=number,
                job=f"j{number}",
                reads=[f"s.p.in{number}", "s.p.all"],
                writes=[dataset(f"s.p.out{number}", columnLineage=columns(a=[(f"s.p.in{number}", "b")]))],
            )
            for number in range(start, start + count)
        ]

    counts = []
    for start, count in ((0, 10), (1000, 100)):
        for _ in range(2):
            events = batch(start, count)
            with CaptureQueriesContext(
                connection,
            ) as captured:
                assert post(sender, events, f"{API}/batch").status_code == 200
            counts.append(len(captured))
            start += 500
    assert max(counts) - min(counts) <= 4, counts
    assert max(counts) <= 45


def test_the_graph_holds_its_start_and_follows_depth_and_direction(sender):
    for number in range(4):
        post(
            sender,
            run_event(run=number, job=f"j{number}", reads=[f"s.p.t{number}"], writes=[f"s.p.t{number + 1}"]),
        )
    post(sender, run_event(run=9, job="back", reads=["s.p.t4"], writes=["s.p.t0"]))  # a cycle
    found = graph(sender, namespace=PG, name="s.p.t1", direction="down", depth=2)
    assert names(found) == {("s.p.t1", 0), ("s.p.t2", 1), ("s.p.t3", 2)}
    assert [edge["job"] for edge in found["edges"]] == ["j1", "j2"]
    assert names(graph(sender, namespace=PG, name="s.p.t1", direction="up", depth=1)) == {
        ("s.p.t1", 0),
        ("s.p.t0", 1),
    }
    assert len(graph(sender, namespace=PG, name="s.p.t1", depth=100)["nodes"]) == 5
    cut = graph(sender, namespace=PG, name="s.p.t1", depth=100, limit=2)
    assert cut["truncated"] is True
    assert sender.get(f"{API}/graph", {"namespace": PG, "name": "no.such.name"}).status_code == 404
    assert sender.get(f"{API}/graph", {"namespace": PG, "name": "s.p.t1", "depth": 101}).status_code == 422


def test_a_dataset_without_events_is_its_own_graph(sender):
    made = make_dataset()
    found = graph(sender, dataset_id=made.pk)
    assert [(node["dataset_id"], node["depth"]) for node in found["nodes"]] == [(made.pk, 0)]
    assert found["edges"] == []


def test_the_graph_as_of_a_moment(sender):
    post(sender, run_event(run=1, at="2026-01-01T00:00:00Z", job="a", reads=["s.p.a"], writes=["s.p.b"]))
    post(sender, run_event(run=2, at="2026-02-01T00:00:00Z", job="b", reads=["s.p.b"], writes=["s.p.c"]))
    gone = dataset("s.p.c", lifecycleStateChange={"lifecycleStateChange": "DROP"})
    post(sender, run_event(run=3, at="2026-03-01T00:00:00Z", job="c", writes=[gone]))
    asked = {"namespace": PG, "name": "s.p.a", "direction": "down"}
    assert names(graph(sender, **asked)) == {("s.p.a", 0), ("s.p.b", 1)}
    assert len(graph(sender, **asked, as_of="2026-02-15T00:00:00Z")["nodes"]) == 3
    assert len(graph(sender, **asked, as_of="2026-01-15T00:00:00Z")["nodes"]) == 2
    assert len(graph(sender, **asked, as_of="2025-12-15T00:00:00Z")["nodes"]) == 1


def test_columns_are_followed_and_masking_is_told(sender):
    facet = columns(email=[("s.p.a", "mail")])
    facet["fields"]["email"]["inputFields"][0]["transformations"] = [
        {"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True}
    ]
    post(sender, run_event(reads=["s.p.a"], writes=[dataset("s.p.b", columnLineage=facet)]))
    found = graph(sender, namespace=PG, name="s.p.a", field="mail", direction="down")
    assert [(node["name"], node["field"], node["depth"]) for node in found["nodes"]] == [
        ("s.p.a", "mail", 0), ("s.p.b", "email", 1),
    ]  # fmt: skip
    assert found["edges"][0]["masking"] is True
    nowhere = graph(sender, namespace=PG, name="s.p.a", field="other")
    assert [(node["field"], node["depth"]) for node in nowhere["nodes"]] == [("other", 0)]


def test_names_resolve_to_datasets_and_say_how(sender):
    system = make_system()
    SystemNamespace.objects.create(system=system, namespace=PG)
    orders = make_dataset("orders", system=system)
    post(sender, run_event(run=1, reads=["shop.public.orders"], writes=["shop.public.sums"]))
    post(sender, run_event(run=2, reads=[dataset("shop.public.ORDERS", "postgresql://DB1.example.com")]))
    found = graph(sender, dataset_id=orders.pk, direction="down")
    assert names(found) == {("shop.public.orders", 0), ("shop.public.sums", 1)}
    matched = dict(NodeName.objects.values_list("name", "matched"))
    assert matched == {
        "shop.public.orders": "exact", "shop.public.ORDERS": "normalised", "shop.public.sums": "unresolved",
    }  # fmt: skip


def test_people_draw_edges_that_no_event_changes(sender, db):
    engineer = api_client(make_user("engineer"))
    body = {
        "source": {"namespace": PG, "name": "s.p.a"}, "target": {"namespace": PG, "name": "s.p.b"},
        "reason": "a report by hand",
    }  # fmt: skip
    made = engineer.post(f"{API}/edges", body, format="json")
    assert made.status_code == 201, made.content
    assert engineer.post(f"{API}/edges", body, format="json").status_code == 409
    post(sender, run_event(reads=["s.p.a"], writes=["s.p.b"]))
    assert Edge.objects.count() == 2
    assert sender.post(f"{API}/edges", body, format="json").status_code == 403
    address = f"{API}/edges/{made.json()['id']}"
    assert engineer.delete(address).status_code == 422
    assert engineer.delete(f"{address}?reason=gone").status_code == 204
    assert Edge.objects.filter(ended_at__isnull=True).get().origin == "event"


def test_passwords_never_come_in(sender):
    secret = "hunter2secret"
    event = run_event(
        reads=[dataset("s.p.a", f"postgres://user:{secret}@db9:5432")],
        writes=[{"namespace": "x", "name": json.dumps({"host": "h", "password": secret})}],
    )
    event["run"]["facets"] = {"spark": {"url": f"jdbc:postgresql://h/d?user=u&password={secret}"}}
    assert post(sender, event).status_code == 201
    kept = LineageEvent.objects.get().body + OutboxMessage.objects.get().payload
    kept += "".join(NodeName.objects.values_list("namespace", flat=True)) + "".join(
        NodeName.objects.values_list("name", flat=True)
    )
    assert secret not in kept
    assert NodeName.objects.filter(namespace="postgres://db9:5432").exists()


def test_the_jwt_provider_of_openlineage_gets_a_token(db):
    _, secret = make_api_key(make_service(), "lineage:write")
    form = {
        "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "response_type": "token", "apikey": secret,
    }  # fmt: skip
    client = api_client()
    answer = client.post("/api/v1/login/token", form)
    assert answer.status_code == 200, answer.content
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {answer.json()['access_token']}")
    assert post(client, run_event(writes=["a.b.c"])).status_code == 201
    assert client.post("/api/v1/login/token", form | {"apikey": secret[:-1] + "x"}).status_code == 401
    assert client.post("/api/v1/login/token", {"grant_type": form["grant_type"]}).status_code == 401


def test_both_ways_together_keep_the_limit(sender):
    reads, writes = [f"s.p.in{n}" for n in range(8)], [f"s.p.out{n}" for n in range(8)]
    post(sender, run_event(reads=reads, writes=["s.p.hub"]))
    post(sender, run_event(run=2, reads=["s.p.hub"], writes=writes))
    cut = graph(sender, namespace=PG, name="s.p.hub", limit=10)
    assert (len(cut["nodes"]), cut["truncated"]) == (10, True)
    assert cut["nodes"][0]["depth"] == 0
    shown = {node["id"] for node in cut["nodes"]}
    assert len(cut["edges"]) == 9
    assert all({edge["source"], edge["target"]} <= shown for edge in cut["edges"])


def test_a_key_limited_to_systems_sees_the_names_of_their_datasets_only(sender):
    system = make_system(code="mine")
    other = make_system(code="theirs")
    for each, place in ((system, "postgres://mine:5432"), (other, "postgres://theirs:5432")):
        SystemNamespace.objects.create(system=each, namespace=place)
        make_dataset(system=each, name="orders")
        post(sender, run_event(run=place, writes=[dataset("shop.public.orders", place)]))
    limited = api_client(secret=make_api_key(make_service(), "registry:read", system_codes=["mine"])[1])
    found = limited.get("/api/v1/lineage/names").json()["items"]
    assert [each["namespace"] for each in found] == ["postgres://mine:5432"]
