"""The lists and pages that join the registry with crawls: systems and datasets as the desk shows them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse

from aide.accounts.roles import Capability, can, why_not
from aide.audit.models import AuditEntry
from aide.core.admin import DeskAdmin
from aide.core.html import NOTHING, ago_in_words, chip
from aide.core.templatetags.aide_ui import RUN_CHIPS
from aide.desk import dataset_page, field_edits, gone, proposing, system_page
from aide.desk.audit_list import DeskAuditAdmin
from aide.desk.bulk.lists import ChoosingAdmin
from aide.desk.models import Subject
from crawling import connect
from crawling.models import CrawlRun
from registry.admin.datasets import DatasetAdmin
from registry.admin.fields import FieldAdmin
from registry.admin.systems import SystemAdmin
from registry.models import Dataset, Field, System

admin.site.register(AuditEntry, DeskAuditAdmin)


class PageAndForm(DeskAdmin):
    """Shows a page of our own at `…/change/` and keeps the stock form at `…/edit/`."""

    page_template = ""

    def get_urls(self) -> list[Any]:
        info = f"{self.opts.app_label}_{self.opts.model_name}"
        wrap = self.admin_site.admin_view
        own = [
            path("<int:object_id>/change/", wrap(self.page), name=f"{info}_change"),
            path("<int:object_id>/edit/", wrap(self.edit), name=f"{info}_edit"),
        ]
        return [*own, *super().get_urls()]

    def edit(self, request: HttpRequest, object_id: int) -> HttpResponse:
        thing = self.get_queryset(request).filter(pk=object_id).first()
        if thing is None:
            raise gone.what_became_of(self.model, object_id)
        if not self.has_change_permission(request, thing):
            raise PermissionDenied(self.refusal(thing))
        return self.changeform_view(request, str(object_id))

    def response_post_save_change(self, request: HttpRequest, obj: Any) -> HttpResponseRedirect:
        info = f"admin:{self.opts.app_label}_{self.opts.model_name}_change"
        return HttpResponseRedirect(reverse(info, args=[obj.pk]))

    response_post_save_add = response_post_save_change

    def page(self, request: HttpRequest, object_id: int) -> HttpResponse:
        thing = self.page_queryset(request).filter(pk=object_id).first()
        if thing is None:
            raise gone.what_became_of(self.model, object_id)
        if not self.has_view_permission(request, thing):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            **self.page_context(request, thing),
        }
        return render(request, self.page_template, context)

    def page_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return self.get_queryset(request)

    def page_context(self, request: HttpRequest, thing: Any) -> dict[str, Any]:
        raise LookupError("A page says what it shows.")

    def refusal(self, thing: Any) -> str:
        return ""


@admin.register(Field)
class DeskFieldAdmin(ChoosingAdmin, FieldAdmin):
    subject = Subject.FIELD

    def _get_obj_does_not_exist_redirect(self, request: HttpRequest, opts: Any, object_id: str) -> Any:
        raise gone.what_became_of(Field, object_id)

    def get_urls(self) -> list[Any]:
        return [*field_edits.urls(self.admin_site.admin_view), *super().get_urls()]

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        field = kwargs.get("obj")
        if field is not None and self.has_change_permission(request, field):
            context["tag_form"] = field_edits.LineForm(field=field)
        return super().render_change_form(request, context, *args, **kwargs)


@admin.register(Dataset)
class DeskDatasetAdmin(PageAndForm, ChoosingAdmin, DatasetAdmin):
    subject = Subject.DATASET
    page_template = "admin/registry/dataset/page.html"

    def get_urls(self) -> list[Any]:
        propose = self.admin_site.admin_view(self.propose)
        return [
            path("<int:object_id>/propose/", propose, name="registry_dataset_propose"),
            *super().get_urls(),
        ]

    def propose(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Propose the dataset's next version by hand."""
        dataset = self.get_queryset(request).filter(pk=object_id).first()
        if dataset is None:
            raise Http404
        return proposing.page(request, dataset)

    def page_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return dataset_page.with_header(self.get_queryset(request))

    def page_context(self, request: HttpRequest, thing: Dataset) -> dict[str, Any]:
        return dataset_page.context(request, thing)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Dataset]:
        return super().get_queryset(request).select_related("system__flavor", "current_schema")

    def refusal(self, thing: Dataset) -> str:
        return f"You can view this page but not change it. {why_not(Capability.EDIT_CURATED, thing.system)}"


@admin.register(System)
class DeskSystemAdmin(PageAndForm, SystemAdmin):
    page_template = "admin/registry/system/page.html"
    list_display = ("title", "flavor_name", "environment", "owner", "last_crawl", "state")

    def get_queryset(self, request: HttpRequest) -> QuerySet[System]:
        latest = CrawlRun.objects.filter(system=OuterRef("pk"), dry_run=False).order_by("-pk")
        return (
            super()
            .get_queryset(request)
            .annotate(
                last_status=Subquery(latest.values("status")[:1]),
                last_at=Subquery(latest.values("created_at")[:1]),
            )
        )

    @admin.display(description="last crawl")
    def last_crawl(self, system: Any) -> Any:
        if not system.last_status:
            return NOTHING
        label = f"{CrawlRun.Status(system.last_status).label}, {ago_in_words(system.last_at)}"
        return chip(RUN_CHIPS.get(system.last_status, "plain"), label)

    def get_urls(self) -> list[Any]:
        wrap = self.admin_site.admin_view
        own = [
            path("<int:object_id>/test/", wrap(self.test), name="registry_system_test"),
        ]
        return [*own, *super().get_urls()]

    def page_context(self, request: HttpRequest, thing: System) -> dict[str, Any]:
        return system_page.context(request, thing)

    def refusal(self, thing: System) -> str:
        return f"You can view this page but not change it. {why_not(Capability.MANAGE_SYSTEMS, thing)}"

    def test(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Log in to the system now and say in words what came of it; POST only."""
        system = self._wanted(request, object_id, Capability.START_CRAWL)
        tested = connect.test_connection(system)
        if request.headers.get("HX-Request"):
            return render(request, "admin/registry/system/tested.html", {"tested": tested})
        (messages.success if tested.ok else messages.error)(request, tested.sentence)
        return HttpResponseRedirect(reverse("admin:registry_system_change", args=[object_id]))

    def _wanted(self, request: HttpRequest, object_id: int, capability: Capability) -> System:
        system = self.get_queryset(request).filter(pk=object_id).first()
        if system is None:
            raise Http404
        if request.method != "POST" or not can(request.user, capability, system):
            raise PermissionDenied(why_not(capability, system))
        return system
