"""The list and the page of crawl runs, starting, cancelling and retrying them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Max, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.html import format_html
from django.views.decorators.http import require_GET, require_POST

from aide.accounts.roles import Capability, can, why_not
from aide.core.admin import ReadOnlyAdmin
from aide.core.errors import DomainError
from aide.core.html import NOTHING, ago, short_name
from aide.core.templatetags.aide_ui import run_state
from crawling import crawl, report
from crawling.admin import review_list, review_views, run_words
from crawling.models import Change, CrawlRun, Proposal
from registry.models import System

Status = CrawlRun.Status
STOP_POLLING = 286  # htmx's own number for "this was the last answer"


class StateFilter(admin.SimpleListFilter):
    """By what one looks for, not by every single state."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("failed", "needs attention"),
            ("active", "under way"),
            ("completed", "completed"),
            ("broken", "failed or lost"),
            ("cancelled", "cancelled"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        bad = (Status.FAILED, Status.LOST)
        if self.value() == "failed":  # the latest run of its system, and it went wrong
            latest = (
                CrawlRun.objects.filter(dry_run=False).order_by().values("system_id").annotate(last=Max("pk"))
            )
            alive = {"system__deleted_at__isnull": True, "system__is_active": True}
            return queryset.filter(pk__in=latest.values("last"), status__in=bad, **alive)
        states = {
            "active": CrawlRun.ACTIVE,
            "completed": (Status.COMPLETED, Status.COMPLETED_WITH_ERRORS),
            "broken": bad,
            "cancelled": (Status.CANCELLED,),
        }.get(self.value() or "")
        return queryset.filter(status__in=states) if states else queryset


@admin.register(CrawlRun)
class CrawlRunAdmin(ReadOnlyAdmin):
    lead = "Each look at a source: how it went, and what it found."
    how = (
        "A crawl reads names, types, keys and comments of tables and columns, never their rows.\n\n"
        "What differs from the registry waits in a review. A crawl alone changes nothing."
    )
    empty_sentence = "No crawl has run yet. Open a system and press Crawl now."
    list_display = ("title", "state_chip", "system_name", "started", "who", "lasted", "found", "open_changes")
    list_display_links = ("title",)
    list_filter = (StateFilter, ("system", admin.RelatedFieldListFilter))
    search_fields = ("system__code", "system__name")
    ordering = ("-pk",)

    def get_urls(self) -> Any:
        view = self.admin_site.admin_view
        own = [
            path("reviews/", view(review_list.page), name="crawling_reviews"),
            path("start/", view(start), name="crawling_start"),
            path("<int:run_id>/progress/", view(progress), name="crawling_run_progress"),
            path("<int:run_id>/cancel/", view(cancel), name="crawling_run_cancel"),
            path("<int:run_id>/retry/", view(retry), name="crawling_run_retry"),
            path("<int:run_id>/report/", view(report_file), name="crawling_run_report"),
            path("<int:run_id>/review/", view(review_views.page), name="crawling_review"),
            path("<int:run_id>/review/decide/", view(review_views.decide), name="crawling_review_decide"),
            path("<int:run_id>/review/confirm/", view(review_views.confirm), name="crawling_review_confirm"),
            path("<int:run_id>/review/finish/", view(review_views.finish), name="crawling_review_finish"),
            path("<int:run_id>/review/result/", view(review_views.result), name="crawling_review_result"),
        ]
        return [*own, *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[CrawlRun]:
        rows = super().get_queryset(request).select_related("system", "started_by", "plan")
        open_changes = Count(
            "proposals__changes",
            filter=Q(proposals__status__in=Proposal.LIVE, proposals__changes__state__in=Change.UNDECIDED),
        )
        return rows.defer("report", "coverage", "timings").annotate(open_changes=open_changes)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        run = _run_or_404(int(object_id) if object_id.isdecimal() else 0)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Run {run.pk} of {run.system.name}",
            "opts": self.opts,
            **_context(request, run),
        }
        return render(request, "admin/crawling/crawlrun/page.html", context)

    @admin.display(description="run", ordering="pk")
    def title(self, run: CrawlRun) -> str:
        return f"Run {run.pk}{' (dry run)' if run.dry_run else ''}"

    @admin.display(description="state", ordering="status")
    def state_chip(self, run: CrawlRun) -> Any:
        if run.error:
            return format_html(
                '{}<span class="sub">{}</span>', run_state(run), short_name(run.error, length=80)
            )
        return run_state(run)

    @admin.display(description="system", ordering="system__code")
    def system_name(self, run: CrawlRun) -> Any:
        url = reverse("admin:registry_system_change", args=[run.system_id])
        return format_html('<a href="{}">{}</a>', url, run.system.name)

    @admin.display(description="started", ordering="created_at")
    def started(self, run: CrawlRun) -> Any:
        return ago(run.started_at or run.created_at)

    @admin.display(description="by")
    def who(self, run: CrawlRun) -> str:
        return run_words.who_started(run)

    @admin.display(description="took")
    def lasted(self, run: CrawlRun) -> Any:
        return run_words.took(run) or NOTHING

    @admin.display(description="found")
    def found(self, run: CrawlRun) -> Any:
        return run_words.found_in_words(run) or NOTHING

    @admin.display(description="review")
    def open_changes(self, run: Any) -> Any:
        if not run.open_changes:
            return NOTHING
        url = reverse("admin:crawling_review", args=[run.pk])
        return format_html('<a href="{}">{} open</a>', url, run.open_changes)


@require_GET
def progress(request: HttpRequest, run_id: int) -> HttpResponse:
    """The live part of the run page; the last answer says so, and the polling ends."""
    run = _run_or_404(run_id)
    context = _context(request, run)
    context["said"] = request.GET.get("said", "")
    context["is_fragment"] = True
    status = 200 if context["is_active"] else STOP_POLLING
    return render(request, "admin/crawling/crawlrun/live.html", context, status=status)


@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """Crawl a system now. While one runs, says so and leads to it."""
    system = _system_or_404(request)
    _check(request, Capability.START_CRAWL, system)
    try:
        run = crawl.start(system, by=request.user, trigger=CrawlRun.Trigger.PERSON)
    except DomainError as error:
        return _refuse(request, error, system=system)
    messages.success(request, f"A crawl of {system.name} was started.")
    return _to_run(run.pk)


@require_POST
def cancel(request: HttpRequest, run_id: int) -> HttpResponse:
    run = _run_or_404(run_id)
    _check(request, Capability.START_CRAWL, run.system)
    try:
        run = crawl.cancel(run, by=request.user)
    except DomainError as error:
        return _refuse(request, error, run=run)
    if run.status == Status.CANCELLED:
        messages.success(request, "The run is cancelled. Nothing of it was proposed.")
    return _to_run(run.pk)


@require_POST
def retry(request: HttpRequest, run_id: int) -> HttpResponse:
    run = _run_or_404(run_id)
    _check(request, Capability.START_CRAWL, run.system)
    try:
        fresh = crawl.retry(run, by=request.user, trigger=CrawlRun.Trigger.PERSON)
    except DomainError as error:
        return _refuse(request, error, run=run)
    messages.success(request, f"Run {fresh.pk} tries again what run {run.pk} was to do.")
    return _to_run(fresh.pk)


@require_GET
def report_file(request: HttpRequest, run_id: int) -> HttpResponse:
    """The run's report as a file: text, or JSON with `?format=json`."""
    run = _run_or_404(run_id)
    if not run.report:
        raise Http404("This run has no report: it did not come to its end.")
    name = f"{run.system.code}-run-{run.pk}"
    response: HttpResponse
    if request.GET.get("format") == "json":
        response = JsonResponse(run.report, json_dumps_params={"indent": 2, "ensure_ascii": False})
        name = f"{name}.json"
    else:
        response = HttpResponse(report.text(run.report), content_type="text/plain; charset=utf-8")
        name = f"{name}.txt"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _context(request: HttpRequest, run: CrawlRun) -> dict[str, Any]:
    undecided = Change.objects.filter(proposal__status__in=Proposal.LIVE, state__in=Change.UNDECIDED)
    return {
        "run": run,
        "may_start": can(request.user, Capability.START_CRAWL, run.system),
        "open_changes": undecided.filter(proposal__crawl_run=run).count(),
        "has_review": Proposal.objects.filter(crawl_run=run).exists(),
        "is_tried_again": CrawlRun.objects.filter(retry_of=run).order_by("-pk").first(),
        **run_words.as_row(run),
    }


def _run_or_404(run_id: int) -> CrawlRun:
    rows = CrawlRun.objects.select_related("system__flavor", "started_by", "plan", "cancel_requested_by")
    run = rows.filter(pk=run_id).first()
    if run is None:
        raise Http404(f"There is no run {run_id}.")
    return run


def _system_or_404(request: HttpRequest) -> System:
    value = request.POST.get("system") or request.POST.get("system_id") or ""
    rows = System.objects.alive().select_related("flavor", "credential_ref")
    system = rows.filter(pk=int(value)).first() if value.isdecimal() and len(value) < 16 else None
    if system is None:
        raise Http404("There is no such system.")
    return system


def _check(request: HttpRequest, capability: Capability, system: System) -> None:
    if not can(request.user, capability, system):
        raise PermissionDenied(why_not(capability, system))


def _refuse(
    request: HttpRequest, error: DomainError, *, system: System | None = None, run: CrawlRun | None = None
) -> HttpResponse:
    """Say why, and lead to where one can go on: the run that is under way, or the page one came from."""
    first = error.extra.get("run_id")
    if first:
        url = reverse("admin:crawling_crawlrun_change", args=[first])
        messages.error(request, format_html('{} <a href="{}">Open run {}</a>', error.detail, url, first))
    else:
        messages.error(request, error.detail)
    if run is not None:
        return _to_run(run.pk)
    assert system is not None
    return HttpResponseRedirect(reverse("admin:registry_system_change", args=[system.pk]))


def _to_run(run_id: int) -> HttpResponse:
    return HttpResponseRedirect(reverse("admin:crawling_crawlrun_change", args=[run_id]))
