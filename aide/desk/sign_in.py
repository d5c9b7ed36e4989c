"""The log-in page: its form, its words when refused, and the demo's one-click accounts."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from aide.accounts.models import User
from aide.accounts.roles import SCREEN_GROUPS
from aide.desk import preferences

DEMO_DOMAIN = "@demo.aide"
ORDER = ("steward", "approver", "engineer", "admin", "viewer")
ICONS = {"steward": "review", "approver": "check", "engineer": "plug", "admin": "users", "viewer": "search"}


class SignInForm(AdminAuthenticationForm):
    """E-mail and password; every failure is the same sentence, so that it tells nobody who exists."""

    error_messages = {
        "invalid_login": "That e-mail and password do not go together, or the account may not use these screens.",
        "inactive": "That e-mail and password do not go together, or the account may not use these screens.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].label = "E-mail"
        self.fields["username"].widget.attrs |= {"autocomplete": "username", "inputmode": "email"}
        self.fields["password"].widget.attrs |= {"autocomplete": "current-password"}

    def get_invalid_login_error(self) -> Any:
        error = super().get_invalid_login_error()
        error.params = {}
        return error

    def confirm_login_allowed(self, user: Any) -> None:
        if not user.is_active or not user.is_staff:
            raise self.get_invalid_login_error()


def demo_accounts() -> list[dict[str, str]]:
    """The demo's accounts in the order of the tour; none outside of AIDE_DEBUG."""
    if not settings.DEBUG:
        return []
    wanted = {f"{role}{DEMO_DOMAIN}": role for role in ORDER}
    there = set(User.objects.filter(email__in=wanted, is_active=True).values_list("email", flat=True))
    return [{"role": role, "icon": ICONS[role]} for email, role in wanted.items() if email in there]


def as_demo_account(request: HttpRequest) -> HttpResponse | None:
    """Signs in by one click with AIDE_DEBUG=1; None when that was not asked for."""
    role = request.POST.get("demo", "") if request.method == "POST" else ""
    if not settings.DEBUG or role not in SCREEN_GROUPS:
        return None
    user = User.objects.filter(email=f"{role}{DEMO_DOMAIN}", is_active=True).first()
    if user is None:
        return None
    login(request, user, backend="aide.accounts.backends.EmailBackend")
    target = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(target, allowed_hosts={request.get_host()}):
        target = reverse("admin:index")
    return HttpResponseRedirect(target)


def locked_out(request: HttpRequest, response: Any = None, credentials: Any = None) -> HttpResponse:
    """What someone sees after too many failed tries in a minute."""
    context = {
        "title": "Too many tries",
        "sentence": "There were too many failed tries for this account. Wait a minute, then sign in again.",
        "theme": preferences.theme(request),
    }
    return render(request, "locked_out.html", context, status=429)
