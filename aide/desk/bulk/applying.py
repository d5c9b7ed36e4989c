"""Carrying a batch out, a thousand rows in one transaction, and undoing it. The only writer of batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from aide.audit import origin
from aide.core import bulk
from aide.core.errors import Conflict
from aide.core.requests import current_request_id
from aide.desk.bulk.plans import STALE, Plan
from aide.desk.bulk.weighing import AT_ONCE, MODELS, Outcome, Scales
from aide.desk.models import Batch, BatchRow, Selection
from aide.work.queue import enqueue
from registry import curation
from registry.models import FieldTag
from registry.tagging import many

TASK = "desk.batch"
UNDO_TASK = "desk.undo"
MEANWHILE = "Someone changed the same rows at this moment. Nothing was saved; try again."


@transaction.atomic
def apply(selection: Selection, plan: Plan, *, reason: str) -> Batch:
    """Make a batch of the selection and carry it out: at once up to 1,000 rows, beyond that by a worker."""
    batch = Batch.objects.create(
        person=selection.person, subject=selection.subject, words=selection.file_name or selection.words,
        plan=plan.as_json(), wishes=selection.wishes, reason=reason, request_id=current_request_id(),
        ids=selection.ids, total=len(selection.ids),
    )  # fmt: skip
    if batch.total <= AT_ONCE:
        _go_on(batch)
    else:
        enqueue(TASK, batch_id=batch.pk.hex)
    return batch


def carry_out(batch_id: str) -> None:
    """The worker's part: chunk after chunk, each in a transaction of its own, from where it stopped before."""
    while True:
        with transaction.atomic():
            batch = Batch.objects.select_for_update().get(pk=batch_id)
            if batch.state not in (Batch.State.WAITING, Batch.State.RUNNING):
                return
            with origin.acting(origin.Origin(via="ui", request_id=batch.request_id)):
                _go_on(batch)


def _go_on(batch: Batch) -> None:
    ids = batch.ids[batch.position : batch.position + AT_ONCE]
    if ids:
        try:
            _write(batch, ids)
        except IntegrityError as error:
            raise Conflict("STALE_CHANGE", MEANWHILE) from error
    batch.position += len(ids)
    batch.state = Batch.State.RUNNING
    if batch.position >= batch.total:
        batch.state, batch.finished_at = Batch.State.DONE, timezone.now()
    batch.save(update_fields=["position", "changed", "unchanged", "skipped", "state", "finished_at"])


def plans_of(batch: Batch | Selection, plan: Plan, ids: Sequence[int]) -> dict[int, Plan]:
    """What each of the rows gets: the same, or what a file says about it."""
    if not batch.wishes:
        return dict.fromkeys(ids, plan)
    return {pk: Plan.from_json(batch.wishes[str(pk)]) for pk in ids if str(pk) in batch.wishes}


def _write(batch: Batch, ids: Sequence[int]) -> None:
    plans = plans_of(batch, Plan.from_json(batch.plan), ids)
    outcomes = Scales(batch.subject, by=batch.person).weigh(plans)
    told: Any = {"by": batch.person, "reason": batch.reason, "batch": batch.key}
    due = {each.row.pk: each for each in outcomes if each.changes}
    for pk, why in _stale_under_lock(batch, plans, due).items():
        due.pop(pk).why = why
    wanted = {pk: plans[pk].values for pk, each in due.items() if each.after}
    written = curation.edit_many(MODELS[batch.subject], wanted, **told) if wanted else {}
    tagged, asked = _tag(list(due.values()), told)
    rows = [
        BatchRow(
            batch=batch, object_id=pk, name=each.name[:1000], outcome=BatchRow.Outcome.CHANGED,
            before=written[pk].before if pk in written else {},
            after=written[pk].after if pk in written else {},
            confirmed=tagged.get(pk, []),
            asked=asked.get(pk, []),
        )
        for pk, each in due.items()
    ]  # fmt: skip
    skipped = [
        BatchRow(
            batch=batch,
            object_id=pk,
            name=each.name[:1000],
            outcome=BatchRow.Outcome.SKIPPED,
            why=each.why[:200],
        )
        for pk, each in zip(plans, outcomes, strict=True)
        if each.why
    ]
    bulk.insert([*rows, *skipped])
    batch.changed += len(rows)
    batch.skipped += len(skipped)
    batch.unchanged += len(ids) - len(rows) - len(skipped)


def _stale_under_lock(batch: Batch, plans: dict[int, Plan], due: dict[int, Outcome]) -> dict[int, str]:
    """Rows of a file that someone changed since it was made; locked, so that it stays so."""
    ids = [pk for pk in due if plans[pk].seen]
    if not ids:
        return {}
    rows = MODELS[batch.subject].objects.select_for_update().filter(pk__in=ids).order_by("pk")
    return {row.pk: STALE for row in rows if plans[row.pk].is_stale(row)}


