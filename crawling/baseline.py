"""The registry's present state of a system as documents, for comparing with a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from aide_crawler import Scope

from crawling.diff import Context
from lineage.readers import reader_counts
from registry import reading
from registry.models import Dataset, FieldTag, System

Document = dict[str, Any]


@dataclass(frozen=True)
class Known:
    """A dataset with a published version: its row's id, that version and the document."""

    dataset_id: int
    schema_id: int
    document: Mapping[str, Any]


def _none_is(name: str, schema_id: int) -> None:
    return None


def baseline(
    system: System,
    *,
    scope: Scope | None = None,
    settled: Callable[[str, int], Mapping[str, Any] | None] = _none_is,
) -> dict[str, Known]:
    """What the registry has of a system, by dataset name, within the scope; retired datasets are not there.

    `settled` gives the document that says the same as a version, so that the version's need not be read.
    """
    rows = (
        Dataset.objects.alive()
        .filter(system=system, current_schema__isnull=False)
        .exclude(status=Dataset.Status.RETIRED)
        .values_list("id", "current_schema_id", "name", "kind", "location")
    )
    kept = []
    places = {}
    same: dict[int, Mapping[str, Any]] = {}
    for dataset_id, schema_id, name, kind, location in rows:
        place = reading.place_in(kind, location, name)
        if scope is None or scope.covers(*place):
            kept.append((dataset_id, schema_id, name))
            document = settled(name, schema_id)
            if document is None:
                places[dataset_id] = place
            else:
                same[schema_id] = document
    unread = [schema_id for _, schema_id, _ in kept if schema_id not in same]
    documents = {**same, **reading.documents_of(unread, names=places)}
    return {name: Known(dataset_id, schema_id, documents[schema_id]) for dataset_id, schema_id, name in kept}


def personal_data(dataset_ids: Iterable[int]) -> dict[tuple[int, str], tuple[str, ...]]:
    """Confirmed PII tags by (dataset id, field path)."""
    tags: dict[tuple[int, str], tuple[str, ...]] = {}
    ids = list(dataset_ids)
    for start in range(0, len(ids), 500):
        rows = FieldTag.objects.filter(
            field__dataset_id__in=ids[start : start + 500],
            field__retired_at__isnull=True,
            state=FieldTag.State.CONFIRMED,
            until__isnull=True,
        )
        for dataset_id, path, code in rows.order_by("tag__code").values_list(
            "field__dataset_id", "field__path", "tag__code"
        ):
            tags[dataset_id, path] = (*tags.get((dataset_id, path), ()), code)
    return tags


def context_of(names: Mapping[int, str]) -> Context:
    """What is known of datasets beside their documents, by their names: personal data, and who reads them."""
    tags = personal_data(names)
    readers: dict[Any, int] = {}
    for (dataset_id, path), count in reader_counts(names).items():
        readers[names[dataset_id] if path is None else (names[dataset_id], path)] = count
    return Context(
        readers=readers,
        pii={(names[dataset_id], path): codes for (dataset_id, path), codes in tags.items()},
    )
