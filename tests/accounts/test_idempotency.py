"""The same Idempotency-Key gives the first answer again."""

from __future__ import annotations

import datetime as dt

import pytest
from django.utils import timezone
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory

from aide.accounts.idempotency import once
from aide.accounts.models import IdempotentAnswer
from aide.core.errors import Conflict, Invalid
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def user():
    return make_user("engineer")


def post(user, body, *, key="k1", act=None, path="/api/v1/crawl-runs"):
    raw = APIRequestFactory().post(path, body, format="json", headers={"Idempotency-Key": key} if key else {})
    request = Request(raw, parsers=[JSONParser()])
    request.user = user
    calls = []

    def count():
        calls.append(1)
        return Response({"number": IdempotentAnswer.objects.count()}, status=201)

    return once(request, act or count), len(calls)


def test_without_a_key_everything_is_done_each_time(user):
    assert post(user, {"a": 1}, key="")[1] == 1
    assert post(user, {"a": 1}, key="")[1] == 1
    assert not IdempotentAnswer.objects.exists()


def test_the_same_key_and_body_is_answered_without_doing_it_again(user):
    first, done = post(user, {"a": 1, "b": 2})
    again, redone = post(user, {"b": 2, "a": 1})
    assert (done, redone) == (1, 0)
    assert (again.status_code, again.data) == (first.status_code, first.data)
    assert again["Idempotent-Replayed"] == "true"


def test_another_body_under_the_same_key_is_refused(user):
    post(user, {"a": 1})
    with pytest.raises(Invalid) as refusal:
        post(user, {"a": 2})
    assert refusal.value.status == 422


def test_keys_belong_to_a_user_and_an_address(user):
    post(user, {"a": 1})
    assert post(make_user("engineer"), {"a": 2})[1] == 1
    assert post(user, {"a": 2}, path="/api/v1/other")[1] == 1


def test_a_failure_is_not_kept(user):
    def fail():
        raise Conflict("CRAWL_ALREADY_RUNNING", "It runs.")

    with pytest.raises(Conflict):
        post(user, {}, act=fail)
    refused, _ = post(user, {}, act=lambda: Response({}, status=409))
    assert refused.status_code == 409
    assert post(user, {})[1] == 1


def test_a_request_that_still_runs_is_not_begun_twice(user):
    def nested():
        with pytest.raises(Conflict) as refusal:
            post(user, {})
        assert refusal.value.code == "IDEMPOTENCY_IN_PROGRESS"
        return Response({}, status=201)

    assert post(user, {}, act=nested)[0].status_code == 201


@pytest.mark.parametrize(("age", "status"), [(dt.timedelta(hours=25), 201), (dt.timedelta(minutes=6), None)])
def test_old_answers_and_abandoned_requests_are_forgotten(user, age, status):
    post(user, {})
    IdempotentAnswer.objects.update(created_at=timezone.now() - age, status=status)
    assert post(user, {})[1] == 1
