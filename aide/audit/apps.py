"""How Django knows this app."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "aide.audit"
    label = "audit"
    verbose_name = "Audit"
    default_auto_field = "django.db.models.BigAutoField"
