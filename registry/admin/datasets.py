"""The list of datasets and the form for what people own about one; `aide.desk` adds the dataset page."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.html import format_html

from aide.accounts.roles import Capability, can, why_not
from aide.audit.entries import Entry, record
from aide.core.admin import DeskAdmin
from aide.core.errors import Conflict
from aide.core.forms import VersionedForm, WordsField
from aide.core.html import NOTHING, ago, chip, short_name
from registry import curation, locations
from registry.admin.kinds import KIND_ICONS, KIND_WORDS, NewDatasetForm, PlaceForm, form_of
from registry.models import Dataset
from registry.places import PLACE, refuse_moved

STATUS_CHIPS = {"active": "ok", "draft": "info", "deprecated": "warn", "retired": "plain"}


@transaction.atomic
def move(dataset: Dataset, *, before: dict[str, Any], by: Any) -> None:
    """Save where a dataset is; nothing is written if that is as before. Raises IMMUTABLE after publishing."""
    after = {name: getattr(dataset, name) for name in PLACE}
    if after == before:
        return
    refuse_moved(dataset, after, present=before)
    dataset.row_version += 1
    dataset.save(update_fields=[*PLACE, "row_version", "updated_at"])
    record(
        Entry(
            "dataset.update", "dataset", dataset.pk, dataset.name,
            system_code=dataset.system.code, dataset_id=dataset.pk, before=before, after=after,
        ),
        by=by,
    )  # fmt: skip


def _recorded(action: str, dataset: Dataset, *, by: Any) -> None:
    system = dataset.system.code
    record(
        Entry(action, "dataset", dataset.pk, dataset.name, system_code=system, dataset_id=dataset.pk), by=by
    )


class CuratedForm(VersionedForm):
    """What people own about a dataset; the source can never write these."""

    tags = WordsField(help_text="Separated by commas.")

    class Meta:
        model = Dataset
        fields = ("description", "owner", "tags", "layer", "status", "compatibility", "note")
        help_texts = {
            "owner": "Who answers for this data: a person or a team.",
            "compatibility": "Which changes of the schema its readers can bear.",
        }


class DatasetAdmin(DeskAdmin):
    """The list, the form of curated values, and adding by hand; `aide.desk` registers it with its page."""

    lead = "Tables, topics, files and views, each with its versions of a schema."
    how = (
        "Datasets come from crawls: what a crawl finds waits in a review until a steward approves it.\n\n"
        "Descriptions, owners and tags are yours: no crawl ever changes them."
    )
    list_display = (
        "title",
        "system_name",
        "kind_word",
        "status_chip",
        "version",
        "owner",
        "described",
        "changed",
    )
    list_display_links = ("title",)
    list_filter = ("system", "kind", "status", "layer")
    search_fields = ("name", "description", "owner")
    ordering = ("system__code", "name")
    add_form_template = "admin/registry/dataset/add_form.html"
    empty_sentence = "No dataset yet. Crawl a system and approve what it finds."
    form = CuratedForm
    fieldsets = (
        ("What people know about it", {"fields": ("description", "owner", "tags")}),
        ("Its place", {"fields": ("layer", "status", "compatibility", "note")}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Dataset]:
        return super().get_queryset(request).select_related("system", "current_schema")

    @admin.display(description="dataset", ordering="name")
    def title(self, dataset: Dataset) -> Any:
        return format_html('<span class="mono">{}</span>', short_name(dataset.name, length=56))

    @admin.display(description="system", ordering="system__code")
    def system_name(self, dataset: Dataset) -> str:
        return dataset.system.name

    @admin.display(description="kind", ordering="kind")
    def kind_word(self, dataset: Dataset) -> str:
        words = dataset.object_kind.replace("_", " ")
        return words.capitalize() if words else dataset.get_kind_display()

    @admin.display(description="status", ordering="status")
    def status_chip(self, dataset: Dataset) -> Any:
        return chip(STATUS_CHIPS.get(dataset.status, "plain"), dataset.get_status_display())

    @admin.display(description="version", ordering="current_schema__version_num")
    def version(self, dataset: Dataset) -> Any:
        return dataset.current_schema.version_num if dataset.current_schema else NOTHING

    @admin.display(description="description")
    def described(self, dataset: Dataset) -> Any:
        text = dataset.description or dataset.source_comment
        if not text:
            return NOTHING
        muted = "" if dataset.description else "muted"
        return format_html('<span class="clip {}" title="{}">{}</span>', muted, text, text[:200])

    @admin.display(description="changed", ordering="updated_at")
    def changed(self, dataset: Dataset) -> Any:
        return ago(dataset.updated_at)

    # Adding by hand: first the kind, then that kind's form.

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        if obj is None:
            form = form_of(self._kind(request), NewDatasetForm)
            return super().get_form(request, obj, change=change, form=form, fields=NewDatasetForm.Meta.fields)
        return super().get_form(request, obj, change=change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is not None:
            return super().get_fieldsets(request, obj)
        parts = tuple(f"location_{key}" for key in locations.KINDS[self._kind(request)].keys)
        return (
            ("Where it is", {"fields": ("system", "object_kind", *parts)}),
            ("What people know about it", {"fields": ("description", "owner")}),
        )

    def _kind(self, request: HttpRequest) -> str:
        kind = request.GET.get("kind", "")
        return kind if kind in locations.KINDS else "rdbms"

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> Any:
        kinds = [
            {"code": code, "label": KIND_WORDS[code], "icon": KIND_ICONS[code]} for code in locations.KINDS
        ]
        context = {"kinds": kinds, "kind": self._kind(request), **(extra_context or {})}
        return super().add_view(request, form_url, context)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if change:
            values = {
                name: form.cleaned_data[name] for name in CuratedForm.Meta.fields if name in form.cleaned_data
            }
            stored = Dataset.objects.select_related("system").get(pk=obj.pk)
            curation.edit(stored, values, by=request.user)
            return
        obj.save()
        record(
            Entry(
                "dataset.create",
                "dataset",
                obj.pk,
                obj.name,
                system_code=obj.system.code,
                dataset_id=obj.pk,
                after={"kind": obj.kind, "name": obj.name, "location": obj.location},
            ),
            by=request.user,
        )

    # Where it lives is engineers' matter and has a form of its own: that of the dataset's kind.

    def get_urls(self) -> list[Any]:
        place = self.admin_site.admin_view(self.place)
        return [path("<int:object_id>/place/", place, name="registry_dataset_place"), *super().get_urls()]

    def place(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """The form of a dataset's location; the kind stays as it is."""
        dataset = self.get_queryset(request).filter(pk=object_id).first()
        if dataset is None:
            raise Http404
        if not can(request.user, Capability.MANAGE_SYSTEMS, dataset.system):
            raise PermissionDenied(why_not(Capability.MANAGE_SYSTEMS, dataset.system))
        made = form_of(dataset.kind, PlaceForm)
        page = reverse("admin:registry_dataset_change", args=[object_id])
        old = {name: getattr(dataset, name) for name in PLACE}
        form = made(request.POST or None, instance=dataset)
        if request.method == "POST" and form.is_valid():
            try:
                move(form.instance, before=old, by=request.user)
            except Conflict as refused:
                form.add_error(None, refused.detail)
            else:
                messages.success(request, f"Saved where {dataset.name} is.")
                return HttpResponseRedirect(page)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"Where {old['name']} is",
            "dataset": dataset,
            "kind": KIND_WORDS[dataset.kind],
            "form": form,
            "page_url": page,
        }
        template = "admin/registry/dataset/place.html"
        return render(request, template, context, status=422 if form.errors else 200)

    # What exists at all is engineers' matter too. Versions and what people wrote stay with a deleted dataset.

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return can(request.user, Capability.MANAGE_SYSTEMS, obj.system if obj is not None else None)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        super().delete_model(request, obj)
        _recorded("dataset.delete", obj, by=request.user)

    def restored(self, request: HttpRequest, obj: Any) -> None:
        _recorded("dataset.restore", obj, by=request.user)
