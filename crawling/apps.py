"""How Django knows this app."""

from django.apps import AppConfig


class CrawlingConfig(AppConfig):
    name = "crawling"
    label = "crawling"
    verbose_name = "Crawls"
    default_auto_field = "django.db.models.BigAutoField"
