"""How Django finds our admin site in place of the stock one, and when its pages are loaded: with the routes."""

from typing import Any

from django.contrib.admin import autodiscover
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks


class AideAdminConfig(SimpleAdminConfig):
    """Without the pages, which commands and workers do not need: loading them takes as long as a small crawl."""

    default_site = "aide.admin_site.AideAdminSite"

    def ready(self) -> None:
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(_check_pages, checks.Tags.admin)


def _check_pages(app_configs: Any, **options: Any) -> list[Any]:
    autodiscover()
    return check_admin_app(app_configs, **options)
