"""Large tables for tests and measurements on PostgreSQL, made by the database itself."""

from __future__ import annotations

from typing import Any

from django.db import connection

from registry.models import System
from tests.factories import make_system

FIELDS_EACH = 20
# Words that names are made of: some in every tenth name, one in almost none.
NAME = """
(ARRAY['customer','order','amount','created','email','status','parcel','ledger','tariff','branch'])[1 + i % 10]
|| '_' || (ARRAY['id','code','name','total','at','kind','ref','note','flag','value'])[1 + (i / 10) % 10]
|| CASE WHEN i % 100000 = 77777 THEN '_xylophone' ELSE '' END || '_' || i
"""
STATEMENTS = (
    """
    INSERT INTO registry_dataset (system_id, kind, name, object_kind, status, layer, location, compatibility,
        source_comment, description, owner, tags, extra, note, row_version, created_at, updated_at)
    SELECT (%(systems)s::bigint[])[1 + d %% array_length(%(systems)s::bigint[], 1)], 'rdbms', 'public.table_' || d,
        'table', 'active', '', jsonb_build_object('schema', 'public', 'table', 'table_' || d), 'NONE', '',
        CASE WHEN d %% 3 = 0 THEN 'What the branch ' || d || ' sold' ELSE '' END, 'team ' || d %% 50,
        '[]', '{}', '', 1, now(), now()
    FROM generate_series(1, %(datasets)s) AS d
    """,
    f"""
    INSERT INTO registry_field (dataset_id, name, path, source_comment, description, owner, tags, note,
        row_version, created_at, updated_at)
    SELECT %(first)s + (i - 1) / {FIELDS_EACH}, n, n, '',
        CASE WHEN i %% 5 = 0 THEN 'The ' || n || ' as the source wrote it' ELSE '' END,
        CASE WHEN i %% 7 = 0 THEN 'team ' || i %% 50 ELSE '' END, '[]', '', 1, now(), now()
    FROM (SELECT i, {NAME.replace("%", "%%")} AS n FROM generate_series(1, %(fields)s) AS i) AS each
    """,
    """
    INSERT INTO registry_datasetschema (dataset_id, version_num, status, fingerprint, origin, published_at,
        object_kind, comment, attributes, unique_keys, foreign_keys, note, row_version, created_at, updated_at)
    SELECT id, 1, 'published', md5(id::text), 'crawl', now(), 'table', '', '{}', '[]', '[]', '', 1, now(), now()
    FROM registry_dataset WHERE id >= %(first)s
    """,
    """
    INSERT INTO registry_fieldbinding (dataset_schema_id, field_id, name, position, is_nullable, native_type, comment,
        on_update, hidden)
    SELECT s.id, f.id, f.name, row_number() OVER (PARTITION BY f.dataset_id ORDER BY f.id), true, 'text', '',
        '', false
    FROM registry_field f JOIN registry_datasetschema s ON s.dataset_id = f.dataset_id WHERE f.dataset_id >= %(first)s
    """,
    """
    UPDATE registry_dataset d SET current_schema_id = s.id FROM registry_datasetschema s
    WHERE s.dataset_id = d.id AND d.id >= %(first)s
    """,
)
INDEXES = (
    "registry_field_search",
    "registry_dataset_search",
    "registry_fieldbinding_search",
    "registry_field_by_name",
)


def fill(fields: int) -> int:
    """So many fields, twenty a dataset, in ten systems. Returns the first dataset's id."""
    systems = [make_system(f"large{n}").pk for n in range(10)]
    assert System.objects.count() >= 10
    with connection.cursor() as cursor:
        made = _drop(cursor)
        cursor.execute("SELECT last_value + is_called::int FROM registry_dataset_id_seq")
        values: dict[str, Any] = {
            "systems": systems,
            "datasets": fields // FIELDS_EACH,
            "fields": fields,
            "first": cursor.fetchone()[0],
        }
        for statement in STATEMENTS:
            used = {name: value for name, value in values.items() if f"%({name})s" in statement}
            cursor.execute(statement, used)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # no index is made while checks are pending
        for statement in made:
            cursor.execute(statement)
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        cursor.execute(
            "ANALYZE registry_dataset, registry_field, registry_fieldbinding, registry_datasetschema"
        )
    return int(values["first"])


def _drop(cursor: Any) -> list[str]:
    """Drops the search indexes and returns what makes them again: building them at the end is far quicker."""
    cursor.execute("SELECT indexname, indexdef FROM pg_indexes WHERE indexname = ANY(%s)", [list(INDEXES)])
    found = dict(cursor.fetchall())
    assert set(found) == set(INDEXES), "the migration has not made its indexes"
    for name in found:
        cursor.execute(f"DROP INDEX {name}")
    return list(found.values())
