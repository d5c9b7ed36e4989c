"""What waits for a person about personal data, in groups and rows, and how far each system is. Reads only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet

from registry.models import Field, FieldTag, PIITag, System

HIGH, MEDIUM = 0.90, 0.70
ROWS = 200
State = FieldTag.State


@dataclass(frozen=True)
class Group:
    """Suggestions of one tag by one rule. `left` are those that accepting the group leaves to a person."""

    tag: str
    name: str
    origin: str
    rule: str
    count: int
    low: float | None
    high: float | None
    left: int

    @property
    def key(self) -> str:
        return f"{self.tag}~{self.origin}~{self.rule}"

    @property
    def ready(self) -> int:
        return self.count - self.left

    @property
    def range(self) -> str:
        if self.low is None or self.high is None:
            return "no confidence given"
        one = f"{self.low:.2f}"
        return one if self.low == self.high else f"{one}–{self.high:.2f}"  # noqa: RUF001 (a range)


@dataclass
class Row:
    """One suggestion with what else is said about its field."""

    tag: FieldTag
    others: list[FieldTag] = field(default_factory=list)
    is_left: bool = False

    @property
    def level(self) -> str:
        return level_of(self.tag.confidence)

    @property
    def why_left(self) -> str:
        if self.tag.name_only:
            return "Only the name matches. Look before you accept."
        return "Another suggestion for this column is as likely." if self.is_left else ""


@dataclass(frozen=True)
class Coverage:
    """How many columns of a system carry a decision, wait for one, or have no sign of personal data."""

    system: System
    columns: int
    confirmed: int
    decided: int
    suggested: int

    @property
    def none(self) -> int:
        return self.columns - self.decided - self.suggested


def level_of(confidence: float | None) -> str:
    """A confidence in a word."""
    if confidence is None:
        return "unknown"
    return "high" if confidence >= HIGH else "medium" if confidence >= MEDIUM else "low"


def waiting(*, tag: str = "", system: str = "", least: float | None = None) -> QuerySet[FieldTag]:
    """The open suggestions on fields that are there."""
    rows = FieldTag.objects.filter(state=State.SUGGESTED)
    if least is not None:
        rows = rows.filter(confidence__gte=least)
    return narrowed(rows, tag=tag, system=system)


def narrowed(rows: QuerySet[FieldTag], *, tag: str = "", system: str = "") -> QuerySet[FieldTag]:
    """Open rows on fields that are there, of a tag and a system where those are given."""
    rows = rows.filter(
        until__isnull=True, field__retired_at__isnull=True, field__dataset__deleted_at__isnull=True
    )
    if tag:
        rows = rows.filter(tag__code=tag)
    return rows.filter(field__dataset__system__code=system) if system else rows


def in_group(rows: QuerySet[FieldTag], key: str) -> QuerySet[FieldTag]:
    """Those of one group, by its key."""
    tag, origin, rule = [*key.split("~", 2), "", ""][:3]
    return rows.filter(tag__code=tag, origin=origin, rule=rule)


def _rivals() -> Exists:
    """Another suggestion for the same field that is at least as likely."""
    return Exists(
        FieldTag.objects.filter(
            field=OuterRef("field"),
            until__isnull=True,
            state=State.SUGGESTED,
            confidence__gte=OuterRef("confidence"),
        ).exclude(pk=OuterRef("pk"))
    )


def ready(rows: QuerySet[FieldTag]) -> QuerySet[FieldTag]:
    """Those that may be accepted as a group: more than the name speaks for them, and they alone are the likeliest."""
    return rows.filter(name_only=False, confidence__isnull=False).filter(~_rivals())


def groups(rows: QuerySet[FieldTag]) -> list[Group]:
    """The groups of these suggestions, those with the most that can be accepted together first. Two statements."""
    by = ("tag__code", "tag__name", "origin", "rule")
    counted = (
        rows.order_by().values(*by).annotate(n=Count("pk"), low=Min("confidence"), high=Max("confidence"))
    )
    able: dict[tuple[str, ...], int] = {
        (each["tag__code"], each["origin"], each["rule"]): each["n"]
        for each in ready(rows).order_by().values("tag__code", "origin", "rule").annotate(n=Count("pk"))
    }
    found = [
        Group(
            each["tag__code"], each["tag__name"], each["origin"], each["rule"], each["n"], each["low"], each["high"],
            each["n"] - able.get((each["tag__code"], each["origin"], each["rule"]), 0),
        )
        for each in counted
    ]  # fmt: skip
    return sorted(
        found, key=lambda group: (-(group.high or 0), -group.ready, group.tag, group.origin, group.rule)
    )


def rows_of(rows: QuerySet[FieldTag], *, start: int = 0, size: int = ROWS) -> list[Row]:
    """Some of these suggestions, the likeliest first, with what else is said about their fields. Two statements."""
    shown = list(
        rows.select_related("tag", "field__dataset__system").order_by(
            F("confidence").desc(nulls_last=True), "pk"
        )[start : start + size]
    )
    others: dict[int, list[FieldTag]] = defaultdict(list)
    ids = {each.field_id for each in shown}
    listed = FieldTag.objects.filter(field_id__in=ids, until__isnull=True).select_related("tag")
    for other in listed.filter(state__in=(State.SUGGESTED, State.CONFIRMED)).order_by("pk"):
        others[other.field_id].append(other)
    return [_row(each, [other for other in others[each.field_id] if other.pk != each.pk]) for each in shown]


def _row(tag: FieldTag, others: list[FieldTag]) -> Row:
    mine = tag.confidence
    rivals = any(
        other.state == State.SUGGESTED and other.confidence is not None and mine is not None
        and other.confidence >= mine
        for other in others
    )  # fmt: skip
    return Row(tag, others, is_left=tag.name_only or mine is None or rivals)


@dataclass(frozen=True)
class Batch:
    """Suggestions that came along lineage in one go and still wait; they can be refused as one."""

    batch: str
    count: int
    since: datetime


def batches(rows: QuerySet[FieldTag]) -> list[Batch]:
    """The batches of lineage among these suggestions, the newest first."""
    found = rows.filter(origin=FieldTag.Origin.LINEAGE).exclude(batch="").order_by()
    counted = found.values_list("batch").annotate(Count("pk"), Min("since"))
    return sorted((Batch(*each) for each in counted), key=lambda each: each.since, reverse=True)[:20]


def coverage(systems: Sequence[System]) -> list[Coverage]:
    """Of each system its columns by what is decided about them. Two statements."""
    fields = Field.objects.filter(
        dataset__system__in=systems, retired_at__isnull=True, dataset__deleted_at__isnull=True
    )
    counts = dict(fields.order_by().values_list("dataset__system_id").annotate(Count("pk")))
    open_tags = FieldTag.objects.filter(
        field__dataset__system__in=systems,
        field__retired_at__isnull=True,
        field__dataset__deleted_at__isnull=True,
        until__isnull=True,
    )
    waits = Exists(
        FieldTag.objects.filter(field=OuterRef("field"), until__isnull=True, state=State.SUGGESTED)
    )
    told = {
        each["field__dataset__system_id"]: each
        for each in open_tags.annotate(waits=waits)
        .order_by()
        .values("field__dataset__system_id")
        .annotate(
            confirmed=Count("field", distinct=True, filter=Q(state=State.CONFIRMED)),
            decided=Count("field", distinct=True, filter=Q(waits=False)),
            suggested=Count("field", distinct=True, filter=Q(state=State.SUGGESTED)),
        )
    }
    nothing = {"confirmed": 0, "decided": 0, "suggested": 0}
    return [
        Coverage(
            system,
            counts.get(system.pk, 0),
            *((told.get(system.pk) or nothing)[name] for name in ("confirmed", "decided", "suggested")),
        )
        for system in systems
    ]


HOLDING = (
    "system", "dataset", "column", "type", "tag", "tag name", "sensitivity", "regimes", "owner", "description",
    "confirmed by", "confirmed at", "origin", "rule", "evidence",
)  # fmt: skip


def holding(*, tag: str = "", system: str = "") -> Iterator[tuple[Any, ...]]:
    """Every column that carries a confirmed tag, as the rows of a file under `HOLDING`."""
    rows = narrowed(FieldTag.objects.filter(state=State.CONFIRMED), tag=tag, system=system)
    rows = rows.select_related("tag", "decided_by", "field__dataset__system")
    for row in rows.order_by(
        "field__dataset__system__code", "field__dataset__name", "field__path", "tag__code"
    ):
        where = row.field
        yield (
            where.dataset.system.code,
            where.dataset.name,
            where.path,
            row.native_type,
            row.tag.code,
            row.tag.name,
            row.tag.sensitivity,
            ", ".join(str(each) for each in row.tag.regimes),
            where.owner or where.dataset.owner,
            where.description,
            row.decided_by.get_username() if row.decided_by else "",
            row.decided_at.isoformat() if row.decided_at else "",
            row.get_origin_display(),
            row.rule,
            row.evidence,
        )


def tags_in_use(rows: QuerySet[FieldTag]) -> list[PIITag]:
    """The tags to filter by."""
    return list(PIITag.objects.filter(pk__in=rows.order_by().values("tag")).order_by("code"))
