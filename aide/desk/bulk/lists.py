"""Lists whose rows can be chosen, and changed together on the next page."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import mark_safe

from aide.accounts.roles import Capability, can, why_not
from aide.core.admin import DeskAdmin
from aide.core.errors import DomainError
from aide.desk.bulk import choosing
from aide.desk.models import Subject

TOGGLE = mark_safe('<input type="checkbox" id="mark-all" hidden aria-label="Select all on this page">')


class ChoosingAdmin(DeskAdmin):
    """Adds a box to each row, and under the list's filter "Select all 318 that match …"."""

    subject: Subject
    change_list_template = "admin/bulk/list.html"

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
            return self._choose(request)
        response = super().changelist_view(request, extra_context)
        listed = getattr(response, "context_data", None) or {}
        if "cl" in listed and self._may_choose(request):
            listed["choice"] = {
                "words": choosing.words_of(listed["cl"]),
                "batches": reverse("admin:desk_batches"),
            }
        return response

    def _may_choose(self, request: HttpRequest) -> bool:
        return can(request.user, Capability.EDIT_CURATED)

    def _choose(self, request: HttpRequest) -> HttpResponseRedirect:
        if not self._may_choose(request):
            raise PermissionDenied(why_not(Capability.EDIT_CURATED))
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
