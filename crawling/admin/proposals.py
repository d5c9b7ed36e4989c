"""Proposals on the screens: the list of what people brought or crawls found, each leading to its review."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse

from aide.core.admin import ReadOnlyAdmin
from aide.core.html import NOTHING, ago, chip
from crawling.admin import review_views
from crawling.admin.review_batches import BROUGHT, PREFIX
from crawling.models import Proposal

_CHIPS = {
    "open": "info",
    "partly_applied": "info",
    "applied": "ok",
    "rejected": "plain",
    "superseded": "plain",
}


def review_of(proposal: Proposal) -> str:
    """The address of the review that shows a proposal; empty where there is none."""
    if proposal.crawl_run_id:
        return reverse("admin:crawling_review", args=[proposal.crawl_run_id])
    if proposal.origin in BROUGHT:
        return reverse("admin:crawling_review", args=[f"{PREFIX}{proposal.pk}"])
    return ""


@admin.register(Proposal)
class ProposalAdmin(ReadOnlyAdmin):
    lead = "What crawls found and what people proposed, one proposal for each dataset."
    empty_sentence = "Nothing was proposed yet."
    list_display = ("title", "system_name", "origin", "status_chip", "who", "when")
    list_display_links = ("title",)
    list_filter = ("status", "origin", "system")
    search_fields = ("dataset_name", "system__code")
    ordering = ("-pk",)

    def get_urls(self) -> Any:
        view = self.admin_site.admin_view
        key = "<proposal_batch:run_id>/review/"
        own = [
            path(key, view(review_views.page), name="crawling_review"),
            path(f"{key}decide/", view(review_views.decide), name="crawling_review_decide"),
            path(f"{key}confirm/", view(review_views.confirm), name="crawling_review_confirm"),
            path(f"{key}finish/", view(review_views.finish), name="crawling_review_finish"),
            path(f"{key}result/", view(review_views.result), name="crawling_review_result"),
        ]
        return [*own, *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Proposal]:
        rows = super().get_queryset(request).select_related("system", "proposed_by", "crawl_run__started_by")
        return rows.defer("document", "crawl_run__report", "crawl_run__coverage")

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """A proposal has no page but its review."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        key = int(object_id) if object_id.isdecimal() and len(object_id) < 16 else 0
        proposal = Proposal.objects.filter(pk=key).defer("document").first()
        address = review_of(proposal) if proposal is not None else ""
        if not address:
            raise Http404
        return HttpResponseRedirect(address)

    @admin.display(description="dataset", ordering="dataset_name")
    def title(self, proposal: Proposal) -> str:
        return proposal.dataset_name

    @admin.display(description="system", ordering="system__code")
    def system_name(self, proposal: Proposal) -> str:
        return proposal.system.name

    @admin.display(description="status", ordering="status")
    def status_chip(self, proposal: Proposal) -> Any:
        return chip(_CHIPS.get(proposal.status, "plain"), proposal.get_status_display())

    @admin.display(description="by")
    def who(self, proposal: Proposal) -> Any:
        if proposal.proposed_by is not None:
            return proposal.proposed_by.get_short_name()
        return f"run {proposal.crawl_run_id}" if proposal.crawl_run_id else NOTHING

    @admin.display(description="made", ordering="created_at")
    def when(self, proposal: Proposal) -> Any:
        return ago(proposal.created_at)
