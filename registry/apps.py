"""How Django knows this app."""

from django.apps import AppConfig


class RegistryConfig(AppConfig):
    name = "registry"
    label = "registry"
    verbose_name = "Registry"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from registry import late_suggesting  # noqa: F401 (it registers itself)
