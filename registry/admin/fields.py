"""The list of fields and the column page: what it is, what people wrote, its personal data, its past."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join

from aide.audit.models import AuditEntry
from aide.core.admin import DeskAdmin
from aide.core.forms import VersionedForm, WordsField
from aide.core.html import NOTHING, chip, short_name
from registry import curation, history
from registry.models import Field, FieldTag

OPEN_TAGS = Prefetch(
    "field_tags",
    FieldTag.objects.filter(
        until__isnull=True, state__in=(FieldTag.State.CONFIRMED, FieldTag.State.SUGGESTED)
    ).select_related("tag"),
    to_attr="open_tags",
)


def tag_chips(field: Any) -> Any:
    """Chips of a field's personal-data tags (the field came with OPEN_TAGS)."""
    tags = getattr(field, "open_tags", ())
    if not tags:
        return NOTHING
    return format_html_join(
        " ",
        "{}",
        (
            (
                chip("pii", f"PII {tag.tag.code}")
                if tag.state == FieldTag.State.CONFIRMED
                else chip("pii suggested", f"PII {tag.tag.code} suggested"),
            )
            for tag in tags
        ),
    )


class PresentFilter(admin.SimpleListFilter):
    title = "shown"
    parameter_name = "shown"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("retired", "retired"), ("all", "all")]

    def choices(self, changelist: Any) -> Any:
        first, *rest = super().choices(changelist)
        yield {**first, "display": "present"}
        yield from rest

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "all":
            return queryset
        return queryset.filter(retired_at__isnull=self.value() != "retired")


class DescribedFilter(admin.SimpleListFilter):
    title = "description"
    parameter_name = "described"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "written"), ("no", "missing")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "yes":
            return queryset.exclude(description="")
        return queryset.filter(description="") if self.value() == "no" else queryset


class FieldForm(VersionedForm):
    tags = WordsField(help_text="Separated by commas. Personal data has its own tags.")

    class Meta:
        model = Field
        fields = ("description", "owner", "tags", "note")


class FieldAdmin(DeskAdmin):
    """The list and the column page; `aide.desk` registers it with what joins it to the rest."""

    lead = "Every column and field of every dataset, by its lasting identity."
    how = (
        "A field keeps its identity when it is renamed or its type changes, and with it its description, "
        "owner and tags.\n\nThe comment of the source is shown beside your description, never mixed with it."
    )
    form = FieldForm
    change_form_template = "admin/registry/field/change_form.html"
    list_display = ("title", "dataset_link", "system_name", "described", "owner", "personal")
    list_display_links = ("title",)
    list_filter = (("dataset__system", admin.RelatedFieldListFilter), DescribedFilter, PresentFilter)
    search_fields = ("path", "description", "owner")
    ordering = ("name", "pk")
    fieldsets = (("What people know about it", {"fields": ("description", "owner", "tags", "note")}),)

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """By name; what a search finds comes as it was found, since sorting all that hold a common word is slow."""
        return ("pk",) if request.GET.get("q", "").strip() else self.ordering

    def get_queryset(self, request: HttpRequest) -> QuerySet[Field]:
        rows = super().get_queryset(request).filter(dataset__deleted_at__isnull=True)
        return rows.select_related("dataset__system").prefetch_related(OPEN_TAGS)

    @admin.display(description="field", ordering="name")
    def title(self, field: Field) -> Any:
        return format_html('<span class="mono">{}</span>', short_name(field.path))

    @admin.display(description="dataset", ordering="dataset__name")
    def dataset_link(self, field: Field) -> Any:
        url = reverse("admin:registry_dataset_change", args=[field.dataset_id])
        return format_html('<a class="mono" href="{}">{}</a>', url, short_name(field.dataset.name, length=44))

    @admin.display(description="system", ordering="dataset__system__code")
    def system_name(self, field: Field) -> str:
        return field.dataset.system.name

    @admin.display(description="description")
    def described(self, field: Field) -> Any:
        text = field.description or field.source_comment
        if not text:
            return NOTHING
        muted = "" if field.description else "muted"
        return format_html('<span class="clip {}" title="{}">{}</span>', muted, text, text[:200])

    @admin.display(description="personal data")
    def personal(self, field: Field) -> Any:
        return tag_chips(field)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        values = {
            name: form.cleaned_data[name] for name in FieldForm.Meta.fields if name in form.cleaned_data
        }
        stored = Field.objects.select_related("dataset__system").get(pk=obj.pk)
        curation.edit(stored, values, by=request.user)

    def response_post_save_change(self, request: HttpRequest, obj: Any) -> Any:
        """Back to the dataset, where the next field is; to the list for whoever came from a search of it."""
        if "_changelist_filters" in request.GET:
            return super().response_post_save_change(request, obj)
        return HttpResponseRedirect(reverse("admin:registry_dataset_change", args=[obj.dataset_id]))

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        field = kwargs.get("obj")
        if field is not None:
            binding = history.latest_binding(field)
            context |= {
                "title": field.path,
                "own_title": True,
                "steps": history.steps_of(field),
                "binding": binding,
                "type_words": history.type_of(binding) if binding else "",
                "tags": list(
                    field.field_tags.select_related("tag", "decided_by").order_by("until", "-since", "-pk")[
                        :50
                    ]
                ),
                "children": list(field.children.filter(retired_at__isnull=True).order_by("pk")[:200]),
                "entries": list(
                    AuditEntry.objects.filter(
                        object_type="field", object_id=str(field.pk), dataset_id=field.dataset_id
                    )[:20]
                ),
            }
        return super().render_change_form(request, context, *args, **kwargs)
