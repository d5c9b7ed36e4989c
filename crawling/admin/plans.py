"""The list and the form of crawl plans: when a system is crawled, what of it, and what needs no person."""

from __future__ import annotations

from functools import cached_property
from typing import Any
from zoneinfo import available_timezones

from aide_crawler import Scope, ScopeInvalid
from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.html import format_html

from aide.accounts.roles import Capability, can, systems_limit, why_not
from aide.audit.recording_admin import RecordedAdmin, as_json
from aide.core.errors import DomainError, Invalid
from aide.core.forms import LinesField, VersionedForm
from aide.core.html import chip
from crawling import plan_words, plans
from crawling.models import Change, CrawlPlan
from crawling.plan_words import Rhythm
from crawling.preview import Preview, preview
from registry.models import System

SCOPE = ("schemas", "tables", "exclude_schemas", "exclude_tables")
KEPT = ("system", "cron", "time_zone", "is_active", "auto_approve", "note", "scope")
PATTERNS = "One a line. * and ? stand for any text and any letter."


class PlanForm(VersionedForm):
    """A schedule in words; the cron expression behind it is shown for those who know it."""

    frequency = forms.ChoiceField(choices=plan_words.FREQUENCIES, initial=plan_words.DAILY)
    time = forms.TimeField(
        initial="02:00",
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
        help_text="For every hour, only the minutes count.",
    )
    weekday = forms.ChoiceField(choices=plan_words.WEEKDAYS, required=False, help_text="For every week.")
    cron = forms.CharField(
        required=False,
        max_length=120,
        label="Cron expression",
        help_text="For another rhythm: minute hour day month weekday, as in 30 4 * * 1,4.",
        widget=forms.TextInput(attrs={"class": "code", "spellcheck": "false"}),
    )
    time_zone = forms.ChoiceField(choices=())
    schemas = LinesField(label="Only these schemas", help_text=PATTERNS)
    tables = LinesField(label="Only these tables", help_text="schema.table or table, one a line.")
    exclude_schemas = LinesField(label="Without these schemas", help_text=PATTERNS)
    exclude_tables = LinesField(label="Without these tables", help_text=PATTERNS)
    auto_approve = forms.MultipleChoiceField(
        choices=[(risk.value, risk.label) for risk in (Change.Risk.SAFE, Change.Risk.RISKY)],
        required=False,
        label="Needs no person",
        help_text="Changes of these risks are applied at once. Breaking ones always wait for two people.",
        widget=forms.CheckboxSelectMultiple,
    )

    class Meta:
        model = CrawlPlan
        fields = ("system", "cron", "time_zone", "is_active", "auto_approve", "note")
        labels = {"is_active": "Active"}
        help_texts = {"is_active": "A paused plan starts nothing."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        zones = sorted(available_timezones())
        if "time_zone" in self.fields:
            self.fields["time_zone"].choices = [(zone, zone) for zone in zones]  # type: ignore[attr-defined]
            self.initial.setdefault("time_zone", "UTC")
        if self.instance.pk:
            rhythm = plan_words.from_cron(self.instance.cron)
            self.initial.update(
                {"frequency": rhythm.frequency, "time": rhythm.time, "weekday": rhythm.weekday}
            )
            self.initial.update({name: self.instance.scope.get(name) or [] for name in SCOPE})
            self.initial["scope"] = Scope.from_dict(self.instance.scope).to_dict()

    @cached_property
    def changed_data(self) -> list[str]:
        """By what the plan holds, not by the words it was entered in."""
        names = [name for name in KEPT if name in self.cleaned_data]
        return [name for name in names if as_json(self.cleaned_data[name]) != self.initial.get(name)]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if self.errors:
            return cleaned
        rhythm = Rhythm(
            cleaned["frequency"],
            f"{cleaned['time']:%H:%M}",
            cleaned.get("weekday") or "1",
            cleaned.get("cron") or "",
        )
        cleaned["cron"] = plan_words.to_cron(rhythm)
        try:
            plans.next_due(cleaned["cron"], cleaned["time_zone"], after=timezone.now())
        except Invalid as error:
            for item in error.errors:
                self.add_error(item["field"], item["detail"])
        scope = {name: cleaned.get(name) or [] for name in SCOPE}
        try:
            cleaned["scope"] = Scope.from_dict(scope).to_dict()
        except ScopeInvalid as error:
            self.add_error("tables", str(error))
        return cleaned

    def save(self, commit: bool = True) -> Any:
        self.instance.scope = self.cleaned_data["scope"]
        self.instance.next_due_at = (
            plans.next_due(self.instance.cron, self.instance.time_zone, after=timezone.now())
            if self.instance.is_active
            else None
        )
        return super().save(commit)


@admin.register(CrawlPlan)
class CrawlPlanAdmin(RecordedAdmin):
    page_title = "Schedules"
    noun = "schedule"
    lead = "When each system is crawled. What a scheduled crawl finds waits in a review like any other."
    empty_sentence = "No system is crawled on a schedule yet."
    form = PlanForm
    change_form_template = "admin/crawling/crawlplan/change_form.html"
    list_display = ("system_name", "rhythm", "next_time", "state", "without_person")
    list_display_links = ("system_name",)
    list_filter = ("is_active", ("system", admin.RelatedFieldListFilter))
    search_fields = ("system__code", "system__name")
    list_select_related = ("system",)
    fieldsets = (
        (None, {"fields": ("system", "is_active")}),
        ("When", {"fields": ("frequency", "time", "weekday", "cron", "time_zone")}),
        (
            "What to read",
            {"fields": SCOPE, "classes": ("collapse",), "description": "Empty means everything."},
        ),
        ("Without a person", {"fields": ("auto_approve",), "classes": ("collapse",)}),
    )

    def get_urls(self) -> list[Any]:
        own = [path("preview/", self.admin_site.admin_view(self.preview), name="crawling_plan_preview")]
        return [*own, *super().get_urls()]

    def preview(self, request: HttpRequest) -> HttpResponse:
        """What the scope in the form would read; POST only, and nothing is written."""
        value = request.POST.get("system", "")
        rows = System.objects.alive().select_related("flavor", "credential_ref")
        system = rows.filter(pk=int(value)).first() if value.isdecimal() and len(value) < 16 else None
        if request.method != "POST" or not can(request.user, Capability.START_CRAWL, system):
            raise PermissionDenied(why_not(Capability.START_CRAWL, system))
        context: dict[str, Any] = {"system": system, "preview": _preview(request, system)}
        if request.headers.get("HX-Request"):
            return render(request, "admin/crawling/crawlplan/preview.html", context)
        context |= self.admin_site.each_context(request)
        return render(request, "admin/crawling/crawlplan/preview_page.html", context)

    @admin.display(description="system", ordering="system__code")
    def system_name(self, plan: CrawlPlan) -> str:
        return plan.system.name

    @admin.display(description="rhythm")
    def rhythm(self, plan: CrawlPlan) -> Any:
        words = plan_words.in_words(plan.cron, plan.time_zone)
        return format_html('{}<span class="sub mono">{}</span>', words, plan.cron)

    @admin.display(description="next", ordering="next_due_at")
    def next_time(self, plan: CrawlPlan) -> str:
        return plan_words.next_in_words(plan.next_due_at, plan.time_zone) if plan.is_active else "paused"

    @admin.display(description="state", ordering="is_active")
    def state(self, plan: CrawlPlan) -> Any:
        return chip("ok", "active") if plan.is_active else chip("plain", "paused")

    @admin.display(description="needs no person")
    def without_person(self, plan: CrawlPlan) -> str:
        return ", ".join(plan.auto_approve) or "nothing"

    def get_queryset(self, request: HttpRequest) -> QuerySet[CrawlPlan]:
        return super().get_queryset(request).filter(system__deleted_at__isnull=True)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"time_zone": "UTC", **super().get_changeform_initial_data(request)}

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        if db_field.name == "system" and field is not None and field.queryset is not None:
            rows = field.queryset.filter(deleted_at__isnull=True)
            ids = systems_limit(request.user, Capability.MANAGE_SYSTEMS)
            field.queryset = rows if ids is None else rows.filter(pk__in=ids)
        return field

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        plan = kwargs.get("obj")
        if plan is not None:
            words = plan_words.in_words(plan.cron, plan.time_zone)
            coming = plan_words.next_in_words(plan.next_due_at, plan.time_zone)
            context |= {
                "title": f"Schedule of {plan.system.name}",
                "own_title": True,
                "lead": f"{words[0].upper()}{words[1:]}. {f'Next: {coming}.' if plan.is_active else 'Paused.'}",
            }
        return super().render_change_form(request, context, *args, **kwargs)

    def response_post_save_add(self, request: HttpRequest, obj: Any) -> HttpResponseRedirect:
        """Back to where the schedule is told in words."""
        return HttpResponseRedirect(reverse("admin:registry_system_change", args=[obj.system_id]))

    response_post_save_change = response_post_save_add

    def system_code(self, obj: Any) -> str:
        return str(obj.system.code)


def _preview(request: HttpRequest, system: System | None) -> Preview:
    if system is None:
        return Preview(False, "Choose a system first.")
    try:
        return preview(system, {name: LinesField().clean(request.POST.get(name, "")) for name in SCOPE})
    except DomainError as error:
        said = (each["detail"] for each in error.errors)
        return Preview(False, " ".join((error.detail, *(text for text in said if text != error.detail))))
    except ValidationError as error:
        return Preview(False, " ".join(error.messages))
