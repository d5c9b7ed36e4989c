"""The schedule form of the system page: a rhythm in words on one side, a crawl plan on the other."""

from __future__ import annotations

import re
from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from aide.audit.entries import Entry, record
from aide.core.errors import DomainError
from aide.core.forms import LinesField
from crawling import plans
from crawling.models import CrawlPlan
from registry.models import System

RHYTHMS = (
    ("none", "Not scheduled"),
    ("hourly", "Every hour"),
    ("daily", "Every day"),
    ("weekdays", "Every weekday"),
    ("weekly", "Every Monday"),
    ("own", "As the cron expression says"),
)
_DAILY = re.compile(r"(\d{1,2}) (\d{1,2}) \* \* (\*|1-5|1)")
_DAYS = {"daily": "*", "weekdays": "1-5", "weekly": "1"}


class ScheduleForm(forms.Form):
    rhythm = forms.ChoiceField(label="How often", choices=RHYTHMS)
    at = forms.TimeField(
        label="At", required=False, widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M")
    )
    time_zone = forms.CharField(label="Time zone", max_length=64, required=False)
    cron = forms.CharField(
        label="Cron expression",
        max_length=120,
        required=False,
        help_text="minute hour day month weekday, used for the last choice only",
        widget=forms.TextInput(attrs={"class": "code"}),
    )
    schemas = LinesField(
        label="Only these schemas", help_text="One a line; * and ? are wildcards. Empty: all."
    )
    tables = LinesField(label="Only these tables", help_text="schema.table or table, one a line.")
    exclude_schemas = LinesField(label="Never these schemas")
    exclude_tables = LinesField(label="Never these tables")

    def clean_time_zone(self) -> str:
        name = str(self.cleaned_data["time_zone"]).strip() or "UTC"
        if name not in available_timezones():
            raise ValidationError(f"There is no time zone called {name}. Write one like Europe/Berlin.")
        return name

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        rhythm = cleaned.get("rhythm")
        if self.errors or rhythm == "none":
            return cleaned
        cleaned["expression"] = self._expression(cleaned)
        try:
            cleaned["next_due"] = plans.next_due(
                cleaned["expression"], cleaned["time_zone"], after=timezone.now()
            )
        except DomainError as error:
            self.add_error(
                "cron" if rhythm == "own" else None,
                error.errors[0]["detail"] if error.errors else error.detail,
            )
        return cleaned

    def _expression(self, cleaned: dict[str, Any]) -> str:
        rhythm, at = cleaned["rhythm"], cleaned.get("at")
        if rhythm == "own":
            return " ".join(str(cleaned["cron"]).split())
        minute, hour = (at.minute, at.hour) if at else (0, 2)
        return f"{minute} * * * *" if rhythm == "hourly" else f"{minute} {hour} * * {_DAYS[rhythm]}"


def initial_of(plan: CrawlPlan | None) -> dict[str, Any]:
    """The form's values for a plan, or for none."""
    if plan is None:
        return {"rhythm": "none", "at": "02:00", "time_zone": "UTC"}
    values: dict[str, Any] = {"rhythm": "own", "cron": plan.cron, "time_zone": plan.time_zone, "at": "02:00"}
    found = _DAILY.fullmatch(plan.cron)
    if found:
        minute, hour, days = int(found[1]), int(found[2]), found[3]
        values |= {"rhythm": {day: word for word, day in _DAYS.items()}[days], "at": f"{hour:02}:{minute:02}"}
    elif re.fullmatch(r"\d{1,2} \* \* \* \*", plan.cron):
        values |= {"rhythm": "hourly", "at": f"00:{int(plan.cron.split()[0]):02}"}
    if not plan.is_active:
        values["rhythm"] = "none"
    scope = plan.scope or {}
    return values | {
        name: scope.get(name, []) for name in ("schemas", "tables", "exclude_schemas", "exclude_tables")
    }


def in_words(plan: CrawlPlan) -> str:
    """ "Every day at 02:00, Europe/Berlin"."""
    values = initial_of(plan)
    words = dict(RHYTHMS).get(str(values["rhythm"]), "")
    if values["rhythm"] == "none":
        return "Paused"
    if values["rhythm"] == "own":
        return f"{plan.cron} ({plan.time_zone})"
    if values["rhythm"] == "hourly":
        return f"{words}, {str(values['at'])[3:]} past"
    return f"{words} at {values['at']}, {plan.time_zone}"


@transaction.atomic
def save(system: System, cleaned: dict[str, Any], *, by: Any) -> CrawlPlan | None:
    """Write the system's plan from a valid form, with an audit entry; None when there is none to write."""
    plan = system.crawl_plans.select_for_update().order_by("pk").first()
    if plan is None and cleaned["rhythm"] == "none":
        return None
    before = {"cron": plan.cron, "time_zone": plan.time_zone, "is_active": plan.is_active} if plan else None
    plan = plan or CrawlPlan(system=system)
    if cleaned["rhythm"] == "none":
        plan.is_active, plan.next_due_at = False, None
    else:
        plan.is_active, plan.cron, plan.time_zone = True, cleaned["expression"], cleaned["time_zone"]
        plan.next_due_at = cleaned["next_due"]
    names = ("schemas", "tables", "exclude_schemas", "exclude_tables")
    plan.scope = {name: cleaned[name] for name in names if cleaned[name]}
    if plan.pk:
        plan.row_version += 1
    plan.save()
    after = {"cron": plan.cron, "time_zone": plan.time_zone, "is_active": plan.is_active, "scope": plan.scope}
    verb = "update" if before else "create"
    record(
        Entry(
            f"crawl_plan.{verb}",
            "crawl_plan",
            plan.pk,
            system.code,
            system_code=system.code,
            before=before,
            after=after,
        ),
        by=by,
    )
    return plan
