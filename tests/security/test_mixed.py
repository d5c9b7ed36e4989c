"""One request about two systems, of which the caller has rights for one: nothing of it is done."""

from __future__ import annotations

from typing import Any

import pytest

from crawling import crawl
from crawling.models import Change, CrawlPlan, Proposal
from registry import versions
from registry.models import Dataset, Field, FieldBinding, FieldTag, PIITag
from tests.factories import api_client, make_api_key, make_dataset, make_system, make_user, publish
from tests.security.world import NOW, snapshot_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def mine() -> Dataset:
    return _published("mine")


@pytest.fixture
def theirs() -> Dataset:
    return _published("theirs")


def _published(name: str) -> Dataset:
    dataset = make_dataset(name, system=make_system(name))
    publish(dataset, ("id", "bigint"), ("email", "text"))
    dataset.refresh_from_db()
    return dataset


@pytest.fixture
def steward(mine: Dataset) -> Any:
    user = make_user("steward")
    user.systems.set([mine.system])
    return api_client(user)


@pytest.fixture
def program(mine: Dataset) -> Any:
    scopes = ("registry:write", "crawl:write")
    _, secret = make_api_key(make_user("engineer", "admin"), *scopes, system_codes=[mine.system.code])
    return api_client(secret=secret)


def _suggest(dataset: Dataset) -> FieldTag:
    tag, _ = PIITag.objects.get_or_create(code="email", defaults={"name": "E-mail", "sensitivity": 2})
    field = dataset.fields.get(name="email")
    return FieldTag.objects.create(field=field, tag=tag, state=FieldTag.State.SUGGESTED, since=NOW)


def test_suggestions_of_two_systems_are_decided_together_or_not_at_all(
    steward: Any, mine: Dataset, theirs: Dataset
) -> None:
    ours, others = _suggest(mine), _suggest(theirs)
    for body in (
        {"accept": [ours.pk, others.pk]},
        {"accept": [ours.pk], "reject": [{"id": others.pk, "reason": "no"}]},
    ):
        assert steward.post("/api/v1/field-tags/decide", body).status_code == 403
    assert set(FieldTag.objects.values_list("state", flat=True)) == {"suggested"}
    assert steward.post("/api/v1/field-tags/decide", {"accept": [ours.pk]}).status_code == 200


def test_a_bulk_create_with_one_foreign_item_creates_nothing(
    program: Any, mine: Dataset, theirs: Dataset
) -> None:
    before = Field.objects.count()
    items = [{"dataset_id": each.pk, "name": "new"} for each in (mine, theirs)]
    assert program.post("/api/v1/fields", {"items": items}).status_code == 403
    assert Field.objects.count() == before
    tables = [
        {"system": each.system.code, "kind": "rdbms", "location": {"schema": "s", "table": "t"}}
        for each in (mine, theirs)
    ]
    assert program.post("/api/v1/datasets", {"items": tables}).status_code == 403
    assert Dataset.objects.count() == 2


def test_what_is_mine_cannot_be_moved_to_them(program: Any, mine: Dataset, theirs: Dataset) -> None:
    plan = CrawlPlan.objects.create(system=mine.system, cron="0 3 * * *")
    moved = program.patch(f"/api/v1/crawl-plans/{plan.pk}", {"system": theirs.system.code})
    assert moved.status_code == 403
    plan.refresh_from_db()
    assert plan.system == mine.system
    moved = program.patch(f"/api/v1/datasets/{mine.pk}", {"system": theirs.system.code})
    assert moved.status_code in {403, 422}
    mine.refresh_from_db()
    assert mine.system.code == "mine"


def test_a_draft_takes_no_field_of_another_dataset(program: Any, mine: Dataset, theirs: Dataset) -> None:
    draft = versions.add_draft(mine, by=None)
    own = versions.add_field(mine, name="own", by=None)
    binding = versions.add_binding(draft, field=own, by=None, position=1, native_type="text")
    foreign = theirs.fields.first()
    assert foreign is not None
    made = program.post(
        "/api/v1/field-bindings",
        {"dataset_schema_id": draft.pk, "field_id": foreign.pk, "position": 2, "native_type": "text"},
    )
    assert made.status_code == 422, made.content
    changed = program.patch(f"/api/v1/field-bindings/{binding.pk}", {"field_id": foreign.pk})
    assert changed.status_code == 422, changed.content
    inside = program.post("/api/v1/fields", {"dataset_id": mine.pk, "name": "x", "parent_id": foreign.pk})
    assert inside.status_code == 422, inside.content
    assert FieldBinding.objects.get(pk=binding.pk).field == own


def test_a_change_of_another_review_is_not_decided(steward: Any, mine: Dataset, theirs: Dataset) -> None:
    ours, others = (
        Proposal.objects.get(crawl_run=crawl.upload(each.system, snapshot_of("fresh")))
        for each in (mine, theirs)
    )
    foreign = others.changes.get()
    for path in (f"proposals/{ours.pk}/decide", f"crawl-runs/{ours.crawl_run_id}/decide-and-apply"):
        answer = steward.post(f"/api/v1/{path}", {"approve": [foreign.pk]})
        assert answer.status_code == 404, answer.content
    foreign.refresh_from_db()
    assert foreign.state == Change.State.OPEN
