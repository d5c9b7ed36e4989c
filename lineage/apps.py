"""How Django knows this app."""

from django.apps import AppConfig


class LineageConfig(AppConfig):
    name = "lineage"
    label = "lineage"
    verbose_name = "Lineage"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from lineage import graph_tasks, late_binding  # noqa: F401 (they register themselves)
