"""The lineage graph among many edges: no statement of an answer reads a whole table, however many edges a hub has."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from lineage import asking, graph
from lineage.models import Node

pytestmark = pytest.mark.django_db
NODES, HUB = 20_000, 7
# Each node leads to the two after twice its number, the hub to each third; some lead back.
FILL = """
INSERT INTO lineage_job (id, key, namespace, name, description, facets, first_seen, last_seen)
    VALUES (1, 'k', 'jobs', 'nightly', '', '{{}}', now(), now());
INSERT INTO lineage_node (id, namespace, name, facets, first_seen, last_seen)
    SELECT i, 'n', 't' || i, '{{}}', now(), now() FROM generate_series(1, {nodes}) i;
INSERT INTO lineage_nodecolumn (id, node_id, key, path) SELECT id, id, 'k', 'c' FROM lineage_node;
INSERT INTO lineage_edge (source_id, target_id, job_id, origin, reason, first_seen, last_seen)
    SELECT source, target, 1, 'event', '', now(), now() FROM (
        SELECT i AS source, 2 * i + j AS target FROM generate_series(1, {nodes} / 2 - 1) i, generate_series(0, 1) j
        UNION SELECT {hub}, 3 * i FROM generate_series(4, {nodes} / 3) i
        UNION SELECT 2 * i, i FROM generate_series(100, {nodes} / 2, 10) i) AS pairs;
INSERT INTO lineage_columnedge
        (source_id, target_id, job_id, origin, reason, first_seen, last_seen, transformation, masking)
    SELECT source_id, target_id, job_id, origin, reason, first_seen, last_seen, '', false FROM lineage_edge;
ANALYZE lineage_node; ANALYZE lineage_nodecolumn; ANALYZE lineage_edge; ANALYZE lineage_columnedge;
"""


@pytest.fixture
def filled() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("plans are PostgreSQL's; `make test` runs this in its second half")
    with connection.cursor() as cursor:
        cursor.execute(FILL.format(nodes=NODES, hub=HUB))
        # So small a table would be read as a whole for some hundred rows, a large one never.
        cursor.execute("SET LOCAL random_page_cost = 1")
        cursor.execute("SET LOCAL seq_page_cost = 10")


def scans_of(statement: str) -> set[str]:
    """The tables that a statement's plan reads as a whole."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}")
        answer = cursor.fetchone()[0]
    todo: list[dict[str, Any]] = [(json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"]]
    found = set()
    while todo:
        node = todo.pop()
        todo += node.get("Plans", [])
        if node["Node Type"] == "Seq Scan":
            found.add(node["Relation Name"])
    return found


def test_no_statement_reads_a_whole_table(filled: None) -> None:
    for level in (graph.DATASET, graph.COLUMN):
        for number in (1, HUB, 400, NODES):
            start = asking.Start(Node.objects.get(pk=number), None)
            with CaptureQueriesContext(connection) as found:
                answer = asking.around(
                    start,
                    level=level,
                    path=None,
                    direction="both",
                    depth=5,
                    as_of=None,
                    most=graph.USUAL_MOST,
                )
            assert answer["truncated"] or number != HUB
            assert len(found) <= 20
            read = {table for each in found for table in scans_of(each["sql"])}
            assert read <= {"lineage_job"}, (level, number)
