"""Indexes for searches and filters of the audit log, made without locking writers out.

The trigrams are PostgreSQL's, of UPPER(column) as searches compare; without pg_trgm a search reads the whole log,
and a system check (aide.W010) says what to do then.
"""

from django.db import DatabaseError, migrations, models
from django.db.models import Q

COLUMNS = ("object_name", "actor_name", "reason", "action")
SEARCH = "audit_auditentry_search"
PREFIX = "audit_auditentry_action_prefix"
INDEXES = (
    models.Index(fields=["object_id", "object_type"], name="audit_entry_object"),
    models.Index(fields=["id"], condition=Q(risk="breaking"), name="audit_entry_breaking"),
    models.Index(fields=["id"], condition=Q(touches_pii=True), name="audit_entry_pii"),
)


def create(apps, schema_editor):
    model = apps.get_model("audit", "AuditEntry")
    if schema_editor.connection.vendor != "postgresql":
        for index in INDEXES:
            schema_editor.add_index(model, index)
        return
    table = model._meta.db_table
    with schema_editor.connection.cursor() as cursor:
        for index in INDEXES:
            _drop_broken(cursor, index.name)
            _run(cursor, str(index.create_sql(model, schema_editor, concurrently=True)))
        _drop_broken(cursor, PREFIX)
        _run(cursor, f"CREATE INDEX CONCURRENTLY {PREFIX} ON {table} (action varchar_pattern_ops, id)")
        if _has_trigrams(cursor):
            parts = ", ".join(f"UPPER({column}::text) gin_trgm_ops" for column in COLUMNS)
            _drop_broken(cursor, SEARCH)
            _run(cursor, f"CREATE INDEX CONCURRENTLY {SEARCH} ON {table} USING gin ({parts})")
        # How common a word is decides the plan, and nothing is known of UPPER(column) before this.
        cursor.execute(f"ANALYZE {table}")


def _run(cursor, statement):
    cursor.execute(statement.replace("CONCURRENTLY ", "CONCURRENTLY IF NOT EXISTS ", 1))


def _drop_broken(cursor, name):
    """What an interrupted attempt left behind is made anew."""
    cursor.execute("SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND NOT indisvalid", [name])
    if cursor.fetchone():
        cursor.execute(f"DROP INDEX CONCURRENTLY {name}")


def _has_trigrams(cursor):
    try:
        cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    except DatabaseError:
        pass  # not allowed, or not shipped with this server; an administrator may have installed it all the same
    cursor.execute("SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'")
    return cursor.fetchone() is not None


def drop(apps, schema_editor):
    names = [index.name for index in INDEXES]
    concurrently = ""
    if schema_editor.connection.vendor == "postgresql":
        names, concurrently = [*names, SEARCH, PREFIX], "CONCURRENTLY "
    with schema_editor.connection.cursor() as cursor:
        for name in names:
            cursor.execute(f"DROP INDEX {concurrently}IF EXISTS {name}")


class Migration(migrations.Migration):
    atomic = False  # indexes are made without locks, which no transaction allows
    dependencies = [("audit", "0003_guard")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(create, drop)],
            state_operations=[migrations.AddIndex("auditentry", index) for index in INDEXES],
        )
    ]
