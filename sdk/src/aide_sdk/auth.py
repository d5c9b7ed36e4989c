"""Who is calling: an API key, or an e-mail and a password with the tokens they were exchanged for. No I/O."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from aide_sdk.calls import API, Answer, Call, Repeat
from aide_sdk.errors import AideError, AuthError

_EARLY = 30.0


@dataclass(frozen=True)
class Secret:
    """A text that shows in no traceback."""

    value: str = field(repr=False)


@dataclass(frozen=True)
class Tokens:
    """What a log-in answers; `expires_in` are seconds."""

    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)
    expires_in: float


def read_tokens(answer: Answer) -> Tokens:
    found = answer.json()
    token, life = found["access_token"], float(found.get("expires_in") or 0)
    if not isinstance(token, str) or not token:
        raise ValueError("no access token")
    return Tokens(token, str(found.get("refresh_token") or ""), life)


class LogIn:
    """The present token and how to get the next one. One at a time may call `next_call` and what follows it."""

    def __init__(
        self,
        *,
        username: str | None = None,
        password: str | None = None,
        api_key: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if api_key is not None and (username is not None or password is not None):
            raise ValueError("Give an api_key, or a username and a password, not both.")
        if (username is None) != (password is None):
            raise ValueError("A username needs a password, and a password a username.")
        self._username, self._password, self._api_key = username, password, api_key
        self._clock = clock
        self._tokens: Tokens | None = None
        self._until = 0.0
        self._refresh = ""
        self._was_refresh = False

    @property
    def can_renew(self) -> bool:
        return self._username is not None

    @property
    def token(self) -> Secret | None:
        """The present token, or None for a caller without a log-in."""
        if self._username is None:
            return Secret(self._api_key) if self._api_key else None
        return Secret(self._tokens.access_token) if self._tokens else None

    @property
    def refresh_token(self) -> str:
        return self._refresh

    def is_fresh(self) -> bool:
        """Whether `token` can be used as it is."""
        return self._username is None or (self._tokens is not None and self._clock() < self._until)

    def forget(self, token: Secret | None) -> None:
        """The server did not take this token; unless another one has come meanwhile, get a new one."""
        if self._tokens is not None and token == Secret(self._tokens.access_token):
            self._tokens = None

    def forget_all(self) -> None:
        """After logging out."""
        self._tokens, self._refresh = None, ""

    def next_call(self) -> Call[Tokens]:
        """The call that leads to a new token. A refresh token is used once: two uses end the whole log-in."""
        self._was_refresh = bool(self._refresh)
        if self._was_refresh:
            refresh, self._refresh = self._refresh, ""
            call = Call(read_tokens, form={"refresh_token": refresh})
            return call.placed("POST", f"{API}/login/refresh", repeat=Repeat.NEVER, is_open=True)
        form = {"username": self._username or "", "password": self._password or ""}
        return Call(read_tokens, form=form).placed("POST", f"{API}/login", repeat=Repeat.SAFE, is_open=True)

    def go_on_after(self, error: AideError) -> bool:
        """Whether `next_call` has another way after this one failed: the password, after a refresh token."""
        return self._was_refresh and (isinstance(error, AuthError) or error.status is None)

    def take(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._refresh = tokens.refresh_token
        early = min(_EARLY, tokens.expires_in / 4)
        self._until = self._clock() + tokens.expires_in - early
