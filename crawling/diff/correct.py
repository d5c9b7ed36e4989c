"""A person's corrections of what we took for a rename: split it, or pair a drop with an add."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from crawling.diff.changes import NO_CONTEXT, Change, Context, DatasetDiff
from crawling.diff.one import diff
from registry.documents import split_path
from registry.typesystem import Catalogue

_BY_HAND = ({"code": "by_hand", "text": "paired by a person"},)


def split(
    changes: Iterable[Change],
    rename: Change,
    *,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    catalogue: Catalogue | None,
    context: Context = NO_CONTEXT,
) -> tuple[Change, ...]:
    """All changes of a dataset anew, with a renamed field as one dropped and one added."""
    pairs = _pairs(changes)
    pairs.pop(rename.field or "", None)
    return diff(
        before, after, catalogue=catalogue, context=context, dataset=rename.dataset, renames=pairs,
        renamed_to=_renamed_to(changes),
    )  # fmt: skip


def pair(
    changes: Iterable[Change],
    drop: Change,
    add: Change,
    *,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    catalogue: Catalogue | None,
    context: Context = NO_CONTEXT,
) -> tuple[Change, ...]:
    """All changes of a dataset anew, with a dropped and an added field as one renamed.

    Both must be at the same level; ValueError otherwise.
    """
    gone, new = split_path(drop.field or ""), split_path(add.field or "")
    if (drop.op, add.op) != ("drop_field", "add_field") or gone[:-1] != new[:-1]:
        raise ValueError("Only a dropped and an added column of the same level can be one renamed column.")
    pairs = _pairs(changes) | {drop.field or "": new[-1]}
    return diff(
        before, after, catalogue=catalogue, context=context, dataset=drop.dataset, renames=pairs,
        renamed_to=_renamed_to(changes),
    )  # fmt: skip


def split_datasets(
    renamed: DatasetDiff, *, catalogue: Catalogue | None, context: Context = NO_CONTEXT
) -> tuple[DatasetDiff, DatasetDiff]:
    """A renamed or moved dataset as one dropped and one added."""
    gone = diff(renamed.before, None, catalogue=catalogue, context=context, dataset=renamed.before_name)
    new = diff(None, renamed.after, catalogue=catalogue, context=context, dataset=renamed.after_name)
    return (
        DatasetDiff(renamed.before_name, None, renamed.before, None, gone),
        DatasetDiff(None, renamed.after_name, None, renamed.after, new),
    )


def pair_datasets(
    gone: DatasetDiff, new: DatasetDiff, *, catalogue: Catalogue | None, context: Context = NO_CONTEXT
) -> DatasetDiff:
    """A dropped and an added dataset as one renamed or moved, with what else changed in it."""
    changes = diff(
        gone.before, new.after, catalogue=catalogue, context=context, dataset=gone.before_name,
        renamed_to=new.after_name, evidence=_BY_HAND,
    )  # fmt: skip
    return DatasetDiff(gone.before_name, new.after_name, gone.before, new.after, changes)


def _pairs(changes: Iterable[Change]) -> dict[str, str]:
    return {c.field: c.after for c in changes if c.op == "rename_field" and c.field is not None}


def _renamed_to(changes: Iterable[Change]) -> str | None:
    return next((c.after for c in changes if c.op in ("rename_dataset", "move_dataset")), None)
