"""Passwords from a vault: found where the reference points, and one plain sentence without a secret where not."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aide_crawler import CrawlError
from sqlalchemy.engine import make_url

from crawling import vault
from registry.models import CredentialRef
from tests.crawling.vault_server import VaultServer, serve_vault
from tests.flows.conftest import new_source  # noqa: F401 (a fixture)
from tests.flows.desk import Desk
from tests.flows.sources import Source, make_system

TOKEN = "hvs.t0ken-of-aide-itself"
SECRET = "pässwörd@:/%?#&'\"\\ of the source"


@pytest.fixture
def server(settings: Any) -> Iterator[VaultServer]:
    with serve_vault(TOKEN) as running:
        settings.AIDE_VAULT_URL, settings.AIDE_VAULT_TOKEN = running.url, TOKEN
        running.secrets["kv/teams/shop/db"] = [{"password": "older"}, {"password": SECRET, "user": "reader"}]
        running.secrets["kv/single"] = [{"pwd": SECRET}]
        yield running


def _refused(path: str, version: int | None = None) -> str:
    with pytest.raises(CrawlError) as refused:
        vault.password_at(path, version=version)
    assert refused.value.code == "auth_failed"
    assert refused.value.__cause__ is None
    sentence = refused.value.sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert TOKEN not in sentence
    assert SECRET not in sentence
    return sentence


@pytest.mark.parametrize(
    ("path", "version", "found"),
    [
        ("kv/teams/shop/db", None, SECRET),
        ("kv/teams/shop/db", 1, "older"),
        ("kv/teams/shop/db", 2, SECRET),
        ("/kv/teams/shop/db#user", None, "reader"),
        ("kv/single", None, SECRET),
        ("kv/single#pwd", None, SECRET),
    ],
)
def test_a_password_is_found(server: VaultServer, path: str, version: int | None, found: str) -> None:
    assert vault.password_at(path, version=version) == found


def test_a_role_logs_in_for_aide(server: VaultServer, settings: Any) -> None:
    server.role_id, server.secret_id = "the-role", "the-role's-secret"
    settings.AIDE_VAULT_TOKEN = ""
    settings.AIDE_VAULT_ROLE_ID, settings.AIDE_VAULT_SECRET_ID = server.role_id, server.secret_id
    assert vault.password_at("kv/single") == SECRET
    settings.AIDE_VAULT_SECRET_ID = "another-secret"
    sentence = _refused("kv/single")
    assert "another-secret" not in sentence
    assert "the-role" not in sentence


def test_a_namespace_is_named(server: VaultServer, settings: Any) -> None:
    server.namespace = "teams/data"
    assert "does not let" in _refused("kv/single")
    settings.AIDE_VAULT_NAMESPACE = "teams/data"
    assert vault.password_at("kv/single") == SECRET


@pytest.mark.parametrize(
    ("path", "version", "words"),
    [
        ("kv/nothing/here", None, "has no secret kv/nothing/here"),
        ("kv/teams/shop/db", 9, "of version 9"),
        ("kv/teams/shop/db#nothing", None, "has no key nothing"),
        ("kv", None, "cannot be read"),
        ("kv/../sys/raw", None, "cannot be read"),
        ("", None, "cannot be read"),
    ],
)
def test_what_is_not_there_is_said(server: VaultServer, path: str, version: int | None, words: str) -> None:
    assert words in _refused(path, version)


def test_what_is_no_password_is_said(server: VaultServer) -> None:
    server.secrets["kv/odd"] = [{"password": {"nested": SECRET}}]
    server.secrets["kv/empty"] = [{"password": ""}]
    server.secrets["kv/gone"] = [{"password": SECRET}, None]
    server.secrets["kv/two"] = [{"one": SECRET, "other": SECRET}]
    assert "is no password" in _refused("kv/odd")
    assert "is no password" in _refused("kv/empty")
    assert "has no secret" in _refused("kv/gone")
    assert "has no key password" in _refused("kv/two")


def test_every_trouble_of_the_vault_is_a_sentence(server: VaultServer, settings: Any) -> None:
    settings.AIDE_VAULT_TOKEN = "hvs.wr0ng"
    assert "hvs.wr0ng" not in _refused("kv/single")
    settings.AIDE_VAULT_TOKEN = TOKEN
    server.sealed = True
    assert "sealed" in _refused("kv/single")
    server.sealed = False
    for answer in (b"{}", b"[]", b"no json " + SECRET.encode(), b'{"data": {"value": "version one"}}'):
        server.answer = answer
        assert "key/value version 2" in _refused("kv/single")
    server.answer = None
    settings.AIDE_VAULT_URL = "http://127.0.0.1:9"
    assert "AIDE_VAULT_URL" in _refused("kv/single")
    settings.AIDE_VAULT_URL = server.url.replace("http:", "https:")
    assert "TLS" in _refused("kv/single")


def test_a_slow_vault_is_not_waited_for(server: VaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault, "TIMEOUT_SECONDS", 0.2)
    server.wait_seconds = 1
    assert "in time" in _refused("kv/single")


def test_the_token_follows_no_redirect(server: VaultServer) -> None:
    with serve_vault(TOKEN) as elsewhere:
        elsewhere.secrets["kv/single"] = [{"password": "of another vault"}]
        server.redirect_to = elsewhere.url
        _refused("kv/single")
        assert elsewhere.seen == []


def test_without_an_address_or_the_package_it_says_what_is_missing(
    server: VaultServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "hvac", None)
    assert "hvac" in _refused("kv/single")
    settings.AIDE_VAULT_URL = ""
    assert "AIDE_VAULT_URL is not set" in _refused("kv/single")


@pytest.mark.django_db(transaction=True)
def test_a_crawl_logs_in_with_a_password_of_the_vault(
    new_source: Callable[[str], Source],  # noqa: F811
    postgres_server: Any,
    server: VaultServer,
    caplog: Any,
) -> None:
    caplog.set_level(logging.DEBUG)
    source = new_source("postgresql")
    source.execute("CREATE TABLE parts (id integer)")
    role = f"vaulted_{make_url(source.url).database}"
    quoted = SECRET.replace("'", "''")
    postgres_server.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{quoted}' IN ROLE pw_required")
    reference = CredentialRef.objects.create(provider="vault", path="kv/teams/shop/db", version=2)
    url = make_url(source.url).set(username=role, password=None).render_as_string()
    desk = Desk(make_system("postgresql", url, credential_ref=reference))
    run = desk.crawl()
    assert run["status"] == "completed", run["error"]
    reference.version = 1
    reference.save()
    assert desk.crawl()["error_code"] == "auth_failed"
    for secret in (TOKEN, SECRET, "older"):
        assert secret not in caplog.text
