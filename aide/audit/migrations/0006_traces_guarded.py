"""The database announces each new audit row by itself, and refuses to forget one or to shorten the chain."""

from django.db import migrations

from aide.audit import guard


def begin(apps, schema_editor):
    """Rows from before that are not sealed yet wait as well."""
    guard.install(schema_editor.connection)
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO audit_pendingentry (entry_id) SELECT id FROM audit_auditentry WHERE place IS NULL "
            "ON CONFLICT DO NOTHING"
        )


def lift(apps, schema_editor):
    guard.lift_traces(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("audit", "0005_traces")]

    operations = [migrations.RunPython(begin, lift)]
