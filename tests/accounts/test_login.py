"""Logging in over the API."""

from __future__ import annotations

import base64

import pytest

from aide.accounts import tokens
from aide.accounts.models import RefreshToken
from tests.factories import PASSWORD, api_client, make_api_key, make_service, make_user

pytestmark = pytest.mark.django_db


def log_in(client, email, password=PASSWORD, path="/api/v1/login", **headers):
    return client.post(path, {"username": email, "password": password}, format="multipart", **headers)


def form(client, path, body, **headers):
    return client.post(path, body, content_type="application/x-www-form-urlencoded", **headers)


@pytest.mark.parametrize("path", ["/api/v1/login", "/api/v1/login/"])
def test_a_form_with_email_and_password_gives_tokens(path):
    user = make_user("viewer", email="ann@localhost")
    answer = form(
        api_client(), path, "username=ann%40localhost&password=correct+horse+7+battery&grant_type=password"
    )
    assert answer.status_code == 200, answer.content
    found = answer.json()
    assert set(found) == {"access_token", "refresh_token", "token_type", "expires_in"}
    assert found["token_type"] == "bearer"
    assert answer["Cache-Control"] == "no-store"
    client = api_client()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {found['access_token']}")
    me = client.get("/api/v1/users/me").json()
    assert me["id"] == user.pk
    assert me["groups"] == ["viewer"]
    assert "password" not in me


def test_the_email_is_found_in_any_case():
    make_user(email="Ann@Example.com")
    assert log_in(api_client(), "aNN@example.COM").status_code == 200


def test_a_wrong_password_is_refused_without_saying_what_was_wrong():
    make_user(email="ann@example.com")
    wrong = log_in(api_client(), "ann@example.com", "nope").json()
    unknown = log_in(api_client(), "bob@example.com", "nope").json()
    assert wrong["error_code"] == unknown["error_code"] == "INVALID_CREDENTIALS"
    assert wrong["detail"] == unknown["detail"]
    assert wrong["status"] == 401


def test_an_inactive_user_cannot_log_in():
    make_user(email="ann@example.com", is_active=False)
    assert log_in(api_client(), "ann@example.com").status_code == 401


def test_five_failed_tries_lock_the_account_at_that_address_only():
    make_user(email="ann@example.com")
    for _ in range(5):
        assert log_in(api_client(), "ann@example.com", "wrong").status_code == 401
    locked = log_in(api_client(), "ANN@example.com")
    assert locked.status_code == 429
    assert locked.json()["error_code"] == "RATE_LIMITED"
    assert 0 < int(locked["Retry-After"]) <= 61
    assert log_in(api_client(), "ann@example.com", REMOTE_ADDR="10.0.0.9").status_code == 200


def test_successful_log_ins_are_never_limited():
    make_user(email="ann@example.com")
    assert {log_in(api_client(), "ann@example.com").status_code for _ in range(8)} == {200}


def test_a_refresh_token_works_once_and_a_second_use_revokes_the_family():
    user = make_user("viewer")
    first = tokens.issue(user).refresh_token
    client = api_client()
    second = client.post("/api/v1/login/refresh", {"refresh_token": first})
    assert second.status_code == 200
    newer = second.json()["refresh_token"]
    stolen = client.post("/api/v1/login/refresh", {"refresh_token": first})
    assert stolen.status_code == 401
    assert stolen.json()["error_code"] == "REFRESH_TOKEN_REVOKED"
    after = client.post("/api/v1/login/refresh", {"refresh_token": newer})
    assert after.json()["error_code"] == "REFRESH_TOKEN_REVOKED"
    assert not RefreshToken.objects.filter(token_hash__contains=first[:10]).exists()


def test_logging_out_ends_one_log_in_and_logging_out_everywhere_all():
    user = make_user("viewer")
    one, other = tokens.issue(user), tokens.issue(user)
    client = api_client()
    gone = client.post("/api/v1/login/logout", {"refresh_token": one.refresh_token})
    assert gone.status_code == 204
    refused = client.post("/api/v1/login/refresh", {"refresh_token": one.refresh_token})
    assert refused.status_code == 401
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {other.access_token}")
    assert client.get("/api/v1/users/me").status_code == 200
    assert client.post("/api/v1/login/logout-all").status_code == 204
    assert client.get("/api/v1/users/me").status_code == 401
    renewed = api_client().post("/api/v1/login/refresh", {"refresh_token": other.refresh_token})
    assert renewed.status_code == 401


def test_a_key_s_id_and_secret_are_client_credentials():
    key, secret = make_api_key(make_service(), "registry:read")
    basic = base64.b64encode(f"{key.public_id}:{secret}".encode()).decode()
    answer = form(
        api_client(),
        "/api/v1/login/token",
        "grant_type=client_credentials",
        HTTP_AUTHORIZATION=f"Basic {basic}",
    )
    assert answer.status_code == 200, answer.content
    assert "refresh_token" not in answer.json()
    in_body = {"grant_type": "client_credentials", "client_id": str(key.pk), "client_secret": secret}
    assert api_client().post("/api/v1/login/token", in_body).status_code == 200
    client = api_client()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {answer.json()['access_token']}")
    assert client.get("/api/v1/users/me").status_code == 200
    assert client.get("/api/v1/users").status_code == 403
    key.revoked_at = key.created_at
    key.save()
    assert client.get("/api/v1/users/me").status_code == 401
    wrong = api_client().post("/api/v1/login/token", {**in_body, "client_secret": "aide_x"})
    assert wrong.status_code == 401
    assert wrong.json()["error"] == "invalid_client"


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer a b", "Bearer aide_x", "Bearer eyJhbGciOiJub25lIn0.e30.", "Bearer \xff"]
)
def test_a_bad_bearer_token_is_401(header):
    client = api_client()
    client.credentials(HTTP_AUTHORIZATION=header)
    answer = client.get("/api/v1/users/me")
    assert answer.status_code == 401
    assert answer.json()["error_code"] == "UNAUTHORIZED"
    assert answer["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("value", ["a\x00b", "x" * 300, ""])
def test_a_strange_name_is_no_error_of_ours(value):
    assert log_in(api_client(), value).status_code == 422
