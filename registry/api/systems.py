"""System kinds, flavors, credential references and systems over the API."""

from __future__ import annotations

from typing import Any

from django.core.validators import RegexValidator
from django.db.models import QuerySet
from rest_framework import serializers

from aide.accounts.api.audited import RestorableViewSet
from aide.accounts.roles import Capability
from aide.core.api.filters import choice, flag, moment, number, ref, text
from aide.core.api.shapes import CodeField, IdField, JsonObject, Shape, TextList
from aide.core.api.views import refuse_unless
from aide.core.errors import FieldError, Invalid
from registry.connections import checked_url, set_namespaces
from registry.credentials import own_variable
from registry.models import CredentialRef, System, SystemFlavor, SystemKind

C = Capability
STAMPS = ("note", "created_at", "updated_at", "row_version")
STAMPS_READ_ONLY = ("created_at", "updated_at", "row_version")
STAMP_FILTERS = {"created_at": moment(), "updated_at": moment()}
STAMP_SORTS = {"id": "pk", "created_at": "created_at", "updated_at": "updated_at"}

check_code = RegexValidator(
    r"^[A-Za-z0-9._-]{1,64}\Z", "Use 1 to 64 letters, digits, dots, underscores and hyphens."
)


class SystemKindShape(Shape):
    """A category of platforms."""

    code = serializers.CharField(max_length=64, validators=[check_code])

    class Meta:
        model = SystemKind
        fields = ("id", "code", "name", *STAMPS)
        read_only_fields = STAMPS_READ_ONLY


class SystemKindViewSet(RestorableViewSet):
    """Categories of platforms, such as RDBMS."""

    queryset = SystemKind.objects.all()
    serializer_class = SystemKindShape
    lookup_code = "code"
    rights = {"write": C.EDIT_TYPES}
    filters = {"id": number(), "code": text(), "name": text(), **STAMP_FILTERS}
    sorts = {**STAMP_SORTS, "code": "code", "name": "name"}
    default_sort = ("code",)


class SystemFlavorShape(Shape):
    """A technology."""

    code = serializers.CharField(max_length=64, validators=[check_code])
    kind = CodeField(queryset=SystemKind.objects.all())
    versions = TextList(required=False)
    sqlalchemy_dialects = TextList(required=False)

    class Meta:
        model = SystemFlavor
        fields = ("id", "code", "name", "kind", "vendor", "versions", "sqlalchemy_dialects", *STAMPS)
        read_only_fields = STAMPS_READ_ONLY


class SystemFlavorViewSet(RestorableViewSet):
    """Technologies, such as PostgreSQL, with the dialects that reach them."""

    queryset = SystemFlavor.objects.select_related("kind")
    serializer_class = SystemFlavorShape
    lookup_code = "code"
    rights = {"write": C.EDIT_TYPES}
    filters = {
        "id": number(),
        "code": text(),
        "name": text(),
        "kind": ref("kind__code"),
        "vendor": text(),
        **STAMP_FILTERS,
    }
    sorts = {**STAMP_SORTS, "code": "code", "name": "name", "kind": "kind__code"}
    default_sort = ("code",)


class CredentialRefShape(Shape):
    """Where a password can be found; never the password."""

    class Meta:
        model = CredentialRef
        fields = ("id", "provider", "path", "version", *STAMPS)
        read_only_fields = STAMPS_READ_ONLY

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        provider = attrs.get("provider", getattr(self.instance, "provider", None))
        path = attrs.get("path", getattr(self.instance, "path", ""))
        reason = own_variable(path) if provider == CredentialRef.Provider.ENV else None
        if reason is not None and {"provider", "path"} & set(attrs):
            raise Invalid(detail=reason, errors=[FieldError("path", "reserved", reason)])
        return attrs


