"""`manage.py forward_events`: the relay from the outbox to Kafka (or to the log, where no broker is set)."""

from __future__ import annotations

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from aide.work.queue import worker_name
from lineage import outbox
from lineage.relay import Relay


class Command(BaseCommand):
    help = "Sends what waits in the outbox, until it is ended; several may run at once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="End when nothing is due any more.")

    def handle(self, *args: Any, once: bool, **options: Any) -> None:
        relay = Relay(worker_name(":forward"))
        if once:
            self._send_once(relay)
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        self.stdout.write(f"Forwarding to {relay.sink.name}.")
        relay.run(stop)

    def _send_once(self, relay: Relay) -> None:
        try:
            delivered = relay.run_until_idle(seconds=3600)
            away = relay.is_paused
        finally:
            relay.finish()
        self.stdout.write(f"{delivered} messages settled.")
        if away:
            raise CommandError("The broker is away. What waits is kept and will be sent later.")
        if outbox.relays_alive() and not delivered and outbox.oldest_waiting():
            self.stdout.write("Other relays hold what waits.")
