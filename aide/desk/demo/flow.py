"""Who made what of what: ninety days of lineage and metadata events, as pipelines told them. For the demo only."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from aide.desk.demo.tables import Source
from lineage import events
from lineage.merging import Incoming, receive
from lineage.metadata import MetadataEvent

if TYPE_CHECKING:
    from aide.desk.demo.story import Story

EVENTS = 1200
BATCHES = 12
FIRST, LAST = timedelta(days=88), timedelta(minutes=40)
"""The first events are that much younger than ninety days are, the last ones that much before tonight's crawl."""
BOARDS = "looker://bi.demo.example"
PRODUCER = "https://pipelines.demo.example/airflow"
WITHOUT = "lake/archive/letters-2019"
_SPACE = uuid.UUID("2f0f5a0e-4a38-5d0f-9a55-6c1f1c7f0d11")
_TEAMS = (
    "north",
    "south",
    "east",
    "west",
    "board",
    "sales",
    "finance",
    "service",
    "partners",
    "web",
    "stock",
    "crew",
)


@dataclass(frozen=True)
class Job:
    """A job of a pipeline: what it reads and writes, and the columns that it makes of others."""

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    columns: Mapping[str, str] = field(default_factory=dict)


def scenes(story: Story) -> list[tuple[datetime, Callable[[], None]]]:
    """Batches of events, each told when its last one happened."""
    names = {name: _address(source, name) for source in story.sources.values() for name in source.documents}
    lineage = list(_lineage(story, names))
    metadata = list(_metadata(story))
    size = EVENTS // BATCHES
    found: list[tuple[datetime, Callable[[], None]]] = []
    for start in range(0, EVENTS, size):
        told, noted = lineage[start : start + size], metadata[start : start + size]
        moment = max(told[-1][0], noted[-1].happened_at)
        found.append((moment, _scene([text for _, text in told], noted)))
    return found


def _scene(told: Sequence[str], noted: Sequence[MetadataEvent]) -> Callable[[], None]:
    def scene() -> None:
        receive([Incoming(json.loads(text), text) for text in told], announce=False)
        events.record(noted)

    return scene


@cache
def jobs() -> tuple[tuple[Job, ...], tuple[Job, ...]]:
    """The jobs between datasets, and those that fill boards."""
    said = yaml.safe_load((Path(__file__).parent / "flow.yaml").read_text(encoding="utf-8"))
    between = tuple(
        Job(name, tuple(reads), tuple(writes), *columns) for name, reads, writes, *columns in said["jobs"]
    )
    boards = tuple(
        Job(f"boards.{table.rpartition('_')[2]}", (table,), tuple(_boards(table, count)))
        for table, count in said["reports"].items()
    )
    return between, boards


def _boards(table: str, count: int) -> Iterator[str]:
    subject = table.rpartition("_")[2]
    for number in range(count):
        yield f"{subject}/{_TEAMS[number % len(_TEAMS)]}-{number // len(_TEAMS) + 1}"


def _address(source: Source, name: str) -> tuple[str, str]:
    """Namespace and name by which pipelines call a dataset."""
    namespace = source.values["namespaces"][0]
    if source.kind == "rdbms":
        return namespace, f"{source.values['database']}.{name}"
    if source.kind == "storage":
        return namespace, name.partition("/")[2]
    return namespace, name


def _moments(story: Story, count: int) -> list[datetime]:
    first, last = max(story.now - FIRST, story.beginning + timedelta(days=1)), story.tonight - LAST
    return [first + (last - first) * (each / (count - 1)) for each in range(count)]


def _lineage(story: Story, names: Mapping[str, tuple[str, str]]) -> Iterator[tuple[datetime, str]]:
    """Runs, each with its beginning and its end, in their order."""
    between, boards = jobs()
    wanted = EVENTS // 2
    runs = [between[each % len(between)] for each in range(wanted - 2 * len(boards))]
    runs = [*boards, *runs, *boards]
    for number, (job, ended) in enumerate(zip(runs, _moments(story, wanted), strict=True)):
        run_id = str(uuid.uuid5(_SPACE, f"run {number}"))
        lasted = timedelta(seconds=story.random.randrange(20, 300))
        yield ended - lasted, _event(job, "START", run_id, ended - lasted, names)
        yield (
            ended,
            _event(job, "COMPLETE", run_id, ended, names, rows=story.random.randrange(1_000, 900_000)),
        )


def _event(
    job: Job, kind: str, run_id: str, at: datetime, names: Mapping[str, tuple[str, str]], *, rows: int = 0
) -> str:
    outputs = []
    for name in job.writes:
        namespace, called = names.get(name, (BOARDS, name))
        output: dict[str, Any] = {"namespace": namespace, "name": called}
        if kind == "COMPLETE" and job.columns:
            output["facets"] = {"columnLineage": _columns(job, names)}
        if rows and len(job.writes) < 3:
            output["outputFacets"] = {"outputStatistics": {**_head("OutputStatistics"), "rowCount": rows}}
        outputs.append(output)
    inputs = [dict(zip(("namespace", "name"), names[name], strict=True)) for name in job.reads]
    event = {
        "eventType": kind,
        "eventTime": at.isoformat(),
        "producer": PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": run_id},
        "job": {"namespace": "airflow", "name": job.name},
        "inputs": inputs,
        "outputs": outputs,
    }
    return json.dumps(event, separators=(",", ":"))


def _columns(job: Job, names: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    fields = {}
    for made, read in job.columns.items():
        table, _, column = read.rpartition(".")
        namespace, called = names[table]
        masked = made.startswith("~")
        how = {"type": "DIRECT", "subtype": "TRANSFORMATION" if masked else "IDENTITY", "masking": masked}
        fields[made.removeprefix("~")] = {
            "inputFields": [
                {"namespace": namespace, "name": called, "field": column, "transformations": [how]}
            ]
        }
    return {**_head("ColumnLineageDataset"), "fields": fields}


def _head(facet: str) -> dict[str, str]:
    return {
        "_producer": PRODUCER,
        "_schemaURL": f"https://openlineage.io/spec/facets/1-0-0/{facet}Facet.json",
    }


def _metadata(story: Story) -> Iterator[MetadataEvent]:
    """What pipelines noted about datasets; a few things the registry does not know are among them."""
    chance = story.random
    listed = [
        f"{source.code}/{name}"
        for source in story.sources.values()
        for name in source.documents
        if name != WITHOUT
    ]
    for number, moment in enumerate(_moments(story, EVENTS)):
        resource = "legacy-export/customers" if number % 150 == 149 else chance.choice(listed)
        action = chance.choice(("write", "write", "write", "read", "validate", "profile"))
        values = {"rows": str(chance.randrange(100, 2_000_000)), "seconds": str(chance.randrange(1, 400))}
        if action == "validate":
            values["quality"] = f"0.{chance.randrange(90, 100)}"
        subject = chance.choice(("nightly-load", "quality-checks", "stream-to-lake", "partner-exchange"))
        yield MetadataEvent(f"demo-{number:04}", resource, subject, action, moment, values)
