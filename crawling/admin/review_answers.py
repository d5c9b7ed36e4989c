"""What pages and posts about reviews share: finding the run, rights, answers in JSON or as a page, the way back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, Subquery
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse

from aide.accounts.roles import Capability, can, why_not
from aide.core.errors import DomainError
from aide.core.problems import problem_response
from crawling import review
from crawling.admin import wording
from crawling.admin.review_batches import Batch, Key, Reviewed, batch_or_404
from crawling.models import Change, CrawlRun, Proposal, Verdict

FILTERS = ("risk", "dataset", "show", "need")


def run_or_404(run_id: Key) -> Any:
    """The run, and as `newer_id` the newest run of its system that holds a review of its own; or the batch."""
    if isinstance(run_id, str):
        return batch_or_404(run_id)
    newer = CrawlRun.objects.filter(
        system=OuterRef("system"), pk__gt=OuterRef("pk"), proposals__isnull=False
    ).order_by("-pk")
    rows = CrawlRun.objects.select_related("system__flavor", "started_by").defer("report", "coverage")
    run = rows.annotate(newer_id=Subquery(newer.values("pk")[:1])).filter(pk=run_id).first()
    if run is None:
        raise Http404(f"There is no run {run_id}.")
    return run


def answer(
    request: HttpRequest, template: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """A page in the admin's shell; every page about reviews marks Reviews in the navigation."""
    shell = admin.site.each_context(request)
    mark_reviews(shell)
    return render(request, template, {**shell, **context}, status=status)


def mark_reviews(shell: dict[str, Any]) -> None:
    here = reverse("admin:crawling_reviews")
    for group in shell.get("nav_groups", ()):
        for link in group["links"]:
            link["current"] = link["url"] == here


def wants_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept", "").startswith("application/json")


def proposals_with(request: HttpRequest, run_id: Key, change_ids: Iterable[int]) -> list[Proposal]:
    """The proposals of these changes, as far as the run's review shows them; refuses who may not decide."""
    if isinstance(run_id, str):
        rows = Proposal.objects.filter(changes__in=change_ids, pk__in=batch_or_404(run_id).proposal_ids)
    else:
        rows = Proposal.objects.filter(
            changes__in=change_ids,
            origin=Proposal.Origin.CRAWL,
            crawl_run_id__lte=run_id,
            system__crawl_runs=run_id,
        )
    found = list(rows.select_related("system"))
    if not found:
        raise Http404("There is no such change in this review.")
    for proposal in found:
        if not can(request.user, Capability.DECIDE, proposal.system):
            raise PermissionDenied(why_not(Capability.DECIDE, proposal.system))
    return found


def live_proposals(run: Reviewed) -> list[Proposal]:
    """What is still open of what this review stands for."""
    return run.live() if isinstance(run, Batch) else review.proposals_of(run)


def check_may(request: HttpRequest, run: Reviewed) -> None:
    if not can(request.user, Capability.DECIDE, run.system):
        raise PermissionDenied(why_not(Capability.DECIDE, run.system))


def refused(request: HttpRequest, run_id: Key, error: DomainError) -> HttpResponse:
    sentence = _in_words(request, error)
    if wants_json(request):
        return problem_response(error.status, code=error.code, detail=sentence)
    if error.status == 403:
        raise PermissionDenied(sentence)
    messages.error(request, sentence)
    return back_to_review(request, run_id)


def _in_words(request: HttpRequest, error: DomainError) -> str:
    """The rule's sentence; where a change lacks what it needs, that one by its name instead of its number."""
    change_id = number(request.POST.get("approve", ""))
    if any(each.get("code") == "requires" for each in error.errors) and change_id:
        needs = Change.objects.filter(required_by=change_id).exclude(state=Change.State.APPLIED)
        open_needs = [n for n in needs.select_related("draft") if _is_open(n)]
        if open_needs:
            return f"This needs another change first: {wording.title_of(open_needs[0])}."
    return error.detail


def _is_open(change: Change) -> bool:
    draft = getattr(change, "draft", None)
    return draft is None or draft.verdict != Verdict.APPROVE


def back_to_review(request: HttpRequest, run_id: Key, *, anchor: int | None = None) -> HttpResponseRedirect:
    kept = QueryDict(request.POST.get("back", "")[:500])
    query = QueryDict(mutable=True)
    for name in (*FILTERS, "start"):
        if kept.get(name):
            query[name] = str(kept[name])
    url = reverse("admin:crawling_review", args=[run_id])
    url = f"{url}?{query.urlencode()}" if query else url
    return HttpResponseRedirect(f"{url}#change-{anchor}" if anchor else url)


def number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 16 else 0
