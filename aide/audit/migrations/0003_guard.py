"""The database itself refuses to change or delete audit rows."""

from django.db import migrations

from aide.audit import guard


def install(apps, schema_editor):
    guard.install(schema_editor.connection)


def lift(apps, schema_editor):
    guard.lift(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("audit", "0002_marks")]

    operations = [migrations.RunPython(install, lift)]
