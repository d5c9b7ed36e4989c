"""The app of queued work."""

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class WorkConfig(AppConfig):
    name = "aide.work"
    label = "work"
    verbose_name = "Queued work"

    def ready(self) -> None:
        autodiscover_modules("tasks")
