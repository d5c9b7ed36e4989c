"""A person's correction of a rename in a live proposal: one made two, or two made one. The only writer of pairings.

The proposal's changes are computed anew. What stays the same keeps its notes and decisions; who splits or pairs
cannot be the second person of what comes of it. A later crawl follows (`crawling.corrections`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max, Q

from aide.audit.entries import Entry, record
from aide.core.errors import Conflict, FieldError, Invalid, NotFound
from crawling import diff
from crawling.baseline import context_of
from crawling.corrections import again, beside, renames_of, with_pair, without_pair
from crawling.crawl.propose import change_row, link_requirements
from crawling.diff import Context, DatasetDiff
from crawling.models import Change, Comment, Mute, Pairing, Proposal
from crawling.review.case import Case, as_change, load_cases
from registry.documents import split_path

Op = Change.Op
OF_DATASETS = (Op.RENAME_DATASET, Op.MOVE_DATASET)


@transaction.atomic
def split(proposal: Proposal, change_id: int, *, by: Any) -> Proposal:
    """A rename becomes one dropped and one added. Refuses what is no open rename."""
    case, rename = _found([proposal.pk], change_id)
    if rename.op in OF_DATASETS:
        return _split_dataset(case, rename, by=by)
    if rename.op != Op.RENAME_FIELD:
        raise _invalid("change_id", "Only a rename can be split.")
    changes = _undecided(case)
    wanted = without_pair(renames_of(changes), rename.field_path)
    _remember(case, rename.field_path, str(rename.after), is_same=False, by=by)
    _rewrite(case, _again(case, changes, wanted), by=by)
    _announce(case, "split", rename.field_path, str(rename.after), by=by)
    return case.proposal


@transaction.atomic
def pair(proposal: Proposal, drop_id: int, add_id: int, *, by: Any) -> Proposal:
    """A dropped and an added thing become one renamed; the old side of another rename counts as dropped.

    Columns are of one proposal and one level; datasets of one system, each with its own proposal.
    """
    other = (
        Change.objects.filter(pk=add_id, proposal__system=proposal.system_id).values("proposal_id").first()
    )
    ids = sorted({proposal.pk, *([other["proposal_id"]] if other else [])})
    case, drop = _found(ids, drop_id)
    add_case, add = _found(ids, add_id)
    if drop.op in OF_DATASETS and add.op == Op.ADD_DATASET:
        apart = split(case.proposal, drop_id, by=by)
        return pair(apart, apart.changes.get(op=Op.DROP_DATASET).pk, add_id, by=by)
    if (drop.op, add.op) == (Op.DROP_DATASET, Op.ADD_DATASET):
        return _pair_datasets(case, drop, add_case, add, by=by)
    if case.proposal.pk != add_case.proposal.pk:
        raise _invalid("add_id", "A column can only be paired with one of the same dataset.")
    old = drop.field_path
    if drop.op not in (Op.DROP_FIELD, Op.RENAME_FIELD) or add.op != Op.ADD_FIELD:
        raise _invalid("add_id", "Pair a dropped one with an added one.")
    if split_path(old)[:-1] != split_path(add.field_path)[:-1]:
        raise _invalid("add_id", "Only columns of the same level can be one renamed column.")
    new = split_path(add.field_path)[-1]
    changes = _undecided(case)
    _remember(case, old, new, is_same=True, by=by)
    _rewrite(case, _again(case, changes, with_pair(renames_of(changes), old, new)), by=by)
    _announce(case, "pair", old, new, by=by)
    return case.proposal


def _found(proposal_ids: Sequence[int], change_id: int) -> tuple[Case, Change]:
    """The change's case, locked; refuses what is not there or no longer open."""
    for case in load_cases(proposal_ids):
        for change in case.changes:
            if change.pk == change_id:
                _check_open(change)
                return case, change
    raise NotFound(
        "CHANGE_NOT_FOUND",
        f"There is no change {change_id} here.",
        errors=[FieldError("change_id", "not_found", f"No change {change_id}.")],
    )


def _check_open(change: Change) -> None:
    if change.state == Change.State.WAITING:
        raise Conflict("STALE_CHANGE", "Someone approved this already: confirm or reject it as it is.")
    if change.state not in Change.UNDECIDED:
        raise Conflict("STALE_CHANGE", f"Change {change.pk} is no longer open.")


def _undecided(case: Case) -> list[diff.Change]:
    return [as_change(row) for row in case.changes if row.state in Change.UNDECIDED]


def _context(case: Case) -> Context:
    if case.dataset is None:
        return Context()
    return context_of({case.dataset.pk: case.proposal.dataset_name})


def _again(case: Case, changes: Sequence[diff.Change], renames: dict[str, str]) -> tuple[diff.Change, ...]:
    if case.present is None or case.source is None:
        raise Conflict("STALE_CHANGE", "The dataset is not there any more; crawl again.")
    return again(
        changes,
        renames,
        before=case.present,
        after=case.source,
        catalogue=case.catalogue,
        context=_context(case),
    )


