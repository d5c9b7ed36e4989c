"""Questions about types and changes that store nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aide_sdk.calls import Call, Repeat
from aide_sdk.models import Cast, ParsedType, Verdict
from aide_sdk.models.base import items_of, one
from aide_sdk.operations import Mode, Resource, operation
from aide_sdk.resources.crud import Many


class Types(Resource[Mode]):
    """`/types/parse`"""

    path = "/types"

    @operation("POST", "/parse", repeat=Repeat.SAFE)
    def parse(self, flavor: str, native_type: str) -> Call[ParsedType]:
        """A native type as the registry understands it; `data_type` None when it does not."""
        return Call(one(ParsedType), json={"flavor": flavor, "native_type": native_type})


class Compatibility(Resource[Mode]):
    """`/compatibility`"""

    path = "/compatibility"

    @operation("POST", repeat=Repeat.SAFE)
    def check(
        self, *, flavor: str, level: str, before: Mapping[str, Any] | None, after: Mapping[str, Any]
    ) -> Call[Verdict]:
        """Whether `after` keeps what `level` promises (`BACKWARD`, `FULL_TRANSITIVE`, …), and why not."""
        body = {"flavor": flavor, "level": level, "before": before, "after": after}
        return Call(one(Verdict), json=body)


class Casts(Resource[Mode]):
    """`/casts`"""

    path = "/casts"

    @operation("POST", repeat=Repeat.SAFE)
    def plan(self, *, from_flavor: str, to_flavor: str, types: Iterable[str]) -> Call[Many[Cast]]:
        """Each type in the other flavor, in the same order."""
        body = {"from_flavor": from_flavor, "to_flavor": to_flavor, "types": [*types]}
        return Call(items_of(Cast), json=body)
