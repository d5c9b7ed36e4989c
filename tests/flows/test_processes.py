"""Crawls by real processes: served, cancelled, killed in the middle, and carried out by Celery."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine import make_url

from tests.flows.product import Product, Served, kill
from tests.flows.sources import sqlite_source
from tests.waiting import wait_until

SOURCE = "CREATE TABLE parts (id integer NOT NULL PRIMARY KEY, name varchar(50));"


pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def prepared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Product:
    """A prepared installation that every test takes a copy of."""
    folder = tmp_path_factory.mktemp("prepared")
    if os.environ.get("AIDE_TEST_DATABASE") == "postgresql":
        server = request.getfixturevalue("postgres_server")
        url = server.create_database().replace("postgresql+psycopg", "postgresql")
    else:
        url = f"sqlite:///{folder}/aide.sqlite3"
    product = Product(url, folder)
    product.prepare()
    return product


@pytest.fixture
def product(request: pytest.FixtureRequest, prepared: Product, tmp_path: Path) -> Product:
    """An installation of its own, on the database that this test run is about."""
    if prepared.database_url.startswith("sqlite"):
        for file in prepared.folder.glob("aide.sqlite3*"):
            shutil.copy(file, tmp_path)
        return Product(f"sqlite:///{tmp_path}/aide.sqlite3", tmp_path)
    url = make_url(prepared.database_url)
    name = f"{url.database}_{secrets.token_hex(4)}"
    request.getfixturevalue("postgres_server").execute(f"CREATE DATABASE {name} TEMPLATE {url.database}")
    return Product(url.set(database=name).render_as_string(hide_password=False), tmp_path)


@pytest.fixture
def silent_port() -> Iterator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(16)
        yield listening.getsockname()[1]


def _good_system(served: Served, tmp_path: Path, *, code: str = "good") -> None:
    source = sqlite_source(tmp_path / f"{code}.sqlite3")
    source.execute(SOURCE)
    body = {"code": code, "name": code, "flavor": "sqlite", "connection_url": source.url}
    served.call("POST", "/systems", body)


def _slow_system(served: Served, port: int) -> None:
    url = f"postgresql://reader@127.0.0.1:{port}/app"
    body = {"code": "slow", "name": "slow", "flavor": "postgresql", "connection_url": url}
    served.call("POST", "/systems", body)


def _long_ago() -> datetime:
    return datetime.now(UTC) - timedelta(minutes=5)


def test_the_served_product_does_the_main_job_by_itself(product: Product, tmp_path: Path) -> None:
    with product.served() as served:
        _good_system(served, tmp_path)
        run = served.call("POST", "/crawl-runs", {"system": "good"})
        run = served.wait_for(run["id"], "completed")
        user = product.execute("SELECT id FROM accounts_user WHERE email = 'steward@example.com'")[0][0]
        system = product.execute("SELECT id FROM registry_system WHERE code = 'good'")[0][0]
        product.execute(
            "INSERT INTO registry_system_stewards (system_id, user_id) VALUES (:system, :user)",
            system=system,
            user=user,
        )
        outcome = served.call(
            "POST", f"/crawl-runs/{run['id']}/decide-and-apply", {"approve": "all"}, role="steward"
        )
        assert [each["version_num"] for each in outcome["applied"]] == [1]
        wait_until(lambda: not product.execute("SELECT id FROM work_workitem"), timeout=15)
        sealed = "SELECT count(*) FROM audit_auditentry WHERE place IS NULL"
        assert product.execute(sealed)[0][0] == 0, "the audit log is sealed in the background"


def test_a_running_crawl_stops_when_it_is_cancelled(product: Product, silent_port: int) -> None:
    with product.served() as served:
        _slow_system(served, silent_port)
        run = served.call("POST", "/crawl-runs", {"system": "slow"})
        served.wait_for(run["id"], "running")
        answer = served.call("POST", f"/crawl-runs/{run['id']}/cancel")
        assert answer["status"] == "cancelling"
        ended = served.wait_for(run["id"], "cancelled", timeout=8)
        assert ended["error_code"] == "cancelled"


def test_a_killed_worker_leaves_a_lost_run_and_a_free_system(
    product: Product, silent_port: int, tmp_path: Path
) -> None:
    with product.served() as served:
        _slow_system(served, silent_port)
        run = served.call("POST", "/crawl-runs", {"system": "slow"})
        served.wait_for(run["id"], "running")
        kill(served.running)
    left = product.execute("SELECT status FROM crawling_crawlrun")
    assert left == [("running",)]
    # A minute later, without waiting for it.
    product.execute("UPDATE crawling_crawlrun SET heartbeat_at = :then, started_at = :then", then=_long_ago())
    product.execute("UPDATE work_workitem SET lease_until = :then", then=_long_ago())
    with product.served() as served:
        ended = served.wait_for(run["id"], "lost", timeout=20)
        assert "retry" in ended["error"]
        wait_until(lambda: not product.execute("SELECT id FROM work_workitem"), timeout=20)
        assert served.call("GET", f"/crawl-runs/{run['id']}")["status"] == "lost", "it is not taken up again"
        again = served.call("POST", f"/crawl-runs/{run['id']}/retry")
        assert again["retry_of_id"] == run["id"]
        served.wait_for(again["id"], "running")


def test_a_killed_server_loses_no_queued_crawl(product: Product, silent_port: int, tmp_path: Path) -> None:
    with product.served() as served:
        _good_system(served, tmp_path)
        kill(served.running)
    # Queued by a process that died before its worker looked.
    code = (
        "from crawling import crawl; from registry.models import System;"
        "print(crawl.start(System.objects.get(code='good'), trigger='api').pk)"
    )
    run_id = int(product.manage("shell", "-v", "0", "-c", code))
    with product.served() as served:
        assert served.wait_for(run_id, "completed")["summary"]["new_datasets"] == 1


def test_celery_carries_crawls_out(product: Product, redis_server: Any, tmp_path: Path) -> None:
    product.broker_url = redis_server.create_database()
    worker = ["-m", "celery", "-A", "aide.celery", "worker", "-c", "2", "-l", "warning"]
    beat = ["-m", "celery", "-A", "aide.celery", "beat", "-l", "warning", "-s", str(tmp_path / "beat")]
    with product.served() as served:
        _good_system(served, tmp_path)
        waiting = served.call("POST", "/crawl-runs", {"system": "good"})
        assert served.call("GET", f"/crawl-runs/{waiting['id']}")["status"] == "queued", "no worker yet"
        with product.process("worker", worker), product.process("beat", [*beat]):
            run = served.wait_for(waiting["id"], "completed", timeout=60)
            assert run["summary"]["new_datasets"] == 1
            again = served.call("POST", "/crawl-runs", {"system": "good"})
            assert served.wait_for(again["id"], "completed", timeout=30)["status"] == "completed"


def test_a_killed_celery_worker_loses_its_run_and_the_next_frees_the_system(
    product: Product, redis_server: Any, silent_port: int, tmp_path: Path
) -> None:
    product.broker_url = redis_server.create_database()
    worker = ["-m", "celery", "-A", "aide.celery", "worker", "-c", "1", "-l", "warning"]
    beat = ["-m", "celery", "-A", "aide.celery", "beat", "-l", "warning", "-s", str(tmp_path / "beat")]
    with product.served() as served:
        _slow_system(served, silent_port)
        with product.process("worker", worker) as running:
            run = served.call("POST", "/crawl-runs", {"system": "slow"})
            served.wait_for(run["id"], "running", timeout=60)
            kill(running)
        product.execute("UPDATE crawling_crawlrun SET heartbeat_at = :then", then=_long_ago())
        product.execute("UPDATE work_workitem SET lease_until = :then", then=_long_ago())
        with product.process("worker", worker), product.process("beat", beat):
            served.wait_for(run["id"], "lost", timeout=60)
            wait_until(lambda: not product.execute("SELECT id FROM work_workitem"), timeout=60)


def test_a_broker_that_is_away_holds_up_no_request(
    product: Product, redis_server: Any, tmp_path: Path
) -> None:
    if not redis_server.is_ours:
        pytest.skip("this Redis is not ours to stop")
    product.broker_url = redis_server.create_database()
    with product.served() as served:
        _good_system(served, tmp_path)
        redis_server.stop()
        run = served.call("POST", "/crawl-runs", {"system": "good"})
        assert run["status"] == "queued"
        redis_server.start()
        worker = ["-m", "celery", "-A", "aide.celery", "worker", "-c", "1", "-l", "warning"]
        beat = ["-m", "celery", "-A", "aide.celery", "beat", "-l", "warning", "-s", str(tmp_path / "beat")]
        with product.process("worker", worker), product.process("beat", beat):
            served.wait_for(run["id"], "completed", timeout=90)
