"""No input of any kind gives a 500, and every refusal is a problem."""

from __future__ import annotations

import gzip
import json

import pytest
from django.test import Client, override_settings

from tests.factories import api_client, make_dataset, make_system, make_user

pytestmark = pytest.mark.django_db

PATHS = (
    "system-kinds",
    "system-flavors",
    "data-types",
    "credential-refs",
    "systems",
    "datasets",
    "fields",
    "dataset-schemas",
    "field-bindings",
    "type-instances",
    "pii-tags",
    "field-tags",
    "users",
    "api-keys",
)
KEYS = (
    "code",
    "name",
    "flavor",
    "kind",
    "system",
    "dataset_id",
    "field_id",
    "position",
    "path",
    "provider",
    "scopes",
    "email",
    "password",
    "tag",
    "sensitivity",
    "location",
    "document",
    "type_params",
    "data_type_id",
    "parent_id",
    "slot",
    "groups",
    "systems",
    "expires_at",
    "tags",
    "extra",
    "version_num",
    "items",
    "row_version",
    "dataset_schema_id",
    "primary_key",
    "params_schema",
    "render_template",
    "connection_url",
    "namespaces",
)
ODD = (
    None,
    True,
    -1,
    10**30,
    1e300,
    "",
    " ",
    "x" * 5000,
    [],
    {},
    [[]],
    [{}],
    {"a": {"b": [None]}},
    ["\u202e", "\U0001f600"],
    "'; DROP TABLE users; --",
    "9999-99-99",
)


def is_problem(answer):
    assert answer["Content-Type"] == "application/problem+json", answer.content
    body = json.loads(answer.content)
    assert {"type", "title", "status", "detail", "error_code", "request_id", "errors"} <= set(body)
    assert body["status"] == answer.status_code
    assert body["request_id"] == answer["X-Request-ID"]
    return body


@pytest.fixture
def everyone():
    return api_client(make_user("admin", "engineer", "approver"))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("value", ODD, ids=lambda value: repr(value)[:20])
def test_odd_values_in_bodies_are_refused(everyone, path, value):
    make_system("base")
    for body in (dict.fromkeys(KEYS, value), value, {"items": [value]}):
        answer = everyone.post(f"/api/v1/{path}", json.dumps(body), content_type="application/json")
        assert answer.status_code < 500, answer.content
        if answer.status_code >= 400:
            is_problem(answer)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b'{"code": "a\\u0000b", "name": "x"}', 400),
        (b'{"code": "\\ud800", "name": "x"}', 400),
        (b'{"a\\u0000": 1}', 400),
        (b'{"code": NaN}', 400),
        (b'{"code": 1e999}', 400),
        (b'{"code": ' + b"9" * 5000 + b"}", 400),
        (b"[" * 100_000, 400),
        (b'{"a":' * 100_000, 400),
        (b"[" * 101 + b"]" * 101, 400),
        (b'"text"', 422),
        (b"null", 422),
        (b"[]", 422),
        (b'\xef\xbb\xbf{"code": "BOM", "name": "x"}', 201),
    ],
    ids=lambda value: repr(value)[:25],
)
def test_bodies_that_are_no_storable_json_are_refused(everyone, body, status):
    answer = everyone.post("/api/v1/system-kinds", body, content_type="application/json")
    assert answer.status_code == status, answer.content
    if status >= 400:
        is_problem(answer)


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/xml",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
        "application/json; charset=latin-1",
        "nonsense",
    ],
)
def test_other_content_types_are_415(everyone, content_type):
    answer = everyone.post("/api/v1/system-kinds", b'{"code":"A"}', content_type=content_type)
    assert answer.status_code == 415
    assert is_problem(answer)["error_code"] == "UNSUPPORTED_MEDIA_TYPE"


@pytest.mark.parametrize("accept", ["application/json; charset=UTF-8", "*/*", "text/html, */*;q=0.1", ""])
def test_usual_accept_headers_get_json(everyone, accept):
    assert everyone.get("/api/v1/systems", headers={"Accept": accept}).status_code == 200


def test_an_unusual_accept_header_is_406(everyone):
    answer = everyone.get("/api/v1/systems", headers={"Accept": "image/png"})
    assert is_problem(answer)["error_code"] == "NOT_ACCEPTABLE"


@pytest.mark.parametrize("slash", ["", "/"])
def test_paths_answer_with_and_without_the_closing_slash_for_every_method(everyone, slash):
    made = everyone.post(f"/api/v1/system-kinds{slash}", {"code": "A", "name": "a"})
    assert made.status_code == 201
    path = f"/api/v1/system-kinds/{made.json()['id']}{slash}"
    assert everyone.get(path).status_code == 200
    assert everyone.head(path).status_code == 200
    assert everyone.put(path, {"code": "A", "name": "b"}).status_code == 200
    assert everyone.patch(path, {"name": "c"}).status_code == 200
    assert everyone.delete(path).status_code == 204
    assert everyone.get(f"/api/v1/schema{slash}").status_code == 200


@pytest.mark.parametrize(
    "identifier", ["0", "-1", "9" * 40, "x", "%00", "%F0%9F%98%80", "a.b", "1;2", "%ED%A0%80"]
)
def test_odd_identifiers_are_404(everyone, identifier):
    make_dataset()
    for path in PATHS:
        for method in ("get", "delete"):
            answer = getattr(everyone, method)(f"/api/v1/{path}/{identifier}")
            assert answer.status_code == 404, (path, method, answer.content)
            assert is_problem(answer)["error_code"].endswith("NOT_FOUND")


