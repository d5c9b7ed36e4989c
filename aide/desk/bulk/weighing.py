"""What a plan does to each of some rows now: the one answer that the preview shows and the batch carries out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from aide.accounts.roles import Capability, systems_limit
from aide.desk.bulk.plans import STALE, Plan
from aide.desk.models import Subject
from registry.models import Dataset, Field, FieldTag, PIITag

AT_ONCE = 1_000
MODELS: dict[str, Any] = {Subject.FIELD: Field, Subject.DATASET: Dataset}


@dataclass
class Outcome:
    """What happens to one row: why it is left out, or what it gets. Without either nothing about it changes."""

    pk: int
    row: Any
    name: str
    why: str = ""
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)
    confirms: list[PIITag] = field(default_factory=list)
    asks: list[PIITag] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    """The row's open tags by code, with their state."""

    @property
    def changes(self) -> bool:
        return not self.why and bool(self.after or self.confirms or self.asks)


class Scales:
    """Weighs rows for one person: rights and vocabulary are read once."""

    def __init__(self, subject: str, *, by: Any) -> None:
        self.subject = subject
        self.model = MODELS[subject]
        self.edits = systems_limit(by, Capability.EDIT_CURATED)
        self.decides = systems_limit(by, Capability.DECIDE)
        self.vocabulary = {tag.code: tag for tag in PIITag.objects.alive()}

    def weigh(self, plans: Mapping[int, Plan]) -> list[Outcome]:
        """One outcome for each id, in their order; three statements."""
        found = {row.pk: row for row in self.rows(list(plans))}
        carried = self._carried(found)
        return [self._outcome(pk, plan, found.get(pk), carried.get(pk, {})) for pk, plan in plans.items()]

    def rows(self, ids: Sequence[int]) -> QuerySet[Any]:
        """The rows with their dataset and system."""
        path = "system" if self.subject == Subject.DATASET else "dataset__system"
        return self.model.objects.filter(pk__in=ids).select_related(path)

    def _carried(self, found: Mapping[int, Any]) -> dict[int, dict[str, FieldTag]]:
        carried: dict[int, dict[str, FieldTag]] = {}
        if self.subject == Subject.FIELD:
            rows = FieldTag.objects.filter(field__in=list(found), until__isnull=True).select_related("tag")
            for row in rows:
                carried.setdefault(row.field_id, {})[row.tag.code] = row
        return carried

    def _outcome(self, pk: int, plan: Plan, row: Any, carried: Mapping[str, FieldTag]) -> Outcome:
        if row is None:
            return Outcome(pk, None, f"{self.subject} {pk}", why="not there any more")
        result = Outcome(pk, row, name_of(row), tags={code: tag.state for code, tag in carried.items()})
        result.why = self.why_not(row) or self._why_not_this(row, plan)
        if result.why:
            return result
        values = plan.values(row)
        result.after = {name: value for name, value in values.items() if getattr(row, name) != value}
        result.before = {name: getattr(row, name) for name in result.after}
        for code in plan.add_tags:
            if code in self.vocabulary and result.tags.get(code) != FieldTag.State.CONFIRMED:
                result.confirms.append(self.vocabulary[code])
        for code in plan.remove_tags:
            held = carried.get(code)
            if held is not None and held.state == FieldTag.State.CONFIRMED and held.removal_by_id is None:
                result.asks.append(self.vocabulary.get(code) or held.tag)
        return result

    def why_not(self, row: Any) -> str:
        """Why this person cannot change this row, in words; empty when they can."""
        dataset = row if isinstance(row, Dataset) else row.dataset
        if dataset.deleted_at is not None:
            return "its dataset is deleted" if row is not dataset else "deleted"
        if isinstance(row, Field) and row.retired_at is not None:
            return "retired: no version holds it"
        if self.edits is not None and dataset.system_id not in self.edits:
            return f"{dataset.system.code} is none of your systems"
        return ""

    def _why_not_this(self, row: Any, plan: Plan) -> str:
        dataset = row if isinstance(row, Dataset) else row.dataset
        if plan.remove_tags and self.decides is not None and dataset.system_id not in self.decides:
            return f"removing tags in {dataset.system.code} needs a steward or an approver"
        return STALE if plan.is_stale(row) else ""


def name_of(row: Any) -> str:
    """How a row is named in lists of results."""
    return f"{row.dataset.name} · {row.path}" if isinstance(row, Field) else row.name


def in_parts(plans: Mapping[int, Plan]) -> Iterator[dict[int, Plan]]:
    """The plans, a thousand at a time."""
    ids = list(plans)
    for start in range(0, len(ids), AT_ONCE):
        yield {pk: plans[pk] for pk in ids[start : start + AT_ONCE]}
