"""A dataset's level of compatibility, held whenever a version is published. Only `registry.versions` enforces it.

What people decided in review may break the level: an `Approval` says who they were, and the audit log says that
the level was overridden. Everything else is refused with every reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aide.core.errors import Conflict, FieldError
from registry import locations, reading
from registry.compatibility import NONE, Reason, Verdict, is_transitive, verdict
from registry.models import Dataset, DatasetSchema
from registry.typesystem import Catalogue

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Approval:
    """A review approved these changes: the names of the people, none where a plan needs no person."""

    people: tuple[str, ...] = ()


def judge(dataset: Dataset, document: Document, *, catalogue: Catalogue) -> Verdict:
    """What the dataset's level says to a clean document that would be its next version. Writes nothing."""
    return judge_all([(dataset, document)], catalogue=catalogue)[dataset.pk]


def judge_all(work: Sequence[tuple[Dataset, Document]], *, catalogue: Catalogue) -> dict[int, Verdict]:
    """The same for datasets of one flavor, by dataset id, in a constant number of statements."""
    earlier = _earlier([dataset for dataset, _ in work])
    found = {}
    for dataset, document in work:
        known = earlier.get(dataset.pk, [])
        found[dataset.pk] = verdict(
            known[0] if known else None,
            document,
            level=dataset.compatibility,
            catalogue=catalogue,
            history=known[1:],
            positional=locations.is_positional(dataset.kind, dataset.location),
        )
    return found


def overridden(
    work: Sequence[tuple[Dataset, Document, Approval | None]], *, catalogue: Catalogue
) -> dict[int, dict[str, Any]]:
    """What the audit log has to say of each dataset whose level gives way to an approval, by dataset id.

    Raises INCOMPATIBLE_SCHEMA for the first whose level forbids the document and which nobody approved.
    """
    held = [each for each in work if each[0].compatibility != NONE and each[0].current_schema_id]
    if not held:
        return {}
    verdicts = judge_all([(dataset, document) for dataset, document, _ in held], catalogue=catalogue)
    notes = {}
    for dataset, _, approval in held:
        found = verdicts[dataset.pk]
        if found.compatible:
            continue
        if approval is None:
            raise _incompatible(dataset, found)
        notes[dataset.pk] = {
            "override": True,
            "level": dataset.compatibility,
            "approved_by": list(approval.people),
            "reasons": [reason.to_dict() for reason in found.breaking],
        }
    return notes


def _incompatible(dataset: Dataset, found: Verdict) -> Conflict:
    count = len(found.breaking)
    what = "One change" if count == 1 else f"{count} changes"
    return Conflict(
        "INCOMPATIBLE_SCHEMA",
        f"{what} would break the level {dataset.compatibility} of {dataset.name}. "
        "Change the document, or have the change approved in a review.",
        errors=[FieldError(each.field or "", each.rule, _sentence(each)) for each in found.breaking],
        extra={"level": dataset.compatibility, "reasons": [each.to_dict() for each in found.reasons]},
    )


def _sentence(reason: Reason) -> str:
    compared = f" (compared with version {reason.version})" if reason.version else ""
    return f"{reason.why}{compared}"


def _earlier(datasets: Sequence[Dataset]) -> dict[int, list[Document]]:
    """By dataset id the documents that its level compares with, the one in force first."""
    current = {each.current_schema_id: each.pk for each in datasets if each.current_schema_id}
    wanted = dict(current)
    transitive = [each.pk for each in datasets if is_transitive(each.compatibility)]
    if transitive:
        rows = DatasetSchema.objects.filter(dataset_id__in=transitive, status=DatasetSchema.Status.PUBLISHED)
        wanted |= dict(rows.order_by("-version_num").values_list("pk", "dataset_id"))
    places = {each.pk: reading.place_of(each) for each in datasets}
    documents = reading.documents_of(wanted, names=places)
    numbers = dict(DatasetSchema.objects.filter(pk__in=wanted).values_list("pk", "version_num"))
    found: dict[int, list[Document]] = defaultdict(list)
    for schema_id, dataset_id in wanted.items():  # those in force come first
        found[dataset_id].append(documents[schema_id] | {"version": numbers[schema_id]})
    return found
