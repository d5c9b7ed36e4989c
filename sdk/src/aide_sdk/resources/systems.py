"""Where data lives, and the types that live there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aide_sdk.calls import Call, Repeat, given
from aide_sdk.models import CastRule, CredentialRef, DataType, Rendered, System, SystemFlavor, SystemKind
from aide_sdk.models.base import one
from aide_sdk.operations import Mode, operation
from aide_sdk.resources.crud import Key, Restorable


class SystemKinds(Restorable[SystemKind, Mode]):
    """`/system-kinds`"""

    path = "/system-kinds"
    model = SystemKind


class SystemFlavors(Restorable[SystemFlavor, Mode]):
    """`/system-flavors`"""

    path = "/system-flavors"
    model = SystemFlavor


class DataTypes(Restorable[DataType, Mode]):
    """`/data-types`"""

    path = "/data-types"
    model = DataType

    @operation("POST", "/{key}/render", repeat=Repeat.SAFE)
    def render(
        self, key: int, params: Mapping[str, Any] | None = None, *, children: Mapping[str, Any] | None = None
    ) -> Call[Rendered]:
        """The type as SQL: `render(7, {"precision": 12, "scale": 2}).sql == "numeric(12,2)"`."""
        body = {"params": dict(params or {}), **given(children=children)}
        return Call(one(Rendered), at={"key": key}, json=body)


class CredentialRefs(Restorable[CredentialRef, Mode]):
    """`/credential-refs`: where passwords are found."""

    path = "/credential-refs"
    model = CredentialRef


class Systems(Restorable[System, Mode]):
    """`/systems`: by id or code."""

    path = "/systems"
    model = System


class CastRules(Restorable[CastRule, Mode]):
    """`/cast-rules`"""

    path = "/cast-rules"
    model = CastRule


__all__ = ["CastRules", "CredentialRefs", "DataTypes", "Key", "SystemFlavors", "SystemKinds", "Systems"]
