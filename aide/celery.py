"""The Celery application; only the worker, the beat and `aide.work` use it, and only with a broker."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aide.settings")

app = Celery("aide")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["aide.work"], related_name="celery_tasks")
app.conf.beat_schedule = {"tick": {"task": "aide.work.tick", "schedule": 10.0, "options": {"expires": 10}}}
