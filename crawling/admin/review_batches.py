"""What people brought together, a file or a document by hand, as the page of reviews takes it: in place of a run."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.http import Http404
from django.urls import register_converter

from crawling.models import CrawlRun, Proposal
from registry.models import System

PREFIX = "p"
BROUGHT = (Proposal.Origin.CHARTDB, Proposal.Origin.MANUAL, Proposal.Origin.CONTRACT)
_WORDS = {
    Proposal.Origin.CHARTDB: "ChartDB file",
    Proposal.Origin.CONTRACT: "contract",
    Proposal.Origin.MANUAL: "change by hand",
}
Key = int | str
"""A run's id, or the key of a batch."""


class BatchConverter:
    """The id of a proposal in an address stands for the batch that it came in: the key `p40`."""

    regex = "[0-9]{1,15}"

    def to_python(self, value: str) -> str:
        return f"{PREFIX}{int(value)}"

    def to_url(self, value: Any) -> str:
        if not is_batch(value):
            raise ValueError("This is a run.")
        return str(value)[len(PREFIX) :]


register_converter(BatchConverter, "proposal_batch")


def is_batch(key: Any) -> bool:
    return isinstance(key, str) and key.startswith(PREFIX)


class Batch:
    """Proposals that came together. It answers what the page asks of a run; a crawl's own matters are empty."""

    is_batch = True
    newer_id = None
    dry_run = False
    coverage: dict[str, Any] = {}

    def __init__(self, first: Proposal, proposal_ids: Iterable[int]) -> None:
        self.first = first
        self.proposal_ids = list(proposal_ids)
        self.pk = f"{PREFIX}{first.pk}"
        self.system: System = first.system
        self.system_id: int = first.system_id
        self.created_at: datetime = first.created_at
        self.started_by = first.proposed_by
        self.comment = first.comment

    def __str__(self) -> str:
        word = _WORDS.get(Proposal.Origin(self.first.origin), "proposal")
        return f"{word} {self.first.pk}"

    def get_trigger_display(self) -> str:
        return self.first.get_origin_display()

    def live(self) -> list[Proposal]:
        """The proposals that are still open."""
        rows = Proposal.objects.filter(pk__in=self.proposal_ids, status__in=Proposal.LIVE)
        return list(rows.select_related("system").order_by("pk"))


Reviewed = CrawlRun | Batch


def batch_or_404(key: str) -> Batch:
    """The batch of the proposal with this key; only of what people brought."""
    rows = Proposal.objects.filter(pk=int(key[len(PREFIX) :]), origin__in=BROUGHT)
    first = rows.select_related("system__flavor", "proposed_by").defer("document").first()
    if first is None:
        raise Http404(f"There is no such proposal: {key[len(PREFIX) :]}.")
    return Batch(first, Proposal.objects.filter(_together(first)).values_list("pk", flat=True))


def _together(first: Proposal) -> Q:
    return Q(batch=first.batch, system=first.system_id) if first.batch else Q(pk=first.pk)


def batches(proposal_ids: Iterable[int]) -> list[Batch]:
    """The batches of these proposals, the newest first."""
    rows = Proposal.objects.filter(pk__in=list(proposal_ids), origin__in=BROUGHT)
    found: dict[str, list[Proposal]] = {}
    for row in rows.select_related("system", "proposed_by").defer("document").order_by("pk"):
        found.setdefault(row.batch or f"{PREFIX}{row.pk}", []).append(row)
    made = [Batch(group[0], [each.pk for each in group]) for group in found.values()]
    return sorted(made, key=lambda each: -each.first.pk)
