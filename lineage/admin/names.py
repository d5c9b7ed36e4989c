"""The names that pipelines use for datasets, how each was matched, and binding those that were not."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.html import format_html

from aide.accounts.roles import Capability, can, why_not
from aide.core.admin import ReadOnlyAdmin
from aide.core.errors import DomainError, Forbidden
from aide.core.html import NOTHING, chip, count_in_words, short_name
from lineage import resolve
from lineage.models import NodeName
from registry.models import Dataset

Matched = NodeName.Matched
CHIPS = {
    Matched.EXACT: "ok",
    Matched.ALIAS: "ok",
    Matched.SYMLINK: "info",
    Matched.NORMALISED: "info",
    Matched.UNRESOLVED: "warn",
}
MOST_CANDIDATES = 20


class BindForm(forms.Form):
    """Which dataset a name means."""

    dataset = forms.ModelChoiceField(Dataset.objects.none(), empty_label=None, label="This name means")

    def __init__(self, *args: Any, candidates: QuerySet[Dataset], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["dataset"].queryset = candidates  # type: ignore[attr-defined]


@admin.register(NodeName)
class NodeNameAdmin(ReadOnlyAdmin):
    page_title = "Names of pipelines"
    noun = "name"
    lead = "What pipelines call datasets, and which dataset of the registry each name means."
    how = (
        "A name is matched exactly, by a link that an event gave, or after evening out its spelling.\n\n"
        "What could not be matched is kept. Bind it once, and its old events count for the dataset too."
    )
    empty_sentence = "No pipeline has named a dataset yet."
    change_form_template = "admin/lineage/nodename/change_form.html"
    list_display = ("name_short", "namespace_short", "matched_chip", "dataset_link", "why_short")
    list_display_links = ("name_short",)
    list_filter = (("matched", admin.ChoicesFieldListFilter),)
    search_fields = ("name",)
    ordering = ("-pk",)
    fields = ()

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view
        own = [
            path("<int:object_id>/bind/", view(self.bind), name="lineage_nodename_bind"),
            path("<int:object_id>/unbind/", view(self.unbind), name="lineage_nodename_unbind"),
        ]
        return [*own, *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[NodeName]:
        return super().get_queryset(request).select_related("node__dataset__system", "bound_by")

    @admin.display(description="name")
    def name_short(self, row: NodeName) -> Any:
        return format_html('<span class="mono">{}</span>', short_name(row.name, length=60))

    @admin.display(description="namespace")
    def namespace_short(self, row: NodeName) -> Any:
        return short_name(row.namespace, length=44)

    @admin.display(description="matched")
    def matched_chip(self, row: NodeName) -> Any:
        return chip(
            CHIPS[Matched(row.matched)], "Bound by hand" if row.bound_by_id else row.get_matched_display()
        )

    @admin.display(description="dataset")
    def dataset_link(self, row: NodeName) -> Any:
        dataset = row.node.dataset
        if dataset is None:
            return NOTHING
        url = reverse("admin:registry_dataset_change", args=[dataset.pk])
        return format_html(
            '<a href="{}">{}</a><span class="sub">{}</span>', url, dataset.name, dataset.system.code
        )

    @admin.display(description="how")
    def why_short(self, row: NodeName) -> Any:
        return short_name(row.why, length=60) if row.why else NOTHING

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        row = kwargs.get("obj")
        if row is not None:
            query = request.GET.get("q", _last_part(row.name))
            candidates = _candidates(query)
            context |= {
                "title": row.name[:200],
                "own_title": True,
                "dataset": row.node.dataset,
                "matched_chip": self.matched_chip(row),
                "query": query,
                "candidates": count_in_words(len(candidates), "dataset")
                if candidates
                else f"No dataset's name holds “{query[:60]}”. Try a shorter part.",
                "bind_form": BindForm(candidates=candidates) if candidates else None,
                "may_bind": can(request.user, Capability.EDIT_LINEAGE)
                or can(request.user, Capability.DECIDE),
                "lineage_url": reverse("admin:lineage_explore"),
            }
        return super().render_change_form(request, context, *args, **kwargs)

    def bind(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Say which dataset the name means; POST only."""
        form = BindForm(request.POST, candidates=Dataset.objects.alive())
        if request.method != "POST":
            raise PermissionDenied(why_not(Capability.EDIT_LINEAGE))
        if not form.is_valid():
            messages.error(request, "Choose a dataset.")
            return _back(object_id)
        return self._done(
            request,
            object_id,
            "The name is bound.",
            lambda: resolve.bind(object_id, dataset_id=form.cleaned_data["dataset"].pk, by=request.user),
        )

    def unbind(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Take back what a person said of the name; POST only."""
        if request.method != "POST":
            raise PermissionDenied(why_not(Capability.EDIT_LINEAGE))
        return self._done(
            request,
            object_id,
            "The name is no longer bound.",
            lambda: resolve.unbind(object_id, by=request.user),
        )

    def _done(self, request: HttpRequest, object_id: int, sentence: str, act: Any) -> HttpResponse:
        try:
            act()
        except Forbidden as error:
            raise PermissionDenied(error.detail) from error
        except DomainError as error:
            self.refuse(request, error)
        else:
            messages.success(request, sentence)
        return _back(object_id)


def _back(object_id: int) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("admin:lineage_nodename_change", args=[object_id]))


def _last_part(name: str) -> str:
    return name.rstrip("/").rsplit("/", 1)[-1].rsplit(".", 1)[-1]


def _candidates(query: str) -> QuerySet[Dataset]:
    rows = Dataset.objects.alive().filter(name__icontains=query.strip()).select_related("system")
    return Dataset.objects.filter(pk__in=[row.pk for row in rows.order_by("name")[:MOST_CANDIDATES]])