def _rewrite(case: Case, changes: Sequence[diff.Change], *, by: Any) -> list[Change]:
    """Bring the proposal's undecided rows up to these changes; those that are the same stay. Returns the new rows."""
    proposal = case.proposal
    quiet = {row.fingerprint for row in case.changes if row.state == Change.State.REJECTED}
    mutes = Mute.objects.filter(
        system=proposal.system_id, dataset_name=proposal.dataset_name, lifted_at__isnull=True
    )
    quiet |= set(mutes.values_list("fingerprint", flat=True))
    wanted = diff.left_without(changes, quiet)
    rows = {row.fingerprint: row for row in case.changes if row.state in Change.UNDECIDED}
    gone = [row for fingerprint, row in rows.items() if fingerprint not in {c.fingerprint for c in wanted}]
    for row in gone:
        if row.decisions.all():
            raise Conflict("STALE_CHANGE", f"Someone approved “{row}” already: confirm or reject it first.")
    start = (proposal.changes.aggregate(most=Max("place"))["most"] or 0) + 1
    ordered: list[Change] = []
    for place, change in enumerate(wanted, start=start):
        row = rows.get(change.fingerprint) or change_row(proposal, change, place)
        if row.pk is None:
            row.paired_by = by
        row.place = place
        ordered.append(row)
    fresh = [row for row in ordered if row.pk is None]
    Change.objects.bulk_update([row for row in ordered if row.pk is not None], ["place"])
    Change.objects.bulk_create(fresh)
    if fresh:
        Comment.objects.filter(change__in=gone).update(change=fresh[0])
    Change.objects.filter(pk__in=[row.pk for row in gone]).delete()
    Change.requires.through.objects.filter(from_change__in=ordered).delete()
    link_requirements(ordered, wanted)
    proposal.base_version = case.dataset.current_schema if case.dataset is not None else None
    proposal.save()
    return fresh


def _split_dataset(case: Case, rename: Change, *, by: Any) -> Proposal:
    old, new = case.proposal.dataset_name, str(rename.after)
    whole = DatasetDiff(old, new, case.present, case.source, ())
    gone, come = diff.split_datasets(whole, catalogue=case.catalogue, context=_context(case))
    observation, case.proposal.observation = case.proposal.observation, None
    document, case.proposal.document = case.proposal.document, None
    _remember(case, "", new, is_same=False, by=by)
    _rewrite(case, gone.changes, by=by)
    other = Proposal.objects.create(
        system=case.proposal.system,
        dataset_name=new,
        origin=case.proposal.origin,
        crawl_run=case.proposal.crawl_run,
        proposed_by=case.proposal.proposed_by,
        observation=observation,
        document=document,
        batch=case.proposal.batch,
    )
    row = change_row(other, come.changes[0], 1)
    row.paired_by = by
    row.save()
    _announce(case, "split", "", new, by=by)
    return case.proposal


def _pair_datasets(case: Case, drop: Change, add_case: Case, add: Change, *, by: Any) -> Proposal:
    old, new = case.proposal.dataset_name, add_case.proposal.dataset_name
    one = DatasetDiff(old, None, case.present, None, ())
    other = DatasetDiff(None, new, None, add.after, ())
    if case.present is None or add.after is None:
        raise Conflict("STALE_CHANGE", "The dataset is not there any more; crawl again.")
    whole = diff.pair_datasets(one, other, catalogue=case.catalogue, context=_context(case))
    _remember(case, "", new, is_same=True, by=by)
    case.proposal.observation = add_case.proposal.observation
    case.proposal.document = add_case.proposal.document
    fresh = _rewrite(case, whole.changes, by=by)
    Comment.objects.filter(change=add).update(change=fresh[0])
    add_case.proposal.status = Proposal.Status.SUPERSEDED
    add_case.proposal.superseded_by = case.proposal
    add_case.proposal.save()
    _announce(case, "pair", "", new, by=by)
    return case.proposal


def _remember(case: Case, path: str, new: str, *, is_same: bool, by: Any) -> None:
    """The word stands in place of earlier ones about the same two; of pairs each end has one."""
    here = Pairing.objects.filter(system=case.proposal.system, dataset_name=case.proposal.dataset_name)
    over = Q(field_path=path, new_name=new)
    if is_same:
        over |= Q(is_same=True, field_path=path)
        level = [
            row.pk for row in here.filter(is_same=True, new_name=new) if _same_level(row.field_path, path)
        ]
        over |= Q(pk__in=level)
    here.filter(over).delete()
    Pairing.objects.create(
        system=case.proposal.system,
        dataset_name=case.proposal.dataset_name,
        field_path=path,
        new_name=new,
        is_same=is_same,
        person=by,
    )


def _same_level(one: str, other: str) -> bool:
    return bool(one) == bool(other) and (not one or beside(one, "x") == beside(other, "x"))


def _announce(case: Case, verb: str, old: str, new: str, *, by: Any) -> None:
    record(
        Entry(
            f"proposal.{verb}",
            "proposal",
            case.proposal.pk,
            case.proposal.dataset_name,
            system_code=case.proposal.system.code,
            dataset_id=case.dataset.pk if case.dataset is not None else None,
            after={"gone": old or case.proposal.dataset_name, "new": new},
        ),
        by=by,
    )


def _invalid(field: str, detail: str) -> Invalid:
    return Invalid(detail=detail, errors=[FieldError(field, "invalid", detail)])
