"""How Django knows this app."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "aide.accounts"
    label = "accounts"
    verbose_name = "Users and roles"
    default_auto_field = "django.db.models.BigAutoField"
