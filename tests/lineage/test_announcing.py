"""What changes in the registry becomes a message of the catalog topic, or is undone."""

from __future__ import annotations

import json

import pytest
from django.db import transaction

from aide.audit.entries import Entry, record
from aide.audit.models import AuditEntry
from lineage import announcing
from lineage.models import OutboxMessage
from tests.factories import (
    api_client,
    make_api_key,
    make_dataset,
    make_service,
    make_system,
    make_user,
    publish,
)

pytestmark = pytest.mark.django_db


def catalog():
    return [
        (m.key, json.loads(m.payload)) for m in OutboxMessage.objects.filter(kind="catalog").order_by("pk")
    ]


def test_publishing_is_announced_under_the_key_of_its_dataset(type_catalogues):
    dataset = make_dataset("orders", system=make_system("shop"))
    publish(dataset, ("id", "bigint"), by=make_user("engineer"))
    messages = [said for key, said in catalog() if key == f"dataset:{dataset.pk}"]
    assert [said["action"] for said in messages] == ["dataset.publish"]
    assert (messages[0]["system"], messages[0]["object_name"]) == ("shop", "public.orders")
    assert OutboxMessage.objects.filter(kind="catalog").first().topic == "aide-catalog"


def test_a_change_over_the_api_says_before_and_after():
    system = make_system("shop", owner="ann")
    client = api_client(make_user("engineer"))
    client.patch(f"/api/v1/systems/{system.pk}", {"owner": "bob"}, format="json")
    ((key, said),) = catalog()
    assert key == "system:shop"
    assert (said["action"], said["before"], said["after"]) == (
        *("system.update", {"owner": "ann"}, {"owner": "bob"}),
    )


def test_people_keys_and_the_outbox_itself_are_not_announced():
    record(
        Entry("user.create", "user", 1, "ann@example.com"), Entry("outbox.replay", "outbox_message", 1, "x")
    )
    make_api_key(make_service(), "registry:read")
    assert catalog() == []


def test_a_message_names_no_person():
    record(Entry("system.update", "system", 1, "shop", system_code="shop"), by=make_user("admin"))
    ((_, said),) = catalog()
    assert not {"actor", "actor_name", "ip", "user_agent"} & set(said)
    assert "admin" not in json.dumps(said)


def test_a_very_large_change_is_announced_without_its_content():
    record(Entry("dataset.publish", "dataset", 1, "big", dataset_id=1, after={"text": "x" * 800_000}))
    ((_, said),) = catalog()
    assert (said["is_shortened"], said["before"], said["after"]) == (True, None, None)


def test_each_entry_has_an_event_id_of_its_own_and_many_keep_their_order():
    record(*(Entry("field.add", "field", n, f"f{n}", dataset_id=7) for n in range(120)))
    said = [each for _, each in catalog()]
    assert [each["object_name"] for each in said] == [f"f{n}" for n in range(120)]
    assert len({each["event_id"] for each in said}) == 120


def test_a_change_that_cannot_be_announced_is_undone(monkeypatch):
    def fail(messages):
        raise RuntimeError("no room")

    monkeypatch.setattr(announcing, "put", fail)
    with pytest.raises(RuntimeError), transaction.atomic():
        record(Entry("system.update", "system", 1, "shop", system_code="shop"))
    assert not AuditEntry.objects.filter(action="system.update").exists()
