"""Tags over the API: changing, asking for a removal and confirming it, looking again, undoing a batch."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from aide.accounts.models import User
from aide.work.models import WorkItem
from registry import suggesting, tagging
from registry.models import Dataset, Field, FieldTag, PIITag
from tests.factories import api_client, make_dataset, make_system, make_user, publish

pytestmark = pytest.mark.django_db
TAGS = "/api/v1/field-tags"


@pytest.fixture
def dataset() -> Dataset:
    row = make_dataset("customers", system=make_system("crm"), status=Dataset.Status.ACTIVE)
    publish(row, ("id", "bigint"), ("email", "text"))
    row.refresh_from_db()
    return row


@pytest.fixture
def person(dataset: Dataset) -> User:
    user = make_user("steward")
    user.systems.add(dataset.system)  # type: ignore[attr-defined]
    return User.objects.get(pk=user.pk)


@pytest.fixture
def steward(person: User) -> APIClient:
    return api_client(person)


def suggestion(field: Field, code: str = "kind_x", **values: Any) -> FieldTag:
    tag = PIITag.objects.get_or_create(code=code, defaults={"name": code, "sensitivity": 2})[0]
    said = {"confidence": 0.9, "rule": "r", "rule_version": "1", "evidence": "The name says so.", **values}
    return FieldTag.objects.create(
        field=field, tag=tag, state="suggested", origin="rule", since=timezone.now(), **said
    )


def email(dataset: Dataset) -> Field:
    return Field.objects.select_related("dataset__system").get(dataset=dataset, path="email")


def test_another_tag_is_chosen_for_a_suggestion(dataset: Dataset, steward: APIClient) -> None:
    row = suggestion(email(dataset))
    PIITag.objects.create(code="kind_y", name="Y", sensitivity=1)
    both = steward.post(f"{TAGS}/decide", {"accept": [row.pk], "change": [{"id": row.pk, "tag": "kind_y"}]})
    assert both.status_code == 422
    answer = steward.post(f"{TAGS}/decide", {"change": [{"id": row.pk, "tag": "kind_y"}]})
    assert answer.status_code == 200, answer.content
    (changed,) = answer.json()["changed"]
    assert (changed["tag"], changed["state"]) == ("kind_y", "confirmed")
    rejected = steward.get(f"{TAGS}?state=rejected").json()["items"]
    assert [each["reason"] for each in rejected] == ["Wrong tag: it is kind_y"]


def test_a_removal_is_asked_for_called_off_and_confirmed_by_another(
    dataset: Dataset, steward: APIClient, person: User
) -> None:
    suggestion(email(dataset))
    made = steward.post(TAGS, {"field_id": email(dataset).pk, "tag": "kind_x"}).json()
    one = f"{TAGS}/{made['id']}"
    asked = steward.delete(one)
    assert (asked.status_code, asked.json()["removal_by"]) == (202, person.email)
    assert steward.get(f"{TAGS}?removal_at__gte=2020-01-01").json()["total"] == 1
    kept = steward.post(f"{one}/keep")
    assert (kept.status_code, kept.json()["removal_by"]) == (200, None)
    assert steward.post(f"{one}/keep").status_code == 404
    assert steward.delete(one).status_code == 202
    assert steward.delete(one).json()["error_code"] == "FOUR_EYES_REQUIRED"
    approver = make_user("approver")
    assert api_client(approver).delete(one).status_code == 204
    (removed,) = steward.get(f"{TAGS}?state=removed").json()["items"]
    assert (removed["decided_by"], removed["second_by"]) == (person.email, approver.email)
    assert steward.get(f"/api/v1/fields/{email(dataset).pk}").json()["pii_tags"] == []
    assert steward.delete(one).status_code == 404


def test_a_steward_of_another_system_confirms_no_removal(dataset: Dataset, steward: APIClient) -> None:
    suggestion(email(dataset))
    made = steward.post(TAGS, {"field_id": email(dataset).pk, "tag": "kind_x"}).json()
    steward.delete(f"{TAGS}/{made['id']}")
    other = make_user("steward")
    other.systems.add(make_system())  # type: ignore[attr-defined]
    assert api_client(other).delete(f"{TAGS}/{made['id']}").json()["error_code"] == "FORBIDDEN"


def test_a_rejection_is_taken_back(dataset: Dataset, steward: APIClient, person: User) -> None:
    refused = tagging.reject(suggestion(email(dataset)), reason="no", by=person)
    again = steward.post(f"{TAGS}/{refused.pk}/reopen")
    assert (again.status_code, again.json()["state"]) == (200, "suggested")
    assert again.json()["returned"].startswith("Brought back by")
    assert steward.post(f"{TAGS}/{refused.pk}/reopen").json()["error_code"] == "STALE_CHANGE"


def test_the_rules_look_again_on_demand(dataset: Dataset, steward: APIClient) -> None:
    WorkItem.objects.all().delete()
    assert steward.post(f"{TAGS}/suggest", {"system": "crm"}).json() == {"datasets": 1}
    queued = steward.post(f"{TAGS}/suggest", {"dataset_id": dataset.pk})
    assert (queued.status_code, queued.json()) == (202, {"datasets": 1})
    assert WorkItem.objects.filter(task=suggesting.SUGGEST).count() == 2
    for body in ({}, {"system": "crm", "dataset_id": dataset.pk}, {"system": "no"}, {"dataset_id": 10**9}):
        assert steward.post(f"{TAGS}/suggest", body).status_code == 422
    make_system("other")
    assert steward.post(f"{TAGS}/suggest", {"system": "other"}).status_code == 403


def test_a_batch_is_undone_by_whoever_decides_in_all_its_systems(
    dataset: Dataset, steward: APIClient
) -> None:
    elsewhere = make_dataset("other", system=make_system(), status=Dataset.Status.ACTIVE)
    publish(elsewhere, ("c", "text"))
    suggestion(email(dataset), batch="b1")
    suggestion(Field.objects.get(dataset=elsewhere), batch="b2")
    suggestion(Field.objects.get(dataset=dataset, path="id"), batch="b2")
    assert steward.post(f"{TAGS}/undo", {"batch": "b2"}).status_code == 403
    assert steward.post(f"{TAGS}/undo", {"batch": "b1"}).json() == {"undone": 1, "settled": 0}
    assert steward.post(f"{TAGS}/undo", {"batch": "nothing"}).status_code == 404
    assert api_client(make_user("approver")).post(f"{TAGS}/undo", {"batch": "b2"}).json()["undone"] == 2
