"""Events through broker kills, broker pauses and relays that are killed or stopped: none lost, order kept.

`AIDE_TEST_CHAOS=full` sends 100,000 events through 20 kills and holds the broker down for ten minutes; without it a
small version of each runs. Both tell their figures.
"""

from __future__ import annotations

import os
import random
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.forwarding import Arrived, Production, Sender
from tests.servers import ApacheKafkaServer, PostgresServer
from tests.waiting import wait_until

pytestmark = pytest.mark.chaos
IS_FULL = os.environ.get("AIDE_TEST_CHAOS") == "full"
EVENTS, KILLS, PAUSES = (100_000, 20, 3) if IS_FULL else (5_000, 3, 1)
SENDERS = 2
PAUSE_SECONDS = 15.0
OUTAGE_SECONDS = 600.0 if IS_FULL else 30.0


@pytest.fixture
def broker(apachekafka_server: ApacheKafkaServer) -> ApacheKafkaServer:
    if not apachekafka_server.is_ours:
        pytest.skip("the broker is not ours to kill")
    return apachekafka_server


@pytest.fixture
def production(
    postgres_server: PostgresServer, broker: ApacheKafkaServer, tmp_path: Path
) -> Iterator[Production]:
    made = Production(postgres_server, broker.url, broker.create_database(), tmp_path)
    try:
        made.serve()
        yield made
    finally:
        made.close()


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Shows figures, whatever is captured."""

    def show(text: str) -> None:
        with capsys.disabled():
            sys.stdout.write(f"\n{text}\n")

    return show


def drained(production: Production, *, timeout: float) -> None:
    wait_until(lambda: production.pending() == 0, timeout=timeout, every=0.5)


def all_arrived(broker: ApacheKafkaServer, production: Production, events: int) -> Arrived:
    """Every event is there; each resource's events came in their order, repetitions left out."""
    assert production.statuses() == {"delivered": events}
    assert production.ask("SELECT count(*) FROM lineage_event") == (events,)
    arrived = Arrived(broker, production.topic)
    assert len(arrived.ids) == events
    assert arrived.disorder() == []
    return arrived


def test_no_event_is_lost_when_the_broker_and_relays_are_killed(
    broker: ApacheKafkaServer, production: Production, say: Callable[[str], None]
) -> None:
    chance = random.Random(5)
    relays = [production.relay() for _ in range(3)]
    each = EVENTS // SENDERS
    senders = [Sender(production, name=f"s{n}", events=each, allowed=0, pause=0.05) for n in range(SENDERS)]
    began = time.monotonic()
    for sender in senders:
        sender.start()
    stopped: list[Any] = []
    for kill in range(KILLS):
        # A part is sent before the kill and a part after it, so that every kill meets events that are under way.
        release(senders, (2 * kill + 1) * each // (2 * KILLS))
        time.sleep(chance.uniform(0.3, 2.0))
        broker.kill()
        release(senders, (kill + 1) * each // KILLS)
        if kill % 2:
            relays[kill % 3].kill()
            relays[kill % 3] = production.relay()
        broker.start()
        time.sleep(chance.uniform(0.0, 2.0))
        if kill % (KILLS // PAUSES) == 0 and len(stopped) < PAUSES:
            # One relay falls asleep for longer than its lease; then the broker does, under its successors.
            sleeper = relays[(kill + 1) % 3]
            sleeper.send_signal(signal.SIGSTOP)
            stopped.append(sleeper)
            broker.pause()
            time.sleep(PAUSE_SECONDS)
            broker.resume()
            time.sleep(PAUSE_SECONDS + 3)
            sleeper.send_signal(signal.SIGCONT)
        relays[(kill + 2) % 3].kill()
        relays[(kill + 2) % 3] = production.relay()
    release(senders, each)
    for sender in senders:
        sender.join(600)
    assert [sender.accepted for sender in senders] == [each] * SENDERS
    drained(production, timeout=300)
    arrived = all_arrived(broker, production, EVENTS)
    say(
        f"{EVENTS} events, {KILLS} broker kills, {KILLS + KILLS // 2} relays killed, {PAUSES} pauses of"
        f" {PAUSE_SECONDS:.0f} s in {time.monotonic() - began:.0f} s: 0 lost, {arrived.repeated} repeated by the"
        f" broker's topic and told apart by their id, order kept of {len(arrived.by_key)} resources;"
        f" {sum(len(sender.failures) for sender in senders)} requests repeated"
    )


def release(senders: list[Sender], allowed: int) -> None:
    for sender in senders:
        sender.allowed = allowed


def p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


def test_an_outage_is_not_noticed_by_who_sends_and_is_made_up_for(
    broker: ApacheKafkaServer, production: Production, say: Callable[[str], None]
) -> None:
    """Requests are answered while the broker is away; their times are told only, since other work shows in them."""
    production.relay()
    sender = Sender(production, name="s", events=10_000_000, batch=20, pause=0.1)
    sender.start()
    window = OUTAGE_SECONDS / 2
    edges = [time.monotonic() + 3.0]
    time.sleep(3 + window)
    edges.append(time.monotonic())
    broker.kill()
    time.sleep(OUTAGE_SECONDS)
    edges.append(time.monotonic())
    waited = production.pending()
    broker.start()
    since = production.ask("SELECT now()")[0]
    drained_soon(production)
    edges.append(time.monotonic())
    time.sleep(window)
    edges.append(time.monotonic())
    sender.stopped.set()
    sender.join(60)
    assert sender.failures == []
    drained(production, timeout=120)
    arrived = all_arrived(broker, production, sender.accepted)
    count, seconds = production.ask(
        "SELECT count(*), extract(epoch FROM max(delivered_at) - min(delivered_at)) FROM (SELECT delivered_at FROM"
        " lineage_outboxmessage WHERE delivered_at > %s ORDER BY delivered_at LIMIT %s) AS found",
        since,
        waited,
    )
    before, during, after = (
        p95([taken for at, taken in sender.taken if start <= at < end])
        for start, end in ((edges[0], edges[1]), (edges[1], edges[2]), (edges[3], edges[4]))
    )
    say(
        f"{OUTAGE_SECONDS:.0f} s without a broker: {waited} waited; p95 before {before * 1000:.1f} ms, during"
        f" {during * 1000:.1f} ms, after {after * 1000:.1f} ms: ratio {during / max(before, after):.2f} to"
        f" {during / min(before, after):.2f}; {count} sent in {float(seconds):.2f} s"
        f" ({count / max(float(seconds), 0.001):.0f}/s); {arrived.repeated} repeated"
    )


def drained_soon(production: Production) -> None:
    wait_until(lambda: production.pending() < 100, timeout=180, every=0.2)
