"""Personal data: the vocabulary, tags on fields, and the classifier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aide_sdk.calls import Call, Repeat, given, plain
from aide_sdk.models import Classified, FieldTag, PIITag, TagDecisions
from aide_sdk.models.base import items_of, one
from aide_sdk.operations import Mode, Resource, operation
from aide_sdk.resources.crud import Many, Removable, Restorable


class PIITags(Restorable[PIITag, Mode]):
    """`/pii-tags`: the vocabulary, by id or code."""

    path = "/pii-tags"
    model = PIITag


class FieldTags(Removable[FieldTag, Mode]):
    """`/field-tags`: `create` is a person's own tag; `delete` asks to remove a confirmed one, or confirms that."""

    path = "/field-tags"
    model = FieldTag

    @operation("POST", "/decide")
    def decide(
        self,
        *,
        accept: Iterable[int] = (),
        reject: Iterable[Mapping[str, Any]] = (),
        change: Iterable[Mapping[str, Any]] = (),
    ) -> Call[TagDecisions]:
        """Accept suggestions by id, reject others, or choose another tag for them.

        `reject=[{"id": 7, "reason": "a product's name"}]`, `change=[{"id": 8, "tag": "phone"}]`.
        """
        body: dict[str, Any] = {"accept": [*accept], "reject": [*reject]}
        if changed := [*change]:
            body["change"] = changed
        return Call(one(TagDecisions), json=body)

    @operation("POST", "/suggest")
    def suggest(self, *, system: str | None = None, dataset_id: int | None = None) -> Call[dict[str, Any]]:
        """Have the rules look at a system or a dataset again: `{"datasets": n}`."""
        return Call(plain, json=given(system=system, dataset_id=dataset_id))

    @operation("POST", "/undo")
    def undo(self, batch: str) -> Call[dict[str, Any]]:
        """No to every suggestion of a batch that still waits: `{"undone": n, "settled": m}`."""
        return Call(plain, json={"batch": batch})

    @operation("POST", "/{key}/keep")
    def keep(self, key: int) -> Call[FieldTag]:
        """Call off the removal that waits."""
        return Call(one(FieldTag), at={"key": key})

    @operation("POST", "/{key}/reopen")
    def reopen(self, key: int) -> Call[FieldTag]:
        """Take a rejection back: the suggestion waits again."""
        return Call(one(FieldTag), at={"key": key})


class PIIClassifier(Resource[Mode]):
    """`/pii/classify`"""

    path = "/pii"

    @operation("POST", "/classify", repeat=Repeat.SAFE)
    def classify(self, columns: Iterable[Mapping[str, Any]]) -> Call[Many[Classified]]:
        """What columns may hold, in their order: `[{"table", "column", "type", "comment"}]`, at most 10,000."""
        return Call(items_of(Classified), json={"columns": [*columns]})
