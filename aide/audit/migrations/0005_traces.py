"""Tables that tell of rows which somebody deleted: what waits for its sealing, and how long the chain was."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audit", "0004_search_indexes")]

    operations = [
        migrations.CreateModel(
            name="ChainAnchor",
            fields=[
                ("number", models.PositiveBigIntegerField(primary_key=True, serialize=False)),
                ("count", models.PositiveBigIntegerField(db_index=True)),
                ("hash", models.CharField(max_length=64)),
                ("signature", models.CharField(max_length=64)),
                ("at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="PendingEntry",
            fields=[("entry_id", models.BigIntegerField(primary_key=True, serialize=False))],
            options={"verbose_name_plural": "pending entries"},
        ),
    ]
