"""Signing in at the screens, the demo's one-click accounts, and what a person likes to see."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.conf import LazySettings
from django.urls import reverse

from registry.models import Dataset
from tests.admin.conftest import Screen
from tests.factories import PASSWORD, make_service, make_user

LOGIN = "admin:login"
REFUSAL = "That e-mail and password do not go together"


def test_after_signing_in_the_wanted_page_is_shown(dataset: Dataset) -> None:
    user = make_user("viewer")
    wanted = reverse("admin:registry_dataset_change", args=[dataset.pk])
    values = {"username": user.email, "password": PASSWORD, "next": wanted}
    assert Screen().post(reverse(LOGIN), values)["Location"] == wanted


def test_a_wrong_password_gives_one_message_and_keeps_the_name(db: None) -> None:
    user = make_user("viewer")
    page = Screen().post(reverse(LOGIN), {"username": user.email, "password": "wrong"}).content.decode()
    assert page.count(REFUSAL) == 1
    assert f'value="{user.email}"' in page
    unknown = Screen().post(reverse(LOGIN), {"username": "nobody@example.com", "password": "wrong"})
    assert unknown.content.decode().count(REFUSAL) == 1


def test_programs_and_people_without_a_role_cannot_sign_in(db: None) -> None:
    for user in (make_service(), make_user(), make_user("admin", is_active=False)):
        page = Screen().post(reverse(LOGIN), {"username": user.email, "password": PASSWORD})
        assert page.status_code == 200
        assert REFUSAL in page.content.decode()


def test_too_many_failed_tries_are_told_in_words(db: None) -> None:
    user = make_user("viewer")
    client = Screen()
    for _ in range(6):
        page = client.post(reverse(LOGIN), {"username": user.email, "password": "wrong"})
    assert page.status_code == 429
    assert "Wait a minute" in page.content.decode()


def test_demo_accounts_sign_in_by_one_click_in_debug_only(db: None, settings: LazySettings) -> None:
    make_user("steward", email="steward@demo.aide")
    settings.DEBUG = False
    assert b'name="demo"' not in Screen().get(reverse(LOGIN)).content
    assert Screen().post(reverse(LOGIN), {"demo": "steward"}).status_code == 200
    settings.DEBUG = True
    page = Screen().get(reverse(LOGIN)).content.decode()
    assert "Sign in as steward" in page
    assert 'value="approver"' not in page
    client = Screen()
    answer = client.post(reverse(LOGIN), {"demo": "steward", "next": "//evil.example"})
    assert answer["Location"] == reverse("admin:index")
    assert client.get(reverse("admin:index")).status_code == 200


@pytest.mark.parametrize(("theme", "kept"), [("dark", "dark"), ("light", "light"), ("neon", None)])
def test_the_theme_is_kept_in_a_cookie_and_on_the_page(theme: str, kept: str | None, db: None) -> None:
    client = Screen()
    answer = client.post(reverse("admin:desk_preferences"), {"theme": theme, "next": "/admin/login/"})
    assert answer["Location"] == "/admin/login/"
    page = client.get(reverse(LOGIN)).content.decode()
    assert f'data-theme="{kept or "auto"}"' in page


def test_preferences_never_lead_to_another_host(db: None) -> None:
    for target in ("https://evil.example/", "//evil.example/", "javascript:alert(1)"):
        answer = Screen().post(reverse("admin:desk_preferences"), {"theme": "dark", "next": target})
        assert answer["Location"] == reverse("admin:index")


def test_logging_out_takes_a_post_and_ends_the_session(screen: Callable[..., Screen]) -> None:
    client = screen("viewer")
    assert client.get(reverse("admin:logout")).status_code == 405
    client.post(reverse("admin:logout"))
    assert client.get(reverse("admin:index")).status_code == 302
