"""What the facets of an event say about flows: column lineage, explicit lineage, symlinks and renames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lineage.openlineage.facets import is_there, objects, transformation_of
from lineage.openlineage.model import (
    INPUT,
    OUTPUT,
    WHOLE,
    ColumnFlow,
    DatasetName,
    DatasetUse,
    Flow,
    JobName,
    JobUse,
)
from lineage.openlineage.places import dataset_name

MOST_COLUMNS = 50_000
MOST_FLOWS = 10_000
MOST_LOOKS = 200_000
"""An event may say the same flow over and over, and a product of inputs and fields is long: no more are read."""
LONGEST_FIELD = 2_000
_SPEAKING = frozenset({"columnLineage", "lineage", "symlinks", "lifecycleStateChange"})


class ColumnReader:
    """Collects flows between datasets and their columns; what cannot be read is noted and left out."""

    def __init__(
        self,
        uses: Iterable[DatasetUse],
        *,
        job: JobName | None,
        job_facets: Mapping[str, Any],
        note: Callable[[str], None],
    ) -> None:
        self.uses = list(uses)
        self.job = job
        self.job_facets = job_facets
        self.note = note
        self.looks = 0
        self.flows: dict[Flow, None] = {}
        self.columns: dict[tuple[str, ...], ColumnFlow] = {}
        self.job_uses: dict[JobUse, None] = {}
        self.same: dict[tuple[DatasetName, DatasetName], None] = {}

    def read(self) -> None:
        for use in self.uses:
            facets = use.facets
            if not facets or _SPEAKING.isdisjoint(facets):
                continue
            if is_there(facets.get("columnLineage")):
                self._column_lineage(
                    use.dataset, facets["columnLineage"], _schema_fields(facets.get("schema"))
                )
            if is_there(facets.get("lineage")):
                self._entry(use.dataset, facets["lineage"], _schema_fields(facets.get("schema")))
            if is_there(facets.get("symlinks")):
                self._symlinks(use.dataset, facets["symlinks"])
            if is_there(facets.get("lifecycleStateChange")):
                self._renamed(use.dataset, facets["lifecycleStateChange"])
        explicit = self.job_facets.get("lineage")
        if is_there(explicit) and isinstance(explicit, dict):
            self._entries(explicit)

    def _column_lineage(self, target: DatasetName, facet: Mapping[str, Any], fields: list[str]) -> None:
        listed = facet.get("fields")
        if not isinstance(listed, dict):
            self.note("A columnLineage facet has no fields.")
            listed = {}
        for field, entry in listed.items():
            if not isinstance(entry, dict):
                self.note("A field of a columnLineage facet is no object; it was left out.")
                continue
            masked = str(entry.get("transformationType") or "").upper() == "MASKED"
            for source in objects(entry.get("inputFields")):
                self._column(source, target, str(field), masked=masked)
        everything = sorted({*(str(name) for name in listed), *fields}) or [WHOLE]
        for source in objects(facet.get("dataset")):
            if not self._spread(source, target, everything):
                break

    def _entries(self, facet: Mapping[str, Any]) -> None:
        uses = {use.dataset: use for use in reversed(self.uses)}
        for entry in objects(facet.get("entries")):
            if entry.get("type") == "JOB":
                self._job_entry(entry)
                continue
            target = self._name(entry)
            if target is not None:
                known = uses.get(target)
                fields = _schema_fields(known.facets.get("schema")) if known else []
                self._entry(target, entry, fields)
                if self.job is not None:
                    self.job_uses[JobUse(self.job, target, OUTPUT)] = None

    def _job_entry(self, entry: Mapping[str, Any]) -> None:
        job = _job_of(entry) or self.job
        for source in objects(entry.get("inputs")):
            name = self._name(source) if source.get("type") != "JOB" else None
            if name is not None and job is not None:
                self.job_uses[JobUse(job, name, INPUT)] = None

    def _entry(self, target: DatasetName, entry: Mapping[str, Any], fields: list[str]) -> None:
        listed = entry.get("fields")
        by_field = listed if isinstance(listed, dict) else {}
        everything = sorted({*(str(name) for name in by_field), *fields}) or [WHOLE]
        for source in objects(entry.get("inputs")):
            if source.get("type") == "JOB":
                self._written_by(source, target)
                continue
            name = self._name(source)
            if name is None:
                continue
            self._flow(name, target)
            if isinstance(source.get("field"), str) and not self._spread(source, target, everything):
                break
        for field, value in by_field.items():
            for source in objects(value.get("inputs") if isinstance(value, dict) else None):
                if source.get("type") == "JOB":
                    self._written_by(source, target)
                else:
                    self._column(source, target, str(field))

    def _written_by(self, source: Mapping[str, Any], target: DatasetName) -> None:
        job = _job_of(source) or self.job
        if job is not None:
            self.job_uses[JobUse(job, target, OUTPUT)] = None

    def _spread(self, source: Mapping[str, Any], target: DatasetName, fields: list[str]) -> bool:
        """The same source for each of the fields; False when enough was read."""
        for field in fields:
            self._column(source, target, field)
            if self.looks > MOST_LOOKS:
                return False
        return True

    def _column(
        self, source: Mapping[str, Any], target: DatasetName, target_field: str, *, masked: bool = False
    ) -> None:
        self.looks += 1
        if self.looks > MOST_LOOKS:
            self.note(f"Flows of columns are told more than {MOST_LOOKS} times; the rest was left out.")
            return
        name = self._name(source)
        if name is None:
            return
        if not self._flow(name, target):
            return
        field = source.get("field")
        if not isinstance(field, str) or not field:
            field = WHOLE
        if len(field) > LONGEST_FIELD or len(target_field) > LONGEST_FIELD or not target_field:
            self.note("A column's name is empty or too long; its flow was left out.")
            return
        if len(self.columns) >= MOST_COLUMNS:
            self.note(f"There are more than {MOST_COLUMNS} flows of columns; the rest was left out.")
            return
        words, masking = transformation_of(source)
        key = (*name, field, *target, target_field)
        found = ColumnFlow(name, field, target, target_field, words, masking or masked)
        self.columns[key] = _both(self.columns[key], found) if key in self.columns else found

    def _flow(self, source: DatasetName, target: DatasetName) -> bool:
        """Whether the flow is kept."""
        if source == target:
            return True
        flow = Flow(source, target)
        if flow not in self.flows and len(self.flows) >= MOST_FLOWS:
            self.note(f"More than {MOST_FLOWS} flows between datasets are told; the rest was left out.")
            return False
        self.flows[flow] = None
        return True

    def _symlinks(self, dataset: DatasetName, facet: Mapping[str, Any]) -> None:
        for one in objects(facet.get("identifiers")):
            name = self._name(one)
            if name is not None and name != dataset:
                self.same[dataset, name] = None

    def _renamed(self, dataset: DatasetName, facet: Mapping[str, Any]) -> None:
        before = facet.get("previousIdentifier")
        if facet.get("lifecycleStateChange") == "RENAME" and isinstance(before, dict):
            name = self._name(before)
            if name is not None and name != dataset:
                self.same[dataset, name] = None

    def _name(self, item: Mapping[str, Any]) -> DatasetName | None:
        found = dataset_name(item)
        if found is None:
            self.note("A facet names a dataset without a namespace or without a name; it was left out.")
        return found


def _both(one: ColumnFlow, other: ColumnFlow) -> ColumnFlow:
    """Two ways between the same columns: masked only if both mask; the words of the plainer one."""
    words = min(filter(None, (one.transformation, other.transformation)), default="")
    return ColumnFlow(
        one.source, one.source_field, one.target, one.target_field, words, one.masking and other.masking
    )


def _job_of(item: Mapping[str, Any]) -> JobName | None:
    namespace, name = item.get("namespace"), item.get("name")
    if isinstance(namespace, str) and isinstance(name, str) and namespace and name:
        return JobName(namespace[:1000], name[:2000])
    return None


def _schema_fields(facet: Any) -> list[str]:
    if not is_there(facet):
        return []
    return [field["name"] for field in objects(facet.get("fields")) if isinstance(field.get("name"), str)]
