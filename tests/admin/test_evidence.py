"""The audit log by time, person, kind, system and risk, and its evidence pack."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from aide.audit.checking import Verdict
from aide.audit.entries import Entry, record
from aide.audit.models import AuditEntry
from aide.core.errors import Invalid
from aide.desk import evidence
from crawling import review
from registry.models import Dataset, System
from tests.admin.conftest import Screen
from tests.browser.shop import Shop
from tests.factories import make_groups, make_system, make_user

LOG = "admin:audit_auditentry_changelist"
PACK = "admin:audit_evidence"
FILES = {"decisions.csv", "decisions.json", "who-had-which-role.csv", "verification.txt", "filter.txt"}


def pack_of(client: Screen, query: str = "") -> dict[str, str]:
    answer = client.post(reverse(PACK) + query)
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/zip"
    raw = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name).decode() for name in archive.namelist()}


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def listed(client: Screen, query: dict[str, Any]) -> list[str]:
    return [e.object_name for e in client.get(reverse(LOG), query).context["cl"].result_list]


@pytest.fixture
def entries(db: None, system: System) -> dict[str, Any]:
    """Four entries: of now and of long ago, of two people, two systems, breaking or about personal data."""
    one, other = make_user("steward", full_name="Ada"), make_user("approver", full_name="Bo")
    make_system("billing")
    record(Entry("change.approve", "change", 1, "new", system_code="pg-crm", risk="breaking"), by=one)
    record(Entry("tag.confirm", "field", 2, "pii", system_code="billing", touches_pii=True), by=other)
    record(Entry("field.edit", "field", 3, "=formula", system_code="pg-crm", reason="+x"), by=one)
    (old,) = record(Entry("login.success", "user", 4, "old"), by=other)
    return {"one": one, "other": other, "old": old}


def test_the_log_is_filtered_by_person_kind_system_and_risk(
    screen: Callable[..., Screen], entries: dict[str, Any]
) -> None:
    admin = screen("admin")
    assert listed(admin, {"person": entries["one"].pk}) == ["=formula", "new"]
    assert listed(admin, {"about": "tag"}) == ["pii"]
    assert listed(admin, {"system": "pg-crm", "about": "change"}) == ["new"]
    assert listed(admin, {"risk": "breaking"}) == ["new"]
    assert listed(admin, {"risk": "pii", "days": "90"}) == ["pii"]
    page = admin.get(reverse(LOG)).content.decode()
    assert "Breaking, last 90 days" in page
    assert ">Ada</a>" in page


def test_the_log_is_filtered_by_days(screen: Callable[..., Screen], entries: dict[str, Any]) -> None:
    admin = screen("admin")
    today, tomorrow = timezone.localdate(), timezone.localdate() + timedelta(days=1)
    assert len(listed(admin, {"days": "7"})) == 4
    assert len(listed(admin, {"from": today.isoformat(), "to": today.isoformat()})) == 4
    assert listed(admin, {"from": tomorrow.isoformat()}) == []
    assert listed(admin, {"to": (today - timedelta(days=1)).isoformat()}) == []
    for odd in ({"days": "8"}, {"from": "yesterday"}, {"to": "2026-13-99"}, {"from": "9999-12-31"}):
        assert listed(admin, odd) == []
    page = admin.get(reverse(LOG), {"from": today.isoformat(), "risk": "breaking"}).content.decode()
    assert f'name="from" id="span-from" value="{today.isoformat()}"' in page
    assert '<input type="hidden" name="risk" value="breaking">' in page


def test_the_pack_holds_what_the_list_shows_and_heads_the_log(
    screen: Callable[..., Screen], entries: dict[str, Any]
) -> None:
    admin = screen("admin")
    assert "2 entries that match" in admin.get(reverse(PACK), {"system": "pg-crm"}).content.decode()
    files = pack_of(admin, "?system=pg-crm")
    assert set(files) == FILES
    told = rows(files["decisions.csv"])
    assert [each["object"] for each in told] == ["'=formula", "new"]
    assert told[0]["reason"] == "'+x"
    assert told[1]["risk"] == "breaking"
    assert told[0]["who"] == entries["one"].email
    assert [each["object"] for each in json.loads(files["decisions.json"])] == ["=formula", "new"]
    roles = {(r["person"], r["roles"], r["how it is known"]) for r in rows(files["who-had-which-role.csv"])}
    assert (entries["one"].email, "steward", "acted with them") in roles
    assert (entries["one"].email, "steward", "has them now") in roles
    assert "system=pg-crm" in files["filter.txt"]
    assert files["verification.txt"].startswith("Chain verified at ")
    for name in FILES - {"verification.txt"}:
        digest = hashlib.sha256(files[name].encode()).hexdigest()
        assert f"{digest}  {name}" in files["verification.txt"]
    newest = admin.get(reverse(LOG)).context["cl"].result_list[0]
    assert (newest.action, newest.actor, newest.after["entries"]) == ("audit.export", admin.user, 2)


def test_a_chain_that_does_not_hold_is_said(
    screen: Callable[..., Screen], entries: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "verify", lambda: Verdict(ok=False, sealed=3, unsealed=1, first_bad_id=2))
    note = pack_of(screen("admin"))["verification.txt"]
    assert note.startswith("THE CHAIN DOES NOT HOLD")
    assert "The first entry that is not as it was written: 2." in note


def test_breaking_decisions_name_both_people(tmp_path: Path, db: None, type_catalogues: None) -> None:
    make_groups()
    shop = Shop(tmp_path / "shop.sqlite3")
    run = shop.grown()
    proposals = review.proposals_of(run)
    rename = shop.change(run, "rename_field", "phone")
    review.decide(proposals, approve=[rename.pk], by=shop.steward)
    review.apply(proposals, by=shop.steward)
    again = review.proposals_of(run)
    review.decide(again, approve=[rename.pk], by=shop.approver)
    review.apply(again, by=shop.approver)
    told = rows(pack_of(Screen(shop.approver), "?risk=breaking&about=change")["decisions.csv"])
    assert told
    for each in told:
        assert (each["first_person"], each["second_person"]) == (shop.steward.email, shop.approver.email)
        assert each["first_at"] <= each["second_at"]
        assert each["before"]


def test_one_dataset_comes_with_its_versions(screen: Callable[..., Screen], dataset: Dataset) -> None:
    admin = screen("admin")
    page = reverse("admin:registry_dataset_change", args=[dataset.pk])
    assert f"{reverse(PACK)}?dataset_id={dataset.pk}" in admin.get(page, {"tab": "history"}).content.decode()
    files = pack_of(admin, f"?dataset_id={dataset.pk}")
    (version,) = rows(files["versions.csv"])
    assert (version["version"], version["fingerprint"]) == ("1", dataset.current_schema.fingerprint)


def test_a_steward_gets_what_is_about_own_systems(
    screen: Callable[..., Screen], entries: dict[str, Any], system: System
) -> None:
    steward = screen("steward", systems=(system,))
    assert {each["object"] for each in rows(pack_of(steward)["decisions.csv"])} == {"'=formula", "new"}
    elsewhere = Dataset.objects.create(system=make_system("far"), kind="rdbms", name="x.y")
    assert "versions.csv" not in pack_of(steward, f"?dataset_id={elsewhere.pk}")
    assert screen("viewer").post(reverse(PACK)).status_code == 403
    assert steward.get(reverse(PACK), {"object_id": "1"}).status_code == 200


def test_many_entries_take_as_many_statements_as_few(
    screen: Callable[..., Screen], entries: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    admin, counts = screen("admin"), []
    for size in (20, 200):
        record(*(Entry("change.approve", "change", n, "x") for n in range(size)), by=entries["one"])
        pack_of(admin)
        with CaptureQueriesContext(connection) as asked:
            pack_of(admin)
        counts.append(len(asked))
    assert counts[0] == counts[1]
    monkeypatch.setattr(evidence, "MOST", 10)
    answer = admin.post(reverse(PACK), follow=True)
    assert "More than 10 entries match." in answer.content.decode()
    with pytest.raises(Invalid):
        evidence.build(
            AuditEntry.objects.all(), words="", query="", dataset=None, by=admin.user, sees_all=True
        )
