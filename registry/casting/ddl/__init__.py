"""A plan as the target's own schema text: DDL for databases and warehouses, schemas for messages and files. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from registry.casting.ddl import files, messages, protobuf, tables
from registry.casting.documents import TablePlan

_WRITERS: Mapping[str, Callable[[TablePlan], str]] = {
    **dict.fromkeys(tables.DIALECTS, tables.write),
    "kafka_avro": messages.avro,
    "kafka_json": messages.json_schema,
    "kafka_protobuf": protobuf.write,
    "parquet": files.parquet,
    "csv": files.table_schema,
}


def write(plan: TablePlan) -> str:
    """The schema text; flavors without a writer of their own get standard SQL."""
    return _WRITERS.get(plan.flavor, tables.write)(plan)
