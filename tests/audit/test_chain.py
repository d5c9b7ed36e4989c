"""The audit log: recorded with the change, sealed in batches, and every tampering found."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, transaction

from aide.accounts.models import User
from aide.audit import chain, checking, guard
from aide.audit.entries import Entry, new_batch, record, recorded
from aide.audit.models import AuditEntry, ChainHead
from aide.audit.origin import Origin, acting
from aide.work.models import WorkItem
from aide.work.runner import drain
from tests.factories import make_user


def _entries(number: int) -> list[Entry]:
    return [
        Entry("test.act", "thing", n, f"thing {n}", before={"n": n}, after={"é": [n]}) for n in range(number)
    ]


@pytest.fixture
def unguarded(db: None) -> Iterator[None]:
    """The database as someone has it who may change its schema."""
    with guard.lifted():
        yield


def test_an_entry_says_who_how_and_what(db: None) -> None:
    user = make_user("steward", "viewer")
    with acting(Origin(via="api", request_id="r1", ip="::1", user_agent="curl")):
        (entry,) = record(Entry("a.b", "thing", 7, "seven", reason="so"), by=user, batch=new_batch())
    entry.refresh_from_db()
    assert (entry.actor, entry.actor_name, entry.actor_roles) == (user, user.email, "steward,viewer")
    assert (entry.via, entry.request_id, entry.ip, entry.user_agent) == ("api", "r1", "::1", "curl")
    assert (entry.object_type, entry.object_id, entry.object_name, entry.reason) == (
        "thing",
        "7",
        "seven",
        "so",
    )


def test_a_listener_that_fails_undoes_the_change(db: None) -> None:
    def fails(**kwargs: Any) -> None:
        raise RuntimeError("no")

    recorded.connect(fails)
    try:
        with pytest.raises(RuntimeError):
            _change_something()
    finally:
        recorded.disconnect(fails)
    assert AuditEntry.objects.count() == 0
    assert not User.objects.filter(email="never@example.com").exists()


@transaction.atomic
def _change_something() -> None:
    make_user("viewer", email="never@example.com")
    record(*_entries(1))


@pytest.mark.django_db(transaction=True)
def test_recording_queues_one_sealing_after_the_commit() -> None:
    with transaction.atomic():
        record(*_entries(2))
        record(*_entries(2))
        assert WorkItem.objects.count() == 0
    assert WorkItem.objects.count() == 1
    drain()
    assert AuditEntry.objects.filter(place__isnull=True).count() == 0


def test_a_sealed_chain_verifies_and_goes_on(db: None) -> None:
    assert checking.verify() == checking.Verdict(ok=True, sealed=0, unsealed=0, first_bad_id=None)
    record(*_entries(chain.BATCH + 3))
    assert chain.seal() == chain.BATCH + 3
    record(*_entries(2))
    assert checking.verify() == checking.Verdict(
        ok=True, sealed=chain.BATCH + 5, unsealed=0, first_bad_id=None
    )
    places = list(AuditEntry.objects.order_by("place").values_list("place", flat=True))
    assert places == list(range(1, chain.BATCH + 6))


@pytest.mark.parametrize(
    "change",
    [
        {"reason": "another"},
        {"after": {"é": [99]}},
        {"actor_name": "somebody.else"},
        {"hash": "0" * 64},
        {"ip": "10.0.0.1"},
    ],
)
def test_a_changed_row_is_found(unguarded: None, change: dict[str, Any]) -> None:
    record(*_entries(5))
    chain.seal()
    third = AuditEntry.objects.get(place=3)
    AuditEntry.objects.filter(pk=third.pk).update(**change)
    verdict = checking.verify()
    assert (verdict.ok, verdict.first_bad_id) == (False, third.pk)


def test_removed_rows_are_found_in_the_middle_and_at_the_end(unguarded: None) -> None:
    record(*_entries(5))
    chain.seal()
    last = AuditEntry.objects.get(place=5)
    values = {field.attname: getattr(last, field.attname) for field in AuditEntry._meta.concrete_fields}
    last.delete()
    assert checking.verify().ok is False, "a cut tail"
    AuditEntry.objects.create(**values)
    assert checking.verify().ok is True
    AuditEntry.objects.get(place=2).delete()
    verdict = checking.verify()
    assert (verdict.ok, verdict.first_bad_id) == (False, AuditEntry.objects.get(place=3).pk)


def test_a_head_that_was_set_back_is_found(unguarded: None) -> None:
    record(*_entries(3))
    chain.seal()
    AuditEntry.objects.get(place=3).delete()
    before = AuditEntry.objects.get(place=2)
    ChainHead.objects.update(count=2, hash=before.hash)
    assert checking.verify().ok is False, "the signature is over another head"


def test_an_empty_table_behind_a_head_is_found(unguarded: None) -> None:
    record(*_entries(3))
    chain.seal()
    AuditEntry.objects.all().delete()
    assert checking.verify().ok is False
    ChainHead.objects.all().delete()
    record(*_entries(1))


@pytest.mark.django_db(transaction=True)
def test_two_sealers_make_one_chain() -> None:
    record(*_entries(chain.BATCH * 2 + 10))

    def seal() -> None:
        chain.seal()
        connection.close()

    threads = [threading.Thread(target=seal) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    verdict = checking.verify()
    assert (verdict.ok, verdict.sealed) == (True, chain.BATCH * 2 + 10)
