"""Metadata events over the API: sending, repetitions, refusals, searching."""

from __future__ import annotations

import gzip
import json
import uuid

import pytest

from lineage.models import Event, OutboxMessage
from tests.factories import api_client, make_api_key, make_service, make_user

pytestmark = pytest.mark.django_db
URL = "/api/v1/metadata"


@pytest.fixture
def sender():
    return api_client(secret=make_api_key(make_service(), "lineage:write", "registry:read")[1])


@pytest.fixture
def person():
    """Takes the long way: an access token in place of an API key."""
    return api_client(make_user("engineer"))


@pytest.fixture(params=["key", "token"])
def client(request, sender, person):
    return sender if request.param == "key" else person


def event(**members):
    return {"resource": "r", "subject": "s", "action": "A", "timestamp": 1700000000.25, **members}


def send(client, body, **headers):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.post(URL, raw, content_type="application/json", headers=headers)


def test_one_event_is_answered_with_what_is_stored(client):
    answer = send(client, event(additionalValues={"rows": 5}, event_id="e1"))
    assert answer.status_code == 201
    stored = Event.objects.get()
    assert answer.json() == {
        "id": stored.pk,
        "resource": "r",
        "subject": "s",
        "action": "A",
        "timestamp": 1700000000.25,
        "additionalValues": {"rows": "5"},
        "event_id": "e1",
        "received_at": stored.received_at.isoformat().replace("+00:00", "Z"),
    }
    assert client.get(f"{URL}/{stored.pk}").json() == answer.json()
    assert client.get(f"{URL}/e1").json() == answer.json()


def test_an_event_and_its_message_are_stored_together(client):
    send(client, event(event_id="e1"))
    message = OutboxMessage.objects.get()
    assert (message.kind, message.topic, message.key) == ("metadata", "metadata-ingest", "r")
    assert (message.event_id, message.status, message.attempts) == ("e1", "pending", 0)
    assert json.loads(message.payload) == event(additionalValues={}, event_id="e1")


def test_a_repetition_is_answered_with_what_was_stored_first(client):
    first = send(client, event(event_id="e1")).json()
    again = send(client, event(event_id="e1", subject="other"))
    assert (again.status_code, again.json()) == (201, first)
    assert Event.objects.count() == OutboxMessage.objects.count() == 1


def test_an_array_is_answered_event_by_event(client):
    send(client, event(event_id="known"))
    body = [
        event(event_id="known"),
        event(event_id="new"),
        event(event_id="new", subject="later"),
        event(event_id="bad", timestamp="soon"),
        7,
        event(),
    ]
    answer = send(client, body)
    assert answer.status_code == 201
    items = answer.json()["items"]
    assert [each["status"] for each in items] == [
        *("duplicate", "stored", "duplicate", "refused", "refused", "stored")
    ]
    assert [each["event_id"] for each in items[:5]] == ["known", "new", "new", "bad", None]
    assert items[3]["reason"].startswith("timestamp: ")
    assert Event.objects.get(event_id="new").subject == "s"
    assert Event.objects.count() == OutboxMessage.objects.count() == 3


def test_a_large_array_keeps_its_order_in_the_outbox(client):
    answer = send(client, [event(event_id=f"e{n}", timestamp=n) for n in range(700)])
    assert {each["status"] for each in answer.json()["items"]} == {"stored"}
    ids = list(OutboxMessage.objects.order_by("pk").values_list("event_id", flat=True))
    assert ids == [f"e{n}" for n in range(700)]
    assert list(Event.objects.order_by("pk").values_list("event_id", flat=True)) == ids


def test_an_empty_array_is_no_error(client):
    assert send(client, []).json() == {"items": []}


