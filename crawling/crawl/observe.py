"""Keeping what was seen last at the source, written only where it changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.utils import timezone

from aide.core import bulk
from crawling.models import CrawlRun, Observation


def observe(
    run: CrawlRun,
    found: Mapping[str, Mapping[str, Any]],
    *,
    hashes: Mapping[str, str],
    marks: Mapping[str, str],
    covered: Callable[[str], bool],
) -> dict[str, int]:
    """Write the documents that are new or differ, and mark those that are gone. Returns ids by dataset name.

    `marks`, by dataset name, are those of `crawling.settled` for documents that were found equal.
    """
    now = timezone.now()
    rows = Observation.objects.filter(system=run.system)
    seen = {
        name: (pk, content_hash, gone_at, settled)
        for pk, name, content_hash, gone_at, settled in rows.values_list(
            "id", "dataset_name", "content_hash", "gone_at", "settled"
        )
    }
    fresh, changed, marked = [], [], []
    for name, document in found.items():
        digest, mark = hashes[name], marks.get(name, "")
        before = seen.get(name)
        if before is not None and before[1] == digest and before[2] is None:
            if before[3] != mark:
                marked.append(Observation(pk=before[0], settled=mark))
            continue
        row = Observation(
            system=run.system, dataset_name=name, document=document, content_hash=digest, changed_run=run,
            settled=mark,
        )  # fmt: skip
        if before is None:
            row.first_run = run
            fresh.append(row)
        else:
            row.pk, row.updated_at, row.gone_at = before[0], now, None
            changed.append(row)
    bulk.insert(fresh)
    bulk.update(changed, ["document", "content_hash", "changed_run", "gone_at", "updated_at", "settled"])
    bulk.update(marked, ["settled"])
    gone = [
        pk
        for name, (pk, _, gone_at, _) in seen.items()
        if gone_at is None and name not in found and covered(name)
    ]
    for start in range(0, len(gone), 500):
        rows.filter(pk__in=gone[start : start + 500]).update(gone_at=now, updated_at=now)
    return {name: pk for name, (pk, *_) in seen.items()} | {row.dataset_name: row.pk for row in fresh}
