"""Users and API keys over the API."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts import keys, people, roles
from aide.accounts.api.audited import AuditedViewSet
from aide.accounts.api.shapes import (
    DEFAULT_LIFE,
    ApiKeyShape,
    NewApiKeyShape,
    OwnUserShape,
    UserShape,
)
from aide.accounts.models import ApiKey, User
from aide.core.api.filters import choice, flag, moment, number, ref, text
from aide.core.errors import Forbidden
from aide.core.problems import ApiValidationError

C = roles.Capability


class UserViewSet(AuditedViewSet):
    """People and programs; administrators see and change all, everyone sees and changes a little of `/users/me`."""

    queryset = User.objects.prefetch_related("groups", "systems")
    serializer_class = UserShape
    rights = {"read": C.MANAGE_USERS, "write": C.MANAGE_USERS, "me": None}
    filters = {
        "id": number(),
        "email": text(),
        "full_name": text(),
        "is_active": flag(),
        "user_type": choice(list(User.Type.values)),
        "groups": ref("groups__name"),
        "created_at": moment(),
    }
    sorts = {
        "id": "pk",
        "email": "email",
        "full_name": "full_name",
        "created_at": "created_at",
        "last_login": "last_login",
    }
    default_sort = ("email",)

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return super().filter_queryset(queryset).distinct()

    def snapshot(self, instance: User) -> dict[str, Any]:
        found: dict[str, Any] = super().snapshot(instance)
        found["groups"] = sorted(group.name for group in instance.groups.all())
        found["systems"] = sorted(system.code for system in instance.systems.all())
        return found

    def perform_save(self, serializer: Any) -> User:
        before = serializer.instance.password if serializer.instance else None
        serializer.save()
        # The prefetched groups are those from before.
        user = User.objects.prefetch_related("groups", "systems").get(pk=serializer.instance.pk)
        people.refuse_without_admin()
        if before is not None and (before != user.password or not user.is_active):
            people.end_sessions(user)
        return user

    def perform_delete(self, instance: User) -> None:
        people.deactivate(instance, by=self.caller)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def restore(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.answer(people.activate(self.get_object(), by=self.caller))

    @extend_schema(operation_id="users_me", responses=UserShape, filters=False)
    @action(detail=False, methods=["get"])
    def me(self, request: Request) -> Response:
        return self.answer(self._own(request))

    @extend_schema(operation_id="users_me_update", request=OwnUserShape, responses=UserShape)
    @me.mapping.patch
    def change_me(self, request: Request) -> Response:
        refuse_keys(self.caller)
        with transaction.atomic():
            user = self._own(request)
            form = OwnUserShape(user, data=request.data, partial=True)
            form.is_valid(raise_exception=True)
            user.row_version += 1
            before = user.password
            form.save()
            if user.password != before:
                people.end_sessions(user)
            self.recorded("update_own", user, after={"password_changed": user.password != before})
        return self.answer(user)

    def _own(self, request: Request) -> User:
        return User.objects.prefetch_related("groups", "systems").get(pk=self.caller.pk)


UserViewSet.rights["change_me"] = None


def refuse_keys(caller: Any) -> None:
    """What people do to their own account no key does for them, whatever its scopes."""
    if roles.key_of(caller) is not None:
        raise Forbidden("FORBIDDEN", "An API key may not do this to its owner's account.")


class RevokeForm(serializers.Serializer[Any]):
    """Why a key is revoked."""

    reason = serializers.CharField(required=False, allow_blank=True, max_length=500)


class ApiKeyViewSet(AuditedViewSet):
    """API keys: administrators manage all, engineers their own. The secret is shown once, in the answer to POST."""

    queryset = ApiKey.objects.select_related("user")
    takes_items = False  # each secret is shown once, in an answer of its own
    serializer_class = ApiKeyShape
    rights = {"read": (C.MANAGE_USERS, C.OWN_KEYS), "write": (C.MANAGE_USERS, C.OWN_KEYS)}
    filters = {
        "id": number(),
        "name": text(),
        "user_id": number("user_id"),
        "expires_at": moment(),
        "created_at": moment(),
        "last_used_at": moment(),
    }
    sorts = {"id": "pk", "name": "name", "created_at": "created_at", "expires_at": "expires_at"}
    default_sort = ("-created_at",)

    def get_queryset(self) -> QuerySet[Any]:
        rows = super().get_queryset()
        user = self.caller
        return rows if user.can(C.MANAGE_USERS) else rows.filter(user=user)

    @extend_schema(request=ApiKeyShape, responses={201: NewApiKeyShape})
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        form = ApiKeyShape(data=request.data, context=self.get_serializer_context())
        form.is_valid(raise_exception=True)
        values = form.validated_data
        owner = values.get("user", self.caller)
        self._refuse_other_owner(owner)
        key, secret = keys.make_key(
            user=owner,
            name=values["name"],
            scopes=values["scopes"],
            system_codes=values.get("system_codes", ()),
            expires_at=values.get("expires_at", timezone.now() + DEFAULT_LIFE),
            note=values.get("note", ""),
            by=self.caller,
        )
        key.secret = secret  # type: ignore[attr-defined]
        response = Response(NewApiKeyShape(key).data, status=status.HTTP_201_CREATED)
        response["Cache-Control"] = "no-store"
        return response

    def perform_save(self, serializer: Any) -> ApiKey:
        self._refuse_other_owner(serializer.validated_data.get("user", serializer.instance.user))
        return serializer.save()

    def check_changeable(self, instance: ApiKey) -> None:
        if instance.revoked_at is not None and self.action != "destroy":
            detail = "A revoked key does not change any more."
            raise ApiValidationError([{"field": "", "code": "revoked", "detail": detail}])

    def perform_delete(self, instance: ApiKey) -> None:
        keys.revoke_key(instance, by=self.caller)

    @extend_schema(request=RevokeForm, responses=ApiKeyShape)
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        form = RevokeForm(data=request.data)
        form.is_valid(raise_exception=True)
        reason = form.validated_data.get("reason", "")
        return self.answer(keys.revoke_key(self.get_object(), by=self.caller, reason=reason))

    def _refuse_other_owner(self, owner: User) -> None:
        if owner.pk != self.caller.pk and not self.caller.can(C.MANAGE_USERS):
            raise Forbidden("FORBIDDEN", "You may make API keys for yourself only.")
