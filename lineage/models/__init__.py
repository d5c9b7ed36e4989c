"""What happened: metadata events, runs of jobs, the graph they draw, and what waits to be sent to Kafka."""

from lineage.models.events import Event, EventSchema
from lineage.models.graph import ColumnEdge, Edge, Node, NodeColumn, NodeName
from lineage.models.outbox import OutboxMessage, OutboxShard, RefusedMessage
from lineage.models.runs import Job, JobDataset, LineageEvent, Run, RunDataset

__all__ = [
    "ColumnEdge",
    "Edge",
    "Event",
    "EventSchema",
    "Job",
    "JobDataset",
    "LineageEvent",
    "Node",
    "NodeColumn",
    "NodeName",
    "OutboxMessage",
    "OutboxShard",
    "RefusedMessage",
    "Run",
    "RunDataset",
]
