"""What people say about renames, and about any change."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def _person(**options):
    return models.ForeignKey(
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to=settings.AUTH_USER_MODEL,
        **options,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("crawling", "0002_proposal_batch"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="change",
            name="paired_by",
            field=_person(
                blank=True,
                null=True,
                help_text="Who split or paired it; that person cannot be its second one.",
            ),
        ),
        migrations.CreateModel(
            name="Pairing",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("dataset_name", models.CharField(max_length=1000, help_text="The registry's name.")),
                (
                    "field_path",
                    models.CharField(
                        blank=True, max_length=4000, help_text="The gone one; empty: the dataset."
                    ),
                ),
                ("new_name", models.CharField(max_length=1000)),
                ("is_same", models.BooleanField()),
                ("person", _person()),
                (
                    "system",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pairings",
                        to="registry.system",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index(fields=["system", "dataset_name"], name="crawling_pairing_dataset")],
            },
        ),
        migrations.CreateModel(
            name="Comment",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("text", models.TextField(max_length=2000)),
                (
                    "change",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comments",
                        to="crawling.change",
                    ),
                ),
                ("person", _person()),
            ],
            options={"ordering": ["id"]},
        ),
    ]
