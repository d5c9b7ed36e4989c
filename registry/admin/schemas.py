"""Schema versions, to read: published ones are immutable, drafts are written through the API."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from aide.core.admin import ReadOnlyAdmin
from aide.core.html import ago, chip, short_name
from registry.models import DatasetSchema


@admin.register(DatasetSchema)
class DatasetSchemaAdmin(ReadOnlyAdmin):
    lead = "Every version of every dataset's schema. A published version never changes."
    change_form_template = "admin/registry/datasetschema/change_form.html"
    list_display = ("title", "version", "status_chip", "origin", "published", "published_by")
    list_display_links = ("version",)
    list_filter = ("status", "origin")
    search_fields = ("dataset__name",)
    ordering = ("-pk",)
    fields = ("status", "origin", "published_at", "published_by", "fingerprint", "comment")

    def get_queryset(self, request: HttpRequest) -> QuerySet[DatasetSchema]:
        return super().get_queryset(request).select_related("dataset__system", "published_by")

    @admin.display(description="dataset", ordering="dataset__name")
    def title(self, schema: DatasetSchema) -> Any:
        url = reverse("admin:registry_dataset_change", args=[schema.dataset_id])
        return format_html('<a class="mono" href="{}">{}</a>', url, short_name(schema.dataset.name))

    @admin.display(description="version", ordering="version_num")
    def version(self, schema: DatasetSchema) -> str:
        return f"version {schema.version_num}"

    @admin.display(description="status", ordering="status")
    def status_chip(self, schema: DatasetSchema) -> Any:
        is_draft = schema.status == DatasetSchema.Status.DRAFT
        return chip("info" if is_draft else "ok", schema.get_status_display())

    @admin.display(description="published", ordering="published_at")
    def published(self, schema: DatasetSchema) -> Any:
        return ago(schema.published_at)

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        schema = kwargs.get("obj")
        if schema is not None:
            bindings = schema.bindings.select_related("type_instance", "field")
            context |= {
                "title": f"{schema.dataset.name}, version {schema.version_num}",
                "own_title": True,
                "bindings": list(bindings.order_by("position", "pk")[:500]),
            }
        return super().render_change_form(request, context, *args, **kwargs)
