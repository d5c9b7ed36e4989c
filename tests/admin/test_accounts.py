"""People and API keys at the screens."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import Group
from django.urls import reverse
from django.utils import timezone

from aide.accounts.models import ApiKey, User
from aide.audit.models import AuditEntry
from registry.models import System
from tests.admin.conftest import Screen
from tests.factories import PASSWORD, api_client, make_groups, make_service, make_user

USERS, KEYS = "admin:accounts_user", "admin:accounts_apikey"


def groups(*names: str) -> list[int]:
    make_groups()
    return list(Group.objects.filter(name__in=names).values_list("pk", flat=True))


def test_an_added_person_can_sign_in_and_stewards_what_was_ticked(
    screen: Callable[..., Screen], system: System
) -> None:
    admin = screen("admin")
    values = {
        "email": "new@example.com",
        "user_type": "regular",
        "is_active": "on",
        "new_password": PASSWORD,
        "groups": groups("steward"),
        "systems": [system.pk],
    }
    assert admin.post(reverse(f"{USERS}_add"), values).status_code == 302
    user = User.objects.get(email="new@example.com")
    assert user.steward_system_ids == {system.pk}
    signed_in = Screen().post(
        reverse("admin:login"), {"username": user.email, "password": PASSWORD, "next": "/admin/"}
    )
    assert signed_in.status_code == 302
    entry = AuditEntry.objects.get(action="user.create")
    assert entry.actor == admin.user
    assert PASSWORD not in str(entry.after)


def test_a_person_needs_a_password_and_a_program_does_not(screen: Callable[..., Screen]) -> None:
    admin = screen("admin")
    values: dict[str, Any] = {"email": "bot@example.com", "user_type": "regular", "is_active": "on"}
    page = admin.post(reverse(f"{USERS}_add"), values)
    assert b"A person needs a password to sign in." in page.content
    made = admin.post(
        reverse(f"{USERS}_add"), {**values, "user_type": "technical", "groups": groups("service")}
    )
    assert made.status_code == 302
    assert not User.objects.get(email="bot@example.com").has_usable_password()


def test_the_last_administrator_cannot_be_taken_away(screen: Callable[..., Screen]) -> None:
    admin = screen("admin")
    user = admin.user
    assert user is not None
    values = {"email": user.email, "user_type": "regular", "is_active": "on", "groups": groups("viewer")}
    address = reverse(f"{USERS}_change", args=[user.pk])
    page = admin.post(address, {**values, "seen_version": user.row_version}, follow=True)
    assert "nobody could administer AIDE" in page.content.decode()
    assert User.objects.get(pk=user.pk).role_names == {"admin"}


def test_a_persons_page_says_in_words_what_they_can_do(screen: Callable[..., Screen]) -> None:
    approver = make_user("approver")
    page = screen("admin").get(reverse(f"{USERS}_change", args=[approver.pk])).content.decode()
    assert "Confirm breaking changes as the second person" in page
    assert "Manage people" not in page


def new_key(owner: User, **changes: Any) -> dict[str, Any]:
    day = timezone.localdate() + dt.timedelta(days=90)
    return {
        "user": owner.pk,
        "name": "Airflow",
        "scopes": ["registry:read"],
        "expires_on": day.isoformat(),
        **changes,
    }


def test_a_secret_is_shown_once_and_works_until_it_is_revoked(screen: Callable[..., Screen]) -> None:
    admin, owner = screen("admin"), make_service()
    page = admin.post(reverse(f"{KEYS}_add"), new_key(owner))
    assert "no-store" in page["Cache-Control"]
    found = re.search(r'id="secret">(aide_[^<]+)<', page.content.decode())
    assert found is not None
    secret = found.group(1)
    key = ApiKey.objects.get()
    change = reverse(f"{KEYS}_change", args=[key.pk])
    listed = admin.get(reverse(f"{KEYS}_changelist")).content.decode() + admin.get(change).content.decode()
    assert secret not in listed
    assert key.last_four in listed
    assert api_client(secret=secret).get("/api/v1/users/me").status_code == 200
    admin.post(reverse(f"{KEYS}_revoke", args=[key.pk]), {"reason": "It leaked."})
    assert api_client(secret=secret).get("/api/v1/users/me").status_code == 401
    log = list(AuditEntry.objects.filter(object_type="api_key").values_list("action", "reason", "after"))
    assert {action for action, _, _ in log} == {"key.create", "key.revoke"}
    assert secret not in str(log)


def test_a_key_lives_for_a_year_at_most(screen: Callable[..., Screen]) -> None:
    far = (timezone.localdate() + dt.timedelta(days=400)).isoformat()
    page = screen("admin").post(reverse(f"{KEYS}_add"), new_key(make_service(), expires_on=far))
    assert b"A key lives for a year at most." in page.content
    assert not ApiKey.objects.exists()


def test_an_engineer_makes_and_sees_own_keys_only(screen: Callable[..., Screen]) -> None:
    admin, engineer, other = screen("admin"), screen("engineer"), make_service()
    admin.post(reverse(f"{KEYS}_add"), new_key(other))
    foreign = ApiKey.objects.get()
    assert list(engineer.get(reverse(f"{KEYS}_changelist")).context["cl"].result_list) == []
    refused = engineer.post(reverse(f"{KEYS}_add"), new_key(other))
    assert b"Select a valid choice" in refused.content
    assert engineer.post(reverse(f"{KEYS}_revoke", args=[foreign.pk])).status_code == 404
    assert engineer.user is not None
    assert engineer.post(reverse(f"{KEYS}_add"), new_key(engineer.user)).status_code == 200
    assert ApiKey.objects.filter(user=engineer.user).count() == 1


def test_revoking_takes_a_post(screen: Callable[..., Screen]) -> None:
    admin = screen("admin")
    admin.post(reverse(f"{KEYS}_add"), new_key(make_service()))
    key = ApiKey.objects.get()
    assert admin.get(reverse(f"{KEYS}_revoke", args=[key.pk])).status_code == 403
    key.refresh_from_db()
    assert key.revoked_at is None
