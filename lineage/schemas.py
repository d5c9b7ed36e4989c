"""Versioned event schemas: the only writer of EventSchema, and which events break the one they should keep."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import IntegrityError, transaction

from aide.audit.entries import Entry, record
from aide.core.errors import Conflict, Invalid
from lineage import metadata
from lineage.models import EventSchema
from lineage.sessions import Told
from registry.typesystem import TypeDef, check_params, check_schema

NAMED_BY = "event_schema"
"""The additional value by which an event names its schema: `name`, or `name:version`."""


@transaction.atomic
def register(
    *, name: str, schema: Any, subject: str = "", action: str = "", note: str = "", by: Any
) -> EventSchema:
    """A new version of a schema, the next number of its name. Raises Invalid for what is no schema."""
    faults = check_schema(schema)
    if faults:
        raise Invalid(
            detail="This is no JSON Schema that events can be checked against.",
            errors=[
                {
                    "field": ".".join(filter(None, ("schema", fault.path))),
                    "code": "invalid",
                    "detail": fault.message,
                }
                for fault in faults[:20]
            ],
        )
    last = EventSchema.objects.filter(name=name).order_by("-version").first()
    try:
        with transaction.atomic():
            made = EventSchema.objects.create(
                name=name,
                version=last.version + 1 if last else 1,
                subject=subject,
                action=action,
                schema=schema,
                note=note,
                created_by=by,
            )
    except IntegrityError as error:
        raise Conflict(
            "EVENT_SCHEMA_ALREADY_EXISTS", "Someone made this version a moment ago. Try again."
        ) from error
    record(_entry("event_schema.create", made, after={"subject": subject, "action": action}), by=by)
    return made


@transaction.atomic
def set_active(schema: EventSchema, *, is_active: bool, note: str | None = None, by: Any) -> EventSchema:
    """Begin or end checking against a version; its content never changes."""
    before = {"is_active": schema.is_active, "note": schema.note}
    schema.is_active = is_active
    schema.note = schema.note if note is None else note
    after = {"is_active": schema.is_active, "note": schema.note}
    if after != before:
        schema.save(update_fields=["is_active", "note"])
        record(_entry("event_schema.update", schema, before=before, after=after), by=by)
    return schema


class Checker:
    """The active schemas, asked for one event after the other."""

    def __init__(self, schemas: Iterable[EventSchema]) -> None:
        self._versions: dict[tuple[str, int], EventSchema] = {}
        self._newest: dict[str, EventSchema] = {}
        for each in sorted(schemas, key=lambda one: one.version):
            self._versions[each.name, each.version] = each
            self._newest[each.name] = each

    def check(self, event: Told) -> list[tuple[str, str]]:
        """(schema, fault) for each way in which the event breaks the schema that it names or that is about it."""
        found = []
        for schema in self._for(event):
            if schema is None:
                found.append((event.values[NAMED_BY][:200], "There is no active schema of this name."))
                continue
            whole = {
                "resource": event.resource,
                "subject": event.subject,
                "action": event.action,
                "timestamp": metadata.to_seconds(event.at),
                "additionalValues": event.values,
                "event_id": event.event_id,
            }
            definition = TypeDef("", schema.name, schema.name, params_schema=schema.schema)
            faults = check_params(definition, whole)
            found += [(str(schema), fault.message) for fault in faults[:5]]
        return found

    def _for(self, event: Told) -> list[EventSchema | None]:
        named = event.values.get(NAMED_BY)
        if named:
            name, _, version = named.rpartition(":")
            if name and version.isdecimal() and len(version) < 10:
                return [self._versions.get((name, int(version)))]
            return [self._newest.get(named)]
        return [
            each
            for each in self._newest.values()
            if (each.subject or each.action)
            and each.subject in {"", event.subject}
            and each.action in {"", event.action}
        ]


def active_checker() -> Checker:
    """The checker of all active schemas."""
    return Checker(EventSchema.objects.filter(is_active=True))


def _entry(action: str, schema: EventSchema, **values: Any) -> Entry:
    return Entry(
        action=action, object_type="event_schema", object_id=schema.pk, object_name=str(schema), **values
    )
