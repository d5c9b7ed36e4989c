"""How events are usually taken with the REST framework: a model serializer and `save`, or `bulk_create` for many.

Without log-in, repetitions and an outbox. BENCH_DATABASE_URL, and BENCH_MAX_AGE for the age of connections.
"""

from __future__ import annotations

import os

import environ
from django.conf import settings

database = environ.Env.db_url_config(os.environ["BENCH_DATABASE_URL"])
database["CONN_MAX_AGE"] = int(os.environ["BENCH_MAX_AGE"]) if os.environ.get("BENCH_MAX_AGE") else None
settings.configure(
    SECRET_KEY="bench",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=["rest_framework"],
    DATABASES={"default": database},
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "DEFAULT_PERMISSION_CLASSES": [],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
        "UNAUTHENTICATED_USER": None,
    },
    USE_TZ=True,
)

import django  # noqa: E402 (settings first)

django.setup()

from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection, models  # noqa: E402
from django.urls import path  # noqa: E402
from rest_framework import serializers  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402


class Event(models.Model):
    resource = models.CharField(max_length=500, db_index=True)
    subject = models.CharField(max_length=255, db_index=True)
    action = models.CharField(max_length=255)
    timestamp = models.FloatField(db_index=True)
    additionalValues = models.JSONField()  # noqa: N815 (as it is on the wire)
    received_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        app_label = "peer"


class Many(serializers.ListSerializer):
    def create(self, validated_data):
        return Event.objects.bulk_create([Event(**each) for each in validated_data])


class Shape(serializers.ModelSerializer):
    class Meta:
        model = Event
        fields = ("id", "resource", "subject", "action", "timestamp", "additionalValues")
        list_serializer_class = Many


class View(APIView):
    def post(self, request):
        many = isinstance(request.data, list)
        shape = Shape(data=request.data, many=many)
        shape.is_valid(raise_exception=True)
        shape.save()
        return Response({"count": len(request.data)} if many else shape.data, status=201)


urlpatterns = [path("events", View.as_view())]
application = get_wsgi_application()


def make_table() -> None:
    with connection.schema_editor() as editor:
        editor.create_model(Event)
