"""A mark on each row, made as it is written."""

import hashlib
import hmac
import json
from datetime import UTC

from django.conf import settings
from django.db import migrations, models

CONTENT = (
    "at", "actor_id", "actor_name", "actor_roles", "via", "action", "object_type", "object_id", "object_name",
    "system_code", "dataset_id", "risk", "touches_pii", "before", "after", "reason", "batch", "request_id",
    "ip", "user_agent",
)


def plain(value):
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    if abs(value) < 2**53:
        return int(value) if value == int(value) else value
    try:
        return repr(float(value))
    except OverflowError:
        return str(value)


def mark_what_is_there(apps, schema_editor):
    """Rows from before have their present content as the content that they were written with."""
    entries = apps.get_model("audit", "AuditEntry").objects.using(schema_editor.connection.alias)
    key = hashlib.sha256(b"aide.audit.row" + settings.SECRET_KEY.encode()).digest()
    batch = []
    for row in entries.order_by("pk").iterator(chunk_size=500):
        content = {name: getattr(row, name) for name in CONTENT}
        content["at"] = row.at.astimezone(UTC).isoformat(timespec="microseconds")
        content["before"], content["after"] = plain(content["before"]), plain(content["after"])
        text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        row.mark = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        batch.append(row)
        if len(batch) == 500:
            entries.bulk_update(batch, ["mark"])
            batch = []
    if batch:
        entries.bulk_update(batch, ["mark"])


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="auditentry",
            name="mark",
            field=models.CharField(
                blank=True,
                db_default="",
                help_text="A keyed hash of the content, made as the row was written: it holds before the chain does.",
                max_length=64,
            ),
        ),
        migrations.RunPython(mark_what_is_there, migrations.RunPython.noop),
    ]
