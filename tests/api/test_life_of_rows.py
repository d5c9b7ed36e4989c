"""Every registry entity by verb and state: a stale version, dependents, deleted, restored. From one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.utils import timezone

from registry import versions
from registry.models import (
    CastRule,
    CredentialRef,
    Dataset,
    DataType,
    Field,
    FieldBinding,
    FieldTag,
    PIITag,
    System,
    SystemFlavor,
    SystemKind,
    TypeInstance,
)
from tests.factories import api_client, make_dataset, make_flavor, make_kind, make_system, make_user, publish

pytestmark = pytest.mark.django_db
Row = Any


@dataclass(frozen=True)
class Entity:
    """How a row is made, its body for POST and PUT, a part for PATCH; what holds on to it; what it hangs on."""

    path: str
    make: Callable[[], Row]
    body: Callable[[Row], dict[str, Any]]
    part: dict[str, Any]
    holds: Callable[[Row], Row] | None = None
    parent: str = ""
    soft: bool = True
    # A body of something else that refers to the row, and where.
    refers: Callable[[Row], tuple[str, dict[str, Any]]] | None = None


def kind() -> SystemKind:
    return SystemKind.objects.create(code="SPARE", name="Spare")


def flavor() -> SystemFlavor:
    return SystemFlavor.objects.create(code="spare", name="Spare", kind=kind())


def data_type() -> DataType:
    return DataType.objects.create(flavor=flavor(), code="spare", name="Spare")


def system() -> System:
    return System.objects.create(code="spare", name="Spare", flavor=flavor())


def dataset() -> Dataset:
    return make_dataset("spare", system=system())


def cast_rule() -> CastRule:
    source = data_type()
    target = DataType.objects.create(flavor=source.flavor, code="other", name="Other")
    return CastRule.objects.create(source_data_type=source, target_data_type=target)


def field() -> Field:
    return versions.add_field(dataset(), name="spare", by=None)


def draft() -> Any:
    return versions.add_draft(dataset(), by=None)


def binding() -> FieldBinding:
    opened = draft()
    made = versions.add_field(opened.dataset, name="spare", by=None)
    return versions.add_binding(opened, field=made, by=None, position=1, native_type="text")


def tagged(tag: PIITag) -> FieldTag:
    return FieldTag.objects.create(field=field(), tag=tag, state="suggested", since=timezone.now())


ENTITIES = {
    each.path: each
    for each in (
        Entity(
            "system-kinds", kind, lambda r: {"code": "SPARE", "name": "Spare"}, {"name": "Other"},
            holds=lambda r: SystemFlavor.objects.create(code="child", name="Child", kind=r),
            refers=lambda r: ("system-flavors", {"code": "new", "name": "New", "kind": r.code}),
        ),
        Entity(
            "system-flavors", flavor, lambda r: {"code": "spare", "name": "Spare", "kind": "SPARE"},
            {"name": "Other"},
            holds=lambda r: System.objects.create(code="child", name="Child", flavor=r), parent="kind",
            refers=lambda r: ("systems", {"code": "new", "name": "New", "flavor": r.code}),
        ),
        Entity(
            "data-types", data_type, lambda r: {"flavor": "spare", "code": "spare", "name": "Spare"},
            {"name": "Other"}, holds=lambda r: TypeInstance.objects.create(data_type=r), parent="flavor",
            refers=lambda r: ("cast-rules", {"source_data_type_id": r.pk, "target_data_type_id": r.pk}),
        ),
        Entity(
            "credential-refs", lambda: CredentialRef.objects.create(provider="env", path="SPARE"),
            lambda r: {"provider": "env", "path": "SPARE"}, {"note": "x"},
            holds=lambda r: System.objects.create(code="child", name="Child", flavor=flavor(), credential_ref=r),
            refers=lambda r: (
                "systems",
                {"code": "new", "name": "New", "flavor": make_flavor().code, "credential_ref_id": r.pk},
            ),
        ),
        Entity(
            "systems", system, lambda r: {"code": "spare", "name": "Spare", "flavor": "spare"}, {"name": "Other"},
            holds=lambda r: make_dataset("child", system=r), parent="flavor",
            refers=lambda r: ("datasets", {"system": r.code, "kind": "rdbms", "name": "public.new"}),
        ),
        Entity(
            "datasets", dataset,
            lambda r: {"system": "spare", "kind": "rdbms", "location": {"schema": "public", "table": "spare"}},
            {"description": "Other"}, parent="system",
            refers=lambda r: ("dataset-schemas", {"dataset_id": r.pk}),
        ),
        Entity(
            "cast-rules", cast_rule,
            lambda r: {
                "source_data_type_id": r.source_data_type_id, "target_data_type_id": r.target_data_type_id
            },
            {"note": "x"}, parent="target_data_type",
        ),
        Entity(
            "pii-tags", lambda: PIITag.objects.create(code="spare", name="Spare", sensitivity=1),
            lambda r: {"code": "spare", "name": "Spare", "sensitivity": 1}, {"sensitivity": 2}, holds=tagged,
            refers=lambda r: ("field-tags", {"field_id": field().pk, "tag": r.code}),
        ),
        Entity(
            "fields", field, lambda r: {"description": "Whole"}, {"description": "Part"}, soft=False,
            holds=lambda r: versions.add_binding(
                versions.add_draft(r.dataset, by=None), field=r, by=None, position=1, native_type="text"
            ),
        ),
        Entity("dataset-schemas", draft, lambda r: {"dataset_id": r.dataset_id}, {"comment": "x"}, soft=False),
        Entity(
            "field-bindings", binding,
            lambda r: {
                "dataset_schema_id": r.dataset_schema_id, "field_id": r.field_id, "position": 1,
                "native_type": "bigint",
            },
            {"comment": "x"}, soft=False,
        ),
    )
}  # fmt: skip
every = pytest.mark.parametrize("entity", ENTITIES.values(), ids=ENTITIES)
SOFT = {path: each for path, each in ENTITIES.items() if each.soft}
soft = pytest.mark.parametrize("entity", SOFT.values(), ids=SOFT)
HELD = {path: each for path, each in ENTITIES.items() if each.holds}
CHILDREN = {path: each for path, each in SOFT.items() if each.parent}
REFERRED = {path: each for path, each in SOFT.items() if each.refers}


@pytest.fixture
def client() -> Any:
    """Someone with every right there is."""
    return api_client(make_user("admin", "engineer", "approver"))


def at(entity: Entity, row: Row, verb: str = "") -> str:
    return f"/api/v1/{entity.path}/{row.pk}" + (f"/{verb}" if verb else "")


def stored(row: Row) -> dict[str, Any]:
    return type(row)._base_manager.filter(pk=row.pk).values().get()


@every
@pytest.mark.parametrize("how", ["patch body", "put body", "patch etag", "put etag", "delete etag"])
def test_an_old_version_writes_nothing(client: Any, entity: Entity, how: str) -> None:
    row = entity.make()
    first = client.patch(at(entity, row), entity.part, format="json")
    assert first.status_code == 200, first.content
    assert first.json()["row_version"] == 2
    assert first["ETag"] == '"2"'
    before = stored(row)

    verb, where = how.split()
    body = {"patch": entity.part, "put": entity.body(row), "delete": {}}[verb]
    if where == "body":
        answer = getattr(client, verb)(at(entity, row), {**body, "row_version": 1}, format="json")
    else:
        answer = getattr(client, verb)(at(entity, row), body, format="json", HTTP_IF_MATCH='"1"')
    assert (answer.status_code, answer.json()["error_code"]) == (409, "VERSION_CONFLICT")
    assert answer.json()["current"]["row_version"] == 2
    assert stored(row) == before


@every
def test_the_present_version_writes_and_grows(client: Any, entity: Entity) -> None:
    row = entity.make()
    put = client.put(at(entity, row), {**entity.body(row), "row_version": 1}, format="json")
    assert put.status_code == 200, put.content
    part = client.patch(at(entity, row), entity.part, format="json", HTTP_IF_MATCH=put["ETag"])
    assert part.status_code == 200, part.content
    assert part.json()["row_version"] == put.json()["row_version"] + 1
    gone = client.delete(at(entity, row), HTTP_IF_MATCH=part["ETag"])
    assert gone.status_code == 204, gone.content


@pytest.mark.parametrize("entity", HELD.values(), ids=HELD)
def test_what_is_needed_stays(client: Any, entity: Entity) -> None:
    row = entity.make()
    child = entity.holds(row)  # type: ignore[misc]
    before = stored(row)
    answer = client.delete(at(entity, row))
    assert (answer.status_code, answer.json()["error_code"]) == (409, "HAS_DEPENDENT_ENTITIES")
    assert stored(row) == before

    if hasattr(child, "deleted_at"):
        child.deleted_at = timezone.now()
        child.save()
    else:
        child.delete()
    assert client.delete(at(entity, row)).status_code == 204


@soft
def test_what_is_deleted_is_not_there(client: Any, entity: Entity) -> None:
    row = entity.make()
    assert client.delete(at(entity, row)).status_code == 204
    before = stored(row)
    assert before["deleted_by_id"] is not None
    for verb, body in (("get", None), ("put", entity.body(row)), ("patch", entity.part), ("delete", None)):
        answer = getattr(client, verb)(at(entity, row), body, format="json")
        assert answer.status_code == 404, verb
        assert answer.json()["error_code"].endswith("_NOT_FOUND")
    listed = client.get(f"/api/v1/{entity.path}?size=500").json()["items"]
    assert row.pk not in [each["id"] for each in listed]
    assert stored(row) == before


@pytest.mark.parametrize("entity", REFERRED.values(), ids=REFERRED)
def test_nothing_new_refers_to_what_is_deleted(client: Any, entity: Entity) -> None:
    row = entity.make()
    path, body = entity.refers(row)  # type: ignore[misc]
    assert client.delete(at(entity, row)).status_code == 204
    answer = client.post(f"/api/v1/{path}", body, format="json")
    assert answer.status_code == 422, answer.content


@soft
def test_what_comes_back_is_as_it_was_and_newer(client: Any, entity: Entity) -> None:
    row = entity.make()
    early = client.post(at(entity, row, "restore"))
    assert (early.status_code, early.json()["error_code"]) == (409, "NOT_DELETED")
    before = client.get(at(entity, row)).json()
    client.delete(at(entity, row))
    answer = client.post(at(entity, row, "restore"))
    assert answer.status_code == 200, answer.content
    after = client.get(at(entity, row)).json()
    changing = {"row_version", "updated_at"}
    assert {k: v for k, v in after.items() if k not in changing} == {
        k: v for k, v in before.items() if k not in changing
    }
    assert after["row_version"] > before["row_version"]
    stale = client.patch(
        at(entity, row), {**entity.part, "row_version": before["row_version"]}, format="json"
    )
    assert stale.status_code == 409
    assert client.post(at(entity, row, "restore")).status_code == 409


@soft
def test_a_place_that_was_taken_meanwhile_stays_taken(client: Any, entity: Entity) -> None:
    row = entity.make()
    client.delete(at(entity, row))
    again = client.post(f"/api/v1/{entity.path}", entity.body(row), format="json")
    assert again.status_code == 201, again.content
    answer = client.post(at(entity, row, "restore"))
    assert answer.status_code == 409
    assert answer.json()["error_code"].endswith("_ALREADY_EXISTS")
    assert stored(row)["deleted_at"] is not None


@pytest.mark.parametrize("entity", CHILDREN.values(), ids=CHILDREN)
def test_what_hangs_on_something_deleted_waits_for_it(client: Any, entity: Entity) -> None:
    row = entity.make()
    client.delete(at(entity, row))
    parent = getattr(row, entity.parent)
    parent.deleted_at = timezone.now()
    parent.save()
    answer = client.post(at(entity, row, "restore"))
    assert (answer.status_code, answer.json()["error_code"]) == (409, "PARENT_DELETED")
    assert stored(row)["deleted_at"] is not None
    parent.deleted_at = None
    parent.save()
    assert client.post(at(entity, row, "restore")).status_code == 200


def test_types_and_versions_never_change(client: Any) -> None:
    make_kind()
    schema = publish(make_dataset("frozen", system=make_system("frozen")))
    instance = TypeInstance.objects.first()
    for path, body in (
        (f"dataset-schemas/{schema.pk}", {"comment": "x"}),
        (f"type-instances/{instance.pk}", {}),
    ):
        for verb in ("put", "patch"):
            answer = getattr(client, verb)(
                f"/api/v1/{path}", {**body, "dataset_id": schema.dataset_id}, format="json"
            )
            assert (answer.status_code, answer.json()["error_code"]) == (409, "IMMUTABLE"), path
    assert client.delete(f"/api/v1/dataset-schemas/{schema.pk}").status_code == 409
    assert client.delete(f"/api/v1/type-instances/{instance.pk}").status_code == 409
