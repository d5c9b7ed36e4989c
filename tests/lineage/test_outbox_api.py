"""The outbox over the API."""

from __future__ import annotations

import pytest

from aide.audit.models import AuditEntry
from lineage import events
from lineage.models import OutboxMessage
from tests.factories import api_client, make_api_key, make_service, make_system, make_user

pytestmark = pytest.mark.django_db
URL = "/api/v1/outbox"


@pytest.fixture
def messages():
    events.accept([{"resource": f"r{n}", "event_id": f"e{n}"} for n in range(3)])
    first, second, third = OutboxMessage.objects.order_by("pk")
    OutboxMessage.objects.filter(pk=second.pk).update(status="dead", attempts=3, last_error="Too large.")
    OutboxMessage.objects.filter(pk=third.pk).update(status="delivered", attempts=1, sink="kafka")
    return first, second, third


def test_messages_are_listed_newest_first_and_by_their_state(messages):
    client = api_client(make_user("viewer"))
    items = client.get(URL).json()["items"]
    assert [each["event_id"] for each in items] == ["e2", "e1", "e0"]
    assert "payload" not in items[0]
    found = {
        status: [each["event_id"] for each in client.get(URL, {"status": status}).json()["items"]]
        for status in ("pending", "dead", "delivered")
    }
    assert found == {"pending": ["e0"], "dead": ["e1"], "delivered": ["e2"]}
    assert [each["key"] for each in client.get(URL, {"key": "r1"}).json()["items"]] == ["r1"]
    assert client.get(URL, {"kind": "catalog"}).json()["items"] == []
    page = client.get(URL, {"cursor": "", "size": 2}).json()
    rest = client.get(URL, {"cursor": page["next_cursor"], "size": 2}).json()
    assert [each["event_id"] for each in page["items"] + rest["items"]] == ["e2", "e1", "e0"]
    assert client.get(URL, {"status": "lost"}).status_code == 422
    assert '"resource":"r1"' in client.get(f"{URL}/{messages[1].pk}").json()["payload"]


def test_dead_and_delivered_messages_are_sent_again_and_that_is_recorded(messages):
    engineer = make_user("engineer")
    first, second, third = messages
    body = {"ids": [each.pk for each in messages]}
    answer = api_client(engineer).post(f"{URL}/replay", body, format="json")
    assert answer.json() == {"replayed": [second.pk, third.pk], "skipped": [first.pk], "count": 2}
    assert set(OutboxMessage.objects.values_list("status", "attempts")) == {("pending", 0)}
    entry = AuditEntry.objects.filter(action="outbox.replay", object_id=str(second.pk)).get()
    assert (entry.actor_id, entry.before) == (engineer.pk, {"status": "dead", "error": "Too large."})


def test_replaying_asks_for_the_right_and_for_ids_that_there_are(messages):
    body = {"ids": [messages[1].pk]}
    for role in ("viewer", "steward", "approver", "service"):
        assert api_client(make_user(role)).post(f"{URL}/replay", body, format="json").status_code == 403
    engineer = api_client(make_user("engineer"))
    for wrong in (
        {"ids": []},
        {"ids": [999_999]},
        {"ids": ["x"]},
        {},
        {"ids": [1], "x": 1},
        {"ids": list(range(2000))},
    ):
        assert engineer.post(f"{URL}/replay", wrong, format="json").status_code == 422
    assert OutboxMessage.objects.get(pk=messages[1].pk).status == "dead"


def test_a_key_for_some_systems_does_not_see_the_changes_of_the_registry():
    engineer = make_user("engineer")
    system = make_system("shop")
    api_client(engineer).patch(f"/api/v1/systems/{system.pk}", {"owner": "bob"}, format="json")
    message = OutboxMessage.objects.get(kind="catalog")
    limited = api_client(secret=make_api_key(make_service(), "registry:read", system_codes=["other"])[1])
    assert limited.get(URL).json()["items"] == []
    assert limited.get(f"{URL}/{message.pk}").status_code == 404
    assert len(api_client(engineer).get(URL).json()["items"]) == 1


def test_a_key_is_told_what_the_key_lacks_not_its_owner(messages):
    engineer = make_user("engineer")
    sender = api_client(secret=make_api_key(engineer, "lineage:write")[1])
    assert "It needs the scope registry:read or" in sender.get(URL).json()["detail"]
    replay = sender.post(f"{URL}/replay", {"ids": [messages[1].pk]}, format="json").json()["detail"]
    assert replay.startswith("This API key may not ")
    assert replay.endswith("It is for people who are signed in.")
    owner = api_client(secret=make_api_key(make_user("viewer"), "registry:read")[1])
    assert "It needs the role" in owner.post(f"{URL}/replay", {"ids": [1]}, format="json").json()["detail"]
