"""How fast the relay catches up after an outage, beside a bare producer that sends the same messages.

    python bench/bench_outbox.py [--messages 20000]

Starts PostgreSQL and a broker that speaks Kafka's protocol. The goal is at least 5,000 messages a second.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from kafka import KafkaProducer

from tests.servers import KafkaServer, PostgresServer

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 3


def bare(server: KafkaServer, rows: list[tuple[str, str]]) -> float:
    """Messages a second of a producer that waits for all acknowledgements at the end."""
    producer = KafkaProducer(bootstrap_servers=[server.url], api_version=(2, 6), acks="all", linger_ms=5)
    try:
        producer.partitions_for("bare")
        began = time.perf_counter()
        for key, payload in rows:
            producer.send("bare", payload.encode(), key=key.encode())
        producer.flush()
        return len(rows) / (time.perf_counter() - began)
    finally:
        producer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=20_000)
    asked = parser.parse_args()
    database, broker = PostgresServer(), KafkaServer()
    os.environ |= {
        "AIDE_DATABASE_URL": database.create_database("aide").replace("+psycopg", ""),
        "AIDE_DEBUG": "0",
        "AIDE_SECRET_KEY": "x" * 60,
        "AIDE_ALLOWED_HOSTS": "127.0.0.1",
        "AIDE_BROKER_URL": "redis://127.0.0.1:1/0",
        "AIDE_KAFKA_SERVERS": broker.url,
        "DJANGO_SETTINGS_MODULE": "aide.settings",
    }
    try:
        migrate = [sys.executable, "manage.py", "migrate"]
        subprocess.run(migrate, cwd=ROOT, check=True, capture_output=True)
        import django

        django.setup()
        from lineage import events
        from lineage.models import OutboxMessage
        from lineage.relay import Relay

        relay = Relay("bench")
        rates, ratios = [], []
        for number in range(ROUNDS):
            for start in range(0, asked.messages, 1000):
                events.accept(
                    [
                        {
                            "resource": f"r{n % 500}",
                            "event_id": f"{number}-{n}",
                            "additionalValues": {"rows": n},
                        }
                        for n in range(start, start + 1000)
                    ]
                )
            rows = list(OutboxMessage.objects.filter(status="pending").values_list("key", "payload"))
            floor = bare(broker, rows)
            began = time.perf_counter()
            relay.run_until_idle(seconds=300)
            rate = asked.messages / (time.perf_counter() - began)
            assert not OutboxMessage.objects.filter(status="pending").exists()
            rates.append(rate)
            ratios.append(rate / floor)
        relay.finish()
        print(
            f"catch-up {statistics.median(rates):,.0f} messages/s ({min(rates):,.0f} to {max(rates):,.0f}), "
            f"{statistics.median(ratios):.2f} x a bare producer"
        )
    finally:
        broker.close()
        database.close()


if __name__ == "__main__":
    main()
