"""What goes wrong with a source is one plain sentence within fifteen seconds, and never the password."""

from __future__ import annotations

import json
import logging
import socket
import sys
import time
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from sqlalchemy.engine import make_url

from aide.work.runner import drain
from crawling.models import CrawlRun
from registry.models import CredentialRef, System, SystemFlavor, SystemKind
from tests.flows.desk import API, Desk
from tests.flows.sources import Source, make_system

# A crawl that takes seconds has a heartbeat, which needs to see what this thread wrote.
pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "Tr0ub4dor+sw0rdfish/%40"
LIMIT_SECONDS = 15


@pytest.fixture
def credential(monkeypatch: pytest.MonkeyPatch, type_catalogues: None) -> CredentialRef:
    monkeypatch.setenv("SOURCE_PASSWORD", SECRET)
    return CredentialRef.objects.create(provider="env", path="SOURCE_PASSWORD")


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(16)
        yield listening.getsockname()[1]


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _fails_in_words(system: System, *, words: tuple[str, ...], code: str, caplog: Any) -> str:
    """Crawls over the API and by the command; both say the same sentence in time, without the secret."""
    caplog.set_level(logging.DEBUG)
    desk = Desk(system)
    began = time.monotonic()
    run = desk.crawl()
    took = time.monotonic() - began
    assert (run["status"], run["error_code"]) == ("failed", code), run["error"]
    assert took < LIMIT_SECONDS
    sentence = run["error"]
    assert all(word in sentence for word in words), sentence
    assert "\n" not in sentence
    assert "Traceback" not in sentence
    assert sentence.endswith(".")
    out = StringIO()
    began = time.monotonic()
    with pytest.raises(CommandError) as refused:
        call_command("crawl", system.code, stdout=out, stderr=out)
    assert time.monotonic() - began < LIMIT_SECONDS
    assert str(refused.value) == sentence
    assert out.getvalue() == ""
    answers = [
        desk.by_engineer.get(f"{API}/{path}").content.decode()
        for path in ("crawl-runs", f"crawl-runs/{run['id']}", f"crawl-runs/{run['id']}/report", "systems")
    ]
    _nowhere([*answers, caplog.text, str(refused.value)])
    return sentence


def _nowhere(texts: list[str]) -> None:
    rows = [
        json.dumps(list(model._base_manager.values()), default=str)
        for model in apps.get_models(include_auto_created=True)
    ]
    for text in texts + rows:
        assert SECRET not in text
        assert SECRET.replace("/", "%2F").replace("+", "%2B") not in text


def _url(server: Any, **changes: Any) -> str:
    return make_url(server.create_database()).set(password=None, **changes).render_as_string()


def test_a_wrong_password_of_postgresql(postgres_server: Any, credential: CredentialRef, caplog: Any) -> None:
    role = f"reader_{int(time.time() * 1000)}"
    postgres_server.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'another' IN ROLE pw_required")
    url = _url(postgres_server, username=role)
    system = make_system("postgresql", url, credential_ref=credential)
    _fails_in_words(system, words=(role, "log-in"), code="auth_failed", caplog=caplog)


def test_a_wrong_password_of_mariadb(mariadb_server: Any, credential: CredentialRef, caplog: Any) -> None:
    name = f"reader{int(time.time() * 1000) % 10**8}"
    mariadb_server.execute(f"CREATE USER '{name}'@'%' IDENTIFIED BY 'another'")
    system = make_system("mariadb", _url(mariadb_server, username=name), credential_ref=credential)
    _fails_in_words(system, words=(name,), code="auth_failed", caplog=caplog)


@pytest.mark.parametrize("flavor", ["postgresql", "mariadb"])
def test_a_refused_port(flavor: str, credential: CredentialRef, closed_port: int, caplog: Any) -> None:
    url = f"{flavor}://reader@127.0.0.1:{closed_port}/app"
    system = make_system(flavor, url, credential_ref=credential)
    _fails_in_words(system, words=("127.0.0.1", str(closed_port)), code="refused", caplog=caplog)


@pytest.mark.parametrize("flavor", ["postgresql", "mariadb"])
def test_a_silent_server(flavor: str, credential: CredentialRef, silent_port: int, caplog: Any) -> None:
    url = f"{flavor}://reader@127.0.0.1:{silent_port}/app"
    system = make_system(flavor, url, credential_ref=credential)
    _fails_in_words(system, words=("127.0.0.1", str(silent_port)), code="timeout", caplog=caplog)


@pytest.mark.parametrize("flavor", ["postgresql", "mariadb"])
def test_an_unknown_host(flavor: str, credential: CredentialRef, caplog: Any) -> None:
    system = make_system(flavor, f"{flavor}://reader@no-such-host.invalid/app", credential_ref=credential)
    _fails_in_words(system, words=("no-such-host.invalid",), code="unknown_host", caplog=caplog)


def test_no_such_database(postgres_server: Any, credential: CredentialRef, caplog: Any) -> None:
    url = _url(postgres_server, database="nowhere_at_all")
    system = make_system("postgresql", url, credential_ref=credential)
    _fails_in_words(system, words=("nowhere_at_all",), code="no_such_database", caplog=caplog)


def test_no_such_database_of_mariadb(mariadb_server: Any, type_catalogues: None, caplog: Any) -> None:
    system = make_system("mariadb", _url(mariadb_server, database="nowhere_at_all"))
    _fails_in_words(system, words=("nowhere_at_all",), code="no_such_database", caplog=caplog)


