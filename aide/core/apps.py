"""How Django knows this app; it also brings in the project's system checks and lookups."""

from importlib import import_module

from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "aide.core"
    label = "core"
    verbose_name = "Core"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # The checks belong to the project, not to this layer; importing them registers them.
        import_module("aide.checks")
        import_module("aide.core.lookups")
        import_module("aide.core.moments")
