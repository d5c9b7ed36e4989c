"""What a person likes to see, kept in cookies so that it works before log-in and without JavaScript."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

THEMES = ("auto", "light", "dark")
A_YEAR = 365 * 24 * 60 * 60
CHOICES = {"theme": THEMES, "nav": ("open", "collapsed")}


def theme(request: HttpRequest) -> str:
    """ "auto" (what the system says), "light" or "dark"."""
    value = request.COOKIES.get("aide_theme", "auto")
    return value if value in THEMES else "auto"


def nav_collapsed(request: HttpRequest) -> bool:
    return request.COOKIES.get("aide_nav") == "collapsed"


@require_POST
def keep(request: HttpRequest) -> HttpResponse:
    """Remember one preference and go back to the page it was set on."""
    target = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(target, allowed_hosts={request.get_host()}):
        target = reverse("admin:index")
    response = HttpResponseRedirect(target)
    for name, allowed in CHOICES.items():
        value = request.POST.get(name, "")
        if value in allowed:
            response.set_cookie(
                f"aide_{name}", value, max_age=A_YEAR, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE
            )
    return response
