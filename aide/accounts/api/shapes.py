"""The shapes of users and API keys on the wire."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.contrib.auth.models import Group
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from aide.accounts import roles
from aide.accounts.models import ApiKey, User
from aide.core.api.shapes import CodeField, IdField, Shape

DEFAULT_LIFE = dt.timedelta(days=90)
LONGEST_LIFE = dt.timedelta(days=365)


def system_rows() -> Any:
    """Systems, which a higher layer owns; the user's reverse relation leads there."""
    return User._meta.get_field("systems").related_model._default_manager.all()


@extend_schema_field(OpenApiTypes.STR)
class SystemCodes(CodeField):
    """Systems by code."""

    def __init__(self, **kwargs: Any) -> None:
        if not kwargs.get("read_only"):
            kwargs["queryset"] = User.objects.none()
        super().__init__(**kwargs)

    def get_queryset(self) -> Any:
        return system_rows().alive()


@extend_schema_field({"type": "string", "enum": list(roles.GROUPS)})
class GroupNames(serializers.SlugRelatedField):
    """Roles by name."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("slug_field", "name")
        super().__init__(**kwargs)

    def get_queryset(self) -> Any:
        return Group.objects.filter(name__in=roles.GROUPS)


class UserShape(Shape):
    """A person or a program; the password goes in and never comes out."""

    password = serializers.CharField(write_only=True, required=False, max_length=1000, trim_whitespace=False)
    groups = GroupNames(many=True, required=False, queryset=Group.objects.all())
    systems = SystemCodes(many=True, required=False)

    class Meta:
        model = User
        fields = (
            "id",
            "email",
            "full_name",
            "password",
            "is_active",
            "groups",
            "systems",
            "user_type",
            "note",
            "last_login",
            "created_at",
            "updated_at",
            "row_version",
        )
        read_only_fields = ("last_login", "created_at", "updated_at", "row_version")

    def validate_email(self, value: str) -> str:
        return value.strip()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        password = attrs.get("password")
        if password is not None:
            check_new_password(password, self.instance or User(email=attrs.get("email", "")))
        elif self.instance is None and attrs.get("user_type", User.Type.REGULAR) == User.Type.REGULAR:
            raise serializers.ValidationError({"password": ["A person needs a password."]})
        return attrs

    def create(self, validated_data: dict[str, Any]) -> User:
        groups, systems = validated_data.pop("groups", None), validated_data.pop("systems", None)
        user = User.objects.create_user(**validated_data)
        _relate(user, groups, systems)
        return user

    def update(self, instance: User, validated_data: dict[str, Any]) -> User:
        groups, systems = validated_data.pop("groups", None), validated_data.pop("systems", None)
        password = validated_data.pop("password", None)
        for name, value in validated_data.items():
            setattr(instance, name, value)
        if password is not None:
            instance.set_password(password)
        instance.save()
        _relate(instance, groups, systems)
        return instance


class OwnUserShape(Shape):
    """What people may change about themselves."""

    password = serializers.CharField(write_only=True, required=False, max_length=1000, trim_whitespace=False)
    current_password = serializers.CharField(
        write_only=True, required=False, max_length=1000, trim_whitespace=False
    )

    class Meta:
        model = User
        fields = ("full_name", "password", "current_password")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        user: User = self.instance  # type: ignore[assignment]
        if "password" in attrs:
            if not user.check_password(attrs.pop("current_password", "")):
                raise serializers.ValidationError(
                    {"current_password": ["The present password is needed to set a new one."]}
                )
            check_new_password(attrs["password"], user)
        attrs.pop("current_password", None)
        return attrs

    def update(self, instance: User, validated_data: dict[str, Any]) -> User:
        password = validated_data.pop("password", None)
        instance.full_name = validated_data.get("full_name", instance.full_name)
        if password is not None:
            instance.set_password(password)
        instance.save()
        return instance


def check_new_password(password: str, user: Any) -> None:
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise serializers.ValidationError({"password": error.messages}) from error


def _relate(user: User, groups: Any, systems: Any) -> None:
    if groups is not None:
        user.groups.set(groups)
    if systems is not None:
        user.systems.set(systems)


class ApiKeyShape(Shape):
    """An API key without its secret."""

    user_id = IdField(source="user", queryset=User.objects.all(), required=False)
    client_id = serializers.CharField(source="public_id", read_only=True)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=sorted(roles.SCOPES)), allow_empty=False, max_length=20
    )
    systems = serializers.ListField(
        source="system_codes", child=serializers.CharField(max_length=64), required=False, max_length=500
    )
    expires_at = serializers.DateTimeField(required=False, allow_null=True)

    class Meta:
        model = ApiKey
        fields = (
            "id",
            "name",
            "user_id",
            "client_id",
            "last_four",
            "scopes",
            "systems",
            "expires_at",
            "last_used_at",
            "revoked_at",
            "revoked_reason",
            "note",
            "created_at",
            "updated_at",
            "row_version",
        )
        read_only_fields = (
            "last_four",
            "last_used_at",
            "revoked_at",
            "revoked_reason",
            "created_at",
            "updated_at",
            "row_version",
        )

    def validate_systems(self, value: list[str]) -> list[str]:
        known = set(system_rows().alive().filter(code__in=value).values_list("code", flat=True))
        unknown = sorted(set(value) - known)
        if unknown:
            raise serializers.ValidationError(f"There is no system {unknown[0]}.")
        return sorted(set(value))

    def validate_expires_at(self, value: dt.datetime | None) -> dt.datetime:
        now = timezone.now()
        if value is None:
            return now + DEFAULT_LIFE
        if value <= now:
            raise serializers.ValidationError("This moment has passed.")
        if value > now + LONGEST_LIFE + dt.timedelta(minutes=5):
            raise serializers.ValidationError("A key lives at most 365 days.")
        return value


class NewApiKeyShape(ApiKeyShape):
    """The answer to making a key: the only one that holds the secret."""

    secret = serializers.CharField(read_only=True)

    class Meta(ApiKeyShape.Meta):
        fields = (*ApiKeyShape.Meta.fields, "secret")  # type: ignore[assignment]
