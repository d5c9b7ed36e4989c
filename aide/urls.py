"""The one list of routes: health, the screens, and the API of each app."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from aide import health
from aide.audit.api import AuditViewSet
from aide.core.api.describing import DocsView, SchemaView
from aide.core.api.routes import Router

admin.autodiscover()

audit_routes = Router()
audit_routes.register("audit", AuditViewSet)

api_urls: list[Any] = [
    *(
        path("", include(module))
        # Addresses are tried one after the other, and pipelines call those of lineage all day.
        for module in (
            "lineage.api.urls",
            "aide.accounts.api.urls",
            "registry.api.urls",
            "crawling.api.urls",
            "aide.desk.api.urls",
        )
        if find_spec(module.rsplit(".", 1)[0]) and find_spec(module)
    ),
    *audit_routes.urls,
    path("schema", SchemaView.as_view(), name="api-schema"),
    path("docs", DocsView.as_view(), name="api-docs"),
]

urlpatterns = [
    path("api/v1/", include(api_urls)),
    path("", RedirectView.as_view(pattern_name="admin:index"), name="root"),
    path("health/live", health.live, name="health-live"),
    path("health/ready", health.ready, name="health-ready"),
    path("metrics", health.metrics, name="metrics"),
    path("admin/", admin.site.urls),
]

handler400 = "aide.core.problems.bad_request"
handler403 = "aide.core.problems.permission_denied"
handler404 = "aide.core.problems.page_not_found"
handler500 = "aide.core.problems.server_error"
