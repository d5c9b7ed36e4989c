"""The registry's and the audit log's pages over a million rows: how many times a bare statement each one takes.

The floor of a page is the statement that fetches its rows, sent by psycopg alone in the same run. Beside the ratio
stand the median milliseconds, statements, compressed size and elements, which are what the page budgets bound.
Rows: `AIDE_BENCH_ROWS` (1,000,000). With AIDE_TEST_POSTGRES_URL the filled database stays there for the next run.
"""

from __future__ import annotations

import gzip
import logging
import os
import re
import statistics
import time
from collections.abc import Callable
from typing import Any

import psycopg

from tests.servers import PostgresServer

ROWS = int(os.environ.get("AIDE_BENCH_ROWS", "1000000"))
ROUNDS = 5
DATABASE = f"bench_registry_pages_{ROWS}"
COLUMNS = 500

FIELDS = "SELECT f.*, d.name FROM registry_field f JOIN registry_dataset d ON d.id = f.dataset_id"
DATASETS = "SELECT d.*, s.code FROM registry_dataset d JOIN registry_system s ON s.id = d.system_id"
LIVE = "f.retired_at IS NULL"
ENTRIES = "SELECT * FROM audit_auditentry"
WIDE = """
SELECT b.*, f.description, t.rendered FROM registry_fieldbinding b JOIN registry_field f ON f.id = b.field_id
LEFT JOIN registry_typeinstance t ON t.id = b.type_instance_id
JOIN registry_datasetschema s ON s.id = b.dataset_schema_id
WHERE s.dataset_id = {wide} AND s.version_num {versions}
"""


def like(word: str, *columns: str) -> str:
    return " OR ".join(f"UPPER({column}::text) LIKE UPPER('%{word}%')" for column in columns)


def pages(wide: int) -> list[tuple[str, str, str, str]]:
    """(name, who asks, address, the floor's statement)."""
    admin, api = "/admin/registry", "/api/v1"
    names = ("f.name", "f.path", "f.description", "f.owner")
    logged = ("object_name", "actor_name", "reason", "action")
    by_name = f"{FIELDS} WHERE {LIVE} ORDER BY f.name, f.id LIMIT 101"
    newest = f"{ENTRIES} ORDER BY id DESC LIMIT 101"

    def fields(word: str) -> str:
        return f"{FIELDS} WHERE {LIVE} AND ({like(word, *names)}) ORDER BY f.name, f.id LIMIT 101"

    def log(word: str) -> str:
        return f"{ENTRIES} WHERE {like(word, *logged)} ORDER BY id DESC LIMIT 101"

    return [
        ("field list", "screen", f"{admin}/field/", by_name),
        ("field list, rare word", "screen", f"{admin}/field/?q=xylophone", fields("xylophone")),
        ("field list, common word", "screen", f"{admin}/field/?q=customer", fields("customer")),
        ("field list, no such word", "screen", f"{admin}/field/?q=quagmire", fields("quagmire")),
        ("API fields", "api", f"{api}/fields", by_name),
        ("API fields, rare word", "api", f"{api}/fields?name__like=xylophone",
         f"{FIELDS} WHERE {like('xylophone', 'f.name')} ORDER BY f.id LIMIT 51"),
        ("API fields, common word", "api", f"{api}/fields?name__like=customer",
         f"{FIELDS} WHERE {like('customer', 'f.name')} ORDER BY f.id LIMIT 51"),
        ("dataset list", "screen", f"{admin}/dataset/",
         f"{DATASETS} ORDER BY d.name LIMIT 101"),
        ("dataset, 500 columns", "screen", f"{admin}/dataset/{wide}/change/",
         WIDE.format(wide=wide, versions="= 2")),
        ("two versions of 500 columns", "screen", f"{admin}/dataset/{wide}/change/?tab=versions",
         WIDE.format(wide=wide, versions="IN (1, 2)")),
        ("a dataset's history", "screen", f"{admin}/dataset/{wide}/change/?tab=history",
         f"{ENTRIES} WHERE dataset_id = {wide} ORDER BY id DESC LIMIT 100"),
        ("search, rare word", "screen", "/admin/search/?q=xylophone", fields("xylophone")),
        ("search, common word", "screen", "/admin/search/?q=customer", fields("customer")),
        ("audit list", "screen", "/admin/audit/auditentry/", newest),
        ("audit list, breaking", "screen", "/admin/audit/auditentry/?risk=breaking",
         f"{ENTRIES} WHERE risk = 'breaking' ORDER BY id DESC LIMIT 101"),
        ("audit list, personal data", "screen", "/admin/audit/auditentry/?risk=pii",
         f"{ENTRIES} WHERE touches_pii ORDER BY id DESC LIMIT 101"),
        ("audit list, about people", "screen", "/admin/audit/auditentry/?about=user",
         f"{ENTRIES} WHERE action LIKE 'user.%' ORDER BY id DESC LIMIT 101"),
        ("audit of one object", "screen", "/admin/audit/auditentry/?object_type=field&object_id=77001",
         f"{ENTRIES} WHERE object_type = 'field' AND object_id = '77001' ORDER BY id DESC LIMIT 101"),
        ("audit search, rare word", "screen", "/admin/audit/auditentry/?q=xylophone", log("xylophone")),
        ("audit search, common word", "screen", "/admin/audit/auditentry/?q=customer", log("customer")),
        ("audit search, no such word", "screen", "/admin/audit/auditentry/?q=quagmire", log("quagmire")),
        ("API audit", "api", f"{api}/audit", newest),
        ("API audit of an object", "api", f"{api}/audit?object_type=field&object_id=77001",
         f"{ENTRIES} WHERE object_type = 'field' AND object_id = '77001' ORDER BY id DESC LIMIT 51"),
    ]  # fmt: skip


