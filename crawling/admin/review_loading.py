"""Loading the review of one run for its page, in a small and constant number of statements however long it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from aide_crawler import Scope
from django.core.cache import cache
from django.db.models import Case, Exists, F, JSONField, OuterRef, Prefetch, Q, When, prefetch_related_objects

from aide.accounts.models import User
from aide.accounts.roles import APPROVER, Capability, can
from crawling import diff, review
from crawling.admin import standing
from crawling.admin.review_batches import Batch, Reviewed
from crawling.admin.review_page import Review, Row
from crawling.admin.standing import Viewer
from crawling.admin.wording import DATASET_OPS
from crawling.baseline import personal_data
from crawling.models import Change, Comment, CrawlRun, Decision, Proposal
from crawling.review.putting import as_change
from registry import reading
from registry.catalogues import catalogue_for
from registry.documents import split_path

# Columns that only a run's own page needs.
_RUN_REST = ("config", "coverage", "summary", "report", "timings")
CHUNK = 500
_ENDS: dict[str, str] = {
    Change.Op.DROP_FIELD: "gone",
    Change.Op.RENAME_FIELD: "gone",
    Change.Op.DROP_DATASET: "gone",
    Change.Op.RENAME_DATASET: "gone",
    Change.Op.MOVE_DATASET: "gone",
    Change.Op.ADD_FIELD: "new",
    Change.Op.ADD_DATASET: "new",
}
NAMES_SECONDS = 15


def load(run: Reviewed, user: Any) -> Review:
    """The whole review: the run's own changes, decided or not, and what earlier runs left open in its scope.

    Documents of whole datasets are not loaded: `fill` brings those of the rows that are shown.
    """
    changes, needs = _changes(run)
    _share(changes, run)
    decided = [change for change in changes if change.state != Change.State.OPEN]
    if decided:
        prefetch_related_objects(decided, Prefetch("decisions", Decision.objects.select_related("person")))
    stale = _stale(changes, run)
    viewer = Viewer(
        user=user,
        may_decide=can(user, Capability.DECIDE, run.system),
        approvers=_approvers() if any(change.state == Change.State.WAITING for change in changes) else (),
    )
    tags = _tags(changes)
    rows = [
        Row(
            change=change,
            standing=standing.standing_of(change, viewer=viewer, is_stale=change.pk in stale),
            people=review.people_needed(change.risk),
            tags=tags.get(change.pk, ()),
            needs=needs.get(change.pk, []),
            now=stale.get(change.pk),
        )
        for change in changes
    ]
    if isinstance(run, CrawlRun):
        _mark_pairs(rows)
    _add_comments(rows)
    return Review(run=run, viewer=viewer, rows=rows)


def _mark_pairs(rows: Sequence[Row]) -> None:
    """Of open changes, which could be one end of a rename: there is another end at the same level."""
    ends: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    mine: list[tuple[Row, tuple[Any, ...], str]] = []
    for row in rows:
        change = row.change
        end = _ENDS.get(change.op)
        if end is None or not row.standing.may_approve or change.state != Change.State.OPEN:
            continue
        level = (change.proposal_id, *split_path(change.field_path)[:-1]) if change.field_path else ()
        ends[level].add(end)
        mine.append((row, level, end))
    for row, level, end in mine:
        of_many = end == "new" and not row.change.field_path
        row.may_pair = len(ends[level]) == 2 and not of_many


def _add_comments(rows: Sequence[Row]) -> None:
    said = {row.pk: row for row in rows if row.change.has_comments}  # type: ignore[attr-defined]
    if said:
        for comment in Comment.objects.filter(change__in=said).select_related("person"):
            said[comment.change_id].comments.append(comment)


def fill(rows: Iterable[Row]) -> None:
    """Load the documents of the datasets that come or go in these rows."""
    _fill([row.change for row in rows])


def _fill(changes: Iterable[Change]) -> None:
    wanted = {change.pk: change for change in changes if change.op in DATASET_OPS}
    ids = list(wanted)
    for start in range(0, len(ids), CHUNK):
        found = Change.objects.filter(pk__in=ids[start : start + CHUNK]).values_list("pk", "before", "after")
        for pk, before, after in found:
            wanted[pk].before, wanted[pk].after = before, after


def _of(run: Reviewed) -> Q:
    """The run's own changes, and those of earlier runs that it stands for; or those of a batch."""
    if isinstance(run, Batch):
        return Q(proposal__in=run.proposal_ids)
    own = Q(proposal__crawl_run=run)
    if run.dry_run or run.status not in CrawlRun.LOOKED:
        return own
    if Scope.from_dict(run.config) != Scope():
        earlier = [each.pk for each in review.proposals_of(run) if each.crawl_run_id != run.pk]
        return own | Q(proposal_id__in=earlier) if earlier else own
    return own | Q(
        proposal__system=run.system_id,
        proposal__origin=Proposal.Origin.CRAWL,
        proposal__status__in=Proposal.LIVE,
        proposal__crawl_run__lt=run.pk,
    )


