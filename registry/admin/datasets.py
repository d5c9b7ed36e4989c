"""The list of datasets and the form for what people own about one; `aide.desk` adds the dataset page."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from aide.audit.entries import Entry, record
from aide.core.admin import DeskAdmin
from aide.core.forms import LinesField, VersionedForm, WordsField
from aide.core.html import NOTHING, ago, chip, short_name
from registry import curation, locations
from registry.models import Dataset

KIND_ICONS = {"rdbms": "dataset", "kafka": "queue", "storage": "bucket", "sftp": "file", "hive": "house"}
STATUS_CHIPS = {"active": "ok", "draft": "info", "deprecated": "warn", "retired": "plain"}

LABELS = {"retention_ms": "Retention in ms", "catalog_uri": "Catalogue address", "is_external": "External table",
          "partition_by": "Partitioned by", "header": "Has a header row", "pattern": "File pattern"}  # fmt: skip


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


class NewDatasetForm(VersionedForm):
    """A dataset that is written down by hand, of one kind; its name follows from its location."""

    kind = ""

    class Meta:
        model = Dataset
        fields = ("system", "description", "owner")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        given = {key: cleaned.get(f"location_{key}") for key in locations.KINDS[self.kind].keys}
        location = {key: value for key, value in given.items() if value not in (None, "", [], False)}
        for error in locations.check(self.kind, location):
            self.add_error(f"location_{error.key}" if error.key in given else None, error.message)
        system = cleaned.get("system")
        if self.errors or system is None:
            return cleaned
        name = locations.qualified_name(self.kind, location)
        if system.datasets.filter(name=name, deleted_at__isnull=True).exists():
            raise ValidationError(f"{system.code} already has a dataset called {name}.")
        self.instance.kind, self.instance.location, self.instance.name = self.kind, location, name
        return cleaned


def new_dataset_form(kind: str) -> type[NewDatasetForm]:
    """The form of one kind: the common fields and that kind's parts of the location, no others."""
    known = locations.KINDS[kind]
    parts: dict[str, Any] = {"kind": kind}
    for key in known.keys:
        label = LABELS.get(key, key.replace("_", " ").capitalize())
        options: dict[str, Any] = {"label": label, "required": key in known.required}
        if key in known.numbers:
            parts[f"location_{key}"] = forms.IntegerField(**options)
        elif key in known.lists:
            parts[f"location_{key}"] = LinesField(label=label, help_text="One a line.")
        elif key in known.flags:
            parts[f"location_{key}"] = forms.BooleanField(label=label, required=False)
        else:
            parts[f"location_{key}"] = forms.CharField(max_length=locations.MAX_TEXT, **options)
    return type(f"New{kind.title()}Form", (NewDatasetForm,), parts)


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
            form = new_dataset_form(self._kind(request))
            return super().get_form(request, obj, change=change, form=form, fields=form.Meta.fields)
        return super().get_form(request, obj, change=change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is not None:
            return super().get_fieldsets(request, obj)
        parts = tuple(f"location_{key}" for key in locations.KINDS[self._kind(request)].keys)
        return (
            ("Where it is", {"fields": ("system", *parts)}),
            ("What people know about it", {"fields": ("description", "owner")}),
        )

    def _kind(self, request: HttpRequest) -> str:
        kind = request.GET.get("kind", "")
        return kind if kind in locations.KINDS else "rdbms"

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> Any:
        kinds = [
            {"code": code, "label": label, "icon": KIND_ICONS[code]} for code, label in Dataset.Kind.choices
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

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
