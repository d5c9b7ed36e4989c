"""`manage.py consume_metadata`: stores the events of Kafka topics, from their beginning, each once."""

from __future__ import annotations

from lineage.importing import take_messages
from lineage.management.reading import ReadTopics
from lineage.topics import METADATA_GROUP


class Command(ReadTopics):
    help = "Stores the metadata events of the topics of AIDE_KAFKA_CONSUME_METADATA, until it is ended."
    variable = "AIDE_KAFKA_CONSUME_METADATA"
    group = METADATA_GROUP
    take = staticmethod(take_messages)
