"""The ASGI entry point, for servers that speak it."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aide.settings")

application = get_asgi_application()

from aide.checks import refuse_to_start  # noqa: E402 (apps must be loaded first)

refuse_to_start()
