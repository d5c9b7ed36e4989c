"""Reading an event: leniently, saying what is odd about it. Whatever is not needed to place it may be missing."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from typing import Any

from lineage.openlineage.columns import ColumnReader
from lineage.openlineage.facets import facets_of, is_there, objects, packed
from lineage.openlineage.model import (
    DATASET,
    INPUT,
    JOB,
    OUTPUT,
    RUN,
    DatasetUse,
    JobName,
    OpenLineageEvent,
    RefusedEventError,
)
from lineage.openlineage.moments import read_moment
from lineage.openlineage.places import check_length, dataset_name
from lineage.openlineage.secrets import without_userinfo

LONGEST_RUN_ID = 255
MOST_DATASETS = 2_000
TYPES = frozenset({"START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"})
_RUN_IDS = uuid.uuid5(uuid.NAMESPACE_URL, "https://openlineage.io/run")
_NO_NAMESPACE = "default"
_RESERVED = frozenset({("aide", "drawn by hand"), ("aide", "declared on the dataset")})


def digest_of(value: Any) -> str:
    """What tells a repetition: sha256 over the event, however it is spelled. It holds run, type, time and body."""
    return hashlib.sha256(packed(value)).hexdigest()


def run_uuid_of(run_id: str) -> uuid.UUID:
    """The UUID of a run; an id that is none gets its version 5 UUID."""
    try:
        return uuid.UUID(run_id)
    except ValueError:
        return uuid.uuid5(_RUN_IDS, run_id)


def message_key(event: OpenLineageEvent) -> str:
    """The Kafka key, as OpenLineage's own transport makes it: a run's events keep their order in one partition."""
    if event.kind == DATASET:
        about = event.datasets[0].dataset
        return f"dataset:{about.namespace}/{about.name}"
    kind = RUN if event.kind == RUN else JOB
    job = event.job or JobName("", event.run_id)
    parent = event.run_facets.get("parent")
    if kind == RUN and isinstance(parent, dict) and is_there(parent):
        root = parent.get("root")
        for holder in (root, parent):
            named = holder.get("job") if isinstance(holder, dict) else None
            if isinstance(named, dict) and isinstance(named.get("name"), str) and named["name"]:
                job = JobName(str(named.get("namespace") or ""), named["name"])
                break
    return f"{kind}:{job.namespace}/{job.name}"


def read(value: Any) -> OpenLineageEvent:
    """The event in a JSON value whose secrets are masked. Raises RefusedEventError with a plain sentence."""
    return _Reader(value).event()


class _Reader:
    def __init__(self, value: Any) -> None:
        if not isinstance(value, dict):
            raise RefusedEventError("An event is a JSON object.")
        self.value = value
        self.odd: list[str] = []

    def event(self) -> OpenLineageEvent:
        value = self.value
        try:
            event_time, odd = read_moment(value.get("eventTime"))
        except ValueError as error:
            raise RefusedEventError(f"eventTime cannot be read. {error}") from None
        self._note(odd)
        self._note_header()
        kind = self._kind()
        job, job_facets = self._job(kind)
        run_id, run_facets = self._run() if kind == RUN else ("", {})
        uses = self._uses(kind)
        flows = ColumnReader(uses, job=job, job_facets=job_facets, note=self._note)
        flows.read()
        return OpenLineageEvent(
            kind=kind,
            event_time=event_time,
            event_type=self._event_type(kind),
            run_id=run_id,
            run_uuid=run_uuid_of(run_id) if run_id else None,
            parent_run=self._parent(run_facets),
            job=job,
            producer=str(value.get("producer") or "")[:2000]
            if isinstance(value.get("producer"), str)
            else "",
            datasets=tuple(uses),
            flows=tuple(flows.flows),
            columns=tuple(flows.columns.values()),
            job_uses=tuple(flows.job_uses),
            same=tuple(flows.same),
            run_facets=run_facets,
            job_facets=job_facets,
            oddities=tuple(self.odd[:50]),
        )

    def _note(self, sentence: str) -> None:
        if sentence and sentence not in self.odd:
            self.odd.append(sentence)

    def _note_header(self) -> None:
        for name in ("producer", "schemaURL"):
            found = self.value.get(name)
            if not isinstance(found, str) or not found:
                self._note(f"{name} is missing.")
            elif "://" not in found and not found.startswith("urn:"):
                self._note(f"{name} is no URI.")

    def _kind(self) -> str:
        if isinstance(self.value.get("run"), dict):
            return RUN
        if self.value.get("run") is not None:
            raise RefusedEventError("run is not an object.")
        if isinstance(self.value.get("dataset"), dict):
            return DATASET
        if isinstance(self.value.get("job"), dict):
            return JOB
        raise RefusedEventError("The event names no run, no job and no dataset.")

    def _event_type(self, kind: str) -> str:
        found = self.value.get("eventType")
        if found is None:
            return ""
        if not isinstance(found, str):
            self._note("eventType is no text; it was left out.")
            return ""
        if kind == RUN and found.upper() not in TYPES:
            self._note(f"eventType {found[:40]!r} is not one of the specification's.")
        elif found != found.upper():
            self._note("eventType is not in upper case.")
        if kind != RUN:
            self._note(f"A {kind} event has no eventType.")
        return found.upper()[:64]

    def _run(self) -> tuple[str, dict[str, Any]]:
        run = self.value["run"]
        run_id = run.get("runId")
        if isinstance(run_id, int) and not isinstance(run_id, bool):
            run_id = str(run_id)
        if not isinstance(run_id, str) or not run_id.strip():
            raise RefusedEventError("run.runId is missing.")
        if len(run_id) > LONGEST_RUN_ID:
            raise RefusedEventError(f"run.runId is longer than {LONGEST_RUN_ID} characters.")
        try:
            uuid.UUID(run_id)
        except ValueError:
            self._note("run.runId is no UUID; the run is known by a version 5 UUID made of it.")
        return run_id, self._facets(run, "run")

    def _job(self, kind: str) -> tuple[JobName | None, dict[str, Any]]:
        job = self.value.get("job")
        if kind == DATASET:
            return None, {}
        if not isinstance(job, dict):
            self._note("job is missing; the event is kept, but belongs to no job.")
            return None, {}
        name = job.get("name")
        if not isinstance(name, str) or not name.strip():
            if kind == JOB:
                raise RefusedEventError("job.name is missing.")
            self._note("job.name is missing; the event is kept, but belongs to no job.")
            return None, {}
        namespace = job.get("namespace")
        if not isinstance(namespace, str) or not namespace.strip():
            self._note(f"job.namespace is missing; it was taken for {_NO_NAMESPACE!r}.")
            namespace = _NO_NAMESPACE
        found = JobName(without_userinfo(namespace.strip()), without_userinfo(name.strip()))
        check_length(found, "job")
        if found in _RESERVED:
            raise RefusedEventError(f"The job {found.namespace}/{found.name} is reserved for people.")
        return found, self._facets(job, "job")

    def _parent(self, run_facets: Mapping[str, Any]) -> uuid.UUID | None:
        parent = run_facets.get("parent")
        run = parent.get("run") if is_there(parent) and isinstance(parent, dict) else None
        run_id = run.get("runId") if isinstance(run, dict) else None
        return run_uuid_of(run_id) if isinstance(run_id, str) and run_id else None

    def _uses(self, kind: str) -> list[DatasetUse]:
        if kind == DATASET:
            found = self._use(self.value["dataset"], "", "dataset", 0)
            if found is None:
                raise RefusedEventError("dataset.namespace and dataset.name are needed.")
            return [found]
        uses = []
        for key, role in (("inputs", INPUT), ("outputs", OUTPUT)):
            listed = self.value.get(key)
            if listed is None:
                continue
            if not isinstance(listed, list):
                self._note(f"{key} is no list; it was left out.")
                continue
            items = list(objects(listed))
            if len(items) < len(listed):
                self._note(f"{key} holds something that is no object; it was left out.")
            if len(items) > MOST_DATASETS:
                raise RefusedEventError(f"{key} has more than {MOST_DATASETS} datasets.")
            for place, item in enumerate(items):
                use = self._use(item, role, key, place)
                if use is not None:
                    uses.append(use)
        return uses

    def _use(self, item: Mapping[str, Any], role: str, key: str, place: int) -> DatasetUse | None:
        name = dataset_name(item)
        if name is None:
            self._note(f"{_where(key, place)} has no namespace or no name; it was left out.")
            return None
        facets = self._checked_facets(item.get("facets"), key, place, "facets")
        own = f"{role}Facets"
        run_facets = self._checked_facets(item.get(own), key, place, own) if role else {}
        change = facets.get("lifecycleStateChange")
        state = change.get("lifecycleStateChange") if change is not None and is_there(change) else ""
        return DatasetUse(name, role, facets, run_facets, dropped=state == "DROP")

    def _facets(self, holder: Mapping[str, Any], key: str) -> dict[str, Any]:
        return self._checked_facets(holder.get("facets"), key, 0, "facets")

    def _checked_facets(self, value: Any, key: str, place: int, own: str) -> dict[str, Any]:
        if value is None or value == {}:
            return {}
        if not isinstance(value, dict):
            self._note(f"{_where(key, place)}.{own} is no object; it was left out.")
            return {}
        found = facets_of(value)
        if len(found) < len(value):
            self._note(f"{_where(key, place)}.{own} holds something that is no object; it was left out.")
        bare = [
            name for name, facet in found.items() if "_producer" not in facet or "_schemaURL" not in facet
        ]
        if bare:
            self._note(f"{_where(key, place)}.{own}.{min(bare)[:100]} lacks _producer or _schemaURL.")
        return found


def _where(key: str, place: int) -> str:
    """How a thing is called in oddities: an input or output by its place."""
    return f"{key}[{place}]" if key in {"inputs", "outputs"} else key
