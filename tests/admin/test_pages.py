"""Every page of the navigation, for every role: what opens, and what no page may hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from registry.models import Dataset
from tests.admin.conftest import Screen

ROLES = ("viewer", "steward", "approver", "engineer", "admin")
EVERYONE = set(ROLES)
PAGES: dict[str, set[str]] = {
    "admin:index": EVERYONE,
    "admin:desk_search": EVERYONE,
    "admin:registry_system_changelist": EVERYONE,
    "admin:registry_dataset_changelist": EVERYONE,
    "admin:registry_field_changelist": EVERYONE,
    "admin:registry_datasetschema_changelist": EVERYONE,
    "admin:registry_datatype_changelist": EVERYONE,
    "admin:registry_systemflavor_changelist": EVERYONE,
    "admin:registry_systemkind_changelist": EVERYONE,
    "admin:registry_piitag_changelist": EVERYONE,
    "admin:registry_credentialref_changelist": EVERYONE,
    "admin:registry_system_add": {"engineer", "admin"},
    "admin:registry_dataset_add": {"engineer", "admin"},
    "admin:registry_datatype_add": {"engineer", "admin"},
    "admin:registry_credentialref_add": {"engineer", "admin"},
    "admin:audit_auditentry_changelist": {"steward", "approver", "admin"},
    "admin:accounts_user_changelist": {"admin"},
    "admin:accounts_user_add": {"admin"},
    "admin:accounts_apikey_changelist": {"engineer", "admin"},
    "admin:accounts_apikey_add": {"engineer", "admin"},
    "admin:password_change": EVERYONE,
}


def open_pages(client: Client) -> dict[str, bytes]:
    return {
        name: client.get(reverse(name)).content
        for name in PAGES
        if client.get(reverse(name)).status_code == 200
    }


def check_markup(html: str, where: str) -> None:
    """What the content security policy and the rules for all screens ask of a page."""
    assert not re.search(r"<[^>]+\sstyle=", html), f"{where}: inline style"
    assert "<style" not in html, f"{where}: style element"
    assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>\s*\S", html), f"{where}: inline script"
    assert not re.search(r"<[^>]+\son[a-z]+=", html), f"{where}: inline handler"
    assert not re.search(r"(src|href)=\"(https?:)?//", html), f"{where}: another host"
    assert html.count("<h1") == 1, f"{where}: {html.count('<h1')} h1"
    assert html.count("<main") == 1, f"{where}: main"


@pytest.mark.parametrize("role", ROLES)
def test_each_role_opens_its_pages_and_no_others(
    role: str, screen: Callable[..., Screen], dataset: Dataset
) -> None:
    client = screen(role, systems=(dataset.system,))
    statuses = {name: client.get(reverse(name)).status_code for name in PAGES}
    assert statuses == {name: 200 if role in allowed else 403 for name, allowed in PAGES.items()}


@pytest.mark.parametrize("role", ROLES)
def test_the_navigation_leads_only_to_pages_that_open(
    role: str, screen: Callable[..., Screen], dataset: Dataset
) -> None:
    client = screen(role, systems=(dataset.system,))
    home = client.get(reverse("admin:index"))
    links = [link["url"] for group in home.context["nav_groups"] for link in group["links"]]
    assert len(links) <= 16
    assert {url: client.get(url).status_code for url in links} == dict.fromkeys(links, 200)


def test_no_page_holds_inline_style_or_script_or_another_host(
    screen: Callable[..., Screen], dataset: Dataset
) -> None:
    client = screen("admin", "steward", "approver", systems=(dataset.system,))
    field = dataset.fields.first()
    assert field is not None
    addresses = [reverse(name) for name in PAGES]
    addresses += [
        reverse("admin:registry_system_change", args=[dataset.system_id]),
        reverse("admin:registry_system_edit", args=[dataset.system_id]),
        reverse("admin:registry_dataset_edit", args=[dataset.pk]),
        reverse("admin:registry_field_change", args=[field.pk]),
        reverse("admin:registry_datasetschema_change", args=[dataset.current_schema_id]),
        reverse("admin:registry_datatype_change", args=[dataset.system.flavor.data_types.first().pk]),  # type: ignore[union-attr]
        reverse("admin:registry_system_delete", args=[dataset.system_id]),
        reverse("admin:accounts_user_change", args=[client.user.pk]),  # type: ignore[union-attr]
        *(
            reverse("admin:registry_dataset_change", args=[dataset.pk]) + f"?tab={tab}"
            for tab in ("fields", "versions", "crawls", "history")
        ),
        reverse("admin:desk_search") + "?q=custom",
    ]
    for address in addresses:
        response = client.get(address)
        assert response.status_code == 200, address
        check_markup(response.content.decode(), address)
        policy = response["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "default-src 'self'" in policy


def test_pages_before_sign_in_and_for_errors_keep_the_same_rules(screen: Callable[..., Screen]) -> None:
    viewer = screen("viewer")
    pages = {
        "log-in": Screen().get(reverse("admin:login")),
        "not found": viewer.get("/admin/nothing/here/"),
        "not allowed": viewer.get(reverse("admin:accounts_user_changelist")),
    }
    assert [page.status_code for page in pages.values()] == [200, 404, 403]
    for where, page in pages.items():
        check_markup(page.content.decode(), where)


def test_a_person_who_is_not_signed_in_comes_back_to_the_page_they_wanted(dataset: Dataset) -> None:
    wanted = reverse("admin:registry_dataset_change", args=[dataset.pk])
    response = Screen().get(wanted)
    assert response.status_code == 302
    assert response["Location"].endswith(f"?next={wanted}")


def test_the_front_door_leads_home(db: None) -> None:
    assert Screen().get("/")["Location"] == reverse("admin:index")


def test_the_stylesheets_stay_small_and_ask_nobody_else() -> None:
    from django.contrib.staticfiles import finders

    sizes = {}
    for path in (Path(str(finders.find("aide/aide.css"))).parent).glob("*.css"):
        text = path.read_bytes()
        sizes[path.name] = len(text)
        assert b"url(" not in text
        assert b"@import" not in text
    assert sizes["aide.css"] + sizes["forms.css"] <= 30 * 1024, "what every page loads"
