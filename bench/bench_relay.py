"""The relay against kafka-python alone on the same broker, and the API while the broker is away.

    python bench/bench_relay.py [--events 20000] [--rounds 3] [--outage 20]

Starts PostgreSQL, Apache Kafka (the wheel's broker where Java cannot be had) and `manage.py serve --workers 2`.
Goals: at least 5,000 messages a second once the broker is back; the API's p95 without a broker at most 1.10 x that
with it.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from kafka import KafkaProducer

from bench.measuring import in_turn
from lineage.kafka import API_VERSION, EVENT_ID, KIND, ORIGIN
from tests.chaos.forwarding import Production, Sender
from tests.processes import NoServerError
from tests.servers import ApacheKafkaServer, KafkaServer, PostgresServer, Server

FILL = """
INSERT INTO lineage_outboxmessage (kind, topic, key, shard, event_id, payload, status, attempts, last_error, sink,
    created_at)
SELECT 'metadata', %s, 'resource-' || n %% 5000, n %% 5000 %% 16, 'e' || n, %s, 'pending', 0, '', '', now()
FROM generate_series(1, %s) AS n RETURNING 1
"""
CLEAR = "from lineage.models import OutboxMessage; OutboxMessage.objects.all().delete()"
PAYLOAD = '{"resource": "r", "subject": "s", "action": "A", "additionalValues": {"x": "' + "y" * 230 + '"}}'


def drain(production: Production, events: int) -> float:
    """The seconds from the first message sent to the last one noted as delivered, by the rows themselves."""
    production.run("shell", "--no-imports", "-c", CLEAR)
    production.ask(FILL, production.topic, PAYLOAD, events)
    began = time.perf_counter()
    production.run("forward_events", "--once")
    whole = time.perf_counter() - began
    count, windows, first, last = production.ask(
        "SELECT count(*), count(DISTINCT delivered_at), min(delivered_at), max(delivered_at)"
        " FROM lineage_outboxmessage WHERE status = 'delivered'"
    )
    assert count == events
    # The first window is before the first moment that was written down, so its time is added.
    return min(whole, (last - first).total_seconds() * windows / max(1, windows - 1))


def produce(server: Server, topic: str, events: int) -> float:
    """kafka-python alone: the same messages with the same headers and settings, waited for in the end."""
    producer = KafkaProducer(
        bootstrap_servers=[server.url],
        api_version=API_VERSION,
        acks="all",
        enable_idempotence=True,
        linger_ms=5,
        batch_size=128 * 1024,
        metrics_enabled=False,
    )
    try:
        producer.partitions_for(topic)
        value = PAYLOAD.encode()
        began = time.perf_counter()
        for n in range(events):
            headers = [(EVENT_ID, b"e%d" % n), (ORIGIN, b"0123456789abcdef"), (KIND, b"metadata")]
            producer.send(topic, value, key=b"resource-%d" % (n % 5000), headers=headers)
        producer.flush(60)
        return time.perf_counter() - began
    finally:
        producer.close()


def p95(taken: list[float]) -> float:
    return statistics.quantiles(taken, n=20)[-1]


def outage(production: Production, server: Server, *, seconds: float, windows: int) -> None:
    """Windows with the broker and without it, in turn, so that other work on the machine meets both."""
    production.relay()
    sender = Sender(production, name="s", events=10_000_000, batch=20, pause=0.05)
    sender.start()
    time.sleep(5)
    edges: list[tuple[str, float, float]] = []
    rates: list[float] = []
    for number in range(2 * windows + 1):
        is_up = number % 2 == 0
        began = time.monotonic()
        time.sleep(seconds)
        edges.append(("up" if is_up else "down", began, time.monotonic()))
        if number == 2 * windows:
            break
        if is_up:
            server.stop()
        else:
            (since,) = production.ask("SELECT now()")
            waited = production.pending()
            server.start()
            while production.pending() > 50:
                time.sleep(0.05)
            rates.append(catch_up(production, since, waited))
            time.sleep(1)
    sender.stopped.set()
    sender.join(30)
    if sender.failures:
        sys.exit(f"requests failed: {sender.failures[:3]}")
    values = [p95([t for at, t in sender.taken if start <= at < end]) for _, start, end in edges]
    ratios = [
        values[number] / statistics.mean((values[number - 1], values[number + 1]))
        for number in range(1, len(values), 2)
    ]
    up, down = values[::2], values[1::2]
    say(
        f"p95 of a POST of 20 events, {windows} outages of {seconds:.0f} s: up {statistics.median(up) * 1000:.1f} ms,"
        f" away {statistics.median(down) * 1000:.1f} ms   ratio {statistics.median(ratios):.2f}"
        f"   ({', '.join(f'{each:.2f}' for each in ratios)})"
    )
    say(f"catch-up of what waited, with new events coming in: {statistics.median(rates):.0f} messages/s")


def catch_up(production: Production, since: Any, waited: int) -> float:
    count, windows, seconds = production.ask(
        "SELECT count(*), count(DISTINCT delivered_at),"
        " extract(epoch FROM max(delivered_at) - min(delivered_at)) FROM (SELECT delivered_at FROM"
        " lineage_outboxmessage WHERE delivered_at > %s ORDER BY delivered_at LIMIT %s) AS found",
        since,
        waited,
    )
    return int(count) * (windows - 1) / windows / max(float(seconds), 0.001)


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def open_broker() -> Server:
    try:
        return ApacheKafkaServer()
    except NoServerError as missing:
        say(f"Apache Kafka cannot be had ({missing}); the wheel's broker stands in.")
        return KafkaServer()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--outage", type=float, default=20.0)
    asked = parser.parse_args()
    postgres, broker = PostgresServer(), open_broker()
    with tempfile.TemporaryDirectory() as folder:
        production = Production(postgres, broker.url, broker.create_database(), Path(folder))
        try:
            raw = broker.create_database()
            produce(broker, raw, 2000)
            found = in_turn(
                lambda: drain(production, asked.events),
                lambda: produce(broker, raw, asked.events),
                rounds=asked.rounds,
            )
            note = f"{asked.events / found.figure:.0f} and {asked.events / found.floor:.0f} messages/s"
            say(found.line(f"relay drains {asked.events} messages", "kafka-python", note))
            production.serve()
            outage(production, broker, seconds=asked.outage, windows=asked.rounds)
        finally:
            production.close()
            broker.close()
            postgres.close()


if __name__ == "__main__":
    main()
