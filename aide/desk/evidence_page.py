"""The page of the evidence pack: what it would hold for a filter of the audit log, and making it."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import PermissionDenied
from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
)
from django.shortcuts import render
from django.urls import reverse

from aide.accounts.roles import Capability, can, systems_limit, why_not
from aide.audit.models import AuditEntry
from aide.core.errors import DomainError
from aide.core.ids import row_id
from aide.desk import evidence
from aide.desk.bulk.choosing import words_of
from registry.models import Dataset


def page(request: HttpRequest) -> HttpResponseBase:
    """With the query of the audit log's list. GET tells what the pack would hold, POST makes it."""
    if not can(request.user, Capability.READ_AUDIT):
        raise PermissionDenied(why_not(Capability.READ_AUDIT))
    try:
        changelist = admin.site.get_model_admin(AuditEntry).get_changelist_instance(request)
    except IncorrectLookupParameters:
        raise Http404 from None
    dataset = _dataset(request, changelist)
    words = words_of(changelist)
    if request.method == "POST":
        return _made(request, changelist, dataset, words)
    return _told(request, changelist, dataset, words)


def _made(request: HttpRequest, changelist: Any, dataset: Dataset | None, words: str) -> HttpResponseBase:
    try:
        pack = evidence.build(
            changelist.queryset.order_by("-pk"),
            words=words,
            query=request.GET.urlencode(),
            dataset=dataset,
            by=request.user,
            sees_all=systems_limit(request.user, Capability.READ_AUDIT) is None,
        )
    except DomainError as error:
        messages.error(request, error.detail)
        return HttpResponseRedirect(request.get_full_path())
    return FileResponse(pack.file, as_attachment=True, filename=pack.name, content_type="application/zip")


def _told(request: HttpRequest, changelist: Any, dataset: Dataset | None, words: str) -> HttpResponse:
    query = request.GET.urlencode()
    log = reverse("admin:audit_auditentry_changelist")
    context = {
        **admin.site.each_context(request),
        "title": "Evidence pack",
        "words": words,
        "count": changelist.result_count,
        "is_capped": changelist.paginator.is_capped,
        "dataset": dataset,
        "log_url": f"{log}?{query}" if query else log,
        "is_limited": systems_limit(request.user, Capability.READ_AUDIT) is not None,
    }
    return render(request, "admin/audit/evidence.html", context)


def _dataset(request: HttpRequest, changelist: Any) -> Dataset | None:
    """The one dataset that the filter names, where its system is one that this person may read about."""
    pk = row_id(request.GET.get("dataset_id", ""))
    dataset = Dataset.objects.select_related("system").filter(pk=pk).first() if pk else None
    limit = systems_limit(request.user, Capability.READ_AUDIT)
    return dataset if dataset is not None and (limit is None or dataset.system_id in limit) else None
