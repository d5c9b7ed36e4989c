"""How Django finds our admin site in place of the stock one."""

from django.contrib.admin.apps import AdminConfig


class AideAdminConfig(AdminConfig):
    default_site = "aide.admin_site.AideAdminSite"