def test_a_file_that_is_not_there_or_no_database(
    tmp_path: Any, credential: CredentialRef, caplog: Any
) -> None:
    missing = tmp_path / "missing.sqlite3"
    system = make_system("sqlite", f"sqlite:///{missing}")
    _fails_in_words(system, words=("missing.sqlite3",), code="open_failed", caplog=caplog)
    assert not missing.exists()
    other = tmp_path / "letter.txt"
    other.write_text("Dear reader, this is no database at all. " * 100)
    system = make_system("sqlite", f"sqlite:///{other}")
    _fails_in_words(system, words=("letter.txt",), code="open_failed", caplog=caplog)


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("not a url", "URL"),
        ("postgresql://reader@127.0.0.1:port/app", "URL"),
        ("oracle://reader@127.0.0.1/app", "PostgreSQL"),
        ("nonsense://reader@127.0.0.1/app", ""),
    ],
)
def test_a_bad_url(url: str, word: str, credential: CredentialRef, caplog: Any) -> None:
    system = make_system("postgresql", url, credential_ref=credential)
    _fails_in_words(system, words=(word,), code="bad_url", caplog=caplog)


def test_a_credential_that_is_not_there(
    type_catalogues: None, caplog: Any, settings: Any, tmp_path: Any
) -> None:
    settings.AIDE_CREDENTIAL_DIR = str(tmp_path)
    (tmp_path.parent / "outside").write_text(SECRET)
    for provider, path, word in (
        ("env", "NO_SUCH_VARIABLE", "NO_SUCH_VARIABLE"),
        ("file", "no-such-file", "no-such-file"),
        ("file", "../outside", "../outside"),
        ("vault", "kv/app", "vault"),
    ):
        reference = CredentialRef.objects.create(provider=provider, path=path)
        system = make_system("postgresql", "postgresql://reader@127.0.0.1/app", credential_ref=reference)
        _fails_in_words(system, words=(word,), code="auth_failed", caplog=caplog)


def test_a_password_file_logs_in(
    new_source: Callable[[str], Source], postgres_server: Any, settings: Any, tmp_path: Any, caplog: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    source = new_source("postgresql")
    role = f"filed_{int(time.time() * 1000)}"
    postgres_server.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{SECRET}' IN ROLE pw_required")
    source.execute("CREATE TABLE parts (id integer)")
    source.execute(f"GRANT SELECT ON parts TO {role}")
    settings.AIDE_CREDENTIAL_DIR = str(tmp_path)
    (tmp_path / "pg").write_text(SECRET + "\n")
    reference = CredentialRef.objects.create(provider="file", path="pg")
    url = make_url(source.url).set(username=role, password=None).render_as_string()
    desk = Desk(make_system("postgresql", url, credential_ref=reference))
    run = desk.crawl()
    assert run["status"] == "completed", run["error"]
    _nowhere([caplog.text])


def test_a_flavor_without_types(type_catalogues: None) -> None:
    flavor = "homegrown"
    kind = SystemKind.objects.get(code="RDBMS")
    SystemFlavor.objects.create(code=flavor, name="Homegrown", kind=kind, sqlalchemy_dialects=["sqlite"])
    system = make_system(flavor, "sqlite:////srv/nothing")
    desk = Desk(system)
    answer = desk.by_engineer.post(f"{API}/crawl-runs", {"system": system.code}, format="json")
    assert answer.status_code == 422
    assert flavor in answer.json()["detail"]
    assert "type" in answer.json()["detail"]
    with pytest.raises(CommandError, match="type"):
        call_command("crawl", system.code)
    snapshot = {
        "snapshot_version": 1,
        "dialect": flavor,
        "database": None,
        "datasets": [],
        "coverage": {},
    }
    answer = desk.by_engineer.post(
        f"{API}/crawl-runs", {"system": system.code, "snapshot": snapshot}, format="json"
    )
    assert answer.status_code == 422
    assert CrawlRun.objects.count() == 0


def test_a_system_that_cannot_be_crawled(type_catalogues: None) -> None:
    for system, word in (
        (make_system("csv", "sqlite:////srv/nothing"), "CSV"),
        (make_system("postgresql"), "connection"),
        (make_system("postgresql", "postgresql://127.0.0.1/app", is_active=False), "not active"),
    ):
        answer = Desk(system).by_engineer.post(f"{API}/crawl-runs", {"system": system.code}, format="json")
        assert answer.status_code == 422
        assert word in answer.json()["detail"]
        with pytest.raises(CommandError, match=word):
            call_command("crawl", system.code)


def test_something_broken_on_our_side_ends_the_run_in_words(
    sqlite: Source, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    receive = sys.modules["crawling.crawl.receive"]

    def broken(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError(f"a bug that knows {SECRET}")

    sqlite.execute("CREATE TABLE parts (id integer)")
    desk = Desk(sqlite.system())
    monkeypatch.setattr(receive, "compare", broken)
    run = desk.crawl()
    assert (run["status"], run["error_code"]) == ("failed", "failed")
    assert "our side" in run["error"]
    _nowhere([caplog.text])
    monkeypatch.undo()
    again = desk.by_engineer.post(f"{API}/crawl-runs/{run['id']}/retry")
    drain()
    assert desk.run(again.json()["id"])["status"] == "completed"
