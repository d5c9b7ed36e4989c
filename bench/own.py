"""AIDE's own database for benchmarks: empty, then with a crawled system whose changes are all noted as approved."""

from __future__ import annotations

import logging
import os
import sys
import time

from bench import sources
from tests.servers import PostgresServer

SYSTEM = "bench"
PERSON = "steward@bench.example"


def environment(url: str) -> dict[str, str]:
    """What a process needs that works on this database."""
    return {"AIDE_DEBUG": "1", "AIDE_DATABASE_URL": url.replace("+psycopg", "")}


def open_project(url: str) -> None:
    """Start Django on a database, in this process."""
    os.environ.update(environment(url), DJANGO_SETTINGS_MODULE="aide.settings")
    logging.disable(logging.INFO)
    import django

    django.setup()


def make_source(server: PostgresServer, tables: int) -> str:
    """A database to crawl."""
    url = server.create_database("source")
    for script in sources.postgresql(tables):
        server.execute(script, database="source")
    server.execute("VACUUM ANALYZE", database="source")
    return url


def prepare(url: str, source: str) -> None:
    """Migrate, crawl for the first time and note every change as approved. Starts Django in this process."""
    open_project(url)
    from django.contrib.auth.models import Group
    from django.core.management import call_command

    from aide.accounts.models import User
    from crawling import crawl, review
    from registry.models import System, SystemFlavor

    call_command("migrate", verbosity=0)
    with open(os.devnull, "w") as nowhere:
        call_command("seed_data_types", stdout=nowhere)
    person = User.objects.create_user(PERSON, "a long password for nobody")
    person.groups.add(Group.objects.get(name="steward"))
    flavor = SystemFlavor.objects.get(code="postgresql")
    system = System.objects.create(code=SYSTEM, name=SYSTEM, flavor=flavor, connection_url=source)
    system.stewards.add(person)
    run = crawl.crawl_now(system, trigger="command")
    review.decide(review.proposals_of(run), approve="all", by=person)


def approve(url: str) -> float:
    """Carry the approvals out; the seconds that it took. Starts Django in this process."""
    open_project(url)
    from aide.accounts.models import User
    from crawling import review
    from crawling.models import CrawlRun

    person = User.objects.get(email=PERSON)
    proposals = review.proposals_of(CrawlRun.objects.get())
    began = time.perf_counter()
    outcome = review.apply(proposals, by=person)
    taken = time.perf_counter() - began
    assert outcome.applied
    assert not outcome.failed
    return taken


if __name__ == "__main__":
    if sys.argv[1] == "prepare":
        prepare(*sys.argv[2:])
    else:
        print(approve(sys.argv[2]))
