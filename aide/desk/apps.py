"""How Django knows this app."""

from django.apps import AppConfig


class DeskConfig(AppConfig):
    name = "aide.desk"
    label = "desk"
    verbose_name = "Desk"
    default_auto_field = "django.db.models.BigAutoField"
