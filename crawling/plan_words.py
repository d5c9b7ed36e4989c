"""Schedules in words: from the choices of a form to a cron expression and back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.utils import timezone

from crawling.models import CrawlPlan

HOURLY, DAILY, WORKDAYS, WEEKLY, MONTHLY, CUSTOM = "hour", "day", "workdays", "week", "month", "custom"
FREQUENCIES = (
    (HOURLY, "Every hour"),
    (DAILY, "Every day"),
    (WORKDAYS, "Monday to Friday"),
    (WEEKLY, "Every week"),
    (MONTHLY, "On the first of every month"),
    (CUSTOM, "Another rhythm (cron)"),
)
WEEKDAYS = (
    ("1", "Monday"),
    ("2", "Tuesday"),
    ("3", "Wednesday"),
    ("4", "Thursday"),
    ("5", "Friday"),
    ("6", "Saturday"),
    ("0", "Sunday"),
)
_FIELDS = re.compile(r"(\d{1,2}) (\d{1,2}|\*) (\*|1) \* (\*|[0-7]|1-5)")


@dataclass(frozen=True)
class Rhythm:
    """A schedule as the form asks for it; `cron` only counts for another rhythm."""

    frequency: str
    time: str = "02:00"
    weekday: str = "1"
    cron: str = ""


def to_cron(rhythm: Rhythm) -> str:
    hour, _, minute = rhythm.time.partition(":")
    minute, hour = str(int(minute or 0)), str(int(hour or 0))
    return {
        HOURLY: f"{minute} * * * *",
        DAILY: f"{minute} {hour} * * *",
        WORKDAYS: f"{minute} {hour} * * 1-5",
        WEEKLY: f"{minute} {hour} * * {rhythm.weekday}",
        MONTHLY: f"{minute} {hour} 1 * *",
    }.get(rhythm.frequency, rhythm.cron.strip())


def from_cron(cron: str) -> Rhythm:
    match = _FIELDS.fullmatch(cron.strip())
    if match is None:
        return Rhythm(CUSTOM, cron=cron)
    minute, hour, month_day, weekday = match.groups()
    if int(minute) > 59 or (hour != "*" and int(hour) > 23):
        return Rhythm(CUSTOM, cron=cron)
    time = f"{int(hour) if hour != '*' else 0:02}:{int(minute):02}"
    if hour == "*":
        return Rhythm(HOURLY, time) if (month_day, weekday) == ("*", "*") else Rhythm(CUSTOM, cron=cron)
    if month_day == "1":
        return Rhythm(MONTHLY, time) if weekday == "*" else Rhythm(CUSTOM, cron=cron)
    if weekday == "*":
        return Rhythm(DAILY, time)
    if weekday == "1-5":
        return Rhythm(WORKDAYS, time)
    return Rhythm(WEEKLY, time, weekday="0" if weekday == "7" else weekday)


def in_words(cron: str, time_zone: str) -> str:
    """ "every day at 02:00, Europe/Berlin"."""
    rhythm = from_cron(cron)
    at = f"at {rhythm.time}"
    words = {
        HOURLY: f"every hour at minute {int(rhythm.time[3:])}",
        DAILY: f"every day {at}",
        WORKDAYS: f"Monday to Friday {at}",
        WEEKLY: f"every {dict(WEEKDAYS).get(rhythm.weekday, '')} {at}",
        MONTHLY: f"on the first of every month {at}",
    }.get(rhythm.frequency, f"by the cron expression {cron}")
    return f"{words}, {time_zone}"


def plan_in_words(plan: CrawlPlan | None) -> str:
    """ "Every day at 02:00, Europe/Berlin", "Paused", "Not scheduled"."""
    if plan is None:
        return "Not scheduled"
    words = in_words(plan.cron, plan.time_zone)
    return f"{words[0].upper()}{words[1:]}" if plan.is_active else "Paused"


def next_in_words(moment: datetime | None, time_zone: str, *, now: datetime | None = None) -> str:
    """ "today 14:00", "tomorrow 02:00", "Fri 04 Dec 02:00", in the plan's own time zone."""
    if moment is None:
        return "not planned yet"
    try:
        zone = ZoneInfo(time_zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        zone = ZoneInfo("UTC")
    local = moment.astimezone(zone)
    today = (now or timezone.now()).astimezone(zone).date()
    if local.date() == today:
        return f"today {local:%H:%M}"
    if local.date() == today + timedelta(days=1):
        return f"tomorrow {local:%H:%M}"
    return f"{local:%a %d %b %H:%M}"
