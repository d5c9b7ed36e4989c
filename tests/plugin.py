"""The pytest plugin of both suites: settings, the product's database, and a fixture for each server.

`pyproject.toml` loads it before Django reads its settings. `AIDE_TEST_DATABASE=sqlite|postgresql` chooses
where the product itself keeps its rows.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

import pytest

from tests.processes import NoServerError
from tests.servers import (
    ApacheKafkaServer,
    KafkaServer,
    MariaDBServer,
    PostgresServer,
    RedisServer,
    Server,
    open_server,
)

MISSING = "Server not available: "
_opened: dict[type[Server], Server | NoServerError] = {}


def _prepare_environment() -> str | None:
    """Let no variable of the developer's shell reach the tests. Returns what went wrong, in words."""
    chosen = os.environ.get("AIDE_TEST_DATABASE", "sqlite")
    if chosen not in ("sqlite", "postgresql"):
        return f"AIDE_TEST_DATABASE must be sqlite or postgresql, not {chosen!r}"
    is_xdist_worker = "PYTEST_XDIST_WORKER" in os.environ
    if is_xdist_worker:  # the controller has prepared everything
        return None
    for name in [
        name for name in os.environ if name.startswith("AIDE_") and not name.startswith("AIDE_TEST_")
    ]:
        del os.environ[name]
    os.environ["AIDE_DEBUG"] = "1"
    if chosen == "sqlite":
        os.environ["AIDE_DATABASE_URL"] = (
            f"sqlite:///{tempfile.gettempdir()}/aide-tests-{os.getpid()}.sqlite3"
        )
        return None
    try:
        os.environ["AIDE_DATABASE_URL"] = open_server(PostgresServer).url.replace(
            "postgresql+psycopg", "postgresql"
        )
    except NoServerError as unavailable:
        return f"AIDE_TEST_DATABASE=postgresql needs PostgreSQL: {unavailable}"
    return None


_trouble = _prepare_environment()


PRODUCT_FIXTURES = frozenset({"db", "transactional_db", "live_server", "django_db_reset_sequences"})


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--product-only",
        action="store_true",
        help="run only the tests that touch the product's own database (for the second database)",
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--product-only"):
        return
    kept, dropped = [], []
    for item in items:
        fixtures = PRODUCT_FIXTURES.intersection(getattr(item, "fixturenames", ()))
        (kept if fixtures or item.get_closest_marker("django_db") else dropped).append(item)
    config.hook.pytest_deselected(items=dropped)
    items[:] = kept


def pytest_configure(config: pytest.Config) -> None:
    if _trouble:
        pytest.exit(_trouble, returncode=3)


def _server(kind: type[Server]) -> Server:
    """The one server of this kind in this process. Tests that need one that cannot be had are skipped."""
    if kind not in _opened:
        try:
            _opened[kind] = open_server(kind)
        except NoServerError as unavailable:
            _opened[kind] = unavailable
    server = _opened[kind]
    if isinstance(server, NoServerError):
        reason = f"{MISSING}{kind.name} ({server})"
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    return server


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """No test starts with a server that a fault test left stopped or paused."""
    for server in _opened.values():
        if isinstance(server, Server):
            server.bring_back()


def pytest_sessionfinish(session: pytest.Session) -> None:
    if (
        session.config.getoption("--product-only")
        and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED
    ):
        session.exitstatus = pytest.ExitCode.OK
    for server in _opened.values():
        if isinstance(server, Server):
            server.close()


def _fixture(kind: type[Server]) -> Any:
    def running() -> Server:
        return _server(kind)

    running.__doc__ = (
        f"{kind.name}: `.url`, `.create_database()`, and `.stop()`, `.start()`, `.pause()` for faults."
    )
    return pytest.fixture(
        running, scope="session", name=f"{kind.__name__.removesuffix('Server').lower()}_server"
    )


postgres_server = _fixture(PostgresServer)
mariadb_server = _fixture(MariaDBServer)
redis_server = _fixture(RedisServer)
kafka_server = _fixture(KafkaServer)
apachekafka_server = _fixture(ApacheKafkaServer)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name every server that could not be had, and how many tests did not run for want of it."""
    missing: dict[str, int] = {}
    for report in [*terminalreporter.stats.get("skipped", []), *terminalreporter.stats.get("error", [])]:
        text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if MISSING in text:
            reason = text.split(MISSING, 1)[1].strip()
            missing[reason] = missing.get(reason, 0) + 1
    if missing:
        terminalreporter.section("Servers that could not be had", yellow=True)
        for reason, count in sorted(missing.items()):
            terminalreporter.write_line(f"{reason}: {count} test(s) did not run")
