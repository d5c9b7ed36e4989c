"""Lists whose rows can be chosen, and changed together on the next page."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.safestring import mark_safe

from aide.accounts.roles import Capability, can, why_not
from aide.core.admin import DeskAdmin
from aide.core.errors import DomainError
from aide.desk.bulk import choosing
from aide.desk.models import Subject
from aide.desk.roundtrip import pages as roundtrip
from aide.desk.roundtrip.writing import for_editing

TOGGLE = mark_safe('<input type="checkbox" id="mark-all" hidden aria-label="Select all on this page">')


class ChoosingAdmin(DeskAdmin):
    """Adds a box to each row, and under the list's filter "Select all 318 that match …"."""

    subject: Subject
    not_exported = ("marked",)
    change_list_template = "admin/bulk/list.html"

    def get_urls(self) -> list[Any]:
        name, wrap = f"{self.opts.app_label}_{self.opts.model_name}", self.admin_site.admin_view
        own = [
            path("export-for-editing/", wrap(self.export_for_editing), name=f"{name}_for_editing"),
            path("upload/", wrap(self.upload), name=f"{name}_upload"),
        ]
        return [*own, *super().get_urls()]

    def export_for_editing(self, request: HttpRequest) -> Any:
        """What the list's filter matches, as a file to change and upload."""
        self._check(request)
        try:
            changelist = self.get_changelist_instance(request)
        except IncorrectLookupParameters:
            raise Http404 from None
        return for_editing(changelist, subject=self.subject)

    def upload(self, request: HttpRequest) -> HttpResponse:
        """Take a changed file; the next page shows what it would do."""
        self._check(request)
        return roundtrip.upload(request, self.subject)

    def get_list_display(self, request: HttpRequest) -> Any:
        columns = super().get_list_display(request)
        return ("marked", *columns) if self._may_choose(request) else columns

    def get_sortable_by(self, request: HttpRequest) -> Any:
        return [name for name in super().get_sortable_by(request) if name != "marked"]

    @admin.display(description=TOGGLE)
    def marked(self, row: Any) -> Any:
        return format_html(
            '<input type="checkbox" name="marked" value="{}" class="mark" aria-label="Select {}">',
            row.pk,
            row,
        )

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        if request.method == "POST" and "choose" in request.POST:
            self._check(request)
            return self._choose(request)
        response = super().changelist_view(request, extra_context)
        listed = getattr(response, "context_data", None) or {}
        if "cl" in listed and self._may_choose(request):
            name = f"admin:{self.opts.app_label}_{self.opts.model_name}"
            query = f"?{request.GET.urlencode()}" if request.GET else ""
            listed["choice"] = {
                "words": choosing.words_of(listed["cl"]),
                "batches": reverse("admin:desk_batches"),
                "editing_url": reverse(f"{name}_for_editing") + query,
                "upload_url": reverse(f"{name}_upload"),
            }
        return response

    def _may_choose(self, request: HttpRequest) -> bool:
        return can(request.user, Capability.EDIT_CURATED)

    def _check(self, request: HttpRequest) -> None:
        if not self._may_choose(request):
            raise PermissionDenied(why_not(Capability.EDIT_CURATED))

    def _choose(self, request: HttpRequest) -> HttpResponseRedirect:
        changelist = self.get_changelist_instance(request)
        told: Any = {"subject": self.subject, "query": request.GET.urlencode(), "by": request.user}
        try:
            if request.POST["choose"] == "all":
                selection = choosing.mark_all(changelist, **told)
            else:
                selection = choosing.mark(changelist, request.POST.getlist("marked"), **told)
        except DomainError as error:
            messages.error(request, error.detail)
            return HttpResponseRedirect(request.get_full_path())
        return HttpResponseRedirect(reverse("admin:desk_selection", args=[selection.pk]))
