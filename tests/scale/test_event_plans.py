"""Searches among many events: each selective filter, and any filter with a time range, is answered by an index."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from lineage.models import Event
from tests.factories import api_client, make_user

pytestmark = pytest.mark.django_db
SOME = 120_000
# So many rows a statement may look at, however large the table: a total stops at 10,001 ...
MOST_ROWS = 11_000
# ... here of each fifth row, where no index says which.
FREQUENT = {"action": 55_000}
FILL = """
INSERT INTO lineage_event (event_id, resource, subject, action, happened_at, additional_values, received_at)
SELECT 'e' || i, 'resource_' || i / 20, 'subject_' || i %% 200, 'ACTION_' || i %% 5,
    '2026-01-01Z'::timestamptz + i * interval '1 minute',
    jsonb_build_object('pipeline_id', 'p' || i / 100, 'stage_number', (i %% 20)::text, 'format', 'parquet',
        'path', 's3://raw/' || i), '2026-01-01Z'::timestamptz + i * interval '1 minute 1 millisecond'
FROM generate_series(1, %s) AS i
"""
DAY = {"from": "2026-02-01", "to": "2026-02-02"}
SEARCHES: dict[str, dict[str, Any]] = {
    "everything": {},
    "resource": {"resource": "resource_77"},
    "subject": {"subject": "subject_7"},
    "action": {"action": "ACTION_3"},
    "an action that is not there": {"action": "NOTHING"},
    "event id": {"event_id": "e777"},
    "several resources": {"resource__in": "resource_1,resource_2000,resource_9"},
    "additional value": {"additionalValues.path": "s3://raw/4711"},
    "additional value of a hundred": {"additionalValues.pipeline_id": "p33"},
    "additional value that is not there": {"additionalValues.path": "nothing"},
    "additional value of all": {"additionalValues.format": "parquet"},
    "resource and value": {"resource": "resource_77", "additionalValues.format": "parquet"},
    "a day": DAY,
    "a day, subject": {**DAY, "subject": "subject_7"},
    "a day, action": {**DAY, "action": "ACTION_3"},
    "a day, common value": {**DAY, "additionalValues.stage_number": "7"},
    "a day, part of a name": {**DAY, "resource__like": "rce_22"},
    "a day, part of a value": {**DAY, "additionalValues.path__like": "raw/45"},
    "received in an hour": {
        "received_at__gte": "2026-02-01T00:00:00Z",
        "received_at__lte": "2026-02-01T01:00:00Z",
    },
    "the last hour": {"from": "2026-03-25T00:00:00Z"},
    "long ago": {"to": "2026-01-01T12:00:00Z"},
}


@pytest.fixture
def get() -> Callable[[str], Any]:
    if connection.vendor != "postgresql":
        pytest.skip("plans are PostgreSQL's; `make test` runs this in its second half")
    with connection.cursor() as cursor:
        cursor.execute(FILL, [SOME])
        cursor.execute("SELECT gin_clean_pending_list('lineage_event_values')")
        cursor.execute("SELECT brin_summarize_new_values('lineage_event_received')")
        cursor.execute("ANALYZE lineage_event")
    return api_client(make_user("viewer")).get


def nodes_of(statement: str) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}")
        answer = cursor.fetchone()[0]
    todo = [(json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"]]
    found = []
    while todo:
        node = todo.pop()
        found.append(node)
        todo += node.get("Plans", [])
    return found


def rows_read(nodes: list[dict[str, Any]]) -> int:
    """Rows of the table that were looked at, those that were thrown away included."""
    return sum(
        (
            node["Actual Rows"]
            + node.get("Rows Removed by Filter", 0)
            + node.get("Rows Removed by Index Recheck", 0)
        )
        * node["Actual Loops"]
        for node in nodes
        if node.get("Relation Name") == "lineage_event"
    )


def test_every_search_reads_few_rows(get: Callable[[str], Any]) -> None:
    faults = {}
    for name, query in SEARCHES.items():
        for cursor in ({}, {"cursor": ""}):
            with CaptureQueriesContext(connection) as found:
                answer = get(f"/api/v1/metadata?{urlencode({**query, **cursor})}")
            assert answer.status_code == 200, name
            statements = [each["sql"] for each in found if "lineage_event" in each["sql"]]
            assert 1 <= len(statements) <= 3, name
            read = [rows_read(nodes_of(statement)) for statement in statements]
            if max(read) > FREQUENT.get(name, MOST_ROWS):
                faults[name] = read
    assert faults == {}


def test_a_page_far_behind_is_reached_by_its_cursor(get: Callable[[str], Any]) -> None:
    middle = Event.objects.order_by("-happened_at", "-pk")[60_000]
    page = get("/api/v1/metadata?cursor=&size=500").json()
    assert len(page["items"]) == 500
    with CaptureQueriesContext(connection) as found:
        get(f"/api/v1/metadata?{urlencode({'cursor': page['next_cursor'], 'size': 500})}")
    statement = next(each["sql"] for each in found if "lineage_event" in each["sql"])
    assert rows_read(nodes_of(statement)) <= 502
    assert middle.pk


def test_a_day_is_looked_through_rather_than_a_frequent_value_in_the_index(get: Callable[[str], Any]) -> None:
    query = urlencode({**DAY, "additionalValues.stage_number": "7"})
    with CaptureQueriesContext(connection) as found:
        answer = get(f"/api/v1/metadata?{query}")
    assert answer.json()["total"] == 72
    for statement in (each["sql"] for each in found if "lineage_event" in each["sql"]):
        assert "lineage_event_values" not in {node.get("Index Name") for node in nodes_of(statement)}


def test_a_value_that_few_have_is_found_by_the_index_over_values(get: Callable[[str], Any]) -> None:
    with CaptureQueriesContext(connection) as found:
        answer = get("/api/v1/metadata?additionalValues.path=s3://raw/4711")
    assert [each["event_id"] for each in answer.json()["items"]] == ["e4711"]
    for statement in (each["sql"] for each in found if "lineage_event" in each["sql"]):
        assert "lineage_event_values" in {node.get("Index Name") for node in nodes_of(statement)}
