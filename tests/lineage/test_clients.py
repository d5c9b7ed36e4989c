"""Real clients against the production server: every event that they send is stored, with and without the slash."""

from __future__ import annotations

import asyncio
import datetime as dt
import gzip
import json
import os
import socket
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.flows.product import Product, Served
from tests.lineage.events import run_event

pytestmark = pytest.mark.slow
MAKE_KEY = """
from aide.accounts.keys import make_key
from aide.accounts.models import User
from django.contrib.auth.models import Group
user = User.objects.create_user("pipelines@example.com", "correct horse 8 battery", user_type="technical")
user.groups.add(Group.objects.get(name="service"))
key, secret = make_key(user=user, name="pipelines", scopes=["lineage:write", "registry:read"])
print("KEY", key.public_id, secret)
"""


class Pipelines:
    """A served product and a key to send with."""

    def __init__(self, served: Served, client_id: str, secret: str) -> None:
        self.served = served
        self.client_id = client_id
        self.secret = secret
        self.home = served.home

    def count(self) -> int:
        headers = {"Authorization": f"Bearer {self.secret}"}
        answer = httpx.get(f"{self.home}/api/v1/lineage/events", headers=headers, timeout=20)
        return int(answer.raise_for_status().json()["total"])


@pytest.fixture(scope="module")
def pipelines(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lineage-served")
    product = Product(f"sqlite:///{folder}/aide.sqlite3", folder)
    product.prepare()
    printed = product.manage("shell", "-v", "0", "-c", MAKE_KEY)
    _, client_id, secret = printed.strip().splitlines()[-1].split()
    with product.served() as served:
        yield Pipelines(served, client_id, secret)


def settings_of(pipelines: Pipelines, auth: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "http", "url": pipelines.home, "auth": auth, "timeout": 20, **more}


def api_key(pipelines: Pipelines) -> dict[str, Any]:
    return {"type": "api_key", "apiKey": pipelines.secret}


def oauth2(pipelines: Pipelines) -> dict[str, Any]:
    return {
        "type": "oauth2",
        "clientId": pipelines.client_id,
        "clientSecret": pipelines.secret,
        "tokenEndpoint": f"{pipelines.home}/api/v1/login/token",
    }


def jwt(pipelines: Pipelines) -> dict[str, Any]:
    return {
        "type": "jwt",
        "apiKey": pipelines.secret,
        "tokenEndpoint": f"{pipelines.home}/api/v1/login/token",
    }


def client_events() -> list[Any]:
    """A start and an end of a run, as the client's own classes."""
    client = pytest.importorskip("openlineage.client.event_v2")
    run, job = client.Run(runId=str(uuid.uuid4())), client.Job(namespace="jobs", name="by the client")
    place = "postgres://db1.example.com:5432"
    return [
        client.RunEvent(
            eventType=state,
            eventTime=dt.datetime.now(dt.UTC).isoformat(),
            run=run,
            job=job,
            producer="https://example.com/p",
            inputs=[client.InputDataset(namespace=place, name="shop.public.orders")],
            outputs=[client.OutputDataset(namespace=place, name="shop.public.sums")],
        )
        for state in (client.RunState.START, client.RunState.COMPLETE)
    ]


@pytest.mark.parametrize(
    ("auth", "more"),
    [
        (api_key, {}),
        (api_key, {"compression": "gzip"}),
        (api_key, {"endpoint": "api/v1/lineage/"}),
        (oauth2, {}),
        (jwt, {}),
    ],
    ids=["api key", "gzip", "closing slash", "oauth2", "jwt"],
)
def test_the_python_client_lands(pipelines, auth, more):
    http = pytest.importorskip("openlineage.client.transport.http")
    client = pytest.importorskip("openlineage.client").OpenLineageClient
    config = http.HttpConfig.from_dict(settings_of(pipelines, auth(pipelines), **more))
    before = pipelines.count()
    sender = client(transport=http.HttpTransport(config))
    for event in client_events():
        sender.emit(event)
    assert pipelines.count() == before + 2


def test_the_asynchronous_python_client_lands(pipelines):
    transport = pytest.importorskip("openlineage.client.transport.async_http")
    client = pytest.importorskip("openlineage.client").OpenLineageClient
    values = settings_of(pipelines, api_key(pipelines), compression="gzip") | {"type": "async_http"}
    before = pipelines.count()
    sender = client(transport=transport.AsyncHttpTransport(transport.AsyncHttpConfig.from_dict(values)))
    for event in client_events():
        sender.emit(event)
    sender.close(timeout=30)
    assert pipelines.count() == before + 2


@pytest.mark.parametrize("path", ["/api/v1/lineage", "/api/v1/lineage/"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_chunked_sender_lands(pipelines, path, packed):
    """What the Java client's HTTP library writes: chunks, no length, a charset, its own Accept."""
    before = pipelines.count()
    event = run_event(run=str(uuid.uuid4()), reads=["a.b.c"], writes=["a.b.d"])
    raw = json.dumps(event).encode()
    body = gzip.compress(raw) if packed else raw
    place = urlsplit(pipelines.home)
    head = [
        f"POST {path} HTTP/1.1",
        f"Host: {place.netloc}",
        "Accept: application/json; charset=UTF-8",
        "Content-Type: application/json; charset=UTF-8",
        f"Authorization: Bearer {pipelines.secret}",
        *(["Content-Encoding: gzip"] if packed else []),
        "Transfer-Encoding: chunked",
        "Connection: close",
    ]
    with socket.create_connection((str(place.hostname), int(place.port or 80)), timeout=20) as wire:
        wire.sendall("\r\n".join(head).encode() + b"\r\n\r\n")
        for start in range(0, len(body), 100):
            part = body[start : start + 100]
            wire.sendall(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        wire.sendall(b"0\r\n\r\n")
        answer = b""
        while part := wire.recv(65536):
            answer += part
    assert answer.startswith(b"HTTP/1.1 201"), answer[:500]
    assert pipelines.count() == before + 1


def test_many_clients_at_once_lose_nothing(pipelines):
    """Whoever is told to come again later does, and everything lands once."""
    before = pipelines.count()
    headers = {"Authorization": f"Bearer {pipelines.secret}"}
    events = [
        run_event(run=str(uuid.uuid4()), job=f"j{n % 3}", reads=["q.a.x"], writes=["q.a.y"])
        for n in range(60)
    ]

    async def send(client: httpx.AsyncClient, event: dict[str, Any]) -> int:
        for _ in range(60):
            answer = await client.post("/api/v1/lineage", json=event, headers=headers)
            if answer.status_code in {429, 503}:
                assert int(answer.headers["Retry-After"]) >= 1
                await asyncio.sleep(0.2)
                continue
            return answer.status_code
        return 0

    async def send_all() -> list[int]:
        async with httpx.AsyncClient(base_url=pipelines.home, timeout=60) as client:
            return await asyncio.gather(*(send(client, event) for event in events))

    assert set(asyncio.run(send_all())) == {201}
    assert pipelines.count() == before + 60


DBT = ("dbt-core>=1.8,<1.11", "dbt-duckdb", "openlineage-dbt==1.54.0")
PROJECT = {
    "dbt_project.yml": "name: shop\nversion: '1.0'\nprofile: shop\nmodel-paths: [models]\nseed-paths: [seeds]\n",
    "profiles.yml": "shop:\n  target: dev\n  outputs:\n    dev:\n      type: duckdb\n      path: shop.duckdb\n",
    "seeds/raw_customers.csv": "id,name\n1,Ann\n2,Bob\n",
    "models/customers.sql": "select * from {{ ref('raw_customers') }}\n",
    "models/customer_count.sql": "select count(*) as n from {{ ref('customers') }}\n",
}


@pytest.mark.nightly
def test_dbt_ol_lands(pipelines, tmp_path):
    """dbt with DuckDB in an environment of its own, kept between runs."""
    home = Path(tempfile.gettempdir()) / f"aide-tests-dbt-{os.getuid()}"
    tool = home / "bin" / "dbt-ol"
    if not tool.exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True, timeout=300)
        done = subprocess.run(
            [str(home / "bin" / "pip"), "install", "-q", *DBT], capture_output=True, timeout=1800, check=False
        )
        if done.returncode:
            pytest.skip("dbt-core and dbt-duckdb cannot be installed here")
    for name, text in PROJECT.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    before = pipelines.count()
    environment = {
        **os.environ,
        "OPENLINEAGE_URL": pipelines.home,
        "OPENLINEAGE_API_KEY": pipelines.secret,
        "DBT_PROFILES_DIR": str(tmp_path),
        "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        [str(tool), "build"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert pipelines.count() >= before + 6  # the start and the end of the seed and of two models
    headers = {"Authorization": f"Bearer {pipelines.secret}"}
    names = httpx.get(
        f"{pipelines.home}/api/v1/lineage/names",
        params={"name__like": "customer_count"},
        headers=headers,
        timeout=20,
    ).json()["items"]
    assert names, "the model's table is a node"
    found = httpx.get(
        f"{pipelines.home}/api/v1/lineage/graph",
        params={"namespace": names[0]["namespace"], "name": names[0]["name"], "direction": "up"},
        headers=headers,
        timeout=20,
    ).json()
    assert any(node["name"].endswith("customers") for node in found["nodes"]), found
