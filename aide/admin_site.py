"""The stewards' desk: our admin site, with its shell, home, log-in and the pages that join several apps."""

from __future__ import annotations

from functools import wraps
from typing import Any

import structlog
from django.contrib import admin
from django.contrib.auth.models import Group
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path

from aide.core.html import DASH
from aide.desk import addresses, error_pages, home, navigation, preferences, search, sign_in, work_counts

logger = structlog.get_logger(__name__)


class AideAdminSite(admin.AdminSite):
    site_header = "AIDE"
    site_title = "AIDE"
    index_title = "Home"
    site_url = None
    enable_nav_sidebar = False
    empty_value_display = DASH
    login_form = sign_in.SignInForm

    def get_urls(self) -> list[URLResolver | URLPattern]:
        # Its package registers pages on this site, so the site must be there first.
        from aide.desk import evidence_page
        from aide.desk.bulk import pages as bulk
        from lineage.admin import explorer, insights

        own: list[URLResolver | URLPattern] = [
            path("preferences/", preferences.keep, name="desk_preferences"),
            path("go/<str:urn>/", self.admin_view(addresses.go), name="desk_go"),
            path("search/", self.admin_view(search.page), name="desk_search"),
            path("audit/evidence/", self.admin_view(evidence_page.page), name="audit_evidence"),
            path("lineage/explore/", self.admin_view(explorer.page), name="lineage_explore"),
            path("lineage/sessions/", self.admin_view(insights.session_page), name="lineage_sessions"),
            path("lineage/quality/", self.admin_view(insights.quality_page), name="lineage_quality"),
        ]
        return [*own, *bulk.urls(self.admin_view), *super().get_urls()]

    def register(self, model_or_iterable: Any, *args: Any, **options: Any) -> None:
        """Groups are the shipped roles; nobody edits them here."""
        models = [model_or_iterable] if isinstance(model_or_iterable, type) else list(model_or_iterable)
        super().register([model for model in models if model is not Group], *args, **options)

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        inner = super().admin_view(view, cacheable)

        @wraps(inner)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            ended = sign_in.lead_back(request)
            if ended is not None:
                return ended
            try:
                return inner(request, *args, **kwargs)
            except Http404 as error:
                return error_pages.not_found(request, error)
            finally:
                if request.method == "POST":
                    _forget_badges(request)

        return guarded

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        context = super().each_context(request)
        context["theme"] = preferences.theme(request)
        context["nav_collapsed"] = preferences.nav_collapsed(request)
        if context["has_permission"]:
            context["nav_groups"] = navigation.groups(request)
        return context

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        return super().index(request, {"title": "Home", **home.context(request), **(extra_context or {})})

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        answer = sign_in.as_demo_account(request)
        if answer is None:
            context = {
                "title": "Sign in",
                "demo_accounts": sign_in.demo_accounts(),
                "ended": sign_in.ended_in_words(request),
                **(extra_context or {}),
            }
            answer = super().login(request, context)
        return sign_in.remembered(request, answer)

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return sign_in.forgotten(super().logout(request, extra_context))


def _forget_badges(request: HttpRequest) -> None:
    """The work is done by now: where the cache fails, the numbers are only late."""
    try:
        work_counts.forget_badges(request.user)
    except Exception as error:  # noqa: BLE001 (caches raise errors of their own; it is told, and the answer stands)
        logger.warning("badges not refreshed", error=type(error).__name__)