class CredentialRefViewSet(RestorableViewSet):
    """References to credentials that are kept elsewhere."""

    queryset = CredentialRef.objects.all()
    serializer_class = CredentialRefShape
    rights = {"write": C.MANAGE_SYSTEMS}
    filters = {
        "id": number(),
        "provider": choice(list(CredentialRef.Provider.values)),
        "path": text(),
        "version": number(),
        **STAMP_FILTERS,
    }
    sorts = {**STAMP_SORTS, "provider": "provider", "path": "path"}
    default_sort = ("provider", "path")


class SystemShape(Shape):
    """A platform that holds datasets."""

    flavor = CodeField(queryset=SystemFlavor.objects.select_related("kind"))
    credential_ref_id = IdField(
        source="credential_ref", queryset=CredentialRef.objects.all(), required=False, allow_null=True
    )
    tags = TextList(required=False)
    extra = JsonObject(required=False)
    namespaces = serializers.ListField(
        child=serializers.CharField(max_length=500), required=False, max_length=200
    )

    class Meta:
        model = System
        fields = (
            "id",
            "code",
            "name",
            "flavor",
            "connection_url",
            "credential_ref_id",
            "environment",
            "owner",
            "tags",
            "extra",
            "namespaces",
            "is_active",
            *STAMPS,
        )
        read_only_fields = STAMPS_READ_ONLY

    def to_representation(self, instance: System) -> dict[str, Any]:
        instance.namespaces = [row.namespace for row in instance.namespace_rows.all()]  # type: ignore[attr-defined]
        return super().to_representation(instance)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        old: Any = self.instance
        flavor = attrs.get("flavor") or old.flavor
        url = attrs.get("connection_url", old.connection_url if old else "")
        if "connection_url" in attrs or "flavor" in attrs:
            attrs["connection_url"] = checked_url(url, flavor=flavor)
        return attrs

    def create(self, validated_data: dict[str, Any]) -> System:
        names = validated_data.pop("namespaces", ())
        system = System.objects.create(**validated_data)
        set_namespaces(system, names)
        return system

    def update(self, instance: System, validated_data: dict[str, Any]) -> System:
        names = validated_data.pop("namespaces", None)
        system = super().update(instance, validated_data)
        if names is not None:
            set_namespaces(system, names)
        return system


class SystemViewSet(RestorableViewSet):
    """Platforms that hold datasets: databases, brokers, buckets, servers."""

    queryset = System.objects.select_related("flavor").prefetch_related("namespace_rows")
    serializer_class = SystemShape
    lookup_code = "code"
    system_path = "code"
    rights = {"write": C.MANAGE_SYSTEMS}
    filters = {
        "id": number(),
        "code": text(),
        "name": text(),
        "flavor": ref("flavor__code"),
        "kind": ref("flavor__kind__code"),
        "environment": text(),
        "owner": text(),
        "is_active": flag(),
        "namespace": text("namespace_rows__namespace"),
        "credential_ref_id": number("credential_ref_id"),
        **STAMP_FILTERS,
    }
    sorts = {
        **STAMP_SORTS,
        "code": "code",
        "name": "name",
        "flavor": "flavor__code",
        "environment": "environment",
        "owner": "owner",
    }
    default_sort = ("code",)

    def check_system(self, instance_or_values: Any) -> None:
        """A key that is limited to some systems makes no others."""
        system = instance_or_values
        if isinstance(system, dict):
            system = System(code=system["code"]) if "code" in system else None
        if system is not None:
            refuse_unless(self.caller, C.MANAGE_SYSTEMS, system)

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        found = super().filter_queryset(queryset)
        if any(name.startswith("namespace") for name in self.request.query_params):
            found = found.distinct()
        return found

    def answer_rows(self) -> QuerySet[System]:
        return self.queryset.all()

    def snapshot(self, instance: System) -> dict[str, Any]:
        found: dict[str, Any] = super().snapshot(instance)
        names = instance.namespace_rows.model._default_manager.filter(system=instance)
        found["namespaces"] = sorted(names.values_list("namespace", flat=True))
        return found
