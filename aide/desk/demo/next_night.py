"""The night after: what the next crawl of the customer database finds. Only the demo uses it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from aide.desk.demo import nights
from aide.desk.demo.bundled import write_source
from aide.desk.demo.edits import edited
from aide.desk.demo.tables import Document
from crawling import crawl, diff
from crawling.baseline import baseline
from crawling.crawl import runs
from crawling.models import Change, CrawlRun, Mute, Observation, Proposal
from crawling.review.case import as_change
from registry.catalogues import catalogue_for
from registry.models import System

LEFTOVERS = 6
FIRST = ("crm.customers", "crm.contacts")
"""Whose changes are kept before others'."""


@transaction.atomic
def come(new: Mapping[str, list[str]]) -> CrawlRun:
    """Most of what waited was rolled back: six leftovers, what was rejected and muted, and these new edits remain."""
    system = System.objects.select_related("flavor").get(code="pg-crm", deleted_at__isnull=True)
    found = _source(system)
    for name, lines in new.items():
        if name in found:
            there = {each["name"] for each in found[name]["fields"]}
            fresh = [line for line in lines if line.split()[1] not in there or not line.startswith("add ")]
            found[name] = edited(found[name], fresh, flavor=system.flavor.code)
    database = "crm"
    write_source(system, found.values(), database=database)
    now = timezone.now()
    run = runs.create(
        system, trigger=CrawlRun.Trigger.SCHEDULE, plan=system.crawl_plans.first(), config={},
        status=CrawlRun.Status.RUNNING, started_at=now, heartbeat_at=now,
    )  # fmt: skip
    crawl.receive(run, nights.snapshot_of(found, database=database))
    run.refresh_from_db()
    return run


def _source(system: System) -> dict[str, Document]:
    """What the registry holds, with the leftovers and the muted differences on top of it."""
    seen = dict(
        Observation.objects.filter(system=system, gone_at__isnull=True).values_list(
            "dataset_name", "document"
        )
    )
    kept = _kept(system)
    catalogue = catalogue_for(system.flavor.code)
    found: dict[str, Document] = {}
    for name, known in baseline(system).items():
        document = diff.apply(
            dict(known.document), kept.get(name, ()), after=seen.get(name), catalogue=catalogue
        )
        if document is not None:
            found[name] = document
    return found


def _kept(system: System) -> dict[str, list[diff.Change]]:
    """The changes that the source still has, by dataset: six that wait, and what was muted."""
    live = Change.objects.filter(
        proposal__system=system, proposal__status__in=Proposal.LIVE, proposal__origin=Proposal.Origin.CRAWL,
        state__in=(Change.State.OPEN, Change.State.WAITING),
    )  # fmt: skip
    rows = sorted(live.select_related("proposal"), key=_order)
    chosen = _with_needs(rows)
    muted = [
        each.change
        for each in Mute.objects.filter(system=system, lifted_at__isnull=True).select_related("change")
    ]
    kept: dict[str, list[diff.Change]] = {}
    for row in [*muted, *chosen]:
        kept.setdefault(row.dataset_name, []).append(as_change(row))
    return kept


def _order(row: Change) -> tuple[int, str, int]:
    first = FIRST.index(row.dataset_name) if row.dataset_name in FIRST else len(FIRST)
    return first, row.dataset_name, row.place


def _with_needs(rows: Sequence[Change]) -> list[Any]:
    """The first six that need nothing that is not among them."""
    chosen: dict[int, Change] = {}
    for row in rows:
        needs = {each.pk for each in row.requires.all()}
        if len(chosen) < LEFTOVERS and needs <= chosen.keys():
            chosen[row.pk] = row
    return list(chosen.values())