def _tag(due: list[Outcome], told: dict[str, Any]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """The ids of the tags that were confirmed, and of those whose removal was asked for, by field."""
    pairs = [(each.row, tag) for each in due for tag in each.confirms]
    gone = [(each.row, tag) for each in due for tag in each.asks]
    tagged = _by_field(many.confirm_many(pairs, **told) if pairs else [])
    return tagged, _by_field(many.ask_removal_many(gone, **told) if gone else [])


def _by_field(rows: list[FieldTag]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for row in rows:
        found.setdefault(row.field_id, []).append(row.pk)
    return found


# Undoing.


@transaction.atomic
def undo(batch: Batch, *, by: Any) -> Batch:
    """Bring back what stood before, where nobody changed it since. For the person who did it, within 24 hours.

    Raises CONFLICT where it is too late, or undone already.
    """
    row = Batch.objects.select_for_update().get(pk=batch.pk)
    if row.person_id != by.pk or not row.may_be_undone:
        raise Conflict("STALE_CHANGE", "This can be undone once, by whoever did it, within 24 hours.")
    row.state = Batch.State.UNDOING
    row.save(update_fields=["state"])
    if row.changed <= AT_ONCE:
        _go_on_undoing(row)
    else:
        enqueue(UNDO_TASK, batch_id=row.pk.hex)
    return row


def carry_out_undoing(batch_id: str) -> None:
    """The worker's part of undoing."""
    while True:
        with transaction.atomic():
            batch = Batch.objects.select_for_update().get(pk=batch_id)
            if batch.state != Batch.State.UNDOING:
                return
            with origin.acting(origin.Origin(via="ui", request_id=batch.request_id)):
                _go_on_undoing(batch)


def _go_on_undoing(batch: Batch) -> None:
    rows = list(batch.rows.filter(outcome=BatchRow.Outcome.CHANGED).order_by("pk")[:AT_ONCE])
    if rows:
        _take_back(batch, rows)
        bulk.update(rows, ["outcome", "why"])
        batch.undone += sum(row.outcome == BatchRow.Outcome.UNDONE for row in rows)
        batch.kept += sum(row.outcome == BatchRow.Outcome.KEPT for row in rows)
    if len(rows) < AT_ONCE:
        batch.state, batch.undone_at = Batch.State.UNDONE, timezone.now()
    batch.save(update_fields=["undone", "kept", "state", "undone_at"])


def _take_back(batch: Batch, rows: list[BatchRow]) -> None:
    """Undo what is as the batch left it. A row of which anything was changed since is kept as a whole."""
    told: Any = {"by": batch.person, "reason": "Undo of a batch", "batch": batch.key}
    scales = Scales(batch.subject, by=batch.person)
    model, ids = scales.model, [row.object_id for row in rows]
    locked = scales.rows(ids).select_for_update(of=("self",)).order_by("pk")
    present = {each.pk: each for each in locked}
    tags = _tags_of(rows)
    for row in rows:
        thing = present.get(row.object_id)
        why = scales.why_not(thing) if thing is not None else "not there any more"
        why = why or _why_kept(row, thing, tags, by=batch.person)
        row.outcome, row.why = (BatchRow.Outcome.KEPT, why) if why else (BatchRow.Outcome.UNDONE, "")
    back = [row for row in rows if row.outcome == BatchRow.Outcome.UNDONE]
    wanted = {row.object_id: (lambda _, row=row: row.before) for row in back if row.before}
    if wanted:
        curation.edit_many(model, wanted, **told)
    confirmed = [tags[pk] for row in back for pk in row.confirmed]
    if confirmed:
        many.take_back(confirmed, **told)
    asked = [tags[pk] for row in back for pk in row.asked]
    if asked:
        many.call_off(asked, **told)


def _tags_of(rows: list[BatchRow]) -> dict[int, FieldTag]:
    ids = [pk for row in rows for pk in (*row.confirmed, *row.asked)]
    if not ids:
        return {}
    found = FieldTag.objects.filter(pk__in=ids).select_related("field__dataset__system", "tag")
    return {tag.pk: tag for tag in found}


def _why_kept(row: BatchRow, thing: Any, tags: dict[int, FieldTag], *, by: Any) -> str:
    for name, value in row.after.items():
        if getattr(thing, name) != value:
            return f"its {name} was changed since"
    for pk in row.confirmed:
        tag = tags.get(pk)
        if tag is None or tag.until is not None or tag.removal_by_id is not None:
            return "its personal-data tags were changed since"
    for pk in row.asked:
        tag = tags.get(pk)
        if tag is None or tag.until is not None or tag.removal_by_id != by.pk:
            return "the removal was decided since"
    return ""
