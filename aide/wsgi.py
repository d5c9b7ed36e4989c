"""The WSGI entry point of production servers."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aide.settings")

application = get_wsgi_application()

from aide.checks import refuse_to_start  # noqa: E402 (apps must be loaded first)

refuse_to_start()