def test_a_method_that_is_not_there_is_405(everyone):
    for path in ("systems", "systems/1", "login", "schema"):
        answer = everyone.generic("TRACE", f"/api/v1/{path}")
        assert is_problem(answer)["error_code"] == "METHOD_NOT_ALLOWED"
    assert everyone.delete("/api/v1/systems").status_code == 405
    assert api_client().get("/api/v1/login").status_code == 405
    assert api_client().delete("/api/v1/systems").status_code == 405


def test_an_unknown_path_is_a_problem_and_html_only_for_browsers_outside_of_the_api():
    client = Client(raise_request_exception=False)
    for path in ("/api/v1/nothing", "/api/v1", "/api/v1/", "/api/v1//systems", "/nothing"):
        assert is_problem(client.get(path))["error_code"] == "NOT_FOUND"
    browser = {"Accept": "text/html,application/xhtml+xml"}
    assert is_problem(client.get("/api/v1/nothing", headers=browser))["status"] == 404
    page = client.get("/nothing", headers=browser)
    assert page.status_code == 404
    assert page["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("debug", [True, False])
def test_a_wrong_host_is_a_problem_in_any_mode(debug):
    with override_settings(DEBUG=debug, ALLOWED_HOSTS=["aide.example.com"]):
        answer = Client(raise_request_exception=False).get(
            "/api/v1/systems", headers={"Host": "evil.example"}
        )
        assert is_problem(answer)["error_code"] == "MALFORMED_REQUEST"


@pytest.mark.parametrize("debug", [True, False])
def test_our_own_mistake_is_a_problem_that_tells_nothing(debug, monkeypatch, everyone):
    def broken(*_args, **_kwargs):
        raise ZeroDivisionError("a secret in a message")

    monkeypatch.setattr("registry.api.systems.SystemViewSet.list", broken)
    with override_settings(DEBUG=debug):
        answer = everyone.get("/api/v1/systems")
    body = is_problem(answer)
    assert (body["status"], body["error_code"]) == (500, "INTERNAL_ERROR")
    assert "secret" not in answer.content.decode()


def test_a_session_needs_its_csrf_token():
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.force_login(make_user("admin"), backend="aide.accounts.backends.EmailBackend")
    assert client.get("/api/v1/systems").status_code == 200
    answer = client.post("/api/v1/system-kinds", {"code": "A", "name": "a"}, content_type="application/json")
    assert is_problem(answer)["error_code"] == "FORBIDDEN"


def test_the_request_id_of_a_caller_is_kept_if_it_is_one():
    client = Client(raise_request_exception=False)
    given = client.get("/api/v1/x", headers={"X-Request-ID": "abc-123"})
    assert given["X-Request-ID"] == given.json()["request_id"] == "abc-123"
    forged = client.get("/api/v1/x", headers={"X-Request-ID": "a\tb" * 99})
    assert forged["X-Request-ID"] != "a\tb" * 99


def test_gzip_bodies_are_read_within_bounds(everyone):
    def post(raw, **headers):
        return everyone.generic(
            "POST", "/api/v1/system-kinds", raw, content_type="application/json", headers=headers
        )

    good = gzip.compress(b'{"code": "ZIP", "name": "z"}')
    assert post(good, **{"Content-Encoding": "gzip"}).status_code == 201
    for raw, encoding, status in (
        (good[:-9], "gzip", 400),
        (b"plain", "gzip", 400),
        (good, "br", 415),
        (good, "gzip, gzip", 415),
        (gzip.compress(b" " * (6 * 1024 * 1024)), "gzip", 413),
    ):
        answer = post(raw, **{"Content-Encoding": encoding})
        assert answer.status_code == status, (encoding, answer.content)
        is_problem(answer)
    assert is_problem(post(b" " * (5 * 1024 * 1024 + 1)))["error_code"] == "PAYLOAD_TOO_LARGE"


def test_the_openapi_document_is_json_and_begins_every_path_with_the_prefix():
    answer = Client().get("/api/v1/schema")
    assert answer["Content-Type"] == "application/json"
    yaml = Client().get("/api/v1/schema", headers={"Accept": "application/yaml"})
    assert yaml.content.startswith(b"openapi: 3.1")
    document = json.loads(answer.content)
    assert document["openapi"].startswith("3.1")
    assert all(path.startswith("/api/v1/") for path in document["paths"])
    assert "application/problem+json" in json.dumps(
        document["paths"]["/api/v1/systems"]["post"]["responses"]["409"]
    )
    names = {item["name"] for item in document["paths"]["/api/v1/systems"]["get"]["parameters"]}
    assert {"page", "size", "sort", "code", "code__like", "code__in"} <= names


def test_the_browsable_page_loads_nothing_from_another_host():
    page = Client().get("/api/v1/docs", headers={"Accept": "text/html"})
    assert page.status_code == 200
    text = page.content.decode()
    assert "http://" not in text.replace("http://testserver", "")
    assert "https://" not in text
    assert "<script>" not in text
    assert "<style" not in text
    assert "'unsafe" not in page["Content-Security-Policy"]
