"""The base of every view that writes: each create, update, delete and restore is recorded in its transaction."""

from __future__ import annotations

from typing import Any

from aide.accounts.models import system_of
from aide.audit.entries import Entry, record
from aide.core.api.views import RestoreMixin, WriteMixin, refuse_unless
from aide.core.problems import entity_of


class AuditedViewSet(WriteMixin):
    """Full create, read, update and delete of one table, audited; `system_right` guards a row's system."""

    system_right: str | None = None

    def recorded(self, verb: str, instance: Any, *, before: Any = None, after: Any = None) -> None:
        if before is not None and after is not None:
            changed = {name for name in after if before.get(name) != after[name]}
            if not changed:
                return
            before = {name: before.get(name) for name in sorted(changed)}
            after = {name: after[name] for name in sorted(changed)}
        kind = entity_of(self)[0].lower()
        system = system_of(instance)
        dataset_id = instance.pk if kind == "dataset" else getattr(instance, "dataset_id", None)
        record(
            Entry(
                action=f"{kind}.{verb}",
                object_type=kind,
                object_id=instance.pk,
                object_name=str(instance),
                system_code=system.code if system is not None else "",
                dataset_id=dataset_id,
                before=before,
                after=after,
            ),
            by=self.caller,
        )

    def check_system(self, instance_or_values: Any) -> None:
        if self.system_right is None:
            return
        if isinstance(instance_or_values, dict):
            values = instance_or_values
            system = values.get("system") or system_of(values.get("dataset") or values.get("dataset_schema"))
        else:
            system = system_of(instance_or_values)
        if system is not None and system.pk:
            refuse_unless(self.caller, self.system_right, system)


class RestorableViewSet(AuditedViewSet, RestoreMixin):
    """The same for what is deleted softly."""
