"""The project: settings, routes, servers' entry points and the apps that every other app stands on."""

from aide.celery import app as celery_app

__all__ = ["celery_app"]
