"""Indexes for searches by part of a name and for the list of fields by name; PostgreSQL only.

Searches compare UPPER(column) with a pattern, so the trigrams are those of UPPER(column). Where the extension
pg_trgm cannot be installed, searches read whole tables; a system check (aide.W010) says what to do then.
"""

from django.db import DatabaseError, migrations

TRIGRAMS = {
    "registry_field_search": ("registry_field", ("name", "path", "description", "owner")),
    "registry_dataset_search": ("registry_dataset", ("name", "description", "owner")),
    "registry_fieldbinding_search": ("registry_fieldbinding", ("name", "native_type")),
}
BY_NAME = "registry_field_by_name"


def create(apps, schema_editor):
    connection = schema_editor.connection
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        _create(cursor, BY_NAME, "registry_field (name, id) WHERE retired_at IS NULL")
        if not _has_trigrams(cursor):
            return
        for index, (table, columns) in TRIGRAMS.items():
            parts = ", ".join(f"UPPER({column}::text) gin_trgm_ops" for column in columns)
            _create(cursor, index, f"{table} USING gin ({parts})")


def _has_trigrams(cursor):
    try:
        cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    except DatabaseError:
        pass  # not allowed, or not shipped with this server; an administrator may have installed it all the same
    cursor.execute("SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'")
    return cursor.fetchone() is not None


def _create(cursor, index, what):
    """Without locking writers out. What an interrupted attempt left behind is made anew."""
    cursor.execute("SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND NOT indisvalid", [index])
    if cursor.fetchone():
        cursor.execute(f"DROP INDEX CONCURRENTLY {index}")
    cursor.execute(f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {index} ON {what}")


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        with schema_editor.connection.cursor() as cursor:
            for index in (*TRIGRAMS, BY_NAME):
                cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index}")


class Migration(migrations.Migration):
    atomic = False  # indexes are made without locks, which no transaction allows
    dependencies = [("registry", "0003_cast_rules")]
    operations = [migrations.RunPython(create, drop)]
