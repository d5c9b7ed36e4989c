"""Create, read, update, delete and restore of the registry's plain tables."""

from __future__ import annotations

import pytest

from aide.audit.models import AuditEntry
from tests.factories import (
    api_client,
    make_dataset,
    make_flavor,
    make_kind,
    make_system,
    make_user,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def engineer():
    return api_client(make_user("engineer"))


@pytest.fixture
def admin():
    return api_client(make_user("admin"))


PLAIN = {
    "system-kinds": {"code": "GRAPH", "name": "Graph database"},
    "system-flavors": {"code": "neo4j", "name": "Neo4j", "kind": "RDBMS", "versions": ["5"]},
    "credential-refs": {"provider": "env", "path": "SHOP_PASSWORD"},
    "systems": {"code": "shop", "name": "Shop", "flavor": "postgresql", "tags": ["eu"]},
    "datasets": {"system": "base", "kind": "rdbms", "name": "public.orders"},
    "data-types": {"flavor": "postgresql", "code": "money2", "name": "money2"},
    "pii-tags": {"code": "shoe_size", "name": "Shoe size", "sensitivity": 1},
}


@pytest.fixture
def world():
    make_kind()
    make_system("base")


@pytest.mark.parametrize("path", PLAIN)
def test_the_whole_life_of_a_row(world, admin, path):
    body = PLAIN[path]
    made = admin.post(f"/api/v1/{path}", body)
    assert made.status_code == 201, made.content
    row = made.json()
    assert {key: row[key] for key in body} == body
    assert row["row_version"] == 1
    assert made["ETag"] == '"1"'
    detail = f"/api/v1/{path}/{row['id']}"
    assert admin.get(detail).json() == row
    by_code = admin.get(f"/api/v1/{path}/{row.get('code', 'x')}")
    is_global = path in {"system-kinds", "system-flavors", "systems", "pii-tags"}
    assert by_code.status_code == (200 if is_global else 404)
    patched = admin.patch(detail, {"note": "seen"})
    assert patched.status_code == 200, patched.content
    assert patched.json()["note"] == "seen"
    assert patched.json()["row_version"] == 2
    whole = admin.put(detail, {**patched.json(), "note": "again"})
    assert whole.status_code == 200, whole.content
    again = admin.post(f"/api/v1/{path}", body)
    assert again.status_code == 409
    assert again.json()["error_code"].endswith("_ALREADY_EXISTS")
    assert admin.delete(detail).status_code == 204
    gone = admin.get(detail)
    assert gone.status_code == 404
    assert gone.json()["error_code"].endswith("_NOT_FOUND")
    assert row["id"] not in [one["id"] for one in admin.get(f"/api/v1/{path}").json()["items"]]
    restored = admin.post(f"{detail}/restore")
    assert restored.status_code == 200, restored.content
    assert admin.get(detail).json()["note"] == "again"
    assert admin.post(f"{detail}/restore").status_code == 409
    kind = AuditEntry.objects.order_by("pk").first().object_type
    verbs = [
        entry.action.split(".")[1] for entry in AuditEntry.objects.filter(object_type=kind).order_by("pk")
    ]
    assert verbs[0] == "create"
    assert verbs[-2:] == ["delete", "restore"]


@pytest.mark.parametrize("path", PLAIN)
def test_a_viewer_reads_and_does_not_write_and_a_stranger_does_neither(world, path):
    viewer, stranger = api_client(make_user("viewer")), api_client()
    assert viewer.get(f"/api/v1/{path}").status_code == 200
    refused = viewer.post(f"/api/v1/{path}", PLAIN[path])
    assert refused.status_code == 403
    assert refused.json()["error_code"] == "FORBIDDEN"
    assert stranger.get(f"/api/v1/{path}").status_code == 401
    assert stranger.post(f"/api/v1/{path}", PLAIN[path]).status_code == 401


def test_bulk_create_is_all_or_nothing(admin):
    items = [{"code": f"K{n}", "name": "x"} for n in range(3)]
    made = admin.post("/api/v1/system-kinds", {"items": items})
    assert made.status_code == 201
    assert made.json()["count"] == 3
    bad = admin.post("/api/v1/system-kinds", {"items": [{"code": "NEW", "name": "n"}, {"code": "a b"}]})
    assert bad.status_code == 422
    assert {error["field"] for error in bad.json()["errors"]} == {"items.1.code", "items.1.name"}
    twice = admin.post("/api/v1/system-kinds", {"items": [{"code": "NEW", "name": "n"}, items[0]]})
    assert twice.status_code == 409
    assert twice.json()["error_code"] == "SYSTEM_KIND_ALREADY_EXISTS"
    assert [error["field"] for error in twice.json()["errors"]] == ["items.1"]
    assert twice.json()["detail"].startswith("Item 1: There is already a system kind")
    assert admin.get("/api/v1/system-kinds/NEW").status_code == 404


def test_an_older_row_version_or_etag_is_refused_with_the_current_state(admin):
    kind = make_kind()
    path = f"/api/v1/system-kinds/{kind.pk}"
    assert (
        admin.patch(path, {"name": "One", "row_version": 1}, headers={"If-Match": '"1"'}).status_code == 200
    )
    for answer in (
        admin.patch(path, {"name": "Two", "row_version": 1}),
        admin.patch(path, {"name": "Two"}, headers={"If-Match": '"1"'}),
        admin.delete(path, headers={"If-Match": 'W/"1"'}),
    ):
        assert answer.status_code == 409
        assert answer.json()["error_code"] == "VERSION_CONFLICT"
        assert answer.json()["current"]["name"] == "One"
    assert admin.patch(path, {"name": "Two", "row_version": "x"}).status_code == 422


def test_what_is_still_needed_is_not_deleted(admin):
    system = make_system()
    make_dataset(system=system)
    for path in (f"systems/{system.code}", "system-flavors/postgresql", "system-kinds/RDBMS"):
        answer = admin.delete(f"/api/v1/{path}")
        assert answer.status_code == 409, path
        assert answer.json()["error_code"] == "HAS_DEPENDENT_ENTITIES"


def test_a_deleted_code_may_be_used_again_and_then_not_restored(admin):
    kind = make_kind("OLD")
    assert admin.delete(f"/api/v1/system-kinds/{kind.pk}").status_code == 204
    assert admin.post("/api/v1/system-kinds", {"code": "OLD", "name": "New"}).status_code == 201
    answer = admin.post(f"/api/v1/system-kinds/{kind.pk}/restore")
    assert answer.status_code == 409
    assert answer.json()["error_code"] == "SYSTEM_KIND_ALREADY_EXISTS"


@pytest.mark.parametrize(
    ("flavor", "url", "code"),
    [
        ("postgresql", "postgresql://u:secret-word@h/db", "password"),
        ("postgresql", "postgresql://u@h/db?password=secret-word", "password"),
        ("postgresql", "mysql://u@h/db", "dialect"),
        ("sqlite", "postgresql://u@h/db", "dialect"),
        ("sqlite", "sqlite:////no/such/file.db", "no_file"),
        ("sqlite", "sqlite:///relative.db", "no_file"),
        ("postgresql", "secret-word", "invalid"),
        ("postgresql", "://secret-word", "invalid"),
        ("postgresql", "postgresql://u@h/db?passfile=secret-word", "invalid"),
        ("postgresql", "postgresql://u@h/db?connect_timeout=secret-word", "invalid"),
        ("mariadb", "mysql://u@h/db?init_command=secret-word", "invalid"),
    ],
)
def test_a_connection_url_that_cannot_be_is_refused_without_repeating_it(engineer, flavor, url, code):
    make_flavor(flavor, types=False)
    body = {"code": "s", "name": "S", "flavor": flavor, "connection_url": url}
    answer = engineer.post("/api/v1/systems", body)
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert (error["field"], error["code"]) == ("connection_url", code)
    assert "secret-word" not in answer.content.decode()


@pytest.mark.parametrize(
    ("flavor", "url"),
    [
        ("postgresql", "postgresql://reader@127.0.0.1:5432/shop"),
        ("postgresql", "postgres://reader@db/shop"),
        ("postgresql", "postgresql://reader@db/shop?sslmode=require"),
        ("mariadb", "mysql://reader@db/shop"),
        ("mariadb", "mariadb+pymysql://reader@db/shop"),
    ],
)
def test_good_connection_urls_are_kept_as_given(engineer, flavor, url):
    make_flavor(flavor, types=False)
    body = {"code": "s", "name": "S", "flavor": flavor, "connection_url": url}
    answer = engineer.post("/api/v1/systems", body)
    assert answer.status_code == 201, answer.content
    assert answer.json()["connection_url"] == url
    other = engineer.patch("/api/v1/systems/s", {"flavor": "sqlite"})
    assert other.status_code == 422


def test_a_namespace_belongs_to_one_system(engineer):
    one, other = make_system(), make_system()
    path = f"/api/v1/systems/{one.code}"
    changed = engineer.patch(path, {"namespaces": ["postgres://db1:5432"]})
    assert changed.json()["namespaces"] == ["postgres://db1:5432"]
    assert engineer.get("/api/v1/systems?namespace=postgres://db1:5432").json()["total"] == 1
    taken = engineer.patch(f"/api/v1/systems/{other.pk}", {"namespaces": ["postgres://db1:5432"]})
    assert taken.status_code == 422
    assert one.code in taken.json()["detail"]
    assert engineer.patch(path, {"namespaces": []}).json()["namespaces"] == []


def test_a_type_renders_and_refuses_wrong_parameters(engineer):
    make_flavor()
    numeric = engineer.get("/api/v1/data-types?flavor=postgresql&code=numeric").json()["items"][0]
    path = f"/api/v1/data-types/{numeric['id']}/render"
    assert engineer.post(path, {"params": {"precision": 12, "scale": 2}}).json() == {"sql": "numeric(12,2)"}
    wrong = engineer.post(path, {"params": {"precision": "many"}})
    assert wrong.status_code == 422
    assert wrong.json()["error_code"] == "TYPE_PARAMS_INVALID"
    assert wrong.json()["errors"][0]["field"] == "params.precision"
    assert api_client(make_user("viewer")).post(path, {"params": {}}).status_code == 200


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"render_template": "{{ x"}, "render_template"),
        ({"params_schema": {"type": "nonsense"}}, "params_schema"),
        ({"params_schema": []}, "params_schema"),
        ({"examples": [{"params": {}, "sql": "other"}]}, "examples"),
        ({"examples": [{"wrong": 1}]}, "examples"),
        ({"slots": [{"no": 1}]}, "examples"),
    ],
)
def test_a_broken_data_type_is_refused(engineer, values, field):
    make_flavor(types=False)
    answer = engineer.post("/api/v1/data-types", {"flavor": "postgresql", "code": "t", "name": "t", **values})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field


@pytest.mark.parametrize("name", ["AIDE_SECRET_KEY", "AIDE_DATABASE_URL", "aide_kafka_sasl_password"])
def test_a_setting_of_aide_is_no_credential(engineer, name):
    answer = engineer.post("/api/v1/credential-refs", {"provider": "env", "path": name})
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert (error["field"], error["code"]) == ("path", "reserved")
    assert name in error["detail"]

    made = engineer.post("/api/v1/credential-refs", {"provider": "env", "path": "SHOP_PASSWORD"}).json()
    assert engineer.patch(f"/api/v1/credential-refs/{made['id']}", {"path": name}).status_code == 422
    assert engineer.post("/api/v1/credential-refs", {"provider": "file", "path": name}).status_code == 201
