"""OpenLineage events, read leniently into plain values. Pure: no I/O, no Django."""

from lineage.openlineage.facets import newest, stamped
from lineage.openlineage.model import (
    ColumnFlow,
    DatasetName,
    DatasetUse,
    Flow,
    JobName,
    OpenLineageEvent,
    RefusedEventError,
)
from lineage.openlineage.naming import NormalName, authority_of, normal_form, split_name
from lineage.openlineage.reading import digest_of, message_key, read
from lineage.openlineage.secrets import masked

__all__ = [
    "ColumnFlow",
    "DatasetName",
    "DatasetUse",
    "Flow",
    "JobName",
    "NormalName",
    "OpenLineageEvent",
    "RefusedEventError",
    "authority_of",
    "digest_of",
    "masked",
    "message_key",
    "newest",
    "normal_form",
    "read",
    "split_name",
    "stamped",
]
