"""Repeating, logging in and refusing: what is sent over the wire, with and without `await`."""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from aide_sdk import (
    AideClient,
    AideError,
    AuthError,
    ConflictError,
    NotFoundError,
    RateLimitedError,
    Retries,
    TransportError,
    ValidationError,
)

from sdk.tests.scripted import LOST, Asked, Say, Scripted, problem, scripted

QUICK = Retries(attempts=3, first=0.001, most=0.002, longest=5.0)
SYSTEM = {"id": 7, "code": "shop", "name": "Shop", "flavor": "sqlite", "a_new_key": [1]}
PASSWORD = "a password nobody may see"

Talk = Callable[[Any], Any]


@pytest.fixture(params=["sync", "async"])
def ask(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Makes one call with a client of either kind: `ask(server, lambda aide: aide.systems.get(7))`."""

    def in_turn(server: Scripted, talk: Talk, **how: Any) -> Any:
        how = {"api_key": "aide_key", "retries": QUICK, **how}
        if request.param == "sync":
            with AideClient.sync(server.url, **how) as client:
                return talk(client)

        async def later() -> Any:
            async with AideClient(server.url, **how) as client:
                return await talk(client)

        return asyncio.run(later())

    return in_turn


def in_turn(*answers: Say) -> Callable[[Asked], Say]:
    left = list(answers)
    return lambda asked: left.pop(0) if len(left) > 1 else left[0]


def test_a_row_keeps_the_keys_that_this_version_does_not_know(ask: Any) -> None:
    with scripted(in_turn(Say(200, SYSTEM))) as server:
        system = ask(server, lambda aide: aide.systems.get("a/b c"))
    assert (system.id, system.code, system.a_new_key) == (7, "shop", [1])
    (asked,) = server.asked
    assert asked.path == "/api/v1/systems/a%2Fb%20c"
    assert asked.headers["authorization"] == "Bearer aide_key"


@pytest.mark.parametrize("trouble", [LOST, problem(503, "UNAVAILABLE", Retry_After="0"), problem(502, "X")])
def test_reading_is_repeated_until_it_succeeds(ask: Any, trouble: Say) -> None:
    with scripted(in_turn(trouble, trouble, Say(200, SYSTEM))) as server:
        assert ask(server, lambda aide: aide.systems.get(7)).id == 7
    assert server.paths() == ["GET /systems/7"] * 3


@pytest.mark.parametrize("trouble", [LOST, problem(503, "UNAVAILABLE", Retry_After="0")])
def test_reading_is_given_up_after_some_attempts(ask: Any, trouble: Say) -> None:
    with scripted(in_turn(trouble)) as server, pytest.raises(TransportError):
        ask(server, lambda aide: aide.systems.get(7))
    assert server.paths() == ["GET /systems/7"] * 3


@pytest.mark.parametrize(
    "trouble",
    [LOST, problem(503, "UNAVAILABLE", Retry_After="0"), problem(429, "RATE_LIMITED", Retry_After="0")],
)
@pytest.mark.parametrize(
    "talk",
    [
        lambda aide: aide.systems.create(code="shop"),
        lambda aide: aide.systems.create_many([{"code": "shop"}]),
        lambda aide: aide.systems.update(7, name="Shop"),
        lambda aide: aide.systems.replace(7, name="Shop"),
        lambda aide: aide.systems.restore(7),
        lambda aide: aide.crawl_runs.retry(7),
        lambda aide: aide.field_tags.decide(accept=[7]),
        lambda aide: aide.outbox.replay([7]),
    ],
    ids=["create", "create_many", "update", "replace", "restore", "retry", "decide", "replay"],
)
def test_what_is_not_idempotent_is_sent_once(ask: Any, trouble: Say, talk: Talk) -> None:
    with scripted(in_turn(trouble)) as server, pytest.raises((TransportError, RateLimitedError)):
        ask(server, talk)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "talk",
    [
        lambda aide: aide.metadata.create(resource="r"),
        lambda aide: aide.metadata.create_many([{"resource": "r"}]),
        lambda aide: aide.lineage.create_many([{"eventType": "START"}]),
        lambda aide: aide.crawl_runs.create("shop"),
        lambda aide: aide.proposals.decide(7, approve="safe"),
        lambda aide: aide.crawl_runs.decide_and_apply(7, approve="all"),
    ],
    ids=["event", "events", "lineage", "crawl", "decide", "apply"],
)
def test_what_carries_an_idempotency_key_is_repeated_with_the_same_key_and_body(ask: Any, talk: Talk) -> None:
    answers = in_turn(
        LOST,
        problem(409, "IDEMPOTENCY_IN_PROGRESS"),
        Say(201, {"resource": "r", "id": 1, "system": "s", "items": []} | {"status": "completed"}),
    )
    with scripted(answers) as server:
        ask(server, talk)
    assert len(server.asked) == 3
    assert len({each.headers["idempotency-key"] for each in server.asked}) == 1
    assert all(each.body == server.asked[0].body for each in server.asked)


def test_two_calls_have_two_keys_and_events_have_ids(ask: Any) -> None:
    with scripted(in_turn(Say(201, {"resource": "r"}))) as server:
        ask(server, lambda aide: aide.metadata.create(resource="r"))
        ask(server, lambda aide: aide.metadata.create({"resource": "r"}, event_id="mine"))
        ask(server, lambda aide: aide.metadata.create(resource="r", idempotency_key="chosen"))
    keys = [each.headers["idempotency-key"] for each in server.asked]
    assert len(set(keys)) == 3
    assert keys[2] == "chosen"
    ids = [each.body["event_id"] for each in server.asked]
    assert ids[1] == "mine"
    assert len(set(ids)) == 3


def test_nothing_is_lost_when_nobody_listens_at_first(ask: Any, unused_address: str) -> None:
    nobody = Scripted(f"http://{unused_address}")
    with pytest.raises(TransportError) as unreachable:
        ask(nobody, lambda aide: aide.systems.create(code="shop"))
    assert (unreachable.value.status, unreachable.value.error_code) == (None, "UNREACHABLE")


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_the_server_says_how_long_to_wait(ask: Any, form: str) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    after = "3600" if form == "seconds" else later
    with (
        scripted(in_turn(problem(429, "RATE_LIMITED", Retry_After=after))) as server,
        pytest.raises(RateLimitedError) as limited,
    ):
        ask(server, lambda aide: aide.systems.get(7))
    assert len(server.asked) == 1
    assert limited.value.status == 429
    assert limited.value.retry_after == pytest.approx(3600, abs=60)


def test_a_deletion_that_took_place_before_its_answer_was_lost_has_succeeded(ask: Any) -> None:
    with scripted(in_turn(LOST, problem(404, "SYSTEM_NOT_FOUND"))) as server:
        assert ask(server, lambda aide: aide.systems.delete(7)) is None
    with scripted(in_turn(problem(404, "SYSTEM_NOT_FOUND"))) as server, pytest.raises(NotFoundError):
        ask(server, lambda aide: aide.systems.delete(7))


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ValidationError),
        (401, AuthError),
        (403, AuthError),
        (404, NotFoundError),
        (405, AideError),
        (409, ConflictError),
        (413, ValidationError),
        (422, ValidationError),
        (429, RateLimitedError),
        (500, AideError),
        (503, TransportError),
    ],
)
def test_each_status_has_its_error(ask: Any, status: int, kind: type[AideError]) -> None:
    with scripted(in_turn(problem(status, "SOME_CODE"))) as server, pytest.raises(AideError) as refused:
        ask(server, lambda aide: aide.systems.create(code="x"))
    assert type(refused.value) is kind
    assert (refused.value.status, refused.value.error_code) == (status, "SOME_CODE")
    assert (refused.value.detail, refused.value.request_id) == ("Not now.", "r1")


@pytest.mark.parametrize(
    "odd",
    [Say(200, b"<html>hello</html>"), Say(200, b"[" * 100_000), Say(200, {"id": "no number"}), Say(302, b"")],
    ids=["html", "deep", "wrong shape", "redirect"],
)
def test_an_answer_that_no_aide_server_gives_is_no_crash(ask: Any, odd: Say) -> None:
    with scripted(in_turn(odd)) as server, pytest.raises(AideError) as refused:
        ask(server, lambda aide: aide.systems.get(7))
    assert "hello" not in str(refused.value)


def test_large_bodies_are_packed(ask: Any) -> None:
    items = [{"code": f"system-{number}", "name": "x" * 100} for number in range(1000)]
    with scripted(in_turn(Say(201, {"items": []}))) as server:
        ask(server, lambda aide: aide.systems.create_many(items))
    assert server.asked[0].headers["content-encoding"] == "gzip"
    assert int(server.asked[0].headers["content-length"]) < 20_000
    assert server.asked[0].body == {"items": items}


def test_filters_are_spelled_as_the_api_has_them(ask: Any) -> None:
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    with scripted(in_turn(Say(200, {"items": []}))) as server:
        ask(
            server,
            lambda aide: aide.metadata.page(
                2, {"additionalValues.a b": "1&2"}, from_=moment, action__in=["A", "B"], flag=True, to=None
            ),
        )
    assert server.asked[0].query == {
        "additionalValues.a b": "1&2",
        "from": "2026-03-01T00:00:00+00:00",
        "action__in": "A,B",
        "flag": "true",
        "page": "2",
        "size": "50",
    }


class Door:
    """A server's log-in: tokens that live for a second or as long as told, used refresh tokens refused."""

    def __init__(self, *, life: float = 900, refresh_works: bool = True) -> None:
        self.life, self.refresh_works = life, refresh_works
        self.lock = threading.Lock()
        self.count = 0
        self.valid: set[str] = set()
        self.used: set[str] = set()
        self.reused = 0

    def __call__(self, asked: Asked) -> Say:
        with self.lock:
            if asked.path == "/api/v1/login/refresh":
                token = asked.body["refresh_token"]
                self.reused += token in self.used
                self.used.add(token)
                if not self.refresh_works:
                    return problem(401, "REFRESH_TOKEN_REVOKED")
            elif asked.path != "/api/v1/login":
                is_known = asked.headers.get("authorization", "").removeprefix("Bearer ") in self.valid
                return Say(200, SYSTEM) if is_known else problem(401, "UNAUTHORIZED")
            elif asked.body["password"] != PASSWORD:
                return problem(401, "INVALID_CREDENTIALS")
            self.count += 1
            self.valid.add(f"access-{self.count}")
            pair = {"access_token": f"access-{self.count}", "refresh_token": f"refresh-{self.count}"}
            return Say(200, {**pair, "token_type": "bearer", "expires_in": self.life})


def log_in(**how: Any) -> dict[str, Any]:
    return {"username": "ann@example.com", "password": PASSWORD, "retries": QUICK, **how}


@pytest.mark.parametrize("refresh_works", [True, False])
def test_threads_renew_a_token_once_for_all(refresh_works: bool) -> None:
    door = Door(refresh_works=refresh_works)
    with (
        scripted(door) as server,
        AideClient.sync(server.url, **log_in()) as aide,
        ThreadPoolExecutor(8) as pool,
    ):
        for expected in (["/login"], ["/login/refresh"] if refresh_works else ["/login/refresh", "/login"]):
            server.asked.clear()
            list(pool.map(aide.systems.get, range(8)))
            logins = [path.removeprefix("POST ") for path in server.paths() if path.startswith("POST")]
            assert logins == expected
            door.valid.clear()
    assert door.reused == 0


def test_tasks_renew_a_token_once_for_all() -> None:
    door = Door()

    async def talk(server: Scripted) -> None:
        async with AideClient(server.url, **log_in()) as aide:
            for _ in range(2):
                server.asked.clear()
                await asyncio.gather(*(aide.systems.get(number) for number in range(8)))
                assert len([path for path in server.paths() if path.startswith("POST")]) == 1
                door.valid.clear()

    with scripted(door) as server:
        asyncio.run(talk(server))
    assert door.reused == 0


def test_a_token_is_renewed_before_it_ends() -> None:
    door = Door(life=0)
    with scripted(door) as server, AideClient.sync(server.url, **log_in()) as aide:
        aide.systems.get(1)
        aide.systems.get(2)
    assert server.paths() == ["POST /login", "GET /systems/1", "POST /login/refresh", "GET /systems/2"]


def test_a_post_that_was_turned_away_for_its_token_is_sent_again_with_the_next() -> None:
    door = Door()
    with scripted(door) as server, AideClient.sync(server.url, **log_in()) as aide:
        aide.systems.get(1)
        door.valid.clear()
        aide.systems.create(code="x")
    assert server.paths()[2:] == ["POST /systems", "POST /login/refresh", "POST /systems"]


def test_a_refusal_that_lasts_is_told_after_one_renewal() -> None:
    door = Door()
    answers: Callable[[Asked], Say] = lambda asked: (  # noqa: E731
        door(asked) if "/login" in asked.path else problem(401, "UNAUTHORIZED")
    )
    with (
        scripted(answers) as server,
        AideClient.sync(server.url, **log_in()) as aide,
        pytest.raises(AuthError),
    ):
        aide.systems.get(1)
    assert server.paths() == ["POST /login", "GET /systems/1", "POST /login/refresh", "GET /systems/1"]


def test_no_secret_shows_in_errors_and_tracebacks() -> None:
    door = Door()
    with scripted(door) as server:
        seen = ""
        for how in (
            log_in(password="another secret"),
            {"api_key": "aide_secret", "retries": QUICK},
        ):
            with AideClient.sync(f"{server.url.replace('//', '//me:topsecret@')}", **how) as aide:
                try:
                    aide.systems.create(code="x", password="in the body")
                except AideError as error:
                    told = traceback.TracebackException.from_exception(error, capture_locals=True)
                    frames = [each for each in told.stack if "aide_sdk" in each.filename]
                    told.stack = traceback.StackSummary.from_list(frames)
                    seen += "".join(told.format()) + repr(aide) + str(error)
    assert "AuthError" in seen
    for secret in ("another secret", "aide_secret", "topsecret"):
        assert secret not in seen


def test_the_address_is_checked_at_once() -> None:
    for wrong in ("", "ftp://x", "localhost:8000", "http://", "http://[::1"):
        with pytest.raises(ValueError, match="address"):
            AideClient(wrong, api_key="k")
    assert AideClient.sync("https://h/base/api/v1/", api_key="k").base_url == "https://h/base"
    with pytest.raises(ValueError, match="not both"):
        AideClient("http://h", api_key="k", username="u", password="p")
    with pytest.raises(ValueError, match="needs a password"):
        AideClient("http://h", username="u")
