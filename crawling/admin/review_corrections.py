"""What a person does to a change besides deciding it: split a rename, pair two as one, say something about it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from aide.accounts.roles import Capability, can, why_not
from aide.core.html import ago
from crawling import pairing, review
from crawling.admin import wording
from crawling.admin.review_answers import (
    answer,
    back_to_review,
    number,
    proposals_with,
    run_or_404,
    wants_json,
)
from crawling.admin.review_batches import Key
from crawling.baseline import personal_data
from crawling.diff.similarity import likeness
from crawling.models import Change, Proposal
from registry.documents import split_path

Op = Change.Op
GONE = (Op.DROP_FIELD, Op.RENAME_FIELD, Op.DROP_DATASET, *pairing.OF_DATASETS)
OF_DATASET = (Op.ADD_DATASET, Op.DROP_DATASET, *pairing.OF_DATASETS)
ACTIONS = ("split", "pair", "comment")
MOST = 100


def act(request: HttpRequest, run_id: Key) -> HttpResponse:
    """Carry out the one of `ACTIONS` that was posted; DomainError where a rule refuses."""
    if isinstance(run_id, str) and "comment" not in request.POST:
        raise Http404("Only what a crawl found is split or paired here; propose it another way.")
    if "split" in request.POST:
        return _split(request, run_id)
    return _pair(request, run_id) if "pair" in request.POST else _comment(request, run_id)


def _split(request: HttpRequest, run_id: Key) -> HttpResponse:
    change, proposal = _wanted(request, run_id, request.POST["split"])
    old, new = change.field_path or change.dataset_name, str(change.after)
    tags = _tags(proposal, change)
    proposal = pairing.split(proposal, change.pk, by=request.user)
    gone = proposal.changes.get(op__in=(Op.DROP_FIELD, Op.DROP_DATASET), field_path=change.field_path)
    words = " ".join(f"The tag {tag} stays with {old} and is retired with it." for tag in tags)
    messages.success(request, f"Split: {old} is dropped, {new} is added. {words}".strip())
    return back_to_review(request, run_id, anchor=gone.pk)


def _pair(request: HttpRequest, run_id: Key) -> HttpResponse:
    change, proposal = _wanted(request, run_id, request.POST["pair"])
    partner = number(request.POST.get("with", ""))
    if not partner:
        context = {
            "title": "Pair with another",
            "run": run_or_404(run_id),
            "change": change,
            "what": wording.title_of(change),
            "is_gone": change.op in GONE,
            "partners": partners_of(change, proposal),
            "back": request.POST.get("back", ""),
        }
        return answer(request, "admin/crawling/review/pair.html", context)
    ends = (change.pk, partner) if change.op in GONE else (partner, change.pk)
    proposal = pairing.pair(proposal, *ends, by=request.user)
    old = Change.objects.filter(pk=ends[0]).first() or change
    renames = proposal.changes.filter(op__in=(Op.RENAME_FIELD, *pairing.OF_DATASETS))
    row = renames.filter(paired_by=request.user.pk).order_by("-pk").first() or old
    messages.success(request, f"Paired: {row.before} is renamed {row.after}. Another person must confirm.")
    return back_to_review(request, run_id, anchor=row.pk)


def partners_of(change: Change, proposal: Proposal) -> list[dict[str, Any]]:
    """The open changes that may be this one's other end, the likeliest name first."""
    wanted: tuple[str, ...]
    if change.op in OF_DATASET:
        wanted = (Op.ADD_DATASET,) if change.op in GONE else (Op.DROP_DATASET,)
        rows = Change.objects.filter(
            op__in=wanted,
            state=Change.State.OPEN,
            proposal__system=proposal.system_id,
            proposal__status__in=Proposal.LIVE,
        )
        rows = rows.only("op", "field_path", "dataset_name", "risk")
    else:
        wanted = (Op.ADD_FIELD,) if change.op in GONE else (Op.DROP_FIELD, Op.RENAME_FIELD)
        rows = Change.objects.filter(proposal=proposal, op__in=wanted, state=Change.State.OPEN)
    mine = change.field_path or change.dataset_name
    level = split_path(change.field_path)[:-1] if change.field_path else []
    found: list[dict[str, Any]] = [
        {"change": row, "name": row.field_path or row.dataset_name}
        for row in rows
        if row.pk != change.pk and (not row.field_path or split_path(row.field_path)[:-1] == level)
    ]
    found.sort(key=lambda each: (-likeness(mine, each["name"]), each["name"]))
    for each in found[:MOST]:
        row = each["change"]
        each["value"] = "" if change.op in OF_DATASET else wording.after(row) or wording.before(row)
    return found[:MOST]


def _comment(request: HttpRequest, run_id: Key) -> HttpResponse:
    run = run_or_404(run_id)
    if not may_comment(request.user, run.system):
        raise PermissionDenied(why_not(Capability.START_CRAWL, run.system))
    rows = Change.objects.filter(pk=number(request.POST["comment"]), proposal__system=run.system_id)
    change = rows.select_related("proposal__system").first()
    if change is None:
        raise Http404("There is no such change in this review.")
    if "text" not in request.POST:
        context = {
            "title": "Comment on a change",
            "run": run,
            "change": change,
            "what": wording.title_of(change),
            "back": request.POST.get("back", ""),
        }
        return answer(request, "admin/crawling/review/comment.html", context)
    user: Any = request.user
    said = review.comment(change, request.POST["text"], by=user)
    if wants_json(request):
        when = ago(timezone.now())
        return JsonResponse({"ok": True, "by": user.get_short_name(), "when": when, "text": said.text})
    return back_to_review(request, run_id, anchor=change.pk)


def may_comment(user: Any, system: Any) -> bool:
    """Who works with the system says something: those who decide, and those who crawl it."""
    return can(user, Capability.START_CRAWL, system)


def _wanted(request: HttpRequest, run_id: Key, text: str) -> tuple[Change, Proposal]:
    change_id = number(text)
    proposal = proposals_with(request, run_id, [change_id])[0]
    return Change.objects.get(pk=change_id), proposal


def _tags(proposal: Proposal, change: Change) -> tuple[str, ...]:
    if proposal.dataset_id is None or not change.field_path:
        return ()
    return personal_data([proposal.dataset_id]).get((proposal.dataset_id, change.field_path), ())
