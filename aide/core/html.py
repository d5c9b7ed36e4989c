"""Small pieces of HTML that screens share: icons, chips, times, shortened names. Everything is escaped here."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

DASH = "\N{EN DASH}"
NOTHING = format_html('<span class="muted">{}</span>', DASH)


def icon(name: str) -> SafeString:
    """One symbol of icons.svg, hidden from screen readers: a word always stands beside it."""
    return format_html(
        '<svg class="icon" aria-hidden="true" focusable="false"><use href="{}#{}"></use></svg>',
        static("aide/icons.svg"),
        name,
    )


def chip(css: str, text: Any) -> SafeString:
    """A chip; `css` is one or more of the classes named at the top of aide.css."""
    return format_html('<span class="chip {}">{}</span>', css, text)


def short_name(text: str, *, length: int = 48) -> SafeString | str:
    """A long name cut in the middle, with the whole name in its title."""
    if len(text) <= length:
        return text
    head = (length - 1) // 2
    return format_html('<span title="{}">{}…{}</span>', text, text[:head], text[-(length - 1 - head) :])


def ago(moment: datetime | None) -> SafeString:
    """A moment as people say it ("2 h ago"), with the exact time in `<time>` and its title."""
    if moment is None:
        return NOTHING
    local = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        local.isoformat(timespec="seconds"),
        local.strftime("%a %d %b %Y, %H:%M:%S %Z"),
        ago_in_words(moment),
    )


def ago_in_words(moment: datetime, *, now: datetime | None = None) -> str:
    """ "just now", "5 min ago", "in 3 h", "4 days ago"; a date when it is more than four weeks off."""
    distance = (now or timezone.now()) - moment
    past = distance >= timedelta(0)
    seconds = abs(distance.total_seconds())
    if seconds < 45:
        return "just now" if past else "in a moment"
    if seconds < 3600:
        words = f"{max(1, round(seconds / 60))} min"
    elif seconds < 86_400:
        words = f"{round(seconds / 3600)} h"
    elif seconds < 28 * 86_400:
        days = round(seconds / 86_400)
        words = f"{days} day{'' if days == 1 else 's'}"
    else:
        local = timezone.localtime(moment)
        return f"{local.day} {local.strftime('%b %Y')}"
    return f"{words} ago" if past else f"in {words}"


VERBS = {
    "create": "added",
    "add": "added",
    "update": "changed",
    "edit": "edited",
    "delete": "deleted",
    "restore": "restored",
    "publish": "published",
    "retire": "retired",
    "approve": "approved",
    "confirm": "confirmed",
    "reject": "rejected",
    "revoke": "revoked",
    "activate": "activated",
    "deactivate": "deactivated",
    "start": "started",
    "cancel": "cancelled",
    "export": "exported",
}


def action_in_words(action: str) -> str:
    """ "dataset.publish" is "published dataset"; an action with an unknown verb keeps its own words."""
    area, _, verb = action.partition(".")
    thing = area.replace("_", " ")
    if verb in VERBS:
        return f"{VERBS[verb]} {thing}"
    return f"{thing}: {verb.replace('_', ' ')}" if verb else thing


def count_in_words(count: int, one: str, many: str = "") -> str:
    """ "1 change", "1,204 changes"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