def test_a_number_beyond_bounds_refuses_only_its_own_event(client):
    body = b'[{"event_id":"a","timestamp":1e400},{"event_id":"b","timestamp":1}]'
    items = send(client, body).json()["items"]
    assert [each["status"] for each in items] == ["refused", "stored"]
    answer = send(client, b'{"timestamp":1e400}')
    assert (answer.status_code, answer.json()["error_code"]) == (400, "MALFORMED_REQUEST")
    assert "out of range" in answer.json()["detail"]
    answer = send(client, {"timestamp": 1e300})
    assert (answer.status_code, answer.json()["error_code"]) == (422, "VALIDATION_ERROR")
    assert answer.json()["errors"][0]["field"] == "timestamp"


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b'{"timestamp":NaN}', b"\xff", b'{"a":"\\u0000"}', b"[" * 100_000],
    ids=lambda b: repr(b)[:20],
)
def test_what_is_no_json_is_malformed(client, body):
    answer = send(client, body)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "MALFORMED_REQUEST")
    assert answer["Content-Type"] == "application/problem+json"
    assert not Event.objects.exists()


@pytest.mark.parametrize("body", [b"null", b"7", b'"x"', b"true"], ids=str)
def test_what_is_no_event_is_refused(client, body):
    assert send(client, body).status_code == 422


def test_a_gzip_body_and_a_closing_slash_land_too(sender):
    body = gzip.compress(json.dumps(event(event_id="z")).encode())
    answer = sender.post(
        URL + "/", body, content_type="application/json", headers={"content-encoding": "gzip"}
    )
    assert answer.status_code == 201
    assert Event.objects.get().event_id == "z"


def test_an_idempotency_key_gives_the_first_answer_again(sender):
    first = send(sender, event(), **{"Idempotency-Key": "k"})
    again = send(sender, event(), **{"Idempotency-Key": "k"})
    assert again.json() == first.json()
    assert Event.objects.count() == 1
    assert send(sender, event(subject="x"), **{"Idempotency-Key": "k"}).status_code == 422


def test_who_may_not_send_is_told_why():
    reader = api_client(secret=make_api_key(make_service(), "registry:read")[1])
    answer = send(reader, event())
    assert (answer.status_code, answer.json()["error_code"]) == (403, "FORBIDDEN")
    viewer = api_client(make_user("viewer"))
    assert send(viewer, event()).status_code == 403
    assert send(api_client(), event()).status_code == 401
    unknown = api_client(secret=f"aide_{'a' * 16}_{'b' * 43}")
    assert send(unknown, event()).status_code == 401
    assert not Event.objects.exists()


def test_a_revoked_key_and_an_inactive_owner_send_nothing_any_more():
    from aide.accounts.keys import revoke_key

    owner = make_service()
    key, secret = make_api_key(owner, "lineage:write")
    client = api_client(secret=secret)
    assert send(client, event()).status_code == 201
    owner.is_active = False
    owner.save()
    assert send(client, event()).status_code == 401
    owner.is_active = True
    owner.save()
    revoke_key(key, by=None)
    assert send(client, event()).status_code == 401


def test_both_ways_of_sending_answer_alike(sender, person):
    for body in (event(event_id="1"), [event(event_id="2")], [], 7, {"timestamp": "x"}):
        short, long = send(sender, body), send(person, body)
        assert short.status_code == long.status_code
        assert short["Content-Type"] == long["Content-Type"]
        assert set(short.json()) == set(long.json())


def test_other_forms_are_refused_as_everywhere(sender):
    assert sender.post(URL, "a=1", content_type="text/plain").status_code == 415
    assert sender.post(URL + "?x=1", event(), format="json").status_code == 422
    assert sender.put(URL, event(), format="json").status_code == 405
    assert send(sender, event(), Accept="text/html").status_code == 406


# Searching


@pytest.fixture
def stored(sender):
    body = [
        event(
            event_id=f"e{n}",
            resource=f"r{n % 3}",
            subject=f"s{n % 2}",
            action="START" if n % 2 else "END",
            timestamp=1000 + n // 2,
            additionalValues={"n": str(n), 'odd " \\ key.é': f"Wert {n % 4}"},
        )
        for n in range(10)
    ]
    assert send(sender, body).status_code == 201
    return sender


