"""Personal data: the vocabulary, tags on fields, and the classifier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aide_sdk.calls import Call, Repeat
from aide_sdk.models import Classified, FieldTag, PIITag, TagDecisions
from aide_sdk.models.base import items_of, one
from aide_sdk.operations import Mode, Resource, operation
from aide_sdk.resources.crud import Many, Removable, Restorable


class PIITags(Restorable[PIITag, Mode]):
    """`/pii-tags`: the vocabulary, by id or code."""

    path = "/pii-tags"
    model = PIITag


class FieldTags(Removable[FieldTag, Mode]):
    """`/field-tags`: `create` is a person's own tag; `delete` removes a confirmed one."""

    path = "/field-tags"
    model = FieldTag

    @operation("POST", "/decide")
    def decide(
        self, *, accept: Iterable[int] = (), reject: Iterable[Mapping[str, Any]] = ()
    ) -> Call[TagDecisions]:
        """Accept suggestions by id, and reject others: `reject=[{"id": 7, "reason": "a product's name"}]`."""
        return Call(one(TagDecisions), json={"accept": [*accept], "reject": [*reject]})


class PIIClassifier(Resource[Mode]):
    """`/pii/classify`"""

    path = "/pii"

    @operation("POST", "/classify", repeat=Repeat.SAFE)
    def classify(self, columns: Iterable[Mapping[str, Any]]) -> Call[Many[Classified]]:
        """What columns may hold, in their order: `[{"table", "column", "type", "comment"}]`, at most 10,000."""
        return Call(items_of(Classified), json={"columns": [*columns]})
