"""What the commands that read Kafka topics share: their options, how they end, and what they tell."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Sequence
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from aide.audit.origin import Origin, acting
from lineage.consuming import Came, consume


class ReadTopics(BaseCommand):
    """Reads the topics that `variable` names as `group`, and gives what came to `take`."""

    variable: str
    group: str
    take: Callable[[Sequence[Came]], dict[int, str]]

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--topic", action="append", help="Read this topic instead; may be given again.")
        parser.add_argument(
            "--group", default=self.group, help="The consumer group; a new one reads from the start."
        )
        parser.add_argument(
            "--until-end", type=float, metavar="SECONDS", help="End when nothing came for so long."
        )

    def handle(
        self, *args: Any, topic: list[str] | None, group: str, until_end: float | None, **options: Any
    ) -> None:
        topics = topic or getattr(settings, self.variable)
        if not settings.AIDE_KAFKA_SERVERS:
            raise CommandError("AIDE_KAFKA_SERVERS is not set, so there is nothing to read from.")
        if not topics:
            raise CommandError(f"{self.variable} names no topic.")
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        with acting(Origin(via="command")):
            counts = consume(topics, group=group, handle=self.take, stop=stop, until_end=until_end)
        self.stdout.write(f"{counts.read} messages read, {counts.own} our own, {counts.refused} refused.")
