"""The index for searches by when events were received; PostgreSQL only.

Rows are written in that order, so it holds two times for every some pages: next to nothing to keep or to write.
"""

from django.db import migrations

INDEX = "lineage_event_received"


def create(apps, schema_editor):
    connection = schema_editor.connection
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND NOT indisvalid", [INDEX])
        if cursor.fetchone():  # what an interrupted attempt left behind
            cursor.execute(f"DROP INDEX CONCURRENTLY {INDEX}")
        cursor.execute(
            f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {INDEX} ON lineage_event"
            " USING brin (received_at) WITH (pages_per_range = 32, autosummarize = on)"
        )


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {INDEX}")


class Migration(migrations.Migration):
    atomic = False  # the index is made without locks, which no transaction allows
    dependencies = [("lineage", "0004_outboxshard_wanted_by")]
    operations = [migrations.RunPython(create, drop)]
