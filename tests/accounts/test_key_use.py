"""When an API key was last used is remembered, but no request waits or fails for it."""

from __future__ import annotations

import datetime as dt
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from aide.accounts.models import ApiKey
from tests.factories import api_client, make_api_key, make_user


@contextmanager
def another_writer(key: ApiKey) -> Iterator[None]:
    """Holds what every writer of the key's row must wait for."""
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(settings["NAME"], isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
            other.execute("ROLLBACK")
        return
    where: Any = {
        "host": settings["HOST"], "port": settings["PORT"] or None, "user": settings["USER"],
        "password": settings["PASSWORD"], "dbname": settings["NAME"],
    }  # fmt: skip
    with psycopg.connect(**where) as other_one:
        other_one.execute("UPDATE accounts_apikey SET note = 'held' WHERE id = %s", [key.pk])
        yield
        other_one.rollback()


@pytest.mark.django_db(transaction=True)
def test_a_read_is_answered_at_once_while_another_writer_holds_the_lock() -> None:
    key, secret = make_api_key(make_user("engineer"), "registry:read")
    client = api_client(secret=secret)
    with another_writer(key):
        began = time.monotonic()
        assert client.get("/api/v1/systems").status_code == 200
        assert time.monotonic() - began < 10, "SQLite's own patience is 20 seconds"
        key.refresh_from_db()
        assert key.last_used_at is None
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout")
            assert cursor.fetchone() == (20_000,)
    assert client.get("/api/v1/systems").status_code == 200
    key.refresh_from_db()
    assert key.last_used_at is not None


@pytest.mark.django_db
def test_the_last_use_is_written_at_most_once_a_minute() -> None:
    key, secret = make_api_key(make_user("engineer"), "registry:read")
    client = api_client(secret=secret)
    times = []
    for ago in (None, 30, 90):
        if ago is not None:
            ApiKey.objects.filter(pk=key.pk).update(last_used_at=timezone.now() - dt.timedelta(seconds=ago))
        before = ApiKey.objects.get(pk=key.pk).last_used_at
        assert client.get("/api/v1/systems").status_code == 200
        times.append(ApiKey.objects.get(pk=key.pk).last_used_at != before)
    assert times == [True, False, True]
