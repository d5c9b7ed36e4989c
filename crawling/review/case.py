"""A case: one proposal under decision, with everything that deciding it needs, loaded in bulk and locked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Prefetch, prefetch_related_objects

from crawling import diff
from crawling.models import Change, CrawlRun, Decision, Observation, Proposal
from registry import reading
from registry.catalogues import catalogue_for
from registry.models import Dataset, DatasetSchema
from registry.typesystem import Catalogue
from registry.versions.settling import deleted_named

Document = dict[str, Any]


@dataclass
class Case:
    """One proposal being decided.

    `present` is the registry's document now, `source` what the source showed (None: it is gone). The lists at the
    end are filled as the case goes through settling and putting in force.
    """

    proposal: Proposal
    changes: list[Change]
    dataset: Dataset | None
    present: Document | None
    source: Document | None
    catalogue: Catalogue
    decisions: list[Decision] = field(default_factory=list)
    approved: list[Change] = field(default_factory=list)
    applied: list[Change] = field(default_factory=list)
    waiting: list[tuple[Change, str]] = field(default_factory=list)
    stale: list[Change] = field(default_factory=list)
    rejected: list[tuple[Change, Decision]] = field(default_factory=list)
    failed: list[tuple[Change, str]] = field(default_factory=list)
    version: DatasetSchema | None = None

    def needs(self, change: Change) -> list[Change]:
        """The changes that one of this case's needs: none of another proposal, so an only change needs none."""
        return list(change.requires.all()) if len(self.changes) > 1 else []

    def unsettle(self) -> None:
        """Forget what settling sorted out, to do it anew."""
        for sorted_out in (
            self.decisions,
            self.approved,
            self.waiting,
            self.stale,
            self.rejected,
            self.failed,
        ):
            sorted_out.clear()

    def stale_now(self) -> frozenset[str]:
        """Fingerprints of the undecided changes whose `before` the registry no longer holds at their path."""
        undecided = [as_change(each) for each in self.changes if each.state in Change.UNDECIDED]
        stale = diff.stale(self.present, undecided, catalogue=self.catalogue)
        return frozenset(change.fingerprint for change in stale)


def as_change(row: Change) -> diff.Change:
    """A saved change as the value that the pure diff takes."""
    return diff.Change(
        op=row.op,
        dataset=row.dataset_name,
        field=row.field_path or None,
        before=row.before,
        after=row.after,
        risk=row.risk,
        why=row.why,
        rule=row.rule,
        fingerprint=row.fingerprint,
        evidence=tuple(row.evidence),
    )


def load_cases(proposal_ids: Sequence[int]) -> list[Case]:
    """The live ones of these proposals as cases, their rows and their datasets' rows locked.

    Reads a constant number of statements, whatever the number of proposals.
    """
    proposals = list(
        Proposal.objects.select_for_update(of=("self",))
        .filter(pk__in=proposal_ids, status__in=Proposal.LIVE)
        .prefetch_related("system__flavor", Prefetch("crawl_run", CrawlRun.objects.brief()))
        .order_by("pk")
    )
    changes: dict[int, list[Change]] = {proposal.pk: [] for proposal in proposals}
    by_id = {proposal.pk: proposal for proposal in proposals}
    rows = list(
        Change.objects.filter(proposal_id__in=changes)
        .select_related("draft")
        .prefetch_related("draft__person")
        .order_by("proposal_id", "place")
    )
    for change in rows:
        change.proposal = by_id[change.proposal_id]
        changes[change.proposal_id].append(change)
    prefetch_related_objects([each for each in rows if each.state != Change.State.OPEN], "decisions__person")
    prefetch_related_objects([each for each in rows if len(changes[each.proposal_id]) > 1], "requires")
    datasets = _datasets(proposals)
    present = _documents(datasets.values())
    flavors = {each.system.flavor.code for each in proposals}
    catalogue_of = {code: catalogue_for(code) for code in flavors}
    sources = _sources(proposals, changes)
    cases = []
    for proposal in proposals:
        dataset = datasets.get((proposal.system_id, proposal.dataset_name))
        cases.append(
            Case(
                proposal=proposal,
                changes=changes[proposal.pk],
                dataset=dataset,
                present=present.get(dataset.pk) if dataset is not None else None,
                source=sources.get(proposal.pk),
                catalogue=catalogue_of[proposal.system.flavor.code],
            )
        )
    return cases


def _datasets(proposals: Sequence[Proposal]) -> dict[tuple[int, str], Dataset]:
    """The dataset of each proposal as it is now: the one it was made for, else the one of that name.

    Where there is none, it is the deleted one that publishing would bring back.
    """
    rows = Dataset.objects.alive().select_for_update(of=("self",)).select_related("system__flavor")
    ids = [proposal.dataset_id for proposal in proposals if proposal.dataset_id]
    by_id = {row.pk: row for row in rows.filter(pk__in=ids).order_by("pk")}
    names = [proposal.dataset_name for proposal in proposals if not proposal.dataset_id]
    systems = {proposal.system_id for proposal in proposals}
    by_name = {
        (row.system_id, row.name): row
        for row in rows.filter(system__in=systems, name__in=names).order_by("pk")
    }
    found = {}
    for proposal in proposals:
        key = (proposal.system_id, proposal.dataset_name)
        row = by_id.get(proposal.dataset_id or 0) or by_name.get(key)
        if row is not None:
            found[key] = row
    missing = {(each.system_id, each.dataset_name) for each in proposals} - set(found)
    taken = {row.pk for row in found.values()}
    return found | {key: row for key, row in deleted_named(missing).items() if row.pk not in taken}


def _documents(datasets: Any) -> dict[int, Document]:
    """What is in force, by dataset id; nothing is of those that are retired, deleted or without a version."""
    current = {
        dataset.current_schema_id: dataset
        for dataset in datasets
        if dataset.current_schema_id
        and dataset.status != Dataset.Status.RETIRED
        and dataset.deleted_at is None
    }
    names = {dataset.pk: reading.place_of(dataset) for dataset in current.values()}
    documents = reading.documents_of(current, names=names)
    return {current[schema_id].pk: document for schema_id, document in documents.items()}


def _sources(proposals: Sequence[Proposal], changes: Mapping[int, Sequence[Change]]) -> dict[int, Document]:
    """What the source shows, by proposal id; a new dataset's only change holds the whole document itself."""
    sources = {each.pk: each.document for each in proposals if each.document is not None}
    wanted = {
        each.observation_id: each.pk
        for each in proposals
        if each.pk not in sources and any(change.op != Change.Op.ADD_DATASET for change in changes[each.pk])
    }
    seen = Observation.objects.filter(pk__in=[key for key in wanted if key], gone_at__isnull=True)
    for observation_id, document in seen.values_list("pk", "document"):
        sources[wanted[observation_id]] = document
    return sources
