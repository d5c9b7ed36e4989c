"""AIDE as production runs it, for faults between the outbox and Kafka: web server, relays, senders, a reader.

Only the Kafka suites here and `bench/bench_relay.py` use it.
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
from kafka import KafkaConsumer, TopicPartition

from lineage.kafka import API_VERSION, EVENT_ID
from tests.processes import free_port
from tests.servers import PostgresServer, Server
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
MANAGE = (sys.executable, "manage.py")
SENDER = (
    "from aide.accounts.keys import make_key; from aide.accounts.models import User;"
    "from django.contrib.auth.models import Group; u = User.objects.create_user('sender@localhost', 'x');"
    "u.groups.add(Group.objects.get(name='service'));"
    "print(make_key(user=u, name='chaos', scopes=['lineage:write'])[1])"
)


class Production:
    """One database, `manage.py serve` and as many `manage.py forward_events` as are started."""

    def __init__(self, postgres: PostgresServer, kafka: str, topic: str, folder: Path) -> None:
        url = postgres.create_database().replace("+psycopg", "")
        self.dsn, self.folder, self.topic = url, folder, topic
        self.environment = os.environ | {
            "AIDE_DEBUG": "1",
            "AIDE_DATABASE_URL": url,
            # With a broker of work, the web processes answer requests and do nothing else.
            "AIDE_BROKER_URL": "redis://127.0.0.1:1/0",
            "AIDE_KAFKA_SERVERS": kafka,
            "AIDE_KAFKA_METADATA_TOPIC": topic,
            "AIDE_KAFKA_CONSUME_METADATA": topic,
        }
        self.port = free_port()
        self.processes: list[subprocess.Popen[bytes]] = []
        self._numbers = itertools.count()
        self.run("migrate")
        self.key = self.run("shell", "--no-imports", "-c", SENDER).split()[-1]

    def run(self, *command: str) -> str:
        done = subprocess.run(
            [*MANAGE, *command],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """A process of its own, ended with us at the latest; what it says is kept in the folder."""
        with (self.folder / f"{command[0]}-{next(self._numbers)}.log").open("wb") as log:
            process = subprocess.Popen(
                [*MANAGE, *command], cwd=ROOT, env=self.environment, stdout=log, stderr=log
            )
        self.processes.append(process)
        return process

    def serve(self) -> None:
        process = self.start("serve", "--workers", "2", "--port", str(self.port))

        def is_up() -> bool:
            assert process.poll() is None, "the web server ended"
            line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            try:
                line.request("GET", "/health/live")
                return line.getresponse().status == 200
            except OSError:
                return False
            finally:
                line.close()

        wait_until(is_up, timeout=120, every=0.2)

    def relay(self) -> subprocess.Popen[bytes]:
        return self.start("forward_events")

    def ask(self, statement: str, *values: Any) -> tuple[Any, ...]:
        with closing(psycopg.connect(self.dsn, autocommit=True)) as connection:
            found = connection.execute(statement, values).fetchone()  # type: ignore[arg-type]
        assert found is not None
        return found

    def pending(self) -> int:
        return int(self.ask("SELECT count(*) FROM lineage_outboxmessage WHERE status = 'pending'")[0])

    def statuses(self) -> dict[str, int]:
        said = (
            "SELECT json_object_agg(status, n) FROM (SELECT status, count(*) AS n FROM lineage_outboxmessage"
        )
        return dict(self.ask(f"{said} GROUP BY status) AS found")[0] or {})

    def close(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)


class Sender(threading.Thread):
    """Posts batches of events about its own resources, in their order, as many as it may; repeats what failed."""

    def __init__(
        self,
        production: Production,
        *,
        name: str,
        events: int,
        allowed: int | None = None,
        batch: int = 100,
        pause: float = 0.0,
    ) -> None:
        super().__init__(name=name, daemon=True)
        self.port, self.key = production.port, production.key
        self.events, self.batch, self.pause = events, batch, pause
        self.accepted = 0
        self.allowed = events if allowed is None else allowed
        self.taken: list[tuple[float, float]] = []
        self.failures: list[str] = []
        self.stopped = threading.Event()

    def run(self) -> None:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        while self.accepted < self.events and not self.stopped.is_set():
            last = min(self.events, self.accepted + self.batch)
            if last > self.allowed:
                self.stopped.wait(0.05)
                continue
            body = json.dumps([self._event(number) for number in range(self.accepted, last)])
            began = time.monotonic()
            try:
                line.request("POST", "/api/v1/metadata", body, headers)
                answer = line.getresponse()
                said = answer.read()
            except (OSError, http.client.HTTPException) as error:
                line.close()
                self.failures.append(type(error).__name__)
                self.stopped.wait(0.2)
                continue
            self.taken.append((began, time.monotonic() - began))
            if answer.status != 201 or any(each["status"] == "refused" for each in json.loads(said)["items"]):
                self.failures.append(f"{answer.status} {said[:200]!r}")
                self.stopped.wait(0.2)
                continue
            self.accepted = last
            if self.pause:
                self.stopped.wait(self.pause)
        line.close()

    def _event(self, number: int) -> dict[str, Any]:
        return {
            "resource": f"{self.name}-{number % 37}",
            "subject": "chaos",
            "action": "DATA_WRITTEN",
            "event_id": f"{self.name}-{number:07}",
            "additionalValues": {"rows": str(number), "source_path": f"s3://raw-data/{number}.parquet"},
        }


def messages(server: Server, topic: str) -> Iterator[Any]:
    """Every message of a topic, in the order of each partition."""
    consumer = KafkaConsumer(
        bootstrap_servers=[server.url],
        api_version=API_VERSION,
        enable_auto_commit=False,
        metrics_enabled=False,
    )
    try:
        parts = [TopicPartition(topic, n) for n in sorted(consumer.partitions_for_topic(topic) or ())]
        assert parts, f"there is no topic {topic}"
        consumer.assign(parts)
        ends = consumer.end_offsets(parts)
        consumer.seek_to_beginning(*parts)
        deadline = time.monotonic() + 120
        while any(consumer.position(part) < ends[part] for part in parts):
            assert time.monotonic() < deadline, "the topic was not read to its end"
            for records in consumer.poll(500).values():
                yield from records
    finally:
        consumer.close()


def event_id(message: Any) -> str:
    return dict(message.headers)[EVENT_ID].decode()


class Arrived:
    """What is in a topic: how many messages, and the event ids of each key, repetitions left out."""

    def __init__(self, server: Server, topic: str) -> None:
        self.messages = 0
        self.partitions: dict[str, set[int]] = defaultdict(set)
        self.by_key: dict[str, list[str]] = defaultdict(list)
        self.ids: set[str] = set()
        for each in messages(server, topic):
            self.messages += 1
            name, key = event_id(each), (each.key or b"").decode()
            self.partitions[key].add(each.partition)
            if name not in self.ids:
                self.ids.add(name)
                self.by_key[key].append(name)

    @property
    def repeated(self) -> int:
        return self.messages - len(self.ids)

    def disorder(self) -> list[str]:
        """The keys whose events came in another order than that of their numbers, or into several partitions."""
        return [
            key
            for key, names in self.by_key.items()
            if names != sorted(names) or len(self.partitions[key]) > 1
        ]
