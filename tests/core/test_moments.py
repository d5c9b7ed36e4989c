"""Times from the database are what they were, by the quick way and by Django's."""

from __future__ import annotations

import datetime as dt

import pytest
from django.db import connection, utils
from django.utils import timezone

pytestmark = pytest.mark.django_db


@pytest.fixture
def read():
    if connection.vendor != "postgresql":
        pytest.skip("only PostgreSQL has times with a zone")

    def ask(text: str) -> dt.datetime:
        with connection.cursor() as cursor:
            cursor.execute("SELECT %s::timestamptz", [text])
            found: dt.datetime = cursor.fetchone()[0]
            return found

    return ask


def test_times_come_as_they_were_written(read) -> None:
    for text in (
        "2026-03-01T10:00:00+00:00",
        "2026-03-01T10:00:00.500000+00:00",
        "2026-03-01T10:00:00.123456+05:30",
        "0001-01-01T00:00:00+00:00",
        "9999-12-31T23:59:59.999999+00:00",
    ):
        found = read(text)
        assert found == dt.datetime.fromisoformat(text)
        assert found.tzinfo is dt.UTC


def test_another_style_of_dates_is_read_and_what_is_no_time_is_an_error(read) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL datestyle = 'German'")
        cursor.execute("SELECT '2026-03-01T10:00:00Z'::timestamptz")
        with pytest.raises((utils.Error, NotImplementedError)):
            cursor.fetchone()
        cursor.execute("SET LOCAL datestyle = 'ISO'")
    with pytest.raises(utils.DataError):
        read("infinity")


def test_the_present_zone_changes_no_moment(read) -> None:
    with timezone.override("Asia/Tokyo"):
        assert read("2026-03-01T10:00:00Z") == dt.datetime(2026, 3, 1, 10, tzinfo=dt.UTC)