def median(action: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Milliseconds, after one call that warms up."""
    action()
    taken = []
    for _round in range(rounds):
        began = time.perf_counter()
        action()
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


def prepare(url: str) -> int:
    """Django on that database, migrated and filled. Returns the dataset with 500 columns."""
    os.environ |= {"AIDE_DATABASE_URL": url.replace("+psycopg", ""), "AIDE_DEBUG": "0", "AIDE_HTTPS": "0"}
    os.environ.setdefault("AIDE_SECRET_KEY", "only-for-measurements-never-for-anything-else-0123456789")
    os.environ.setdefault("AIDE_ALLOWED_HOSTS", "testserver")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aide.settings")
    import django

    django.setup()
    logging.disable(logging.ERROR)
    from django.core.management import call_command
    from django.db import transaction

    call_command("migrate", verbosity=0)
    from registry.models import Dataset
    from tests.factories import make_dataset, make_system, make_user, publish
    from tests.scale.audit_filling import fill_audit
    from tests.scale.filling import fill

    kept = Dataset.objects.filter(name="public.wide").first()
    if kept is not None:
        return int(kept.pk)
    began = time.monotonic()
    with transaction.atomic():
        fill(ROWS)
    wide = make_dataset("wide", system=make_system("pg-wide"), status=Dataset.Status.ACTIVE)
    for length in (40, 60):
        publish(wide, *((f"column_{n}", f"varchar({length if n % 25 == 0 else 40})") for n in range(COLUMNS)))
    fill_audit(ROWS, by=make_user("admin", "engineer", email="bench@example.com"))
    print(f"filled in {time.monotonic() - began:.0f} s")
    return int(wide.pk)


def measure(url: str, wide: int) -> None:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from aide.accounts.models import User
    from tests.factories import api_client

    user = User.objects.get(email="bench@example.com")
    browser = Client(headers={"accept": "text/html"})
    browser.force_login(user, "aide.accounts.backends.EmailBackend")
    ask = {"screen": browser.get, "api": api_client(user).get}
    print(f"{'':30} {'floor':>9} {'page':>9}  ratio  statements  KiB gz  elements")
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as bare:
        for name, who, address, statement in pages(wide):
            get = ask[who]
            with CaptureQueriesContext(connection) as asked:
                answer = get(address)
            assert answer.status_code == 200, (name, answer.status_code)
            with CaptureQueriesContext(connection) as asked:
                content = get(address).content
            statements = len(asked)
            floor = median(lambda text=statement: bare.execute(text).fetchall())  # type: ignore[misc]
            page = median(lambda get=get, address=address: get(address))  # type: ignore[misc]
            size, elements = len(gzip.compress(content, 6)) / 1024, len(re.findall(rb"<[a-z]", content))
            print(
                f"{name:30} {floor:6.1f} ms {page:6.1f} ms {page / floor:6.1f}  "
                f"{statements:10}  {size:6.1f}  {elements:8}"
            )


def verify(url: str) -> None:
    """A check of the whole log, against reading its rows with one statement."""
    from aide.audit import checking

    began = time.perf_counter()
    with psycopg.connect(url.replace("+psycopg", "")) as bare, bare.cursor("all", binary=False) as cursor:
        cursor.itersize = 5_000
        read = sum(1 for _row in cursor.execute(f"{ENTRIES} ORDER BY place"))
    floor = time.perf_counter() - began
    began = time.perf_counter()
    verdict = checking.verify()
    taken = time.perf_counter() - began
    assert verdict.ok, verdict
    print(
        f"audit verify, {read:,} rows: reading them {floor:.1f} s, verify {taken:.1f} s, {taken / floor:.1f} times"
    )


def main() -> None:
    server = PostgresServer(external=os.environ.get(PostgresServer.variable) or None)
    try:
        with psycopg.connect(server.url.replace("+psycopg", ""), autocommit=True) as bare:
            known = bare.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
        url = server.url.rsplit("/", 1)[0] + f"/{DATABASE}" if known else server.create_database(DATABASE)
        wide = prepare(url)
        measure(url, wide)
        verify(url)
    finally:
        server.close()


if __name__ == "__main__":
    main()
