"""The pages and posts of one review: look, decide, finish, and read what came of it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_POST

from aide.accounts.roles import Capability, why_not
from aide.core.errors import DomainError
from aide.core.problems import problem_response
from crawling import review
from crawling.admin import finishing, review_corrections, review_loading, review_page, wording
from crawling.admin.review_answers import (
    FILTERS,
    answer,
    back_to_review,
    check_may,
    live_proposals,
    number,
    proposals_with,
    refused,
    run_or_404,
    wants_json,
)
from crawling.admin.review_batches import Key
from crawling.admin.review_forms import MODES, REASONS, RejectForm
from crawling.models import Change


@require_GET
def page(request: HttpRequest, run_id: Key) -> HttpResponse:
    """The review of a run, filtered by what the address says."""
    run = run_or_404(run_id)
    found = review_loading.load(run, request.user)
    chosen = {name: request.GET.get(name, "") for name in FILTERS}
    start = number(request.GET.get("start", ""))
    review_page.arrange(found, **chosen, start=start)
    review_loading.fill(row for section in found.sections for row in section.shown)
    may = {"may_comment": review_corrections.may_comment(request.user, run.system)}
    if "rows" in request.GET:
        return render(request, "admin/crawling/review/rows.html", {"page": found, **may})
    context = {
        **chosen,
        "newer": run.newer_id,
        "title": f"Review of {run.system.name}",
        "page": found,
        "run": run,
        "second": chosen["need"] == "second",
        "is_filtered": any(chosen[name] for name in ("risk", "dataset", "show")),
        "back": request.GET.urlencode(),
        "next_query": urlencode({name: value for name, value in chosen.items() if value}),
        **may,
        "why_not": "" if found.viewer.may_decide else why_not(Capability.DECIDE, run.system),
        **reject_choices(),
    }
    return answer(request, "admin/crawling/review/page.html", context)


@require_POST
def decide(request: HttpRequest, run_id: Key) -> HttpResponse:
    """Note one decision, or one for a group, or take one back. Nothing takes effect."""
    posted = request.POST
    try:
        if "safe" in posted:
            ids, state = _approve_safe(request, run_id, posted["safe"]), "approved"
        elif "undo" in posted:
            ids, state = _undo(request, run_id, number(posted["undo"])), "open"
        elif "approve" in posted:
            ids, state = _approve(request, run_id, number(posted["approve"])), "approved"
        elif "reject" in posted:
            change_id = number(posted["reject"])
            form = RejectForm(posted) if "why" in posted else None
            if form is None or not form.is_valid():
                return _ask_reason(request, run_id, change_id, form)
            ids, state = _reject(request, run_id, change_id, form), "rejected"
        elif any(name in posted for name in review_corrections.ACTIONS):
            return review_corrections.act(request, run_id)
        else:
            raise Http404
    except DomainError as error:
        return refused(request, run_id, error)
    if wants_json(request):
        return JsonResponse({"ok": True, "state": state, "ids": ids})
    if "safe" in posted:
        messages.success(
            request, f"Approved {len(ids)} safe change{'' if len(ids) == 1 else 's'}, not applied yet."
        )
    return back_to_review(request, run_id, anchor=ids[0] if len(ids) == 1 else None)


@require_POST
def confirm(request: HttpRequest, run_id: Key) -> HttpResponse:
    """The second person notes a yes to everything that waits for them, then sees what Finish will do."""
    run = run_or_404(run_id)
    check_may(request, run)
    found = review_loading.load(run, request.user)
    ids = [row.pk for row in found.to_confirm]
    try:
        if ids:
            review.decide(found.proposals, approve=ids, by=request.user)
    except DomainError as error:
        return refused(request, run_id, error)
    return HttpResponseRedirect(f"{reverse('admin:crawling_review_finish', args=[run_id])}?need=second")


def finish(request: HttpRequest, run_id: Key) -> HttpResponse:
    """Ask once more, with the numbers; a POST carries the notes out."""
    run = run_or_404(run_id)
    check_may(request, run)
    if request.method == "POST":
        note = request.POST.get("note", "").strip()[:2000]
        outcome = review.apply(live_proposals(run), by=request.user, comment=note)
        request.session[finishing.RESULT.format(run_id)] = {
            "outcome": outcome.to_dict(),
            "note": note,
            "at": timezone.now().isoformat(),
        }
        return HttpResponseRedirect(reverse("admin:crawling_review_result", args=[run_id]))
    found = review_loading.load(run, request.user)
    need = request.GET.get("need", "")
    context = {
        "title": "Finish the review",
        "page": found,
        "run": run,
        "preview": finishing.preview(found),
        "need": need,
    }
    return answer(request, "admin/crawling/review/finish.html", context)


@require_GET
def result(request: HttpRequest, run_id: Key) -> HttpResponse:
    """What the last Finish of this person did."""
    run = run_or_404(run_id)
    kept = request.session.get(finishing.RESULT.format(run_id))
    if kept is None:
        return HttpResponseRedirect(reverse("admin:crawling_review", args=[run_id]))
    left = Change.objects.filter(proposal__in=live_proposals(run), state__in=Change.UNDECIDED)
    context = {
        "title": "Review finished",
        "run": run,
        "result": finishing.tell(run, kept["outcome"]),
        "note": kept["note"],
        "left_open": left.exclude(state=Change.State.WAITING).count(),
    }
    return answer(request, "admin/crawling/review/result.html", context)


def reject_choices() -> dict[str, Any]:
    return {"reasons": REASONS, "modes": MODES}


def _approve(request: HttpRequest, run_id: Key, change_id: int) -> list[int]:
    proposals = proposals_with(request, run_id, [change_id])
    return [draft.change_id for draft in review.decide(proposals, approve=[change_id], by=request.user)]


def _reject(request: HttpRequest, run_id: Key, change_id: int, form: RejectForm) -> list[int]:
    proposals = proposals_with(request, run_id, [change_id])
    rejection = review.Rejection(change_id, form.reason, form.reject_mode)
    return [draft.change_id for draft in review.decide(proposals, reject=[rejection], by=request.user)]


def _undo(request: HttpRequest, run_id: Key, change_id: int) -> list[int]:
    review.withdraw([change_id], proposals=proposals_with(request, run_id, [change_id]))
    return [change_id]


def _approve_safe(request: HttpRequest, run_id: Key, key: str) -> list[int]:
    """Note a yes to the safe changes of one section, or of the whole review, that nobody decided yet."""
    run = run_or_404(run_id)
    check_may(request, run)
    found = review_loading.load(run, request.user)
    rows = found.rows
    if key != "all":
        rows = [row for part in review_page.sections_of(found) if part.key == key for row in part.rows]
    wanted = {row.pk for row in rows if review_page.is_open_safe(row)}
    if not wanted:
        return []
    # Those that need something nobody approved stay open.
    granted = wanted | {
        row.pk for row in found.rows if row.standing.state in {"approved", "waiting", "applied"}
    }
    needs = {row.pk: [need.pk for need in row.needs] for row in rows}
    shrinking = True
    while shrinking:
        late = {pk for pk in wanted if any(need not in granted for need in needs[pk])}
        wanted -= late
        granted -= late
        shrinking = bool(late)
    return [
        draft.change_id for draft in review.decide(found.proposals, approve=sorted(wanted), by=request.user)
    ]


def _ask_reason(request: HttpRequest, run_id: Key, change_id: int, form: RejectForm | None) -> HttpResponse:
    """Without our script the reason has a page of its own; a form with mistakes comes back with its text."""
    proposals = proposals_with(request, run_id, [change_id])
    if form is not None and wants_json(request):
        sentence = " ".join(str(error) for errors in form.errors.values() for error in errors)
        return problem_response(422, detail=sentence)
    change = Change.objects.get(pk=change_id, proposal__in=proposals)
    context = {
        "title": "Reject a change",
        "run": run_or_404(run_id),
        "change": change,
        "what": wording.title_of(change),
        "back": request.POST.get("back", ""),
        "form": form,
        **reject_choices(),
    }
    return answer(request, "admin/crawling/review/reject.html", context, status=422 if form else 200)
