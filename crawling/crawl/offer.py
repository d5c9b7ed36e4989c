"""Proposals that no crawl made: documents that people bring, compared with the registry like a snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone

from aide.audit.entries import Entry, new_batch, record
from aide.core import bulk
from crawling.baseline import Known, baseline, context_of
from crawling.crawl.propose import change_row, link_requirements
from crawling.crawl.returning import rate_returning
from crawling.diff import Context, DatasetDiff, compare
from crawling.models import Change, Proposal
from registry import reading
from registry.catalogues import catalogue_for
from registry.models import Dataset, System

Document = dict[str, Any]


@dataclass(frozen=True)
class Offered:
    """The proposals that were made or that say the same already, and the names in which nothing differs."""

    proposals: list[Proposal] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)


@transaction.atomic
def offer(
    system: System,
    documents: Mapping[str, Document],
    *,
    origin: str,
    by: Any,
    comment: str = "",
    known: Mapping[str, Known] | None = None,
    remove_missing: bool = False,
) -> Offered:
    """Propose that the datasets of a system be as these clean documents say, by dataset name.

    Only datasets that the documents name are compared; with `remove_missing` all others of the system are proposed
    to be dropped. A live proposal of the same origin that says the same is kept, one that says something else is
    superseded. What is proposed together shares a batch.
    """
    known = baseline(system) if known is None else known
    catalogue = catalogue_for(system.flavor.code)
    before = {name: each for name, each in known.items() if remove_missing or name in documents}
    diffs = compare(
        {name: each.document for name, each in before.items()},
        documents,
        catalogue=catalogue,
        covered=lambda name: remove_missing,
        context=_context(before),
    )
    diffs = rate_returning(system, diffs, catalogue=catalogue)
    differing = {name for each in diffs for name in (each.before_name, each.after_name) if name}
    live = {
        each.dataset_name: each
        for each in Proposal.objects.select_for_update()
        .filter(system=system, origin=origin, status__in=Proposal.LIVE)
        .filter(dataset_name__in=[each.name for each in diffs] + list(documents))
        .order_by("pk")
    }
    kept, fresh, ended = _sort(diffs, live, documents)
    made = _create(system, fresh, known=before, origin=origin, by=by, comment=comment)
    _supersede(ended, heirs={each.dataset_name: each for each in made})
    return Offered([*kept, *made], [name for name in documents if name not in differing])


def present_of(dataset: Dataset) -> dict[str, Known]:
    """What is in force of one dataset, as `offer` takes it; empty for one without a version, or retired."""
    schema = dataset.current_schema
    if schema is None or dataset.status == Dataset.Status.RETIRED:
        return {}
    return {dataset.name: Known(dataset.pk, schema.pk, reading.document_of(schema))}


def _context(known: Mapping[str, Known]) -> Context:
    names = {each.dataset_id: name for name, each in known.items()}
    return context_of(names)


def _sort(
    diffs: tuple[DatasetDiff, ...], live: Mapping[str, Proposal], documents: Mapping[str, Document]
) -> tuple[list[Proposal], list[DatasetDiff], list[Proposal]]:
    """Which live proposals say the same already, what is new, and which live ones are over."""
    asked: dict[int, set[str]] = {each.pk: set() for each in live.values()}
    rows = Change.objects.filter(proposal_id__in=asked, state__in=Change.UNDECIDED)
    for proposal_id, fingerprint in rows.values_list("proposal_id", "fingerprint"):
        asked[proposal_id].add(fingerprint)
    kept, fresh = [], []
    for each in diffs:
        present = live.get(each.name)
        wanted = {change.fingerprint for change in each.changes}
        if present is not None and asked[present.pk] == wanted and present.document == each.after:
            kept.append(present)
        else:
            fresh.append(each)
    staying = {each.pk for each in kept}
    return kept, fresh, [each for each in live.values() if each.pk not in staying]


def _create(
    system: System,
    diffs: list[DatasetDiff],
    *,
    known: Mapping[str, Known],
    origin: str,
    by: Any,
    comment: str,
) -> list[Proposal]:
    batch = new_batch()
    existing = {
        row.name: row.pk
        for row in Dataset.objects.alive().filter(system=system, name__in=[d.name for d in diffs])
    }
    proposals = [
        Proposal(
            system=system,
            dataset_id=existing.get(each.name),
            dataset_name=each.name,
            origin=origin,
            proposed_by=by,
            base_version_id=known[each.name].schema_id if each.name in known else None,
            document=dict(each.after) if each.after is not None else None,
            comment=comment,
            batch=batch,
        )
        for each in diffs
    ]
    bulk.insert(proposals)
    rows = [
        change_row(proposal, change, place)
        for proposal, each in zip(proposals, diffs, strict=True)
        for place, change in enumerate(each.changes, start=1)
    ]
    bulk.insert(rows)
    link_requirements(rows, [change for each in diffs for change in each.changes])
    record(
        *(
            Entry(
                "proposal.create",
                "proposal",
                proposal.pk,
                proposal.dataset_name,
                system_code=system.code,
                dataset_id=proposal.dataset_id,
                after={"origin": origin, "changes": len(each.changes)},
                reason=comment,
            )
            for proposal, each in zip(proposals, diffs, strict=True)
        ),
        by=by,
        batch=batch,
    )
    return proposals


def _supersede(ended: list[Proposal], *, heirs: Mapping[str, Proposal]) -> None:
    now = timezone.now()
    for each in ended:
        each.status, each.updated_at = Proposal.Status.SUPERSEDED, now
        each.superseded_by = heirs.get(each.dataset_name)
    bulk.update(ended, ["status", "superseded_by", "updated_at"])
