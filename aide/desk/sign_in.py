"""The log-in page: its form, its words when refused, and the demo's one-click accounts."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth import login
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from aide.accounts.models import User
from aide.accounts.roles import SCREEN_GROUPS
from aide.core.html import count_in_words
from aide.desk import preferences
from crawling.models import Draft

WAS_HERE = "aide_was_here"
WEEK = 7 * 24 * 60 * 60
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


# A session that ended: where the person was is kept, and so is what they had noted.


def remembered(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Note in a cookie who is signed in, to know later that a session has ended."""
    if request.method == "POST" and request.user.is_authenticated:
        response.set_signed_cookie(
            WAS_HERE, str(request.user.pk), max_age=WEEK, httponly=True, samesite="Lax",
            secure=settings.SESSION_COOKIE_SECURE,
        )  # fmt: skip
    return response


def forgotten(response: Any) -> Any:
    """Whoever logs out was not signed out."""
    response.delete_cookie(WAS_HERE, samesite="Lax")
    return response


def ended_in_words(request: HttpRequest) -> str:
    """What to say to somebody whose session ended on the way to a page; empty for everybody else."""
    target = request.GET.get("next", "")
    if request.user.is_authenticated or not target:
        return ""
    person = request.get_signed_cookie(WAS_HERE, "", max_age=WEEK) or ""
    if not person.isdecimal():
        return ""
    drafts = Draft.objects.filter(person=int(person)).count()
    kept = (
        f"; your {count_in_words(drafts, 'decision')} {'is' if drafts == 1 else 'are'} saved"
        if drafts
        else ""
    )
    return f"You were signed out. Sign in and you will be back here{kept}."


def lead_back(request: HttpRequest) -> HttpResponse | None:
    """For a form that was sent after the session ended: to the log-in, and from there to the page of the form."""
    if request.method != "POST" or request.user.is_authenticated or request.path == reverse("admin:logout"):
        return None
    if request.headers.get("HX-Request") or "text/html" not in request.headers.get("Accept", ""):
        return None
    came_from = request.headers.get("Referer", "")
    own = url_has_allowed_host_and_scheme(
        came_from, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    parts = urlsplit(came_from if own else request.get_full_path())
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    return redirect_to_login(target, reverse("admin:login"))
