"""`manage.py consume_lineage`: stores and merges the OpenLineage events of Kafka topics, each once."""

from __future__ import annotations

from lineage.management.reading import ReadTopics
from lineage.taking import take_messages
from lineage.topics import LINEAGE_GROUP


class Command(ReadTopics):
    help = "Stores the OpenLineage events of the topics of AIDE_KAFKA_CONSUME_LINEAGE, until it is ended."
    variable = "AIDE_KAFKA_CONSUME_LINEAGE"
    group = LINEAGE_GROUP
    take = staticmethod(take_messages)
