"""Users and API keys over the API."""

from __future__ import annotations

import pytest

from aide.accounts.models import ApiKey, User
from aide.audit.models import AuditEntry
from tests.factories import PASSWORD, api_client, make_api_key, make_service, make_system, make_user

pytestmark = pytest.mark.django_db


def test_an_administrator_makes_changes_and_deactivates_people():
    client = api_client(make_user("admin"))
    body = {"email": "new@localhost", "full_name": "New", "password": PASSWORD, "groups": ["viewer"]}
    made = client.post("/api/v1/users", body)
    assert made.status_code == 201, made.content
    user = made.json()
    assert user["groups"] == ["viewer"]
    assert user["systems"] == []
    assert user["user_type"] == "regular"
    path = f"/api/v1/users/{user['id']}"
    changed = client.patch(path, {"groups": ["engineer", "viewer"], "row_version": user["row_version"]})
    assert sorted(changed.json()["groups"]) == ["engineer", "viewer"]
    stale = client.patch(path, {"full_name": "Old", "row_version": user["row_version"]})
    assert stale.status_code == 409
    assert stale.json()["error_code"] == "VERSION_CONFLICT"
    assert stale.json()["current"]["full_name"] == "New"
    assert client.delete(path).status_code == 204
    assert User.objects.get(pk=user["id"]).is_active is False
    assert client.post(f"{path}/restore").json()["is_active"] is True
    actions = set(AuditEntry.objects.values_list("action", flat=True))
    assert {"user.create", "user.update", "user.deactivate", "user.activate"} <= actions
    assert PASSWORD not in str(list(AuditEntry.objects.values_list("before", "after")))


def test_systems_make_a_steward_and_narrow_a_key():
    system, other = make_system("crm"), make_system("billing")
    steward = make_user("steward")
    admin = api_client(make_user("admin"))
    path = f"/api/v1/users/{steward.pk}"
    assert admin.patch(path, {"systems": ["crm"]}).json()["systems"] == ["crm"]
    assert admin.patch(path, {"systems": ["nowhere"]}).status_code == 422
    steward.refresh_from_db()
    assert steward.can("decide", system)
    assert not steward.can("decide", other)
    engineer = make_user("engineer")
    key = make_api_key(engineer, "registry:write", system_codes=["crm"])[1]
    program = api_client(secret=key)
    assert program.patch("/api/v1/systems/crm", {"owner": "me"}).status_code == 200
    assert program.patch("/api/v1/systems/billing", {"owner": "me"}).status_code == 404
    made = program.post("/api/v1/systems", {"code": "new", "name": "n", "flavor": "postgresql"})
    assert made.status_code == 403


def test_two_people_cannot_share_an_address():
    client = api_client(make_user("admin", email="Ann@example.com"))
    answer = client.post("/api/v1/users", {"email": "ann@EXAMPLE.com", "password": PASSWORD})
    assert answer.status_code == 409
    assert answer.json()["error_code"] == "USER_ALREADY_EXISTS"


def test_a_weak_password_and_a_bad_address_are_named():
    answer = api_client(make_user("admin")).post(
        "/api/v1/users", {"email": "no address", "password": "12345"}
    )
    assert answer.status_code == 422
    assert {error["field"] for error in answer.json()["errors"]} >= {"email"}
    answer = api_client(make_user("admin")).post("/api/v1/users", {"email": "a@b", "password": "12345"})
    assert {error["field"] for error in answer.json()["errors"]} == {"password"}


def test_the_last_administrator_stays():
    admin = make_user("admin")
    client = api_client(admin)
    for answer in (
        client.delete(f"/api/v1/users/{admin.pk}"),
        client.patch(f"/api/v1/users/{admin.pk}", {"groups": ["viewer"]}),
    ):
        assert answer.status_code == 409
        assert answer.json()["error_code"] == "LAST_ADMIN"


@pytest.mark.parametrize("role", ["viewer", "steward", "approver", "engineer"])
def test_others_see_themselves_only(role):
    client = api_client(make_user(role))
    assert client.get("/api/v1/users").status_code == 403
    assert client.get("/api/v1/users/me").status_code == 200
    assert client.patch("/api/v1/users/me", {"full_name": "Me", "groups": ["admin"]}).json()["groups"] == [
        role
    ]


def test_a_new_password_needs_the_present_one():
    user = make_user("viewer")
    client = api_client(user)
    assert client.patch("/api/v1/users/me", {"password": "another long one 9"}).status_code == 422
    body = {"password": "another long one 9", "current_password": PASSWORD}
    assert client.patch("/api/v1/users/me", body).status_code == 200
    assert client.get("/api/v1/users/me").status_code == 401
    assert User.objects.get(pk=user.pk).check_password("another long one 9")


def test_lists_of_users_take_a_constant_number_of_queries(django_assert_max_num_queries):
    admin = make_user("admin")
    for _ in range(8):
        make_user("viewer", "engineer")
    client = api_client(admin)
    with django_assert_max_num_queries(7):
        found = client.get("/api/v1/users?size=100").json()
    assert found["total"] == 9


def test_the_secret_of_a_key_is_shown_once_and_revoking_works_at_once():
    service = make_service()
    admin = api_client(make_user("admin"))
    made = admin.post(
        "/api/v1/api-keys", {"name": "pipeline", "scopes": ["registry:read"], "user_id": service.pk}
    )
    assert made.status_code == 201, made.content
    key = made.json()
    secret = key["secret"]
    assert secret.startswith("aide_")
    assert key["expires_at"] is not None
    assert secret not in str(admin.get(f"/api/v1/api-keys/{key['id']}").json())
    assert secret[-10:] not in str(ApiKey.objects.filter(pk=key["id"]).values())
    assert "secret" not in admin.get("/api/v1/api-keys").json()["items"][0]
    program = api_client(secret=secret)
    assert program.get("/api/v1/users/me").json()["id"] == service.pk
    revoked = admin.post(f"/api/v1/api-keys/{key['id']}/revoke", {"reason": "lost"})
    assert revoked.json()["revoked_at"] is not None
    assert program.get("/api/v1/users/me").status_code == 401
    assert secret not in str(list(AuditEntry.objects.values()))


def test_engineers_make_and_see_their_own_keys_only():
    engineer, other = make_user("engineer"), make_user("engineer")
    make_api_key(other, "registry:read")
    client = api_client(engineer)
    assert client.get("/api/v1/api-keys").json()["total"] == 0
    body = {"name": "mine", "scopes": ["registry:read"]}
    assert client.post("/api/v1/api-keys", body).status_code == 201
    assert client.post("/api/v1/api-keys", {**body, "user_id": other.pk}).status_code == 403
    assert api_client(make_user("viewer")).post("/api/v1/api-keys", body).status_code == 403


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"scopes": ["everything"]}, "scopes"),
        ({"scopes": []}, "scopes"),
        ({"expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
        ({"expires_at": "2999-01-01T00:00:00Z"}, "expires_at"),
        ({"systems": ["nowhere"]}, "systems"),
    ],
)
def test_a_key_s_values_are_checked(values, field):
    body = {"name": "k", "scopes": ["registry:read"], **values}
    answer = api_client(make_user("admin")).post("/api/v1/api-keys", body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"].startswith(field)
