"""Faults of sources while they are crawled: nothing wrongly gone, a true end, a free system, and then the truth.

`docs/operations.md` lists every fault that is shown somewhere, with its tests. Those that take longer are in
`tests/chaos`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine import make_url

from tests.flows.desk import API
from tests.flows.faults import Known, Line, at_statement, limited
from tests.flows.sources import Source

pytestmark = pytest.mark.django_db(transaction=True)
NewSource = Callable[[str], Source]


@pytest.fixture
def postgres(new_source: NewSource) -> Known:
    return Known(new_source("postgresql"))


@pytest.fixture
def mariadb(new_source: NewSource) -> Known:
    return Known(new_source("mariadb"))


def _as_role(known: Known, name: str) -> str:
    """From now on the system logs in as a role of its own. Returns the role."""
    url = make_url(known.desk.system.connection_url)
    role = f"{name}_{url.database}"
    known.source.execute(f"CREATE ROLE {role} LOGIN")
    known.desk.system.connection_url = url.set(username=role, password=None).render_as_string()
    known.desk.system.save()
    return role


@pytest.mark.parametrize(
    "config",
    [
        {"tables": ["customers"]},
        {"exclude_tables": ["i*", "notes"]},
        {"schemas": ["elsewhere"]},
        {"exclude_schemas": ["*"]},
        {"tables": ["no_such_table"]},
    ],
    ids=["tables", "exclude-tables", "other-schema", "exclude-all", "nothing"],
)
def test_a_narrowed_scope(sqlite: Source, config: dict[str, Any]) -> None:
    known = Known(sqlite)
    known.came_through(known.desk.crawl(config=config))
    known.finds_the_real_change()


@pytest.mark.parametrize(
    "lost",
    ["REVOKE ALL ON SCHEMA public FROM PUBLIC", "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {role}"],
    ids=["schema", "tables"],
)
@pytest.mark.parametrize("moment", [0, 4, 6])
def test_a_grant_of_postgresql_revoked_before_or_during_the_crawl(
    postgres: Known, lost: str, moment: int
) -> None:
    role = _as_role(postgres, "revoked")
    statement = lost.format(role=role)
    if moment == 0:
        postgres.source.execute(statement)
    with at_statement(moment, lambda: postgres.source.execute(statement)):
        postgres.came_through(postgres.desk.crawl(), "completed", "completed_with_errors", "failed")
    postgres.source.execute("GRANT ALL ON SCHEMA public TO PUBLIC")
    postgres.finds_the_real_change()


def test_a_log_in_that_is_taken_away(postgres: Known) -> None:
    role = _as_role(postgres, "locked_out")
    postgres.source.execute(f"ALTER ROLE {role} NOLOGIN")
    postgres.came_through(postgres.desk.crawl(), "failed")
    postgres.source.execute(f"ALTER ROLE {role} LOGIN")
    postgres.finds_the_real_change()


def test_a_database_that_lets_nobody_in(postgres: Known) -> None:
    _as_role(postgres, "denied")
    database = make_url(postgres.source.url).database
    postgres.source.execute(f'REVOKE CONNECT ON DATABASE "{database}" FROM PUBLIC')
    postgres.came_through(postgres.desk.crawl(), "failed", code="denied")
    postgres.source.execute(f'GRANT CONNECT ON DATABASE "{database}" TO PUBLIC')
    postgres.finds_the_real_change()


@pytest.mark.parametrize("number", [2, 4, 8])
def test_a_connection_that_the_server_ends(postgres: Known, number: int) -> None:
    others = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE application_name = 'aide-crawler' AND datname = current_database()"
    )
    with at_statement(number, lambda: postgres.source.execute(others)):
        postgres.came_through(postgres.desk.crawl(), "failed", code="connection_lost")
    postgres.finds_the_real_change()


@pytest.mark.parametrize(
    ("halfway", "gone"),
    [
        ("DROP TABLE items", ("items",)),
        ("ALTER TABLE items RENAME TO things", ("items",)),
        ("ALTER TABLE items DROP COLUMN label", ("items label",)),
        ("ALTER TABLE items SET SCHEMA pg_temp", ("items",)),
    ],
    ids=["dropped", "renamed", "altered", "out-of-sight"],
)
@pytest.mark.parametrize("number", [4, 6])
def test_a_table_that_changes_halfway(
    postgres: Known, halfway: str, gone: tuple[str, ...], number: int
) -> None:
    if "pg_temp" in halfway:
        halfway = "CREATE SCHEMA attic; ALTER TABLE items SET SCHEMA attic"
    with at_statement(number, lambda: postgres.source.execute(halfway)):
        postgres.came_through(postgres.desk.crawl(), gone=gone)
    run = postgres.desk.crawl()
    assert run["status"] == "completed"
    ops = {(each["op"], each["path"]["dataset"]) for each in postgres.desk.changes()}
    assert len(ops) >= 1
    assert {dataset for _, dataset in ops} <= {"public.items", "public.things", "attic.items"}


def test_a_lock_that_is_held(postgres: Known) -> None:
    with limited(lock_seconds=0.3, statement_seconds=3), _lock(postgres.source, "customers"):
        postgres.came_through(postgres.desk.crawl(), "completed", "completed_with_errors", "failed")
    postgres.finds_the_real_change()


def test_a_catalogue_that_is_locked(postgres: Known) -> None:
    with limited(lock_seconds=0.3, statement_seconds=3), _lock(postgres.source, "pg_catalog.pg_attrdef"):
        run = postgres.desk.crawl()
        postgres.came_through(run, "failed", code="timeout")
    assert "lock" in run["error"].lower()
    postgres.finds_the_real_change()


def _lock(source: Source, table: str) -> Any:
    from contextlib import contextmanager

    import psycopg

    @contextmanager
    def held() -> Iterator[None]:
        dsn = make_url(source.url).set(drivername="postgresql").render_as_string(hide_password=False)
        with psycopg.connect(dsn) as connection:
            connection.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
            yield
            connection.rollback()

    return held()


def test_a_crawl_cancelled_while_a_statement_waits_in_the_server(postgres: Known) -> None:
    desk = postgres.desk
    started = desk.by_engineer.post(f"{API}/crawl-runs", {"system": desk.system.code}, format="json").json()
    answers = []

    def cancel() -> None:
        from django.db import connection

        time.sleep(1)
        answers.append(desk.by_approver.post(f"{API}/crawl-runs/{started['id']}/cancel").status_code)
        connection.close()

    from aide.work.runner import drain

    thread = threading.Thread(target=cancel)
    with limited(lock_seconds=60, statement_seconds=60), _lock(postgres.source, "pg_catalog.pg_attrdef"):
        thread.start()
        began = time.monotonic()
        drain()
        took = time.monotonic() - began
    thread.join()
    assert answers == [200]
    run = desk.run(started["id"])
    postgres.came_through(run, "cancelled", code="cancelled")
    assert took < 30
    postgres.finds_the_real_change()


def test_a_crawl_that_takes_too_long_as_a_whole(postgres: Known) -> None:
    with limited(total_seconds=0.4), at_statement(4, lambda: time.sleep(0.6)):
        postgres.came_through(postgres.desk.crawl(), "failed", code="timeout")
    postgres.finds_the_real_change()


def test_a_database_that_got_another_name(postgres: Known, postgres_server: Any) -> None:
    name = make_url(postgres.source.url).database
    postgres_server.execute(f'ALTER DATABASE "{name}" RENAME TO "{name}_away"')
    run = postgres.desk.crawl()
    postgres.came_through(run, "failed", code="no_such_database")
    postgres_server.execute(f'ALTER DATABASE "{name}_away" RENAME TO "{name}"')
    postgres.finds_the_real_change()


@pytest.mark.parametrize("tables", ["", "CREATE TABLE customers (id integer PRIMARY KEY);", "most"])
def test_a_system_that_was_switched_to_another_database(
    postgres: Known, new_source: NewSource, tables: str
) -> None:
    other = new_source("postgresql")
    if tables == "most":
        from tests.flows.faults import TABLES

        other.execute(TABLES + "DROP TABLE notes;")
    elif tables:
        other.execute(tables)
    system = postgres.desk.system
    there, system.connection_url = system.connection_url, other.url
    system.save()
    run = postgres.desk.crawl()
    assert run["status"] == "completed"
    assert any("database" in each for each in run["warnings"])
    postgres.desk.approve_all(run)
    again = postgres.desk.crawl()
    postgres.desk.approve_all(again)
    assert {"public.orders", "public.items", "public.notes"} <= postgres.names(), (
        "no dataset is gone by “all”"
    )
    system.connection_url = there
    system.save()
    run = postgres.desk.crawl()
    assert run["status"] == "completed"
    assert not [each for each in postgres.desk.changes() if each["op"] == "drop_dataset"]


def test_an_empty_answer(postgres: Known) -> None:
    from aide_crawler.dialects.connection import Connection

    real = Connection.rows

    def nothing(connection: Any, sql: str, parameters: Any = None) -> Any:
        rows = real(connection, sql, parameters)
        return [] if "relkind" in sql else rows

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Connection, "rows", nothing)
        run = postgres.desk.crawl()
    assert run["status"] == "completed"
    assert "All 4 datasets" in run["warnings"][0]
    postgres.desk.approve_all(run)
    assert len(postgres.names()) == 4
    postgres.finds_the_real_change()


@pytest.mark.parametrize("engine", ["postgresql", "sqlite"])
def test_names_that_change_their_case(new_source: NewSource, engine: str) -> None:
    known = Known(new_source(engine))
    known.source.execute(
        'ALTER TABLE customers RENAME TO customers_; ALTER TABLE customers_ RENAME TO "Customers"'
    )
    known.desk.crawl()
    ops = {each["op"] for each in known.desk.changes()}
    assert "drop_dataset" not in ops, ops
    assert "rename_dataset" in ops


def test_a_schema_of_mariadb_that_is_no_longer_granted(mariadb: Known, mariadb_server: Any) -> None:
    database = make_url(mariadb.source.url).database
    user = f"reader_{database}"[:30]
    mariadb_server.execute(f"CREATE USER '{user}'@'%'")
    mariadb_server.execute(f"GRANT SELECT ON `{database}`.* TO '{user}'@'%'")
    system = mariadb.desk.system
    system.connection_url = make_url(mariadb.source.url).set(username=user, password=None).render_as_string()
    system.save()
    mariadb.came_through(mariadb.desk.crawl(), "completed")
    mariadb_server.execute(f"REVOKE SELECT ON `{database}`.* FROM '{user}'@'%'")
    mariadb_server.execute(f"GRANT SELECT ON `{database}`.customers TO '{user}'@'%'")
    mariadb.came_through(mariadb.desk.crawl())
    mariadb_server.execute(f"REVOKE SELECT ON `{database}`.customers FROM '{user}'@'%'")
    mariadb.came_through(mariadb.desk.crawl())
    mariadb_server.execute(f"GRANT SELECT ON `{database}`.* TO '{user}'@'%'")
    mariadb.finds_the_real_change()


@pytest.mark.parametrize("halfway", ["DROP TABLE items", "ALTER TABLE items RENAME TO things"])
def test_a_table_of_mariadb_that_changes_halfway(mariadb: Known, halfway: str) -> None:
    with at_statement(6, lambda: mariadb.source.execute(halfway)):
        mariadb.came_through(mariadb.desk.crawl(), gone=("items",))
    assert mariadb.desk.crawl()["status"] == "completed"
    assert "items" in str(mariadb.desk.changes())


@pytest.mark.parametrize("number", [2, 5, 8])
def test_a_connection_of_mariadb_that_is_killed(mariadb: Known, mariadb_server: Any, number: int) -> None:
    database = make_url(mariadb.source.url).database

    def kill() -> None:
        connection = mariadb_server._connect()
        with connection, connection.cursor() as cursor:
            cursor.execute("SELECT id FROM information_schema.processlist WHERE db = %s", (database,))
            for (number,) in cursor.fetchall():
                cursor.execute(f"KILL {number}")

    with at_statement(number, kill):
        mariadb.came_through(mariadb.desk.crawl(), "failed", code="connection_lost")
    mariadb.finds_the_real_change()


@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
@pytest.mark.parametrize("answered", [10, 3000])
def test_a_line_that_is_cut(new_source: NewSource, engine: str, answered: int) -> None:
    source = new_source(engine)
    url = make_url(source.url)
    line = Line(url.host or "127.0.0.1", url.port or 0)
    try:
        known = Known(
            source,
        )
        system = known.desk.system
        system.connection_url = url.set(host="127.0.0.1", port=line.port).render_as_string(
            hide_password=False
        )
        system.save()
        line.breaks_after(answered, cut=True)
        known.came_through(known.desk.crawl(), "failed")
        line.heals()
        known.finds_the_real_change()
    finally:
        line.close()


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"no database at all" * 100),
        lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
        lambda path: path.unlink(),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=["overwritten", "half", "deleted", "a-folder"],
)
def test_a_file_that_is_damaged_or_gone(sqlite: Source, damage: Callable[[Path], object]) -> None:
    known = Known(sqlite)
    path = Path(sqlite.url.removeprefix("sqlite:///"))
    whole = path.read_bytes()
    damage(path)
    known.came_through(known.desk.crawl(), "failed", "completed_with_errors")
    if path.is_dir():
        path.rmdir()
    path.write_bytes(whole)
    known.finds_the_real_change()


def test_a_file_that_is_empty(sqlite: Source) -> None:
    known = Known(sqlite)
    path = Path(sqlite.url.removeprefix("sqlite:///"))
    whole = path.read_bytes()
    path.write_bytes(b"")
    run = known.desk.crawl()
    known.came_through(run, "completed_with_errors")
    assert "0 bytes" in run["coverage"]["schemas"][0]["reason"]
    known.desk.approve_all(run)
    assert len(known.names()) == 4
    path.write_bytes(whole)
    known.finds_the_real_change()


def test_a_file_that_another_program_locks(sqlite: Source) -> None:
    import sqlite3
    from contextlib import closing

    known = Known(sqlite)
    path = sqlite.url.removeprefix("sqlite:///")
    with (
        limited(lock_seconds=0.3, statement_seconds=3),
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN EXCLUSIVE")
        known.came_through(known.desk.crawl(), "failed")
        other.execute("ROLLBACK")
    known.finds_the_real_change()
