"""Who a request of the API is from: an API key, an access token, or the session of the screens."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from aide.accounts import keys, tokens
from aide.accounts.models import ApiKey, User


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer aide_…` (an API key) or `Bearer eyJ…` (an access token)."""

    def authenticate(self, request: Request) -> tuple[User, Any] | None:
        parts = get_authorization_header(request).split()
        if not parts or parts[0].lower() != b"bearer":
            return None
        if len(parts) != 2:
            raise AuthenticationFailed("The Authorization header is not a bearer token.")
        try:
            text = parts[1].decode("ascii")
        except UnicodeDecodeError as error:
            raise AuthenticationFailed("The bearer token is not valid.") from error
        if text.startswith(keys.PREFIX):
            return _as_key(keys.find_key(text))
        return _as_token(text)

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="aide"'


def _as_key(key: ApiKey | None) -> tuple[User, ApiKey]:
    if key is None:
        raise AuthenticationFailed("The API key is not known, or it is expired or revoked.")
    keys.seen(key)
    user = key.user
    user.acting_key = key
    return user, key


def _as_token(text: str) -> tuple[User, Any]:
    refused = AuthenticationFailed("The access token is not valid or has expired.")
    found = tokens.read_access(text)
    if found is None:
        raise refused
    user_id, public_id, issued = found
    if public_id:
        key = keys.usable_key(public_id)
        if key is None or key.user_id != user_id:
            raise refused
        return _as_key(key)
    user = User.objects.filter(pk=user_id, is_active=True).first()
    if user is None:
        raise refused
    if user.tokens_valid_from is not None and issued <= user.tokens_valid_from.timestamp():
        raise refused
    return user, text


class ScreenSessionAuthentication(SessionAuthentication):
    """The session of a person who is logged in at the screens, with CSRF checks as there."""

    def enforce_csrf(self, request: Request) -> None:
        try:
            super().enforce_csrf(request)
        except PermissionDenied as error:
            raise PermissionDenied("The request lacks the CSRF token of your session.") from error


class BearerScheme(OpenApiAuthenticationExtension):
    """How the OpenAPI document calls the bearer header."""

    target_class = "aide.accounts.authentication.BearerAuthentication"
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "An access token of `/login`, or an API key (`aide_…`).",
        }


class SessionScheme(OpenApiAuthenticationExtension):
    """How the OpenAPI document calls the session cookie."""

    target_class = "aide.accounts.authentication.ScreenSessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
