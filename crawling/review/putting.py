"""Putting approved changes in force: documents with just these changes, published in one call a system."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from crawling import diff
from crawling.models import Change, Proposal, Verdict
from crawling.review.case import Case, as_change
from crawling.review.four_eyes import decisions_of
from crawling.settled import settle_equal
from registry import documents, versions
from registry.documents import field_path, split_path
from registry.locations import kind_for, location_at, qualified_name
from registry.models import Dataset, DatasetSchema
from registry.versions import Approval, Publication

Op = Change.Op
_PLACES = (Op.RENAME_DATASET, Op.MOVE_DATASET)


def put_in_force(cases: Sequence[Case], *, by: Any, batch: str) -> None:
    """Publish or retire each case's dataset according to its approved changes; fills `applied` and `version`."""
    by_system: dict[int, list[Case]] = defaultdict(list)
    for case in cases:
        if case.approved:
            by_system[case.proposal.system_id].append(case)
    for group in by_system.values():
        dropped = [c for c in group if any(change.op == Op.DROP_DATASET for change in c.approved)]
        kept = [c for c in group if c not in dropped]
        _retire(dropped, by=by, batch=batch)
        _publish(kept, by=by, batch=batch)


def _retire(cases: Sequence[Case], *, by: Any, batch: str) -> None:
    datasets = [case.dataset for case in cases if case.dataset is not None]
    versions.retire(datasets, by=by, reason="Gone at the source.", batch=batch)
    for case in cases:
        case.applied = list(case.approved)
        case.version = case.dataset.current_schema if case.dataset is not None else None


def _publish(cases: Sequence[Case], *, by: Any, batch: str) -> None:
    if not cases:
        return
    publications = [_publication(case) for case in cases]
    published = versions.publish_many(
        publications,
        system=cases[0].proposal.system,
        by=by,
        origin=_origin(cases[0].proposal),
        batch=batch,
    )
    for case, answer in zip(cases, published, strict=True):
        case.dataset, case.version = answer.dataset, answer.schema
        case.applied = list(case.approved)
    as_seen = {
        case.proposal.observation_id: case.version.pk
        for case, publication in zip(cases, publications, strict=True)
        if case.proposal.observation_id and case.version and _is_as_seen(case, publication.document)
    }
    settle_equal(as_seen, catalogue=cases[0].catalogue)


def _is_as_seen(case: Case, document: dict[str, Any]) -> bool:
    """Whether nothing differs any more between the source and what was published."""
    if _is_new(case.changes):
        return True
    name = case.proposal.dataset_name
    return case.source is not None and not diff.diff(
        document, case.source, catalogue=case.catalogue, dataset=name, renamed_to=name
    )


def _is_new(changes: Sequence[Change | diff.Change]) -> bool:
    return len(changes) == 1 and changes[0].op == Op.ADD_DATASET


def _publication(case: Case) -> Publication:
    changes = [as_change(each) for each in case.approved]
    if _is_new(changes):
        document = documents.clean(changes[0].after)
    else:
        changed = diff.apply(case.present, changes, after=case.source, catalogue=case.catalogue)
        if changed is None:
            raise ValueError(f"The dataset {case.proposal.dataset_name} would be gone.")
        document = documents.clean(changed)
    moved = any(change.op in _PLACES for change in changes)
    location, name, kind = None, "", _kind(case)
    if case.dataset is None or moved or (case.present is None and kind == Dataset.Kind.RDBMS):
        location = location_of(document, case, kind=kind)
        name = qualified_name(kind, location)
    return Publication(
        document=document,
        dataset=case.dataset,
        kind=kind,
        name=name,
        location=location,
        renames={_new_path(change): change.before for change in changes if change.op == Op.RENAME_FIELD},
        reason=_reason(case),
        approval=Approval(_people(case)),
    )


def _kind(case: Case) -> str:
    """A dataset keeps its kind; a new one is what its system holds, a table where a crawl found it."""
    if case.dataset is not None:
        return case.dataset.kind
    if case.proposal.origin == Proposal.Origin.CRAWL:
        return Dataset.Kind.RDBMS
    return kind_for(case.proposal.system.flavor.kind.code)


def location_of(document: dict[str, Any], case: Case, *, kind: str = Dataset.Kind.RDBMS) -> dict[str, Any]:
    """Where a dataset lives: the database that the run looked at, and what the document says."""
    before = case.dataset.location if case.dataset is not None else {}
    run = case.proposal.crawl_run
    database = {"database": run.database} if run is not None and run.database else {}
    return {**before, **database, **location_at(kind, document)}


def _new_path(change: diff.Change) -> str:
    parents = split_path(change.field or "")[:-1]
    return field_path((*parents, change.after))


def _reason(case: Case) -> str:
    return next((each.reason for each in case.decisions if each.reason), "")


def _people(case: Case) -> tuple[str, ...]:
    """Who approved what is put in force, by name; a plan that needs no person has none."""
    approved = {change.pk for change in case.approved}
    given = [each for change in case.approved for each in decisions_of(change)]
    given += [each for each in case.decisions if each.change_id in approved]
    people = (each.person for each in given if each.verdict == Verdict.APPROVE and each.person is not None)
    return tuple(sorted({person.get_username() for person in people}))


def _origin(proposal: Proposal) -> str:
    known = DatasetSchema.Origin.values
    return proposal.origin if proposal.origin in known else DatasetSchema.Origin.MANUAL
