"""Relays share the keys among them."""

from __future__ import annotations

import pytest

from lineage import leases, outbox
from lineage.models import OutboxShard

pytestmark = pytest.mark.django_db


def test_relays_share_the_keys_and_take_over_from_those_that_are_gone():
    assert len(leases.hold("one", seconds=30)) == outbox.SHARDS
    assert leases.hold("two", seconds=30) == []
    first, second = leases.hold("one", seconds=30), leases.hold("two", seconds=30)
    assert len(first) == len(second) == outbox.SHARDS // 2
    assert not set(first) & set(second)
    for _ in range(4):
        for name in ("one", "two", "three"):
            leases.hold(name, seconds=30)
    held = [leases.hold(name, seconds=30) for name in ("one", "two", "three")]
    assert sum(map(len, held)) == outbox.SHARDS
    assert min(map(len, held)) >= 4
    OutboxShard.objects.filter(relay="two").update(lease_until="2020-01-01T00:00:00Z")
    leases.release("three")
    for _ in range(3):
        held = leases.hold("one", seconds=30)
    assert len(held) == outbox.SHARDS
    leases.release("one")
    assert outbox.relays_alive() == 0
