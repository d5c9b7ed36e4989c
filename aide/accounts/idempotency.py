"""`Idempotency-Key` on POST: the same key and body within 24 hours gives the first answer again."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts.models import IdempotentAnswer
from aide.core.api.wire import JSONRenderer
from aide.core.errors import Conflict, Invalid

KEPT = dt.timedelta(hours=24)
# A request that has not finished by then died with its process.
ABANDONED = dt.timedelta(minutes=5)
MAX_KEY = 255


def once(request: Request, act: Callable[[], Response]) -> Response:
    """Runs `act`, or gives its earlier answer. Only successful answers are kept."""
    key = request.META.get("HTTP_IDEMPOTENCY_KEY", "").strip()
    if not key:
        return act()
    if len(key) > MAX_KEY:
        raise Invalid(detail=f"An Idempotency-Key has at most {MAX_KEY} characters.")
    row, is_new = _claim(request, key)
    if not is_new:
        return _again(row)
    try:
        response = act()
    except BaseException:
        IdempotentAnswer.objects.filter(pk=row.pk).delete()
        raise
    if response.status_code < 300:
        answer = json.loads(JSONRenderer().render(response.data) or b"null")
        IdempotentAnswer.objects.filter(pk=row.pk).update(status=response.status_code, answer=answer)
    else:
        IdempotentAnswer.objects.filter(pk=row.pk).delete()
    return response


def _claim(request: Request, key: str) -> tuple[IdempotentAnswer, bool]:
    now = timezone.now()
    body = hashlib.sha256(_body(request)).hexdigest()
    where: dict[str, Any] = {
        "user_id": request.user.pk,
        "path": request.path[:300],
        "key_hash": hashlib.sha256(key.encode()).hexdigest(),
    }
    with transaction.atomic():
        IdempotentAnswer.objects.filter(created_at__lt=now - KEPT).delete()
        stuck = IdempotentAnswer.objects.filter(**where, status__isnull=True)
        stuck.filter(created_at__lt=now - ABANDONED).delete()
    try:
        with transaction.atomic():
            return IdempotentAnswer.objects.create(**where, body_hash=body, created_at=now), True
    except IntegrityError:
        row = IdempotentAnswer.objects.filter(**where).first()
    if row is None or row.status is None:
        if row is not None and row.body_hash != body:
            raise _other_body()
        raise Conflict("IDEMPOTENCY_IN_PROGRESS", "The first request with this key has not finished yet.")
    if row.body_hash != body:
        raise _other_body()
    return row, False


def _other_body() -> Invalid:
    return Invalid(
        detail="This Idempotency-Key was used with another body.",
        errors=[{"field": "Idempotency-Key", "code": "reused", "detail": "Use a new key for a new request."}],
    )


def _body(request: Request) -> bytes:
    # The body as it was understood, so that spelling and compression do not count.
    return json.dumps(request.data, sort_keys=True, default=str).encode("utf-8", "replace")


def _again(row: IdempotentAnswer) -> Response:
    response = Response(row.answer, status=row.status)
    response["Idempotent-Replayed"] = "true"
    return response