def found(client, **query):
    answer = client.get(URL, query)
    assert answer.status_code == 200, answer.content
    return [each["event_id"] for each in answer.json()["items"]]


def test_the_newest_come_first_and_equal_times_in_their_order(stored):
    assert found(stored) == [f"e{n}" for n in range(9, -1, -1)]
    assert found(stored, size=3, page=2) == ["e6", "e5", "e4"]


def test_a_cursor_leads_through_everything_once(stored):
    seen, cursor = [], ""
    while cursor is not None:
        page = stored.get(URL, {"cursor": cursor, "size": 3}).json()
        seen += [each["event_id"] for each in page["items"]]
        cursor = page["next_cursor"]
    assert seen == [f"e{n}" for n in range(9, -1, -1)]


def test_a_cursor_goes_with_filters_but_not_with_another_order(stored):
    page = stored.get(URL, {"cursor": "", "size": 2, "resource": "r0"}).json()
    assert [each["event_id"] for each in page["items"]] == ["e9", "e6"]
    rest = stored.get(URL, {"cursor": page["next_cursor"], "resource": "r0"}).json()
    assert [each["event_id"] for each in rest["items"]] == ["e3", "e0"]
    assert stored.get(URL, {"cursor": "", "sort": "id"}).status_code == 422
    assert stored.get(URL, {"cursor": "nonsense"}).status_code == 422


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"resource": "r1"}, "e7 e4 e1"),
        ({"subject": "s1", "resource": "r1"}, "e7 e1"),
        ({"action": "START"}, "e9 e7 e5 e3 e1"),
        ({"resource__in": "r0,r2", "subject": "s0"}, "e8 e6 e2 e0"),
        ({"resource__like": "R1"}, "e7 e4 e1"),
        ({"event_id": "e5"}, "e5"),
        ({"from": "1970-01-01T00:16:43Z"}, "e9 e8 e7 e6"),
        ({"to": "1970-01-01T00:16:40Z"}, "e1 e0"),
        ({"from": "1970-01-01T00:16:41Z", "to": "1970-01-01T00:16:41Z"}, "e3 e2"),
        ({"timestamp": "1001"}, "e3 e2"),
        ({"timestamp__gte": "1004", "subject": "s0"}, "e8"),
        ({"additionalValues.n": "4"}, "e4"),
        ({"additionalValues.n__in": "4,7,99"}, "e7 e4"),
        ({'additionalValues.odd " \\ key.é': "Wert 1"}, "e9 e5 e1"),
        ({'additionalValues.odd " \\ key.é__like': "wert 1"}, "e9 e5 e1"),
        ({'additionalValues.odd " \\ key.é__like': "w%3", "action": "START"}, "e7 e3"),
        ({"additionalValues.nothing": "4"}, ""),
        ({"additionalValues.n": "4", "resource": "r0"}, ""),
        ({"sort": "timestamp", "size": 2}, "e0 e1"),
    ],
    ids=str,
)
def test_events_are_found_by_every_member(stored, query, expected):
    assert found(stored, **query) == expected.split()


@pytest.mark.parametrize(
    "query",
    [
        *(
            {"colour": "red"},
            {"additionalvalues.n": "4"},
            {"additionalValues": "4"},
            {"additionalValues.": "4"},
        ),
        *({"from": "soon"}, {"timestamp": "soon"}, {"sort": "colour"}, {"size": "501"}, {"resource__x": "1"}),
    ],
    ids=str,
)
def test_an_unknown_parameter_is_refused(stored, query):
    answer = stored.get(URL, query)
    assert (answer.status_code, answer.json()["error_code"]) == (422, "VALIDATION_ERROR")


def test_what_is_not_there_is_named(stored):
    answer = stored.get(f"{URL}/{uuid.uuid4()}")
    assert (answer.status_code, answer.json()["error_code"]) == (404, "EVENT_NOT_FOUND")


def test_reading_needs_a_scope_that_reads():
    only_writes = api_client(secret=make_api_key(make_service(), "lineage:write")[1])
    assert only_writes.get(URL).status_code == 403
