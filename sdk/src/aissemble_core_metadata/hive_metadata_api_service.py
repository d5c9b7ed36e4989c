"""The service for production with Kafka: metadata goes to a topic, and is found on an AIDE server."""

from __future__ import annotations

import importlib.util
import json
import uuid
from functools import partial
from typing import Any

from aissemble_core_metadata.aide_server import connect, find, server_url
from aissemble_core_metadata.kafka_delivery import (
    DeliveryReport,
    KafkaDelivery,
    Limits,
    Message,
    MetadataNotAcceptedError,
    kafka_producer,
)
from aissemble_core_metadata.log_manager import LogManager
from aissemble_core_metadata.messaging_config import MessagingConfig
from aissemble_core_metadata.metadata_api import MetadataAPI
from aissemble_core_metadata.metadata_model import MetadataModel
from aissemble_core_metadata.search import read_search


class HiveMetadataAPIService(MetadataAPI):
    """Sends metadata to Kafka. Needs `pip install "aide-sdk[kafka]"`.

    `create_metadata` lays an event into a buffer and returns at once; a thread delivers, and delivers again
    whatever was not acknowledged. `flush()` waits for the acknowledgements. A program that ends waits up to ten
    seconds for them, and the log tells which events were not delivered. The message: the event as JSON, its
    timestamp a number of seconds; the key is the resource, so that the events of a resource keep their order;
    the header `aide-event-id` lets consumers recognise what came twice.
    """

    logger = LogManager.get_instance().get_logger("HiveMetadataAPIService")

    def __init__(self, *, config: MessagingConfig | None = None, limits: Limits | None = None) -> None:
        if importlib.util.find_spec("kafka") is None:
            raise ImportError('HiveMetadataAPIService needs kafka-python: pip install "aide-sdk[kafka]".')
        config = config or MessagingConfig()
        self._delivery = KafkaDelivery(
            config.metadata_topic(),
            partial(kafka_producer, config.servers(), config.options()),
            logger=self.logger,
            limits=limits,
        )

    def create_metadata(self, metadata: MetadataModel) -> None:
        """Take one event for delivery. MetadataNotAcceptedError when 10,000 wait already."""
        if not metadata:
            self.logger.warning("There was no metadata to send.")
            return
        event = metadata.to_wire()
        self._delivery.put(
            Message(
                key=event["resource"].encode(),
                value=json.dumps(event).encode(),
                event_id=uuid.uuid4().hex,
                label=event["resource"],
            )
        )

    def flush(self, timeout: float | None = 30.0) -> DeliveryReport:
        """Wait until Kafka has acknowledged everything, or for `timeout` seconds; what was not delivered is in
        the report and in the log, and is still being delivered."""
        return self._delivery.flush(timeout)

    def close(self, timeout: float | None = None) -> DeliveryReport:
        """`flush`, and let go of the connections."""
        return self._delivery.close(timeout)

    def get_metadata(self, search_params: dict[str, Any]) -> list[MetadataModel]:
        """The matching events on the AIDE server of `AIDE_METASTORE_URL`, oldest first; without such a server
        an empty list, and the log says so. AideError when the server does not answer."""
        search = read_search(search_params)
        url = server_url()
        if url is None:
            self.logger.warning(
                "Kafka cannot be searched: set AIDE_METASTORE_URL to find metadata on an AIDE server."
            )
            return []
        with connect(url) as client:
            found, is_cut = find(client, search)
        if is_cut:
            self.logger.warning("More events match; only the newest %d were read.", len(found))
        return found


__all__ = ["DeliveryReport", "HiveMetadataAPIService", "MetadataNotAcceptedError"]
