"""Which relay sends which share of the keys. Only lineage/relay.py uses it."""

from __future__ import annotations

import datetime as dt
import math

from django.db import transaction
from django.utils import timezone

from lineage.models import OutboxShard
from lineage.outbox import SHARDS


@transaction.atomic
def hold(relay: str, *, seconds: float) -> list[int]:
    """Renew and take a fair part of the shares for so many seconds; returns which this relay holds now.

    Call it only when nothing of this relay is under way: a share that another relay waits for is handed over here.
    """
    now = timezone.now()
    until = now + dt.timedelta(seconds=seconds)
    shares = list(OutboxShard.objects.select_for_update().order_by("number"))
    if len(shares) < SHARDS:
        known = {share.number for share in shares}
        missing = [OutboxShard(number=number) for number in range(SHARDS) if number not in known]
        OutboxShard.objects.bulk_create(missing, ignore_conflicts=True)
        shares = list(OutboxShard.objects.select_for_update().order_by("number"))
    taken = {share.number: _is_held(share, now) for share in shares}
    others = {share.relay for share in shares if taken[share.number]} | {
        share.wanted_by for share in shares if share.wanted_by and taken[share.number]
    }
    fair = math.ceil(SHARDS / len(others | {relay}))
    mine: list[int] = []
    changed: list[OutboxShard] = []
    for share in shares:
        is_mine = taken[share.number] and share.relay == relay
        if is_mine and share.wanted_by not in {"", relay}:
            share.relay, share.wanted_by, share.lease_until = share.wanted_by, "", until
            changed.append(share)
        elif is_mine or (not taken[share.number] and len(mine) < fair):
            share.relay, share.wanted_by, share.lease_until = relay, "", until
            changed.append(share)
            mine.append(share.number)
    changed += _ask(relay, shares, mine, fair)
    OutboxShard.objects.bulk_update(changed, ["relay", "wanted_by", "lease_until"])
    return mine


def release(relay: str) -> None:
    """Give every share of this relay back at once."""
    OutboxShard.objects.filter(relay=relay).update(relay="", lease_until=None)
    OutboxShard.objects.filter(wanted_by=relay).update(wanted_by="")


def _ask(relay: str, shares: list[OutboxShard], mine: list[int], fair: int) -> list[OutboxShard]:
    """Mark the shares that this relay wants of those that hold more than their part."""
    held: dict[str, list[OutboxShard]] = {}
    for share in shares:
        if share.number not in mine and share.relay and share.relay != relay:
            held.setdefault(share.relay, []).append(share)
    missing = SHARDS // max(1, math.ceil(SHARDS / fair)) - len(mine)
    missing -= sum(share.wanted_by == relay for share in shares)
    asked: list[OutboxShard] = []
    for theirs in held.values():
        for share in theirs[fair:]:
            if missing > len(asked) and not share.wanted_by:
                share.wanted_by = relay
                asked.append(share)
    return asked


def _is_held(share: OutboxShard, now: dt.datetime) -> bool:
    return bool(share.relay) and share.lease_until is not None and share.lease_until > now
