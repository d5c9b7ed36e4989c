"""Indexes go that nothing is found by: each row of the graph is written often, and every index is written with it.

Foreign keys that begin another index, and PostgreSQL's indexes for patterns on keys that are hashes.
"""

import django.db.models.deletion
from django.db import migrations, models

HASHES = ("lineage_lineageevent_digest", "lineage_nodename_key", "lineage_job_key")


def drop(apps, schema_editor):
    if schema_editor.connection.vendor != "postgresql":
        return
    with schema_editor.connection.cursor() as cursor:
        for name in HASHES:
            cursor.execute(
                "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND indexname ~ %s",
                [f"^{name}_[0-9a-f]{{8}}_like$"],
            )
            for (found,) in cursor.fetchall():
                cursor.execute(f'DROP INDEX "{found}"')


def leave(apps, schema_editor):
    """Nothing looks for patterns in hashes, so they need not come back."""


def key_to(model, related_name):
    return models.ForeignKey(
        db_index=False,
        on_delete=django.db.models.deletion.CASCADE,
        related_name=related_name,
        to=f"lineage.{model}",
    )


class Migration(migrations.Migration):
    dependencies = [("lineage", "0005_event_received_index")]
    operations = [
        migrations.AlterField("run", "job", key_to("job", "runs")),
        migrations.AlterField("rundataset", "run", key_to("run", "datasets")),
        migrations.AlterField("jobdataset", "job", key_to("job", "datasets")),
        migrations.AlterField("nodecolumn", "node", key_to("node", "columns")),
        migrations.RunPython(drop, leave),
    ]
