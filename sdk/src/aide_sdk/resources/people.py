"""People, programs' keys, and the caller's own log-in."""

from __future__ import annotations

from typing import Any

from aide_sdk.auth import Tokens, read_tokens
from aide_sdk.calls import Call, Repeat, body_of, given, nothing
from aide_sdk.models import ApiKey, User
from aide_sdk.models.base import one
from aide_sdk.operations import Mode, Resource, operation
from aide_sdk.resources.crud import Editable, Restorable, Values


class Users(Restorable[User, Mode]):
    """`/users`: `delete` turns a person off, `restore` on again."""

    path = "/users"
    model = User

    @operation("GET", "/me")
    def me(self) -> Call[User]:
        """Who is calling."""
        return Call(one(User))

    @operation("PATCH", "/me")
    def update_me(self, values: Values = None, /, **more: Any) -> Call[User]:
        """Change one's own `full_name`, or `password` with `current_password`."""
        return Call(one(User), json=body_of(values, more))


class ApiKeys(Editable[ApiKey, Mode]):
    """`/api-keys`: the `secret` is only in the answer to `create`."""

    path = "/api-keys"
    model = ApiKey

    @operation("POST", "/{key}/revoke")
    def revoke(self, key: int, *, reason: str | None = None) -> Call[ApiKey]:
        """End a key at once."""
        return Call(one(ApiKey), at={"key": key}, json=given(reason=reason))


class Session(Resource[Mode]):
    """`/login`: the client logs in and renews its tokens by itself; this is for whoever needs the tokens."""

    path = "/login"

    @operation("POST", repeat=Repeat.SAFE, is_open=True)
    def log_in(self, username: str, password: str) -> Call[Tokens]:
        """A pair of tokens for others to use."""
        return Call(read_tokens, form={"username": username, "password": password})

    @operation("POST", "/refresh", is_open=True)
    def refresh(self, refresh_token: str) -> Call[Tokens]:
        """A new pair for a refresh token, which is used up."""
        return Call(read_tokens, form={"refresh_token": refresh_token})

    @operation("POST", "/token", repeat=Repeat.SAFE, is_open=True)
    def token(self, client_id: str, client_secret: str) -> Call[Tokens]:
        """OAuth2 client credentials: an access token for an API key's id and secret."""
        form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": client_secret}
        return Call(read_tokens, form=form)

    @operation("POST", "/logout", repeat=Repeat.SAFE, is_open=True)
    def end(self, refresh_token: str) -> Call[None]:
        """End the log-in that a refresh token belongs to."""
        return Call(nothing, form={"refresh_token": refresh_token})

    @operation("POST", "/logout-all")
    def end_all(self) -> Call[None]:
        """End every log-in of the caller, at once."""
        return Call(nothing)
