"""What an attacker with the database in hand leaves behind in the audit log, and that checking it finds it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from aide.audit import chain, checking, guard, rows
from aide.audit.entries import Entry, record
from aide.audit.marks import SORTED, canonical, content_of, is_marked, sign, sign_anchor, text_of
from aide.audit.models import AuditEntry, ChainAnchor, ChainHead, PendingEntry
from tests.factories import api_client, make_user

pytestmark = pytest.mark.django_db


def note(count: int = 1, **values: Any) -> list[int]:
    entries = [
        Entry("thing.update", "thing", n, f"thing {n}", after={"n": n}, **values) for n in range(count)
    ]
    return [row.pk for row in record(*entries)]


def sql(statement: str, *values: Any) -> None:
    """As someone does who may change the schema: past the guard."""
    with guard.lifted(), connection.cursor() as cursor:
        cursor.execute(statement, values)


def set_head(**values: Any) -> None:
    with guard.lifted():
        ChainHead.objects.update(**values)


def test_an_untouched_chain_is_whole():
    note(1200)
    assert checking.verify() == checking.Verdict(ok=True, sealed=1200, unsealed=0, first_bad_id=None)
    note(3)
    assert checking.verify() == checking.Verdict(ok=True, sealed=1203, unsealed=0, first_bad_id=None)


@pytest.mark.parametrize("column", ["at", "place", "dataset_id"])
@pytest.mark.parametrize("is_sealed", [True, False])
def test_what_only_sqlite_keeps_in_a_column_is_found(column, is_sealed):
    if connection.vendor != "sqlite":
        pytest.skip("other databases refuse it")
    ids = note(3)
    if is_sealed:
        chain.seal()
    sql(f"UPDATE audit_auditentry SET {column} = 'no such value' WHERE id = %s", ids[1])
    answer = api_client(make_user("approver")).get("/api/v1/audit/verify")
    assert answer.status_code == 200
    assert answer.json()["ok"] is False
    if column != "place":
        assert answer.json()["first_bad_id"] == ids[1]


def test_an_empty_log_is_whole():
    assert checking.verify() == checking.Verdict(ok=True, sealed=0, unsealed=0, first_bad_id=None)


@pytest.mark.parametrize(
    "column",
    [field.column for field in AuditEntry._meta.concrete_fields if field.column not in ("id", "actor_id")],
)
def test_an_edit_of_any_column_of_a_sealed_row_is_found(column):
    ids = note(5)
    chain.seal()
    values = {
        "at": "2001-01-01 00:00:00+00:00",
        "dataset_id": 77,
        "touches_pii": True,
        "before": '{"n": 9}',
        "after": '{"n": 9}',
        "place": 9,
    }
    sql(f"UPDATE audit_auditentry SET {column} = %s WHERE id = %s", values.get(column, "forged"), ids[2])
    found = checking.verify()
    assert not found.ok
    assert found.first_bad_id == (ids[3] if column == "place" else ids[2])


def test_an_edit_of_the_actor_is_found():
    (entry,) = note()
    chain.seal()
    sql("UPDATE audit_auditentry SET actor_id = %s WHERE id = %s", make_user("viewer").pk, entry)
    assert checking.verify().first_bad_id == entry


def test_a_deleted_row_in_the_middle_is_found():
    ids = note(5)
    chain.seal()
    sql("DELETE FROM audit_auditentry WHERE id = %s", ids[2])
    found = checking.verify()
    assert (found.ok, found.first_bad_id) == (False, ids[3])


@pytest.mark.parametrize("kept", [0, 1, 4])
def test_a_cut_tail_is_found(kept):
    ids = note(5)
    chain.seal()
    sql("DELETE FROM audit_auditentry WHERE id > %s", ids[kept - 1] if kept else 0)
    found = checking.verify()
    assert (found.ok, found.sealed, found.first_bad_id) == (False, 5, None)
    later = note()
    assert (checking.verify().ok, checking.verify().first_bad_id) == (False, later[0])


def test_an_edit_before_the_sealing_is_found():
    ids = note(3)
    sql("UPDATE audit_auditentry SET reason = 'forged' WHERE id = %s", ids[1])
    assert AuditEntry.objects.get(pk=ids[1]).place is None
    found = checking.verify()
    assert (found.ok, found.first_bad_id) == (False, ids[1])
    assert checking.verify().first_bad_id == ids[1]


def test_a_row_that_nobody_recorded_is_found():
    ids = note(2)
    sql(
        "INSERT INTO audit_auditentry (at, actor_name, actor_roles, via, action, object_type, object_id,"
        " object_name, system_code, risk, touches_pii, reason, batch, request_id, ip, user_agent, hash, mark)"
        " SELECT at, 'someone@else', actor_roles, via, action, object_type, object_id, object_name, system_code,"
        " risk, touches_pii, reason, batch, request_id, ip, user_agent, hash, mark"
        " FROM audit_auditentry WHERE id = %s",
        ids[0],
    )
    assert checking.verify().first_bad_id == AuditEntry.objects.get(actor_name="someone@else").pk


def test_a_chain_made_anew_after_an_edit_is_found():
    """Who knows how rows are linked can compute every hash, but has no key for the marks and the head."""
    ids = note(3)
    chain.seal()
    sql("UPDATE audit_auditentry SET reason = 'forged' WHERE id = %s", ids[1])
    digest = ""
    for row in AuditEntry.objects.order_by("place").values("id", "place", *SORTED):
        text = text_of([row[name] for name in SORTED])
        digest = chain.link(digest, place=row["place"], entry_id=row["id"], text=text)
        sql("UPDATE audit_auditentry SET hash = %s WHERE id = %s", digest, row["id"])
    set_head(hash=digest)
    assert (checking.verify().ok, checking.verify().first_bad_id) == (False, ids[1])


def _forget_the_sealing(ids: list[int]) -> None:
    sql("UPDATE audit_auditentry SET place = NULL, hash = '' WHERE id = %s", ids[-1])


def _drop_the_head(ids: list[int]) -> None:
    sql("DELETE FROM audit_chainhead")


def _shorten_the_head(ids: list[int]) -> None:
    sql("DELETE FROM audit_auditentry WHERE id = %s", ids[-1])
    last = AuditEntry.objects.get(pk=ids[-2])
    set_head(count=last.place, hash=last.hash)


def _lower_the_head(ids: list[int]) -> None:
    set_head(count=2)
    note(2)


def _bring_an_earlier_head_back(ids: list[int]) -> None:
    second = AuditEntry.objects.get(pk=ids[1])
    set_head(count=2, hash=second.hash, signature=sign(2, second.hash))
    note(2)


def _raise_the_head(ids: list[int]) -> None:
    set_head(count=40)
    note(2)


def _begin_anew(ids: list[int]) -> None:
    set_head(count=0, hash="", signature=sign(0, ""))
    note(2)


def _forget_everything_sealed(ids: list[int]) -> None:
    sql("UPDATE audit_auditentry SET place = place + 100 WHERE id = %s", ids[-1])


def _wipe_rows_and_head(ids: list[int]) -> None:
    sql("DELETE FROM audit_auditentry")
    sql("DELETE FROM audit_chainhead")


def _begin_a_new_log(ids: list[int]) -> None:
    _wipe_rows_and_head(ids)
    sql("DELETE FROM audit_pendingentry")
    ChainHead.objects.create(count=0, hash="", signature=sign(0, ""))
    note(6)


def _bring_back_how_it_was(ids: list[int]) -> None:
    """Everything later than an earlier head goes, and that head, which was really signed, comes back."""
    second = AuditEntry.objects.get(pk=ids[1])
    sql("DELETE FROM audit_auditentry WHERE id > %s", second.pk)
    set_head(count=2, hash=second.hash, signature=sign(2, second.hash))


def _drop_an_anchor(ids: list[int]) -> None:
    note(2)
    chain.seal()
    sql("UPDATE audit_chainanchor SET number = 7")


def _change_an_anchor(ids: list[int]) -> None:
    sql("UPDATE audit_chainanchor SET count = 1, hash = %s", AuditEntry.objects.get(place=1).hash)


@pytest.mark.parametrize(
    "attack",
    [
        _forget_the_sealing,
        _drop_the_head,
        _shorten_the_head,
        _lower_the_head,
        _bring_an_earlier_head_back,
        _raise_the_head,
        _begin_anew,
        _forget_everything_sealed,
        _wipe_rows_and_head,
        _begin_a_new_log,
        _bring_back_how_it_was,
        _drop_an_anchor,
        _change_an_anchor,
    ],
)
def test_attacks_on_the_chain_itself_are_found(attack: Callable[[list[int]], None]):
    ids = note(4)
    chain.seal()
    attack(ids)
    assert not checking.verify().ok
    assert not checking.verify().ok  # nor does checking repair it


def test_a_lowered_head_is_an_answer_of_the_api_and_stops_the_sealing():
    admin = api_client(make_user("admin"))
    note(4)
    chain.seal()
    set_head(count=2)
    note(1)
    answer = admin.get("/api/v1/audit/verify")
    assert (answer.status_code, answer.json()["ok"]) == (200, False)
    assert chain.seal() == 0


def test_verify_counts_what_was_sealed_while_it_looked():
    """A row that is sealed between two looks is no forgery."""
    note(3)
    chain.seal()
    real, looked = checking._beyond_the_head, []

    def later() -> int | None:
        if not looked:
            looked.append(note(2))
            chain.seal()
        return real()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checking, "_beyond_the_head", later)
        assert checking.verify() == checking.Verdict(ok=True, sealed=3, unsealed=0, first_bad_id=None)


@pytest.mark.parametrize(
    "value",
    [
        None,
        "ü\U0001f600\n\t\"'\\",
        [1, 1.0, -0.0, 0.1, 1e-9, 1e22, 1.5e300, 2**53, 2**63 + 1, 10**40, -(2**70), True, None],
        {"b": {"1": [], "a": {}}, "a": ["x", ["y"]], "": ""},
        ("a", "b"),
    ],
)
def test_a_mark_holds_for_every_value_that_a_database_gives_back(value):
    record(Entry("thing.update", "thing", 1, "thing", before={"value": value}, after=value))
    row = AuditEntry.objects.values().get()
    assert is_marked(row)
    assert checking.verify().ok


def test_a_new_secret_key_needs_the_earlier_one_beside_it(settings):
    note(3)
    assert checking.verify().ok
    settings.SECRET_KEY, earlier = "another key for this installation", settings.SECRET_KEY
    assert not checking.verify().ok
    settings.SECRET_KEY_FALLBACKS = [earlier]
    assert checking.verify().ok
    note(2)
    assert checking.verify() == checking.Verdict(ok=True, sealed=5, unsealed=0, first_bad_id=None)


def test_the_api_says_which_row_is_bad():
    admin = api_client(make_user("admin"))
    ids = note(4)
    assert admin.get("/api/v1/audit/verify").json()["ok"] is True
    sql("UPDATE audit_auditentry SET hash = %s WHERE id = %s", "0" * 64, ids[1])
    answer = admin.get("/api/v1/audit/verify").json()
    assert answer == {"ok": False, "sealed": answer["sealed"], "unsealed": 0, "first_bad_id": ids[1]}


@pytest.mark.parametrize("gone", [[0], [1], [2], [0, 1, 2]])
def test_rows_deleted_before_they_were_sealed_are_found(gone: list[int]) -> None:
    ids = note(3)
    sql("DELETE FROM audit_auditentry WHERE id IN %s" % str((*(ids[n] for n in gone), 0)))  # noqa: UP031
    for _ in range(2):
        found = checking.verify()
        assert (found.ok, found.first_bad_id) == (False, ids[gone[0]])
        note()


def test_a_row_that_was_made_never_to_have_been_announced_is_found() -> None:
    ids = note(2)
    sql("DELETE FROM audit_pendingentry WHERE entry_id = %s", ids[1])
    sql("UPDATE audit_auditentry SET reason = 'forged' WHERE id = %s", ids[1])
    assert checking.verify().first_bad_id == ids[1]


def test_what_is_rolled_back_is_not_missed() -> None:
    with transaction.atomic():
        note(50)
        transaction.set_rollback(True)
    note(2)
    assert checking.verify() == checking.Verdict(ok=True, sealed=2, unsealed=0, first_bad_id=None)
    assert not PendingEntry.objects.exists()


def test_rows_of_a_large_act_wait_until_they_are_sealed() -> None:
    ids = note(60)
    assert sorted(PendingEntry.objects.values_list("pk", flat=True)) == ids
    chain.seal()
    assert not PendingEntry.objects.exists()


def test_an_anchor_is_made_at_the_first_sealing_and_then_from_time_to_time() -> None:
    for _ in range(3):
        note(2)
        chain.seal()
    assert list(ChainAnchor.objects.values_list("number", "count")) == [(1, 2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chain, "ANCHOR_ROWS", 3)
        note(2)
        chain.seal()
        note(1)
        chain.seal()
    assert list(ChainAnchor.objects.order_by("number").values_list("number", "count")) == [(1, 2), (2, 8)]
    last = ChainAnchor.objects.get(number=2)
    assert last.signature == sign_anchor(2, 8, AuditEntry.objects.get(place=8).hash)
    assert checking.verify() == checking.Verdict(ok=True, sealed=9, unsealed=0, first_bad_id=None)


def test_the_database_refuses_to_forget_how_long_the_chain_was() -> None:
    note(2)
    chain.seal()
    (waiting,) = note(1)
    for statement in (
        "DELETE FROM audit_chainhead",
        "UPDATE audit_chainhead SET count = 1",
        "DELETE FROM audit_chainanchor",
        "UPDATE audit_chainanchor SET count = 1",
        f"DELETE FROM audit_pendingentry WHERE entry_id = {waiting}",
    ):
        with (
            pytest.raises(IntegrityError, match="only grows"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)
    assert checking.verify().ok


def test_the_fast_text_of_a_row_is_its_canonical_content() -> None:
    record(
        Entry("a.b", "thing", None, 'q"\\ü\u2028', before={"z": [1, None, {"ü": 1.5}], "a": ""}, after=[],
              risk="safe", touches_pii=True, dataset_id=7, reason="a\nb\t\x7f\x1f\U0001f600/"),
        Entry("a.b", "thing", 7, "x"),
        by=make_user("viewer"),
    )  # fmt: skip
    chain.seal()
    read = {row.id: row.text for row in rows.sealed_rows(10)}
    for row in AuditEntry.objects.values():
        assert text_of([row[name] for name in SORTED]) == canonical(content_of(row)) == read[row["id"]]


def test_a_check_reads_some_rows_at_a_time() -> None:
    note(12)
    chain.seal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "AT_ONCE", 5)
        assert checking.verify() == checking.Verdict(ok=True, sealed=12, unsealed=0, first_bad_id=None)
        sql("UPDATE audit_auditentry SET reason = 'forged' WHERE place = 11")
        assert checking.verify().first_bad_id == AuditEntry.objects.get(place=11).pk
