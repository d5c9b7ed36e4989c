"""Indexes of the audit log by time, for spans of days, and by batch; made without locking writers out."""

from django.db import migrations, models
from django.db.models import Q

INDEXES = (
    models.Index(fields=["at"], name="audit_entry_at"),
    models.Index(fields=["batch", "-id"], condition=~Q(batch=""), name="audit_entry_batch"),
)


def create(apps, schema_editor):
    model = apps.get_model("audit", "AuditEntry")
    if schema_editor.connection.vendor != "postgresql":
        for index in INDEXES:
            schema_editor.add_index(model, index)
        return
    with schema_editor.connection.cursor() as cursor:
        for index in INDEXES:
            # What an interrupted attempt left behind is made anew.
            cursor.execute(
                "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND NOT indisvalid", [index.name]
            )
            if cursor.fetchone():
                cursor.execute(f"DROP INDEX CONCURRENTLY {index.name}")
            made = str(index.create_sql(model, schema_editor, concurrently=True))
            cursor.execute(made.replace("CONCURRENTLY ", "CONCURRENTLY IF NOT EXISTS ", 1))


def drop(apps, schema_editor):
    concurrently = "CONCURRENTLY " if schema_editor.connection.vendor == "postgresql" else ""
    with schema_editor.connection.cursor() as cursor:
        for index in INDEXES:
            cursor.execute(f"DROP INDEX {concurrently}IF EXISTS {index.name}")


class Migration(migrations.Migration):
    atomic = False  # indexes are made without locks, which no transaction allows
    dependencies = [("audit", "0006_traces_guarded")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(create, drop)],
            state_operations=[migrations.AddIndex("auditentry", index) for index in INDEXES],
        )
    ]
