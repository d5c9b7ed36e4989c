"""The database's own refusal to change or delete audit rows."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from aide.audit import chain, guard
from aide.audit.entries import Entry, record
from aide.audit.models import AuditEntry

pytestmark = pytest.mark.django_db


@pytest.fixture
def entry() -> AuditEntry:
    return record(Entry("thing.update", "thing", 1, "thing", reason="why"))[0]


def refused(statement: str, *values: object) -> bool:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement, values)
    except IntegrityError as error:
        return guard.SENTENCE in str(error)
    return False


def edit_and_stumble(entry: AuditEntry) -> None:
    with guard.lifted():
        assert not refused("UPDATE audit_auditentry SET reason = 'other' WHERE id = %s", entry.pk)
        raise ValueError("in between")


def test_rows_are_neither_changed_nor_deleted(entry):
    for _ in ("before", "after the sealing"):
        assert refused("UPDATE audit_auditentry SET reason = 'other' WHERE id = %s", entry.pk)
        assert refused("UPDATE audit_auditentry SET mark = '' WHERE id = %s", entry.pk)
        assert refused("DELETE FROM audit_auditentry WHERE id = %s", entry.pk)
        chain.seal()
    entry.refresh_from_db()
    assert (entry.reason, entry.place) == ("why", 1)
    if connection.vendor == "postgresql":
        connection.check_constraints()  # or PostgreSQL refuses for another reason
        assert refused("TRUNCATE audit_auditentry CASCADE")


def test_a_row_is_sealed_once(entry):
    chain.seal()
    assert refused("UPDATE audit_auditentry SET hash = '' WHERE id = %s", entry.pk)
    assert refused("UPDATE audit_auditentry SET place = NULL, hash = '' WHERE id = %s", entry.pk)
    assert refused("UPDATE audit_auditentry SET place = 7 WHERE id = %s", entry.pk)


def test_a_sealing_changes_nothing_else(entry):
    assert refused("UPDATE audit_auditentry SET place = 1, reason = 'other' WHERE id = %s", entry.pk)
    assert refused("UPDATE audit_auditentry SET hash = %s WHERE id = %s", "0" * 64, entry.pk)


def test_the_orm_is_refused_as_well(entry):
    with pytest.raises(IntegrityError), transaction.atomic():
        entry.delete()
    entry.reason = "other"
    with pytest.raises(IntegrityError), transaction.atomic():
        entry.save()


def test_the_guard_comes_back_after_it_was_lifted(entry):
    with pytest.raises(ValueError, match="in between"):
        edit_and_stumble(entry)
    assert refused("UPDATE audit_auditentry SET reason = 'why' WHERE id = %s", entry.pk)
    guard.install()
    assert refused("DELETE FROM audit_auditentry")
