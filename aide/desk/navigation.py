"""The left navigation: what there is to go to, for whom, and how much work waits there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.http import urlencode

from aide.accounts.roles import Capability, can
from aide.desk import work_counts
from registry.models import System


@dataclass(frozen=True)
class Link:
    """One entry; the first of `pages` that exists is where it leads. Without any page it is not shown."""

    label: str
    icon: str
    pages: tuple[str, ...]
    right: Capability = Capability.VIEW
    count: str = ""
    """Which of the badges stands behind it."""
    is_bad: bool = False


GROUPS: tuple[tuple[str, tuple[Link, ...]], ...] = (
    (
        "Work",
        (
            Link("Home", "home", ("admin:index",)),
            Link(
                "Reviews",
                "review",
                ("admin:crawling_reviews",),
                count="reviews",
            ),
            Link("PII suggestions", "shield", ("admin:registry_pii_workbench",), count="suggestions"),
        ),
    ),
    (
        "Registry",
        (
            Link("Systems", "system", ("admin:registry_system_changelist",)),
            Link("Datasets", "dataset", ("admin:registry_dataset_changelist",)),
            Link("Fields", "field", ("admin:registry_field_changelist",)),
        ),
    ),
    (
        "Flow",
        (
            Link("Lineage", "lineage", ("admin:lineage_explore",)),
            Link("Events", "event", ("admin:lineage_event_changelist",)),
            Link("Kafka outbox", "outbox", ("admin:lineage_outboxmessage_changelist",)),
        ),
    ),
    (
        "Crawls",
        (
            Link(
                "Runs",
                "run",
                ("admin:crawling_crawlrun_changelist", "admin:crawling_runs"),
                count="failed_crawls",
                is_bad=True,
            ),
        ),
    ),
    (
        "Types",
        (
            Link("Data types", "type", ("admin:registry_datatype_changelist",)),
            Link("Cast rules", "cast", ("admin:registry_castrule_changelist",)),
        ),
    ),
    ("Oversight", (Link("Audit log", "log", ("admin:audit_auditentry_changelist",), Capability.READ_AUDIT),)),
    (
        "Settings",
        (
            Link("Users & roles", "users", ("admin:accounts_user_changelist",), Capability.MANAGE_USERS),
            Link("API keys", "key", ("admin:accounts_apikey_changelist",), Capability.OWN_KEYS),
            Link(
                "Credential references",
                "lock",
                ("admin:registry_credentialref_changelist",),
                Capability.MANAGE_SYSTEMS,
            ),
        ),
    ),
)


def groups(request: HttpRequest) -> list[dict[str, Any]]:
    """The groups that this person sees, with the entry of the present page marked."""
    found: list[dict[str, Any]] = []
    for title, links in GROUPS:
        entries = [entry for entry in (_entry(request, link) for link in links) if entry]
        if entries:
            found.append({"title": title, "links": entries})
    _mark_present(request.path, [entry for group in found for entry in group["links"]])
    return found


def _entry(request: HttpRequest, link: Link) -> dict[str, Any] | None:
    if not can(request.user, link.right):
        return None
    url = first_page(link.pages)
    if url is None:
        return None
    count = work_counts.badges(request)[link.count] if link.count else 0
    return {
        "label": link.label,
        "icon": link.icon,
        "url": url,
        "count": count,
        "is_bad": link.is_bad,
        "current": False,
    }


REVIEWS = ("admin:crawling_reviews",)


def reviews_of(system: System) -> str:
    """The address of a system's open reviews; empty while there is no such page."""
    page = first_page(REVIEWS)
    return f"{page}?{urlencode({'system': system.code, 'all': '1'})}" if page else ""


def first_page(pages: Iterable[str]) -> str | None:
    """The address of the first of these pages that exists."""
    for name in pages:
        try:
            return reverse(name)
        except NoReverseMatch:
            continue
    return None


def _mark_present(path: str, entries: list[dict[str, Any]]) -> None:
    """The entry with the longest address that the present one begins with; Home only on itself."""
    home = reverse("admin:index")
    matches = [e for e in entries if path == e["url"] or (e["url"] != home and path.startswith(e["url"]))]
    if matches:
        max(matches, key=lambda entry: len(entry["url"]))["current"] = True
