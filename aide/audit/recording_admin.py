"""For the admin's forms of plain things: what a save or a deletion changed goes into the audit log."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from django.db import models
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from aide.audit.entries import Entry, record
from aide.core.admin import DeskAdmin


class RecordedAdmin(DeskAdmin):
    """A form whose saves and deletions are recorded in the same transaction, with the values before and after."""

    # Form fields whose values never reach the log.
    secret_fields: frozenset[str] = frozenset({"password", "password1", "password2", "seen_version"})

    @property
    def kind(self) -> str:
        """What the log calls these rows: `system_flavor` for SystemFlavor."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.model.__name__).lower()

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        changed = [name for name in form.changed_data if name not in self.secret_fields]
        before = {name: as_json(form.initial.get(name)) for name in changed} if change else None
        after = {name: as_json(form.cleaned_data.get(name)) for name in changed}
        if change and not changed and not self._other_changes(form, formsets):
            return
        self.announce(request, form.instance, "update" if change else "create", before=before, after=after)

    def _other_changes(self, form: Any, formsets: Any) -> bool:
        secret = bool(set(form.changed_data) & (self.secret_fields - {"seen_version"}))
        return secret or any(formset.has_changed() for formset in formsets)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        pk, name = obj.pk, str(obj)
        super().delete_model(request, obj)
        self.announce(request, obj, "delete", pk=pk, name=name)

    def restored(self, request: HttpRequest, obj: Any) -> None:
        self.announce(request, obj, "restore")

    def announce(
        self,
        request: HttpRequest,
        obj: Any,
        verb: str,
        *,
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
        reason: str = "",
        pk: Any = None,
        name: str = "",
    ) -> None:
        """Record `<kind>.<verb>` about the object, by this request's user."""
        record(
            Entry(
                f"{self.kind}.{verb}",
                self.kind,
                pk or obj.pk,
                name or str(obj),
                system_code=self.system_code(obj),
                before=before,
                after=after,
                reason=reason,
            ),
            by=request.user,
        )

    def system_code(self, obj: Any) -> str:
        return ""

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        where = {"object_type": self.kind, "object_id": object_id}
        return redirect(f"{reverse('admin:audit_auditentry_changelist')}?{urlencode(where)}")


def as_json(value: Any) -> Any:
    """A form's value as the log keeps it."""
    if isinstance(value, models.Model):
        return value.pk
    if isinstance(value, models.QuerySet):
        return sorted(value.values_list("pk", flat=True))
    if isinstance(value, (list, tuple)):
        return [as_json(each) for each in value]
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if value is None or isinstance(value, (str, int, float, bool, dict)):
        return value
    return str(value)
