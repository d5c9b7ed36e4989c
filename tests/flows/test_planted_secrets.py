"""Fifty secrets, each planted where people and drivers put them, are nowhere afterwards, however they are spelled."""

from __future__ import annotations

import base64
import html
import json
import logging
import os
import random
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from sqlalchemy.engine import make_url

from aide.work import queue
from aide.work.models import WorkItem
from aide.work.registry import TASKS, task
from aide.work.runner import drain
from crawling import crawl
from crawling.models import CrawlRun
from registry.models import CredentialRef, SystemFlavor
from tests.crawling.vault_server import serve_vault
from tests.flows.desk import API, Desk
from tests.flows.sources import Source, make_system

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
COUNT = 50
HARD = "@:/%?#&'\"\\ +=;,<>|~`$()[]{}!*^äßé€пароль密碼🙂"


def make_secrets(seed: int = 4) -> list[str]:
    """Fifty passwords, each with a part that nothing else holds and characters that are easily spelled otherwise."""
    chance = random.Random(seed)
    return [
        f"Zq{chance.getrandbits(40):010x}"
        + "".join(chance.choices(HARD, k=8))
        + f"{chance.getrandbits(24):06x}wX"
        for _ in range(COUNT)
    ]


def spellings(secret: str) -> set[str]:
    """How a secret may stand in a text: as it is, encoded for URLs, JSON, HTML or Python, or in base64."""
    raw = secret.encode()
    found = {
        secret, quote(secret), quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1], html.escape(secret), repr(secret)[1:-1],
        secret.encode("unicode_escape").decode("ascii"), secret.replace("'", "''"), raw.hex(),
        # What stays whole of it, whatever is done to the odd characters.
        secret[:12], secret[-8:],
    }  # fmt: skip
    for shift in range(3):  # base64 of a longer text that holds it
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(b"\0" * shift + raw).decode().rstrip("=")
            found.add(text[4 if shift else 0 : -2])
    return found


class Planting:
    """What was said on the way: answers, pages, outputs, errors."""

    def __init__(self, source: Source, folder: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
        self.said: list[str] = []
        self.source, self.folder, self.patch, self.settings = source, folder, monkeypatch, settings
        self.number = 0

    def failed_crawl(
        self, url: str, reference: CredentialRef | None = None, *, flavor: str = "postgresql"
    ) -> None:
        desk = Desk(make_system(flavor, url, credential_ref=reference))
        run = desk.crawl()
        assert run["status"] == "failed", run
        system = desk.system.code
        out = StringIO()
        with pytest.raises(CommandError) as refused:
            call_command("crawl", system, stdout=out, stderr=out)
        preview = desk.by_engineer.post(f"{API}/crawl-plans/preview", {"system": system}, format="json")
        paths = (f"crawl-runs/{run['id']}", f"crawl-runs/{run['id']}/report", f"systems/{system}", "audit")
        client = Client()
        client.force_login(desk.engineer)
        pages = [
            client.get(reverse("admin:crawling_crawlrun_change", args=[run["id"]])),
            client.post(
                reverse("admin:registry_system_test", args=[desk.system.pk]), headers={"HX-Request": "true"}
            ),
            client.get(reverse("admin:registry_system_change", args=[desk.system.pk])),
        ]
        answers = [desk.by_engineer.get(f"{API}/{path}") for path in paths]
        self.said += [out.getvalue(), str(refused.value), repr(refused.value), json.dumps(run)]
        self.said += [each.content.decode() for each in (preview, *answers, *pages)]

    def url(self, host: str = "127.0.0.1", port: int = 9, user: str = "reader") -> str:
        return f"postgresql://{user}@{host}:{port}/app"


def _env(plant: Planting, secret: str) -> None:
    name = f"SOURCE_{plant.number}"
    plant.patch.setenv(name, secret)
    plant.failed_crawl(plant.url(), CredentialRef.objects.create(provider="env", path=name))


def _file(plant: Planting, secret: str) -> None:
    plant.settings.AIDE_CREDENTIAL_DIR = str(plant.folder)
    (plant.folder / f"pw{plant.number}").write_text(secret)
    reference = CredentialRef.objects.create(provider="file", path=f"pw{plant.number}")
    plant.failed_crawl(plant.url(), reference)
    (plant.folder / f"pw{plant.number}").unlink()


def _vault(plant: Planting, secret: str) -> None:
    with serve_vault(secret) as server:
        server.secrets["kv/app"] = [{"password": secret}]
        plant.settings.AIDE_VAULT_URL, plant.settings.AIDE_VAULT_TOKEN = server.url, secret
        reference = CredentialRef.objects.create(provider="vault", path="kv/app", version=plant.number)
        reference.path = f"kv/app#key{plant.number}" if plant.number % 2 else "kv/app"
        reference.version = None
        reference.save()
        plant.failed_crawl(plant.url(), reference)
        reference.path = f"used/{plant.number}"
        reference.save()


@contextmanager
def _talkative(text: str) -> Iterator[int]:
    """A server of PostgreSQL's protocol that refuses with this text. Gives its port."""
    fields = (
        b"".join(k + v + b"\0" for k, v in ((b"S", b"FATAL"), (b"C", b"XX000"), (b"M", text.encode())))
        + b"\0"
    )
    answer = b"E" + struct.pack("!I", len(fields) + 4) + fields

    def serve() -> None:
        with suppress(OSError):
            while True:
                near, _ = listening.accept()
                with near:
                    first = near.recv(4096)
                    if first[4:8] == struct.pack("!I", 80877103):  # asks for TLS
                        near.sendall(b"N")
                        near.recv(4096)
                    near.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield int(listening.getsockname()[1])
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)


