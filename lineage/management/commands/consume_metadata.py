"""`manage.py consume_metadata`: stores the events of Kafka topics, from their beginning, each once."""

from __future__ import annotations

import signal
import threading
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from aide.audit.origin import Origin, acting
from lineage.consuming import consume
from lineage.importing import take_messages
from lineage.topics import METADATA_GROUP


class Command(BaseCommand):
    help = "Stores the metadata events of the topics of AIDE_KAFKA_CONSUME_METADATA, until it is ended."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--topic", action="append", help="Read this topic instead; may be given again.")
        parser.add_argument(
            "--group", default=METADATA_GROUP, help="The consumer group; a new one reads from the start."
        )
        parser.add_argument(
            "--until-end", type=float, metavar="SECONDS", help="End when nothing came for so long."
        )

    def handle(
        self, *args: Any, topic: list[str] | None, group: str, until_end: float | None, **options: Any
    ) -> None:
        topics = topic or settings.AIDE_KAFKA_CONSUME_METADATA
        if not settings.AIDE_KAFKA_SERVERS:
            raise CommandError("AIDE_KAFKA_SERVERS is not set, so there is nothing to read from.")
        if not topics:
            raise CommandError("AIDE_KAFKA_CONSUME_METADATA names no topic.")
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        with acting(Origin(via="command")):
            counts = consume(topics, group=group, handle=take_messages, stop=stop, until_end=until_end)
        self.stdout.write(f"{counts.read} messages read, {counts.own} our own, {counts.refused} refused.")
