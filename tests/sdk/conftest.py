"""The product as a process of its own, and clients of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from aide_sdk import AideClient, SyncAideClient

from tests.flows.product import PASSWORD, Product, Served

ADMIN = "admin@example.com"


@pytest.fixture(scope="session")
def product(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Product:
    """An installation with an engineer, a steward, an approver and an administrator."""
    folder = tmp_path_factory.mktemp("sdk")
    if os.environ.get("AIDE_TEST_DATABASE") == "postgresql":
        server = request.getfixturevalue("postgres_server")
        url = server.create_database().replace("postgresql+psycopg", "postgresql")
    else:
        url = f"sqlite:///{folder}/aide.sqlite3"
    product = Product(url, folder)
    product.prepare()
    person = {"AIDE_ADMIN_EMAIL": ADMIN, "AIDE_ADMIN_PASSWORD": PASSWORD}
    replace(product, environment=person).manage("ensure_admin")
    return product


@pytest.fixture(scope="session")
def served(product: Product) -> Iterator[Served]:
    """The installation, served by `manage.py serve`."""
    with product.served() as served:
        yield served


@pytest.fixture(scope="session")
def routes(served: Served) -> frozenset[str]:
    """The addresses of the API, with placeholders."""
    document = httpx.get(f"{served.home}/api/v1/schema", timeout=60).raise_for_status().json()
    return frozenset(document["paths"])


def client_for(served: Served, role: str) -> SyncAideClient:
    return AideClient.sync(served.home, username=f"{role}@example.com", password=PASSWORD)


@pytest.fixture(scope="session")
def engineer(served: Served) -> Iterator[SyncAideClient]:
    with client_for(served, "engineer") as client:
        yield client


@pytest.fixture(scope="session")
def steward(served: Served) -> Iterator[SyncAideClient]:
    with client_for(served, "steward") as client:
        yield client


@pytest.fixture(scope="session")
def admin(served: Served) -> Iterator[SyncAideClient]:
    with client_for(served, "admin") as client:
        yield client


@pytest.fixture(scope="session")
def service_key(engineer: SyncAideClient, admin: SyncAideClient) -> str:
    """An API key that may send events and read."""
    made = admin.api_keys.create(
        name="pipelines", user_id=engineer.users.me().id, scopes=["lineage:write", "registry:read"]
    )
    assert made.secret
    return made.secret


@pytest.fixture
def shop_file(tmp_path: Path) -> Path:
    """A small SQLite database to be crawled."""
    import sqlite3
    from contextlib import closing

    path = tmp_path / "shop.sqlite3"
    with closing(sqlite3.connect(path)) as shop:
        shop.executescript(
            "CREATE TABLE customers (id integer NOT NULL PRIMARY KEY, email varchar(100));"
            "CREATE TABLE orders (id integer NOT NULL PRIMARY KEY, customer_id integer, total numeric(12,2));"
        )
    return path