def _changes(run: Reviewed) -> tuple[list[Change], dict[int, list[Change]]]:
    """The changes, and for each the ones it needs that are not in force; one row a need, so one statement."""
    small = ~Q(op__in=DATASET_OPS)
    rows: Iterable[Any] = (
        Change.objects.filter(_of(run))
        .exclude(  # paired with another in this very review
            proposal__status=Proposal.Status.SUPERSEDED,
            proposal__superseded_by__crawl_run=F("proposal__crawl_run"),
        )
        .select_related(
            "proposal__dataset__current_schema",
            "draft__person",
            "applied_version",
        )
        .defer("before", "after", "proposal__document")
        .annotate(
            small_before=Case(When(small, then=F("before")), output_field=JSONField()),
            small_after=Case(When(small, then=F("after")), output_field=JSONField()),
            need_id=F("requires"),
            has_comments=Exists(Comment.objects.filter(change=OuterRef("pk"))),
        )
        .order_by("proposal_id", "place")
    )
    found: dict[int, Change] = {}
    needed: dict[int, list[int]] = defaultdict(list)
    for row in rows:
        if row.need_id is not None:
            needed[row.pk].append(row.need_id)
        if row.pk not in found:
            row.before, row.after = row.small_before, row.small_after
            found[row.pk] = row
    needs = {
        pk: [found[need] for need in ids if need in found and found[need].state != Change.State.APPLIED]
        for pk, ids in needed.items()
        if found[pk].state in Change.UNDECIDED
    }
    return list(found.values()), needs


def _share(changes: Sequence[Change], run: Reviewed) -> None:
    """One object a proposal, a run and the system for all, so that asking for rights reads nothing."""
    proposals: dict[int, Proposal] = {}
    for change in changes:
        change.proposal = proposals.setdefault(change.proposal_id, change.proposal)
    runs = {run.pk: run} if isinstance(run, CrawlRun) else {}
    earlier = {each.crawl_run_id for each in proposals.values() if each.crawl_run_id} - set(runs)
    if earlier:
        rows = CrawlRun.objects.filter(pk__in=earlier).defer(*_RUN_REST)
        runs |= {each.pk: each for each in rows}
    for proposal in proposals.values():
        proposal.system = run.system
        if proposal.crawl_run_id:
            proposal.crawl_run = runs[proposal.crawl_run_id]


def _tags(changes: Sequence[Change]) -> dict[int, tuple[str, ...]]:
    touched = [change for change in changes if change.touches_pii and change.proposal.dataset_id]
    if not touched:
        return {}
    tags = personal_data({change.proposal.dataset_id for change in touched if change.proposal.dataset_id})
    found = {}
    for change in touched:
        dataset_id = change.proposal.dataset_id or 0
        if change.field_path:
            found[change.pk] = tags.get((dataset_id, change.field_path), ())
        else:
            codes = {
                code for (key, _), found_here in tags.items() if key == dataset_id for code in found_here
            }
            found[change.pk] = tuple(sorted(codes))
    return found


def _stale(changes: Sequence[Change], run: Reviewed) -> dict[int, Any]:
    """By change, what the registry has now where it is no longer what the change was computed against."""
    open_changes: dict[int, list[Change]] = defaultdict(list)
    for change in changes:
        proposal = change.proposal
        if (
            change.state not in Change.UNDECIDED
            or proposal.status not in Proposal.LIVE
            or proposal.dataset is None
        ):
            continue
        if (
            proposal.base_version_id != proposal.dataset.current_schema_id
            or change.state == Change.State.STALE
        ):
            open_changes[proposal.pk].append(change)
    if not open_changes:
        return {}
    _fill(change for rows in open_changes.values() for change in rows)
    datasets = {rows[0].proposal.dataset for rows in open_changes.values()}
    current = {each.current_schema_id: each for each in datasets if each and each.current_schema_id}
    documents = reading.documents_of(current, names={d.pk: reading.place_of(d) for d in current.values()})
    catalogue = catalogue_for(run.system.flavor.code)
    found: dict[int, Any] = {}
    for rows in open_changes.values():
        dataset = rows[0].proposal.dataset
        document = documents.get(dataset.current_schema_id) if dataset and dataset.current_schema_id else None
        values = {row.fingerprint: as_change(row) for row in rows}
        gone = diff.stale(document, values.values(), catalogue=catalogue)
        marked = {each.fingerprint for each in gone}
        for row in rows:
            if row.fingerprint in marked or row.state == Change.State.STALE:
                found[row.pk] = diff.present_value(
                    document, values[row.fingerprint], changes=values.values(), catalogue=catalogue
                )
    return found


def _approvers() -> tuple[str, ...]:
    """The names of some who may confirm; kept for some seconds."""
    kept: tuple[str, ...] | None = cache.get("review.approvers")
    if kept is None:
        people = User.objects.filter(is_active=True, user_type=User.Type.REGULAR, groups__name=APPROVER)
        kept = tuple(person.get_full_name() for person in people.order_by("email")[:5])
        cache.set("review.approvers", kept, NAMES_SECONDS)
    return kept
