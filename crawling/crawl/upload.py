"""Taking in what a caller crawled: checked whole, then compared and proposed at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aide_crawler import CrawlError, Snapshot, SnapshotInvalid
from django.db.models import Model
from django.utils import timezone

from aide.core.errors import FieldError, Invalid
from crawling import connect
from crawling.crawl import runs
from crawling.crawl.pulse import Pulse
from crawling.crawl.receive import receive
from crawling.models import CrawlRun
from registry import documents
from registry.documents import DocumentInvalid
from registry.locations import dataset_name
from registry.models import Dataset, Field, System, TypeInstance

MAX_ERRORS = 20
PLAIN = re.compile(r"[a-z][a-z0-9_]{0,31}")
LARGEST_COUNT = 2**31 - 1
LONGEST_NAME = 1_000
LONGEST_REASON = 10_000


def upload(
    system: System,
    snapshot_json: Any,
    *,
    config: Mapping[str, Any] | None = None,
    by: Any = None,
    dry_run: bool = False,
) -> CrawlRun:
    """Take in a snapshot. Returns the ended run.

    Refuses before there is a run: a snapshot or a document that is not in the neutral shape, another dialect than
    the system's, a second run of the system.
    """
    connect.check_can_crawl(system)
    runs.scope_of(config)
    snapshot = _checked(snapshot_json)
    accepted = system.flavor.sqlalchemy_dialects
    if accepted and snapshot.dialect not in accepted:
        told = snapshot.dialect if PLAIN.fullmatch(snapshot.dialect) else "another dialect"
        raise Invalid(
            detail=f"The snapshot is of {told}, but the system is {system.flavor.name}.",
            errors=[FieldError("snapshot.dialect", "invalid", f"Accepted: {', '.join(accepted)}.")],
        )
    now = timezone.now()
    run = runs.create(
        system,
        trigger=CrawlRun.Trigger.SNAPSHOT,
        started_by=by,
        dry_run=dry_run,
        config=snapshot.scope.to_dict(),
        status=runs.Status.RUNNING,
        started_at=now,
        heartbeat_at=now,
    )
    pulse = Pulse(run.pk)
    pulse.start()
    try:
        receive(run, snapshot)
    except CrawlError as error:
        runs.finish(run, runs.Status.CANCELLED, error=error.sentence, error_code=error.code)
    except BaseException:
        runs.finish(run, runs.Status.FAILED, error="The snapshot could not be compared.", error_code="failed")
        raise
    finally:
        pulse.stop()
    return run


def _checked(snapshot_json: Any) -> Snapshot:
    """The snapshot with clean documents; raises Invalid that names the first bad places."""
    try:
        snapshot = Snapshot.from_dict(snapshot_json)
    except SnapshotInvalid as error:
        raise Invalid(
            detail="The snapshot is not in the neutral shape.",
            errors=[FieldError(f"snapshot.{error.path}".rstrip("."), "invalid", error.sentence)],
        ) from None
    clean: list[dict[str, Any]] = []
    errors = _beyond_bounds(snapshot)
    for index, document in enumerate(snapshot.datasets):
        try:
            one = documents.clean(document)
            clean.append(one)
            errors += _too_long(one, f"snapshot.datasets[{index}]")
        except DocumentInvalid as error:
            errors += [
                FieldError(f"snapshot.datasets[{index}].{path}".rstrip("."), "invalid", message)
                for path, message in error.errors
            ]
            if len(errors) >= MAX_ERRORS:
                break
    if errors:
        raise Invalid(
            detail="The snapshot holds a document that is not in the neutral shape.",
            errors=errors[:MAX_ERRORS],
        )
    return replace(snapshot, datasets=tuple(clean))


def _beyond_bounds(snapshot: Snapshot) -> list[FieldError]:
    """What the row of a run cannot hold: too long or too large."""
    coverage = snapshot.coverage
    texts = [("database", snapshot.database or "", _longest(CrawlRun, "database"))]
    for n, schema in enumerate(coverage.schemas):
        texts.append((f"coverage.schemas[{n}].name", schema.name, LONGEST_NAME))
        texts.append((f"coverage.schemas[{n}].reason", schema.reason or "", LONGEST_REASON))
    for part in ("skipped", "failed"):
        for n, each in enumerate(getattr(coverage, part)):
            texts.append((f"coverage.{part}[{n}].schema", each.schema, LONGEST_NAME))
            texts.append((f"coverage.{part}[{n}].name", each.name, LONGEST_NAME))
            texts.append((f"coverage.{part}[{n}].reason", each.reason, LONGEST_REASON))
    errors = [
        FieldError(f"snapshot.{path}", "max_length", f"It has at most {limit} characters.")
        for path, text, limit in texts
        if len(text) > limit
    ]
    errors += [
        FieldError(f"snapshot.coverage.{name}", "max_value", f"It is at most {LARGEST_COUNT}.")
        for name in ("listed", "read")
        if getattr(coverage, name) > LARGEST_COUNT
    ]
    return errors


def _too_long(document: Mapping[str, Any], place: str) -> list[FieldError]:
    """Names that are within bounds each, but too long for what they are put together to."""
    errors = []
    if len(dataset_name(document)) > _longest(Dataset, "name"):
        sentence = f"Schema and name together have at most {_longest(Dataset, 'name')} characters."
        errors.append(FieldError(f"{place}.name", "max_length", sentence))
    for path, field in documents.walk(document):
        if len(path) > _longest(Field, "path"):
            sentence = f"A field with all its parents has at most {_longest(Field, 'path')} characters."
            errors.append(FieldError(f"{place}.{path[:100]}", "max_length", sentence))
        errors += [
            FieldError(f"{place}.{path[:100]}.{key}", "max_length", f"It has at most {longest} characters.")
            for key in ("type_name", "type_schema", "type_kind")
            if len(field.get(key) or "") > (longest := _longest(TypeInstance, key))
        ]
    return errors


def _longest(model: type[Model], name: str) -> int:
    column = model._meta.get_field(name)
    return int(getattr(column, "max_length", 0) or 0)
