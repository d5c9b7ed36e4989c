"""Taking in what a caller crawled: checked whole, then compared and proposed at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aide_crawler import CrawlError, Snapshot, SnapshotInvalid
from django.utils import timezone

from aide.core.errors import FieldError, Invalid
from crawling import connect
from crawling.crawl import runs
from crawling.crawl.pulse import Pulse
from crawling.crawl.receive import receive
from crawling.models import CrawlRun
from registry import documents
from registry.documents import DocumentInvalid
from registry.models import System

MAX_ERRORS = 20


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
        raise Invalid(
            detail=f"The snapshot is of {snapshot.dialect}, but the system is {system.flavor.name}.",
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
    errors: list[FieldError] = []
    for index, document in enumerate(snapshot.datasets):
        try:
            clean.append(documents.clean(document))
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
