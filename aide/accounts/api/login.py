"""Logging in and out over the API, and OAuth2 client credentials for programs."""

from __future__ import annotations

import base64
import binascii
from typing import Any
from urllib.parse import unquote_plus

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts import keys, signin, tokens
from aide.accounts.api.views import refuse_keys
from aide.accounts.models import User
from aide.core.api.views import StrictParameters
from aide.core.api.wire import JSONParser, storable
from aide.core.errors import DomainError, Invalid
from aide.core.requests import client_address


class LoginForm(serializers.Serializer[Any]):
    """E-mail and password."""

    grant_type = serializers.CharField(required=False, max_length=100)
    username = serializers.CharField(max_length=254)
    password = serializers.CharField(max_length=1000, trim_whitespace=False)
    scope = serializers.CharField(required=False, allow_blank=True, max_length=1000)


class RefreshForm(serializers.Serializer[Any]):
    """A refresh token."""

    refresh_token = serializers.CharField(max_length=1000)


JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
"""The grant of OpenLineage's `jwt` provider: an API key for an access token."""


class ClientForm(serializers.Serializer[Any]):
    """OAuth2 client credentials; id and secret may come as HTTP Basic instead. Or `apikey` for a bearer token."""

    grant_type = serializers.CharField(max_length=100)
    client_id = serializers.CharField(required=False, max_length=300)
    client_secret = serializers.CharField(required=False, max_length=1000)
    apikey = serializers.CharField(required=False, max_length=1000)
    response_type = serializers.CharField(required=False, allow_blank=True, max_length=100)
    scope = serializers.CharField(required=False, allow_blank=True, max_length=1000)


class AccessAnswer(serializers.Serializer[Any]):
    """An access token."""

    access_token = serializers.CharField()
    token_type = serializers.ChoiceField(choices=["bearer"])
    expires_in = serializers.IntegerField()


class TokensAnswer(AccessAnswer):
    """An access token and the refresh token that renews it."""

    refresh_token = serializers.CharField()


class OpenView(StrictParameters):
    """No log-in needed; takes forms and JSON."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    parser_classes = (FormParser, MultiPartParser, JSONParser)

    def read(self, request: Request, form: type[serializers.Serializer[Any]]) -> dict[str, Any]:
        serializer = form(data=request.data)
        serializer.is_valid(raise_exception=True)
        values: dict[str, Any] = serializer.validated_data
        for name, value in values.items():
            if isinstance(value, str) and not storable(value):
                detail = "Use plain text."
                raise Invalid(detail=detail, errors=[{"field": name, "code": "invalid", "detail": detail}])
        return values


class LoginView(OpenView):
    """`POST /login`: e-mail and password for a pair of tokens."""

    @extend_schema(
        operation_id="login", request={"application/x-www-form-urlencoded": LoginForm}, responses=TokensAnswer
    )
    def post(self, request: Request) -> Response:
        values = self.read(request, LoginForm)
        if values.get("grant_type", "password") != "password":
            raise _unsupported("password")
        user = signin.sign_in(values["username"], values["password"], address=client_address(request))
        return _answer(tokens.issue(user))


class RefreshView(OpenView):
    """`POST /login/refresh`: a new pair of tokens; the old refresh token is used up."""

    @extend_schema(operation_id="login_refresh", request=RefreshForm, responses=TokensAnswer)
    def post(self, request: Request) -> Response:
        return _answer(tokens.refresh(self.read(request, RefreshForm)["refresh_token"]))


class LogoutView(OpenView):
    """`POST /login/logout`: ends the log-in that the refresh token belongs to."""

    @extend_schema(operation_id="logout", request=RefreshForm, responses={204: None})
    def post(self, request: Request) -> Response:
        tokens.revoke_family(self.read(request, RefreshForm)["refresh_token"])
        return Response(status=204)


class LogoutAllView(StrictParameters):
    """`POST /login/logout-all`: ends every log-in of the caller, access tokens included."""

    rights = {"post": None}

    @extend_schema(operation_id="logout_all", request=None, responses={204: None})
    def post(self, request: Request) -> Response:
        if isinstance(request.user, User):
            refuse_keys(request.user)
            tokens.revoke_all(request.user)
        return Response(status=204)


class TokenView(OpenView):
    """`POST /login/token`: an access token for an API key, by OAuth2 client credentials or the grant jwt-bearer."""

    @extend_schema(
        operation_id="login_token",
        request={"application/x-www-form-urlencoded": ClientForm},
        responses=AccessAnswer,
    )
    def post(self, request: Request) -> Response:
        values = self.read(request, ClientForm)
        if values["grant_type"] == JWT_BEARER:
            secret = values.get("apikey", "")
            client_id = keys.public_id_of(secret) or ""
        elif values["grant_type"] == "client_credentials":
            client_id, secret = _basic(request) or (
                values.get("client_id", ""),
                values.get("client_secret", ""),
            )
        else:
            raise _unsupported("client_credentials")
        throttle = signin.throttle_key(f"client:{client_id}", client_address(request))
        signin.refuse_if_locked(throttle)
        key = keys.find_key(secret)
        if key is None or client_id not in {key.public_id, str(key.pk)}:
            signin.count_failure(throttle)
            raise DomainError(
                "INVALID_CREDENTIALS",
                "The client's id or secret is wrong.",
                status=401,
                extra={"error": "invalid_client"},
            )
        keys.seen(key)
        return _answer(tokens.issue_for_key(key))


def _answer(pair: tokens.Tokens) -> Response:
    response = Response(pair.as_dict())
    response["Cache-Control"] = "no-store"
    response["Pragma"] = "no-cache"
    return response


def _unsupported(wanted: str) -> Invalid:
    detail = f"Only {wanted} is spoken here."
    return Invalid(
        detail=detail,
        errors=[{"field": "grant_type", "code": "unsupported", "detail": detail}],
        extra={"error": "unsupported_grant_type"},
    )


def _basic(request: Request) -> tuple[str, str] | None:
    kind, _, encoded = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if kind.lower() != "basic":
        return None
    try:
        client_id, _, secret = base64.b64decode(encoded, validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    return unquote_plus(client_id), unquote_plus(secret)
