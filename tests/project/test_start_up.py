"""What a process imports before it does anything: every command and every worker waits for it."""

from __future__ import annotations

import os
import subprocess
import sys

NEEDLESS = {
    "celery": "only a process with a broker sends tasks",
    "kafka": "only the relay, the consumers and the look at topics speak to a broker",
    "sqlalchemy": "PostgreSQL and SQLite are crawled without it",
}
LOADED = """
import sys, django
django.setup()
import crawling.management.commands.crawl
import aide_crawler.dialects.postgresql, aide_crawler.dialects.sqlite
print(*sys.modules)
"""


def test_a_crawl_waits_for_no_library_that_it_does_not_use() -> None:
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "aide.settings", "AIDE_DEBUG": "1", "AIDE_BROKER_URL": ""}

    done = subprocess.run([sys.executable, "-c", LOADED], env=env, capture_output=True, text=True, check=True)

    assert NEEDLESS.keys() & set(done.stdout.split()) == set()