@contextmanager
def _talkative_mariadb(text: str) -> Iterator[int]:
    """A server of MariaDB's protocol that refuses with this text. Gives its port."""
    body = b"\xff" + struct.pack("<H", 1105) + b"#HY000" + text.encode()
    answer = struct.pack("<I", len(body))[:3] + b"\0" + body

    def serve() -> None:
        with suppress(OSError):
            while True:
                near, _ = listening.accept()
                with near:
                    near.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield int(listening.getsockname()[1])
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)


def _driver(plant: Planting, secret: str) -> None:
    name = f"SOURCE_{plant.number}"
    plant.patch.setenv(name, secret)
    reference = CredentialRef.objects.create(provider="env", path=name)
    for said in (secret, quote(secret, safe=""), repr(secret)):
        with _talkative(f"cannot let you in with {said} as it is") as port:
            plant.failed_crawl(plant.url(port=port), reference)
    with _talkative_mariadb(f"cannot let you in with {secret} as it is") as port:
        plant.failed_crawl(f"mariadb://reader@127.0.0.1:{port}/app", reference, flavor="mariadb")


def _refused_url(*ways: Callable[[str], str]) -> Callable[[Planting, str], None]:
    def act(plant: Planting, secret: str) -> None:
        desk = Desk(make_system("postgresql", plant.url()))
        url = ways[plant.number // len(PLACES) % len(ways)](secret)
        flavor = "mariadb" if url.startswith("m") else "postgresql"
        body = {"code": f"s{plant.number}", "name": "n", "flavor": flavor, "connection_url": url}
        answer = desk.by_engineer.post(f"{API}/systems", body, format="json")
        assert answer.status_code == 422, answer.content
        changed = desk.by_engineer.patch(
            f"{API}/systems/{desk.system.code}", {"connection_url": url}, format="json"
        )
        assert changed.status_code == 422
        client = Client()
        client.force_login(desk.engineer)
        form = {
            "code": f"s{plant.number}",
            "name": "n",
            "flavor": SystemFlavor.objects.get(code=flavor).pk,
            "connection_url": url,
        }
        page = client.post(reverse("admin:registry_system_add"), form)
        assert page.status_code == 200
        plant.said += [answer.content.decode(), changed.content.decode(), page.content.decode()]

    return act


def _snapshot(plant: Planting, secret: str) -> None:
    desk = Desk(make_system("sqlite", plant.source.url))
    url = f"sqlite://u:{quote(secret, safe='')}@h/x"
    snapshot = {
        "snapshot_version": 1, "dialect": "sqlite", "database": "x", "datasets": [], "connection_url": url,
        "password": secret, "coverage": {"schemas": [], "password": secret},
    }  # fmt: skip
    for body in (
        {"system": desk.system.code, "snapshot": snapshot, "dry_run": True},
        {"system": desk.system.code, "snapshot": {**snapshot, "dialect": secret}},
        {"system": desk.system.code, "password": secret},
    ):
        answer = desk.by_engineer.post(f"{API}/crawl-runs", body, format="json")
        plant.said.append(answer.content.decode())


def _command_line(plant: Planting, secret: str) -> None:
    url = f"postgresql://reader:{quote(secret, safe='')}@127.0.0.1:9/app"
    environment = {
        **os.environ,
        "AIDE_METASTORE_URL": "http://127.0.0.1:9",
        "AIDE_METASTORE_PASSWORD": secret,
    }
    script = [sys.executable, "-m", "aide_crawler.cli"]
    for arguments, more in (
        (["inspect", "--connection-url", url], {}),
        (["crawl", "--system-code", "x"], {"AIDE_CRAWLER_CONNECTION_URL": url}),
        (["crawl", "--system-code", "x", "--connection-url", plant.source.url, "--metastore-user", "u"], {}),
    ):
        done = subprocess.run(
            [*script, *arguments],
            env=environment | more,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode != 0
        plant.said += [done.stdout, done.stderr]


def _our_bug(plant: Planting, secret: str) -> None:
    plant.source.execute(f"CREATE TABLE IF NOT EXISTS t{plant.number} (id integer PRIMARY KEY)")
    desk = Desk(make_system("sqlite", plant.source.url))

    def broken(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError(f"a bug that knows {secret} and {quote(secret)}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["crawling.crawl.receive"], "compare", broken)
        run = desk.crawl()
    assert run["status"] == "failed"
    name = f"tests.broken_{plant.number}"
    task(name, max_attempts=1)(broken)
    queue.enqueue(name)
    drain()
    del TASKS[name]
    assert WorkItem.objects.filter(task=name, state="dead", last_error="RuntimeError").exists()
    plant.said.append(json.dumps(run))


def _log_in(plant: Planting, secret: str) -> None:
    client = Client()
    form = {"username": f"nobody{plant.number}@example.com", "password": secret}
    plant.said.append(client.post(f"{API}/login", form).content.decode())
    page = client.post(reverse("admin:login"), form)
    plant.said.append(page.content.decode())


PLACES: tuple[Callable[[Planting, str], None], ...] = (
    _env,
    _file,
    _vault,
    _driver,
    _refused_url(
        lambda s: f"postgresql://reader:{quote(s, safe='')}@127.0.0.1/app",
        lambda s: f"mariadb://reader:{quote(s, safe='')}@127.0.0.1/app",
        lambda s: f"postgresql://:{quote(s, safe='')}@127.0.0.1/app",
    ),
    _refused_url(
        lambda s: f"postgresql://reader@127.0.0.1/app?password={quote(s, safe='')}",
        lambda s: f"mysql://reader@127.0.0.1/app?passwd={quote(s, safe='')}",
        lambda s: f"postgresql://reader@127.0.0.1/app?sslpassword={quote(s, safe='')}",
        lambda s: f"postgresql://reader@127.0.0.1/app?PGPASSWORD={quote(s, safe='')}",
        lambda s: f"mysql://reader@127.0.0.1/app?ssl_key_password={quote(s, safe='')}",
    ),
    _refused_url(
        lambda s: f"postgresql://reader@x:{s}@127.0.0.1/app",
        lambda s: f"postgresql://reader:{s}@127.0.0.1:{quote(s, safe='')}/app",
        lambda s: f"reader:{quote(s, safe='')}@127.0.0.1/app",
        lambda s: f"postgresql//reader:{quote(s, safe='')}@127.0.0.1/app",
    ),
    _snapshot,
    _our_bug,
    _log_in,
)


def test_fifty_planted_secrets_are_nowhere(
    sqlite: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any, caplog: Any, capfd: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    secrets = make_secrets()
    plant = Planting(sqlite, tmp_path, monkeypatch, settings)
    for number, secret in enumerate(secrets):
        plant.number = number
        PLACES[number % len(PLACES)](plant, secret)
        if number % 25 == 7:
            _command_line(plant, secret)
    captured = capfd.readouterr()
    places = {
        "logs": "\n".join(f"{r.getMessage()} {r.__dict__}" for r in caplog.records),
        "output": captured.out + captured.err,
        "answers": "\n".join(plant.said),
        **_database(),
    }
    assert len(places["answers"]) > 10_000
    found = [
        (where, number, spelling)
        for where, text in places.items()
        for number, secret in enumerate(secrets)
        for spelling in sorted(spellings(secret))
        if spelling in text
    ]
    assert found == [], found[:10]


def test_the_search_would_find_a_secret() -> None:
    secret = make_secrets()[3]
    for text in (
        secret,
        f"x={quote(secret)}",
        json.dumps({"a": secret}),
        base64.b64encode(b"user:" + secret.encode()).decode(),
        base64.b64encode(b"u:" + secret.encode() + b"tail").decode(),
        html.escape(f"<{secret}>"),
        repr(secret),
    ):
        assert any(spelling in text for spelling in spellings(secret)), text


def test_a_log_in_that_works_is_nowhere_either(
    postgres_server: Any, type_catalogues: None, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = make_secrets(9)[0]
    url = make_url(postgres_server.create_database())
    role = f"planted_{url.database}"
    quoted = secret.replace("'", "''")
    postgres_server.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{quoted}' IN ROLE pw_required")
    monkeypatch.setenv("PLANTED", secret)
    reference = CredentialRef.objects.create(provider="env", path="PLANTED")
    reached = url.set(username=role, password=None).render_as_string()
    desk = Desk(make_system("postgresql", reached, credential_ref=reference))
    run = desk.crawl()
    assert run["status"] == "completed", run["error"]
    crawl.crawl_now(desk.system, trigger=CrawlRun.Trigger.COMMAND)
    text = "\n".join([caplog.text, json.dumps(run), *_database().values()])
    assert not [each for each in spellings(secret) if each in text]


def _database() -> dict[str, str]:
    """Every row of every table, and on SQLite the file itself, where deleted rows leave their bytes."""
    texts = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            rows = cursor.fetchall()
            texts[f"table {table}"] = "\n".join(f"{row}\n{json.dumps(row, default=str)}" for row in rows)
    if connection.vendor == "sqlite":
        for path in Path(connection.settings_dict["NAME"]).parent.glob(
            f"{Path(connection.settings_dict['NAME']).name}*"
        ):
            texts[f"file {path.name}"] = path.read_bytes().decode("utf-8", "replace")
    return texts
