"""The pages of changing many rows together: the selection with its form, the preview, the batch and its undoing."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse
from django.views.decorators.http import require_POST

from aide.accounts.roles import Capability, can, systems_limit
from aide.core.errors import DomainError
from aide.core.html import count_in_words
from aide.desk.bulk import applying, choosing, forecast
from aide.desk.bulk.forms import ChangeForm
from aide.desk.bulk.plans import Plan
from aide.desk.models import Batch, BatchRow, Selection, Subject
from aide.work.models import WorkItem
from aide.work.queue import workers_alive

LISTS = {
    Subject.FIELD: "admin:registry_field_changelist",
    Subject.DATASET: "admin:registry_dataset_changelist",
}
PAGES = {
    Subject.FIELD: "admin:registry_field_change",
    Subject.DATASET: "admin:registry_dataset_change",
}
ROWS_A_PAGE = 100
BATCHES_SHOWN = 50


def urls(wrap: Any) -> list[Any]:
    """The routes, for the admin site."""
    return [
        path("bulk/batches/", wrap(batches), name="desk_batches"),
        path("bulk/batches/<uuid:batch_id>/", wrap(batch_page), name="desk_batch"),
        path("bulk/batches/<uuid:batch_id>/undo/", wrap(require_POST(undo)), name="desk_batch_undo"),
        path("bulk/<uuid:selection_id>/", wrap(selection_page), name="desk_selection"),
    ]


# The selection.


def selection_page(request: HttpRequest, selection_id: uuid.UUID) -> HttpResponse:
    """What was chosen and the form; then before and after; then it is carried out. Only its maker sees it."""
    selection = Selection.objects.filter(pk=selection_id, person=request.user.pk).first()
    if selection is None:
        raise Http404
    if selection.is_over:
        return _show(request, "over", selection, {"title": "This selection is over"}, status=410)
    if not can(request.user, Capability.EDIT_CURATED):
        raise PermissionDenied
    if selection.file_name:
        return file_page(request, selection)
    step = request.POST.get("step", "") if request.method == "POST" else ""
    if step == "again":
        choosing.look_again(selection)
        return HttpResponseRedirect(request.get_full_path())
    filled = request.POST if step in {"preview", "edit", "apply"} else None
    form = ChangeForm(filled, subject=selection.subject)
    if step in {"", "edit"} or not form.is_valid():
        return _ask(request, selection, form)
    if step == "apply":
        return _apply(request, selection, form)
    return _preview(request, selection, form)


def _ask(request: HttpRequest, selection: Selection, form: ChangeForm) -> HttpResponse:
    plans = dict.fromkeys(selection.ids, Plan())
    context = {
        "title": f"Change {_counted(selection)}",
        "form": form,
        "forecast": forecast.foresee(plans, subject=selection.subject, by=request.user),
    }
    return _show(request, "choose", selection, context, status=422 if form.errors else 200)


def _preview(request: HttpRequest, selection: Selection, form: ChangeForm) -> HttpResponse:
    plans = dict.fromkeys(selection.ids, form.plan)
    context = {
        "title": "Before and after",
        "form": form,
        "plan_words": forecast.plan_in_words(form.plan),
        "forecast": forecast.foresee(plans, subject=selection.subject, by=request.user),
    }
    return _show(request, "preview", selection, context)


def _apply(request: HttpRequest, selection: Selection, form: ChangeForm) -> HttpResponse:
    now = choosing.present_ids(selection)
    if set(now) != set(selection.ids) and "keep" not in request.POST:
        context = {"title": "The list has changed", "form": form, "now": len(now)}
        context["others"] = len(set(now) - set(selection.ids)), len(set(selection.ids) - set(now))
        return _show(request, "moved", selection, context, status=409)
    return _carried_out(request, selection, form.plan, reason=form.cleaned_data["reason"])


def _carried_out(request: HttpRequest, selection: Selection, plan: Plan, *, reason: str) -> HttpResponse:
    try:
        batch = applying.apply(selection, plan, reason=reason)
    except DomainError as error:
        messages.error(request, error.detail)
        return HttpResponseRedirect(request.get_full_path())
    return HttpResponseRedirect(reverse("admin:desk_batch", args=[batch.pk]))


# An uploaded file.


def file_page(request: HttpRequest, selection: Selection) -> HttpResponse:
    """What a file would do, cell by cell with its line numbers, and which lines are left out; then Apply."""
    plans = applying.plans_of(selection, Plan(), selection.ids)
    foreseen = forecast.foresee(plans, subject=selection.subject, by=request.user, keep_all=True)
    context = {
        "title": f"What {selection.file_name[:80]} would change",
        "forecast": foreseen,
        "skip": foreseen.left_out + len(selection.faults),
    }
    if request.method != "POST" or request.POST.get("step") != "apply":
        lines = [{"line": selection.wishes[str(each.pk)]["line"], "outcome": each} for each in foreseen.first]
        lines.sort(key=lambda each: each["line"])
        context["lines"] = Paginator(lines, ROWS_A_PAGE).get_page(request.GET.get("page"))
        return _show(request, "file", selection, context)
    expected = request.POST.get("expected", "")
    if expected != str(foreseen.changing):
        return _show(request, "file_moved", selection, {**context, "expected": expected}, status=409)
    return _carried_out(request, selection, Plan(), reason=request.POST.get("reason", "").strip()[:1000])


def _show(
    request: HttpRequest, template: str, selection: Selection, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    words = f"?{selection.query}" if selection.query else ""
    whole = {
        **admin.site.each_context(request),
        "selection": selection,
        "counted": _counted(selection),
        "plural": _plural(selection.subject),
        "list_url": reverse(LISTS[Subject(selection.subject)]) + words,
        **context,
    }
    return render(request, f"admin/bulk/{template}.html", whole, status=status)


def _counted(selection: Selection) -> str:
    return count_in_words(selection.count, selection.subject)


def _plural(subject: str) -> str:
    return f"{subject}s"


# The batch.


def batch_page(request: HttpRequest, batch_id: uuid.UUID) -> HttpResponse:
    """How far a batch is, what came of it and whom it skipped; with `part=1` only what changes while it runs."""
    batch = _seen_batch(request, batch_id)
    left = batch.rows.filter(outcome__in=(BatchRow.Outcome.SKIPPED, BatchRow.Outcome.KEPT))
    is_active = batch.state in Batch.ACTIVE
    done = batch.undone + batch.kept if batch.state == Batch.State.UNDOING else batch.position
    total = batch.changed if batch.state == Batch.State.UNDOING else batch.total
    context = {
        "batch": batch,
        "title": _batch_title(batch),
        "plan_words": forecast.plan_in_words(Plan.from_json(batch.plan)) or "What the file says",
        "is_active": is_active,
        "stopped": _stopped(batch) if is_active else "",
        "no_worker": batch.state == Batch.State.WAITING and not workers_alive(),
        "done": done,
        "of": total,
        "percent": 100 * done // total if total else 0,
        "may_undo": batch.person_id == request.user.pk and batch.may_be_undone,
        "page_name": PAGES[Subject(batch.subject)],
        "list_url": reverse(LISTS[Subject(batch.subject)]),
        "left": Paginator(left, ROWS_A_PAGE).get_page(request.GET.get("page")),
    }
    if request.GET.get("part"):
        response = render(request, "admin/bulk/live.html", context)
        if not is_active:
            response["HX-Refresh"] = "true"
        return response
    return render(request, "admin/bulk/batch.html", {**admin.site.each_context(request), **context})


def _stopped(batch: Batch) -> str:
    """Why the worker gave up, where it did."""
    dead = WorkItem.objects.filter(
        task__in=(applying.TASK, applying.UNDO_TASK),
        state=WorkItem.State.DEAD,
        payload__batch_id=batch.pk.hex,
    )
    return dead.values_list("last_error", flat=True).first() or ""


def undo(request: HttpRequest, batch_id: uuid.UUID) -> HttpResponse:
    """Bring back what the batch changed."""
    batch = Batch.objects.filter(pk=batch_id, person=request.user.pk).first()
    if batch is None:
        raise Http404
    try:
        applying.undo(batch, by=request.user)
    except DomainError as error:
        messages.error(request, error.detail)
    return HttpResponseRedirect(reverse("admin:desk_batch", args=[batch.pk]))


def batches(request: HttpRequest) -> HttpResponse:
    """The person's own batches of the last month."""
    if not can(request.user, Capability.EDIT_CURATED):
        raise PermissionDenied
    rows = Batch.objects.filter(person=request.user.pk).defer("ids", "wishes")[:BATCHES_SHOWN]
    context = {
        **admin.site.each_context(request),
        "title": "Your batches",
        "rows": [{"batch": each, "title": _batch_title(each)} for each in rows],
    }
    return render(request, "admin/bulk/batches.html", context)


def _seen_batch(request: HttpRequest, batch_id: uuid.UUID) -> Batch:
    """A batch is for whoever did it, and for those who read the whole audit log."""
    batch = Batch.objects.filter(pk=batch_id).defer("ids", "wishes").select_related("person").first()
    if batch is None:
        raise Http404
    if batch.person_id != request.user.pk and systems_limit(request.user, Capability.READ_AUDIT) is not None:
        raise Http404
    return batch


def _batch_title(batch: Batch) -> str:
    if batch.state in (Batch.State.WAITING, Batch.State.RUNNING):
        return f"Changing {count_in_words(batch.total, batch.subject)}"
    if batch.state == Batch.State.UNDOING:
        return f"Undoing {count_in_words(batch.changed, 'change')}"
    plan = Plan.from_json(batch.plan)
    tags_only = bool(plan.add_tags) and Plan(add_tags=plan.add_tags) == plan
    said = forecast.done_in_words(changed=batch.changed, skipped=batch.skipped, tags_only=tags_only)
    if batch.state == Batch.State.UNDONE:
        return f"{said}; undone"
    return said
