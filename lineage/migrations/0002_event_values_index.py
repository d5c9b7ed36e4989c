"""The index for searches by any additional value of events; PostgreSQL only.

It holds a hash of each key with its value. New events wait in a short list that every search reads too, so it is
kept short.
"""

from django.db import migrations

INDEX = "lineage_event_values"


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
            " USING gin (additional_values jsonb_path_ops) WITH (gin_pending_list_limit = 256)"
        )
        # What a search by a value will find is guessed from the sample of this column.
        cursor.execute("ALTER TABLE lineage_event ALTER COLUMN additional_values SET STATISTICS 500")


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {INDEX}")
            cursor.execute("ALTER TABLE lineage_event ALTER COLUMN additional_values SET STATISTICS -1")


class Migration(migrations.Migration):
    atomic = False  # the index is made without locks, which no transaction allows
    dependencies = [("lineage", "0001_initial")]
    operations = [migrations.RunPython(create, drop)]
