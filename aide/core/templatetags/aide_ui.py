"""The pieces of `aide.core.html` for templates, and what only templates need."""

from __future__ import annotations

import json
from typing import Any

from django import template
from django.utils.safestring import SafeString

from aide.core import html

register = template.Library()

register.simple_tag(html.icon)
register.simple_tag(html.chip)
register.simple_tag(html.short_name)
register.filter("ago", html.ago)
register.filter("words", html.action_in_words)


@register.filter
def cut(text: Any, length: int = 48) -> SafeString | str:
    """A long name cut in the middle."""
    return html.short_name(str(text), length=length)


@register.filter
def counted(count: int, noun: str) -> str:
    """`{{ 3|counted:"change" }}` is "3 changes"; `"entry,entries"` names the plural."""
    one, _, many = noun.partition(",")
    return html.count_in_words(count, one, many)


@register.filter
def initials(user: Any) -> str:
    """Up to two letters for the user's badge."""
    words = [word for word in str(user).replace("@", " ").replace(".", " ").split() if word[0].isalnum()]
    return "".join(word[0] for word in words[:2]).upper() or "?"


RISK_WORDS = {"breaking": "breaking", "risky": "risky", "safe": "safe"}


@register.simple_tag
def risk(value: str) -> SafeString | str:
    """The chip of a risk class; nothing for an unknown one."""
    return html.chip(value, RISK_WORDS[value]) if value in RISK_WORDS else ""


RUN_CHIPS = {
    "queued": "info",
    "running": "info",
    "cancelling": "warn",
    "completed": "ok",
    "completed_with_errors": "warn",
    "failed": "bad",
    "lost": "bad",
    "cancelled": "plain",
}


@register.simple_tag
def run_state(run: Any) -> SafeString | str:
    """The chip of a crawl run's state, in words."""
    if run is None:
        return html.NOTHING
    return html.chip(RUN_CHIPS.get(run.status, "plain"), run.get_status_display())


@register.filter
def pretty(value: Any) -> str:
    """JSON as people read it; "nothing" for nothing."""
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True) if value is not None else "nothing"
