"""The end of a review: what Finish will do, before it is done, and what it did, told dataset by dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from crawling.admin import standing, wording
from crawling.admin.review_batches import Reviewed
from crawling.admin.review_page import Review, Row
from crawling.models import Change
from registry.models import Dataset

CHUNK = 500
RESULT = "review_result_{}"


@dataclass
class Preview:
    """What applying the notes would do now."""

    apply: list[Row] = field(default_factory=list)
    wait: list[Row] = field(default_factory=list)
    reject: list[Row] = field(default_factory=list)
    open: int = 0
    conflicts: int = 0
    already_waiting: int = 0
    by_others: int = 0

    @property
    def notes(self) -> int:
        return len(self.apply) + len(self.wait) + len(self.reject)

    @property
    def datasets(self) -> int:
        return len({row.change.proposal_id for row in self.apply})


def preview(page: Review) -> Preview:
    """Sort the noted decisions as applying will, without writing anything."""
    found = Preview()
    ready: dict[int, Row] = {}
    for row in page.rows:
        state = row.standing.state
        if state == standing.REJECTED:
            found.reject.append(row)
        elif state == standing.APPROVED:
            if standing.is_complete(row.change, with_draft=True):
                ready[row.pk] = row
            else:
                found.wait.append(row)
        elif state == standing.WAITING:
            found.already_waiting += 1
        elif state == standing.STALE:
            found.conflicts += 1
        elif state == standing.OPEN:
            found.open += 1
        if state in standing.NOTED and row.standing.by != "you":
            found.by_others += 1
    late = list(ready.values())
    while late:  # what needs something that does not take effect now waits for it
        late = [row for row in ready.values() if any(need.pk not in ready for need in row.needs)]
        for row in late:
            found.wait.append(ready.pop(row.pk))
    found.apply = list(ready.values())
    return found


@dataclass
class Result:
    """What applying did: datasets with their new versions, and the changes that went another way, with why."""

    applied: list[dict[str, Any]] = field(default_factory=list)
    waiting: list[tuple[Change, str]] = field(default_factory=list)
    rejected: list[tuple[Change, str]] = field(default_factory=list)
    stale: list[tuple[Change, str]] = field(default_factory=list)
    failed: list[tuple[Change, str]] = field(default_factory=list)

    @property
    def changes(self) -> int:
        return sum(each["count"] for each in self.applied)


def tell(run: Reviewed, outcome: Mapping[str, list[dict[str, Any]]]) -> Result:
    """The kept outcome of an apply, with the rows it names; what is no longer there is left out."""
    names = ("waiting", "rejected", "stale", "failed")
    wanted = [each["change_id"] for name in names for each in outcome.get(name, ())]
    changes: dict[int, Change] = {}
    for start in range(0, len(wanted), CHUNK):
        rows = Change.objects.filter(pk__in=wanted[start : start + CHUNK], proposal__system_id=run.system_id)
        changes.update((row.pk, row) for row in rows.select_related("proposal"))
    result = Result(applied=_applied(run, outcome.get("applied", ())))
    for name in names:
        told = [
            (changes[each["change_id"]], _why(name, each))
            for each in outcome.get(name, ())
            if each["change_id"] in changes
        ]
        setattr(result, name, [(wording.title_of(change), change, why) for change, why in told])
    return result


def _why(name: str, each: Mapping[str, Any]) -> str:
    if name == "waiting":
        needs = str(each.get("needs", ""))
        second = needs == "a second person"
        return "A second person must confirm." if second else "It waits for a change that it needs."
    if name == "stale":
        return "The registry changed here after the crawl looked. Nothing was saved for it."
    return str(each.get("reason", ""))


def _applied(run: Reviewed, rows: Any) -> list[dict[str, Any]]:
    datasets: dict[int, Dataset] = {}
    ids = [row["dataset_id"] for row in rows if row["dataset_id"]]
    for start in range(0, len(ids), CHUNK):
        found = Dataset.objects.filter(pk__in=ids[start : start + CHUNK], system_id=run.system_id)
        datasets.update((each.pk, each) for each in found)
    told = [
        {
            "dataset": datasets[row["dataset_id"]],
            "version": row["version_num"],
            "count": len(row["change_ids"]),
            "is_first": row["version_num"] == 1,
            "is_retired": datasets[row["dataset_id"]].status == Dataset.Status.RETIRED,
        }
        for row in rows
        if row["dataset_id"] in datasets
    ]
    return sorted(told, key=lambda each: each["dataset"].name)
