"""Foreign keys that follow a rename in another dataset are not in force before it is. Only applying asks here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aide_crawler.names import qualified_name

from crawling.models import Change, Proposal
from crawling.review.case import Case

Op = Change.Op
RENAMES = (Op.RENAME_DATASET, Op.MOVE_DATASET, Op.RENAME_FIELD)
RULE = "foreign_key_follows"


def held_back(cases: Sequence[Case]) -> dict[int, str]:
    """Of the approved changes those that must wait, by id, each with the rename it waits for in words."""
    following = [
        (case.proposal.system_id, change)
        for case in cases
        for change in case.approved
        if change.op == Op.CHANGE_FOREIGN_KEY and change.rule == RULE and change.before and change.after
    ]
    if not following:
        return {}
    ready = {change.pk for case in cases for change in case.approved}
    refused = {change.pk for case in cases for change, _ in case.rejected}
    open_renames = [
        row
        for row in Change.objects.filter(
            proposal__system__in={system for system, _ in following},
            proposal__status__in=Proposal.LIVE,
            state__in=Change.UNDECIDED,
            op__in=RENAMES,
        ).select_related("proposal")
        if row.pk not in ready | refused
    ]
    held = {}
    for system, change in following:
        for row in open_renames:
            if row.proposal.system_id == system and _is_followed(row, change.before, change.after):
                held[change.pk] = f"change {row.pk}"
                break
    return held


def renames_first(proposal_ids: Sequence[int]) -> list[int]:
    """The same proposals, those that rename something first, so that what follows finds it done."""
    renaming: set[int] = set()
    for start in range(0, len(proposal_ids), 500):
        rows = Change.objects.filter(proposal_id__in=proposal_ids[start : start + 500], op__in=RENAMES)
        renaming |= set(rows.filter(state__in=Change.UNDECIDED).values_list("proposal_id", flat=True))
    return sorted(proposal_ids, key=lambda each: each not in renaming)


def _is_followed(rename: Change, was: Any, now: Any) -> bool:
    """Whether a key that was and now is so points at what this change renames."""
    before, after = (
        qualified_name(str(k.get("ref_schema") or ""), str(k.get("ref_table"))) for k in (was, now)
    )
    if rename.op != Op.RENAME_FIELD:
        return before != after and rename.after == after
    old, new = was.get("ref_columns") or (), now.get("ref_columns") or ()
    return rename.dataset_name in (before, after) and (rename.before, rename.after) in zip(
        old, new, strict=False
    )
