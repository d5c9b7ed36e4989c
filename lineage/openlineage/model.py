"""The values that an event is read into."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

RUN, JOB, DATASET = "run", "job", "dataset"
INPUT, OUTPUT = "input", "output"
WHOLE = "*"
"""The field that stands for a whole dataset where no fields of it are named."""


class RefusedEventError(ValueError):
    """The event cannot be kept in any useful way; the text says why."""


class DatasetName(NamedTuple):
    """How events name a dataset."""

    namespace: str
    name: str


class JobName(NamedTuple):
    """How events name a job."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class DatasetUse:
    """A dataset that an event speaks of: read, written, or only described (role is empty).

    `facets` describe the dataset, `run_facets` what this run did with it (row counts, quality).
    """

    dataset: DatasetName
    role: str = ""
    facets: Mapping[str, Any] = field(default_factory=dict)
    run_facets: Mapping[str, Any] = field(default_factory=dict)
    dropped: bool = False


class Flow(NamedTuple):
    """An event says in so many words that `target` is made from `source`."""

    source: DatasetName
    target: DatasetName


@dataclass(frozen=True, slots=True)
class ColumnFlow:
    """A field of `target` is made from a field of `source`; masking: values do not flow on in the clear."""

    source: DatasetName
    source_field: str
    target: DatasetName
    target_field: str
    transformation: str = ""
    masking: bool = False


@dataclass(frozen=True, slots=True)
class JobUse:
    """A job other than the event's own, or the own one, that is said to read or write a dataset."""

    job: JobName
    dataset: DatasetName
    role: str


@dataclass(frozen=True, slots=True)
class OpenLineageEvent:
    """An event as it is understood. `same` joins two names of one dataset; `oddities` are plain sentences."""

    kind: str
    event_time: datetime
    event_type: str = ""
    run_id: str = ""
    run_uuid: uuid.UUID | None = None
    parent_run: uuid.UUID | None = None
    job: JobName | None = None
    producer: str = ""
    datasets: tuple[DatasetUse, ...] = ()
    flows: tuple[Flow, ...] = ()
    columns: tuple[ColumnFlow, ...] = ()
    job_uses: tuple[JobUse, ...] = ()
    same: tuple[tuple[DatasetName, DatasetName], ...] = ()
    run_facets: Mapping[str, Any] = field(default_factory=dict)
    job_facets: Mapping[str, Any] = field(default_factory=dict)
    oddities: tuple[str, ...] = ()
