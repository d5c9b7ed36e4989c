"""Decisions on the wire: what a body may hold, and the answer of applying."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from aide.core.api.strict import StrictForm
from aide.core.problems import ApiValidationError
from crawling.models import RejectMode
from crawling.review import Rejection

MAX_CHANGES = 100_000


@extend_schema_field(
    {"oneOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "string", "enum": ["all", "safe"]}]}
)
class SelectionField(serializers.Field[Any, Any, Any, Any]):
    """Ids of changes, or the word "all" or "safe"."""

    default_error_messages = {"invalid": 'Use a list of ids, "all" or "safe".'}

    def to_internal_value(self, data: Any) -> Any:
        words = isinstance(data, str) and data in {"all", "safe"}
        ids = isinstance(data, list) and len(data) <= MAX_CHANGES and all(_is_id(each) for each in data)
        if not words and not ids:
            self.fail("invalid")
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class RejectionForm(StrictForm):
    """A no to one change: why, and for how long."""

    id = serializers.IntegerField(min_value=1, max_value=2**63 - 1)
    reason = serializers.CharField(max_length=5000, allow_blank=True, default="")
    mode = serializers.ChoiceField(choices=RejectMode.choices, default=RejectMode.MUTE)


class DecisionForm(StrictForm):
    """What is approved and what is rejected."""

    approve = SelectionField(required=False, default=list)
    reject = RejectionForm(many=True, required=False, default=list)
    comment = serializers.CharField(required=False, default="", allow_blank=True, max_length=5000)

    @classmethod
    def read(cls, data: Any) -> dict[str, Any]:
        """The keyword arguments of `review.decide`; a body that is no decision is a validation error."""
        form = cls(data=data)
        form.is_valid(raise_exception=True)
        values = form.validated_data
        ids = [each["id"] for each in values["reject"]]
        if len(ids) != len(set(ids)):
            raise ApiValidationError(
                [{"field": "reject", "code": "repeated", "detail": "A change is rejected twice."}]
            )
        rejected = [Rejection(each["id"], each["reason"], each["mode"]) for each in values["reject"]]
        return {"approve": values["approve"], "reject": rejected, "comment": values["comment"]}


class AppliedShape(serializers.Serializer[Any]):
    """A dataset that has changes in force now."""

    dataset_id = serializers.IntegerField(allow_null=True)
    version_num = serializers.IntegerField(allow_null=True)
    change_ids = serializers.ListField(child=serializers.IntegerField())


class WaitingShape(serializers.Serializer[Any]):
    """A change that needs something more."""

    change_id = serializers.IntegerField()
    needs = serializers.CharField()


class StaleShape(serializers.Serializer[Any]):
    """A change from which the registry has moved away."""

    change_id = serializers.IntegerField()


class RejectedShape(serializers.Serializer[Any]):
    """A change that was rejected."""

    change_id = serializers.IntegerField()
    reason = serializers.CharField()
    mode = serializers.ChoiceField(choices=RejectMode.choices)


class FailedShape(serializers.Serializer[Any]):
    """A change that could not be carried out, and why."""

    change_id = serializers.IntegerField()
    reason = serializers.CharField()


class OutcomeShape(serializers.Serializer[Any]):
    """What applying did."""

    applied = AppliedShape(many=True)
    waiting = WaitingShape(many=True)
    stale = StaleShape(many=True)
    rejected = RejectedShape(many=True)
    failed = FailedShape(many=True)


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**63
