"""On the screens too: an old form writes nothing, what is needed stays, what was deleted comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from aide.audit.models import AuditEntry
from tests.admin.conftest import Screen
from tests.api.test_life_of_rows import SOFT, Entity, stored

pytestmark = pytest.mark.django_db
soft = pytest.mark.parametrize("entity", SOFT.values(), ids=SOFT)
HELD = {path: each for path, each in SOFT.items() if each.holds}
CHILDREN = {path: each for path, each in SOFT.items() if each.parent}


@pytest.fixture
def client(screen: Callable[..., Screen]) -> Screen:
    return screen("admin", "engineer", "approver")


def at(row: Any, page: str) -> str:
    name = f"admin:{row._meta.app_label}_{row._meta.model_name}_{page}"
    return reverse(name) if page in {"changelist", "deleted", "add"} else reverse(name, args=[row.pk])


def edit_page(row: Any) -> str:
    return at(row, "edit" if row._meta.model_name in {"system", "dataset"} else "change")


def as_posted(form: Any) -> dict[str, Any]:
    """What a browser would send of the form as it is shown."""
    values: dict[str, Any] = {}
    for bound in form:
        value = bound.value()
        if isinstance(value, bool):
            values |= {bound.html_name: "on"} if value else {}
        elif isinstance(value, (list, tuple)):
            values[bound.html_name] = bound.field.prepare_value(value)
        elif value is not None:
            values[bound.html_name] = value
    return values


@soft
def test_a_form_that_someone_else_overtook_writes_nothing_at_first(client: Screen, entity: Entity) -> None:
    row = entity.make()
    address = edit_page(row)
    shown = as_posted(client.get(address).context["adminform"].form)
    assert str(shown["seen_version"]) == "1"
    type(row).objects.filter(pk=row.pk).update(row_version=2)
    before = stored(row)
    answer = client.post(address, {**shown, "note": "late"})
    assert answer.status_code == 200
    assert "Someone else saved this while you were editing" in answer.content.decode()
    assert stored(row) == before

    again = client.post(address, {**shown, "note": "late", "seen_version": 2})
    assert again.status_code == 302, again.context["errors"]
    assert (stored(row)["note"], stored(row)["row_version"]) == ("late", 3)


@pytest.mark.parametrize("entity", HELD.values(), ids=HELD)
def test_what_is_needed_stays(client: Screen, entity: Entity) -> None:
    row = entity.make()
    entity.holds(row)  # type: ignore[misc]
    before = stored(row)
    assert "It cannot be deleted now" in client.get(at(row, "delete")).content.decode()
    client.post(at(row, "delete"), {"post": "yes"})
    assert stored(row) == before


@soft
def test_what_is_deleted_leaves_the_list_and_comes_back_newer(client: Screen, entity: Entity) -> None:
    row = entity.make()
    assert at(row, "deleted") in client.get(at(row, "changelist")).content.decode()
    assert client.post(at(row, "delete"), {"post": "yes"}).status_code == 302
    gone = stored(row)
    assert (gone["deleted_by_id"], gone["row_version"]) == (client.user.pk, 2)  # type: ignore[union-attr]
    for page in (edit_page(row), at(row, "delete")):
        assert client.get(page).status_code in {302, 404}
    listed = client.get(at(row, "changelist"))
    assert row.pk not in [each.pk for each in listed.context["cl"].result_list]

    assert at(row, "restore") in client.get(at(row, "deleted")).content.decode()
    assert client.get(at(row, "restore")).status_code == 403
    assert client.post(at(row, "restore")).status_code == 302
    back = stored(row)
    assert (back["deleted_at"], back["deleted_by_id"], back["row_version"]) == (None, None, 3)
    assert client.post(at(row, "restore")).status_code == 404
    verbs = [entry.action.partition(".")[2] for entry in AuditEntry.objects.order_by("pk")]
    assert verbs[-2:] == ["delete", "restore"]


@soft
def test_a_place_that_was_taken_meanwhile_stays_taken(client: Screen, entity: Entity) -> None:
    row = entity.make()
    client.post(at(row, "delete"), {"post": "yes"})
    values = {
        key: value for key, value in stored(row).items() if key not in {"id", "deleted_at", "deleted_by_id"}
    }
    type(row).objects.create(**values)
    client.post(at(row, "restore"))
    assert stored(row)["deleted_at"] is not None
    assert "was not restored" in client.get(at(row, "deleted")).content.decode()


@pytest.mark.parametrize("entity", CHILDREN.values(), ids=CHILDREN)
def test_what_hangs_on_something_deleted_waits_for_it(client: Screen, entity: Entity) -> None:
    row = entity.make()
    client.post(at(row, "delete"), {"post": "yes"})
    parent = getattr(row, entity.parent)
    parent.deleted_at = timezone.now()
    parent.save()
    client.post(at(row, "restore"))
    assert stored(row)["deleted_at"] is not None
    assert "is deleted; restore that first" in client.get(at(row, "deleted")).content.decode()


@soft
def test_a_viewer_neither_deletes_nor_restores(screen: Callable[..., Screen], entity: Entity) -> None:
    row = entity.make()
    row.deleted_at = timezone.now()
    row.save()
    viewer = screen("viewer")
    assert viewer.get(at(row, "deleted")).status_code == 403
    assert viewer.post(at(row, "restore")).status_code == 403
    assert "Deleted" not in viewer.get(at(row, "changelist")).content.decode()
