"""How a call is carried out: logging in, repeating, reading. One generator tells what to do next, and two
small drivers do it, with and without `await`. Only the clients use this."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from aide_sdk.auth import LogIn, Secret
from aide_sdk.calls import Answer, Call, Repeat, Request
from aide_sdk.errors import AideError, TransportError, error_of

T = TypeVar("T")

_LATER = frozenset({429, 502, 503, 504})
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


@dataclass(frozen=True)
class Retries:
    """How often and how patiently a call that may be repeated is.

    attempts: how often it is sent at most. first, most: seconds before the second attempt, which double up to
    `most`, each shortened at random by up to half. longest: a `Retry-After` beyond it is not waited for, but
    raised.
    """

    attempts: int = 4
    first: float = 0.25
    most: float = 8.0
    longest: float = 60.0

    def pause(self, attempt: int, asked: float | None) -> float | None:
        """Seconds to wait after the given attempt (from 1), or None to give up."""
        if attempt >= self.attempts:
            return None
        if asked is not None:
            return asked if asked <= self.longest else None
        full = min(self.most, self.first * 2.0 ** (attempt - 1))
        return full * (1 - random.random() / 2)  # noqa: S311 (nothing secret)


@dataclass(frozen=True)
class Send:
    """Send this; the answer is an Answer, or an httpx error is thrown."""

    request: Request


@dataclass(frozen=True)
class Sleep:
    """Wait."""

    seconds: float


@dataclass(frozen=True)
class Alone:
    """Do these steps while nobody else does theirs; the result is theirs."""

    steps: Steps[Any]


Effect = Send | Sleep | Alone
Steps = Generator[Effect, Any, T]


def perform(call: Call[T], *, log_in: LogIn, retries: Retries) -> Steps[T]:
    """Carry a call out. Raises AideError.

    A call is repeated when it changes nothing or carries an Idempotency-Key, and otherwise only when it
    certainly never left us (no connection), or was turned away at the door for an access token that has ended.
    """
    request = call.request()
    attempt, may_renew, was_lost = 0, log_in.can_renew, False
    while True:
        attempt += 1
        token = None
        if not call.is_open:
            token = yield from _token(log_in, retries=retries)
        try:
            answer: Answer = yield Send(_with_token(request, token))
        except httpx.RequestError as error:
            never_sent = isinstance(error, _NEVER_SENT)
            was_lost = was_lost or not never_sent
            pause = retries.pause(attempt, None) if never_sent or call.repeat is not Repeat.NEVER else None
            if pause is None:
                raise _no_answer(call, error) from error
            yield Sleep(pause)
            continue
        if answer.status == 401 and may_renew and not call.is_open:
            may_renew = False
            attempt -= 1
            log_in.forget(token)
            continue
        if 200 <= answer.status < 300 or answer.status in call.also:
            return _read(call, answer)
        if answer.status == 404 and call.gone_is_done and was_lost:
            return _read(call, answer)
        refusal = error_of(
            answer.status, answer.body, retry_after=answer.headers.get("retry-after"), about=call.about
        )
        later = answer.status in _LATER or refusal.error_code == "IDEMPOTENCY_IN_PROGRESS"
        pause = retries.pause(attempt, refusal.retry_after) if later else None
        if pause is None or call.repeat is Repeat.NEVER:
            raise refusal
        was_lost = True
        yield Sleep(pause)


def _token(log_in: LogIn, *, retries: Retries) -> Steps[Secret | None]:
    """A token that still holds; getting a new one is one caller's work, and the others wait for it."""
    if log_in.is_fresh():
        return log_in.token
    token: Secret | None = yield Alone(_renew(log_in, retries=retries))
    return token


def _renew(log_in: LogIn, *, retries: Retries) -> Steps[Secret | None]:
    if log_in.is_fresh():  # somebody else has got it meanwhile
        return log_in.token
    while True:
        call = log_in.next_call()
        try:
            pair = yield from perform(call, log_in=log_in, retries=retries)
        except AideError as error:
            if not log_in.go_on_after(error):
                raise
        else:
            log_in.take(pair)
            return log_in.token


def _with_token(request: Request, token: Secret | None) -> Request:
    if token is None:
        return request
    headers = {**request.headers, "Authorization": f"Bearer {token.value}"}
    return Request(request.method, request.path, request.query, headers, request.body)


def _read(call: Call[T], answer: Answer) -> T:
    try:
        return call.read(answer)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        # Without the cause: a validation error would print parts of the answer.
        problem = TransportError(
            f"{call.about} was answered in a shape that is not understood (status {answer.status}).",
            status=answer.status,
            error_code="UNEXPECTED_ANSWER",
        )
    raise problem


def _no_answer(call: Call[Any], error: httpx.RequestError) -> TransportError:
    if isinstance(error, httpx.TimeoutException):
        return TransportError(f"{call.about} was not answered in time.", error_code="TIMEOUT")
    if isinstance(error, httpx.ConnectError):
        return TransportError(f"{call.about}: the server cannot be reached.", error_code="UNREACHABLE")
    return TransportError(f"{call.about}: the conversation broke off.", error_code="BROKEN_OFF")


class AsyncDriver:
    """Carries out steps with `await`."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self._lock = asyncio.Lock()

    async def run(self, steps: Steps[T]) -> T:
        send: Any = None
        error: BaseException | None = None
        while True:
            try:
                effect = steps.send(send) if error is None else steps.throw(error)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            send, error = None, None
            try:
                send = await self._do(effect)
            except (AideError, httpx.HTTPError) as raised:
                error = raised

    async def _do(self, effect: Effect) -> Any:
        if isinstance(effect, Send):
            return _answer(await self._client.send(_build(self._client, effect.request)))
        if isinstance(effect, Sleep):
            return await asyncio.sleep(effect.seconds)
        async with self._lock:
            return await self.run(effect.steps)


class SyncDriver:
    """Carries out steps in the calling thread; several threads may share one."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self._lock = threading.Lock()

    def run(self, steps: Steps[T]) -> T:
        send: Any = None
        error: BaseException | None = None
        while True:
            try:
                effect = steps.send(send) if error is None else steps.throw(error)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            send, error = None, None
            try:
                send = self._do(effect)
            except (AideError, httpx.HTTPError) as raised:
                error = raised

    def _do(self, effect: Effect) -> Any:
        if isinstance(effect, Send):
            return _answer(self._client.send(_build(self._client, effect.request)))
        if isinstance(effect, Sleep):
            return time.sleep(effect.seconds)
        with self._lock:
            return self.run(effect.steps)


def _build(client: httpx.Client | httpx.AsyncClient, request: Request) -> httpx.Request:
    return client.build_request(
        request.method,
        request.path,
        params=request.query or None,
        headers=dict(request.headers),
        content=request.body,
    )


def _answer(response: httpx.Response) -> Answer:
    return Answer(response.status_code, response.headers, response.content)
