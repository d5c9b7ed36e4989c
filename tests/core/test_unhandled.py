"""An error of ours on a screen: the person gets a reference, the operator a traceback, nobody a secret."""

from __future__ import annotations

import logging

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path

import aide.urls
from aide.core.problems import server_error


def broken(request: HttpRequest) -> HttpResponse:
    raise LookupError("postgresql://aide:hunter2-secret@db/aide is gone")


handler500 = server_error
urlpatterns = [path("admin/broken", broken), *aide.urls.urlpatterns]


@pytest.mark.django_db
@pytest.mark.urls(__name__)
def test_an_unhandled_exception_is_logged_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    client = Client(raise_request_exception=False)
    with caplog.at_level(logging.ERROR, logger="django.request"):
        answer = client.get("/admin/broken", headers={"accept": "text/html"})

    assert answer.status_code == 500
    assert b"hunter2-secret" not in answer.content
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [LookupError]
