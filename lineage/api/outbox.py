"""The outbox over the API: what waits, what was delivered, what is dead, and sending it again."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts.roles import Capability
from aide.core.api.filters import choice, moment, number, text
from aide.core.api.pagination import CursorOrPageOfItems
from aide.core.api.shapes import Shape
from aide.core.api.strict import StrictForm
from aide.core.api.views import ReadMixin
from lineage import outbox
from lineage.models import OutboxMessage

C = Capability


class OutboxMessageShape(Shape):
    """A message that was promised to Kafka."""

    class Meta:
        model = OutboxMessage
        fields: tuple[str, ...] = (
            *("id", "kind", "topic", "key", "event_id", "status", "attempts", "next_try_at", "last_error"),
            *("sink", "partition", "offset", "created_at", "first_tried_at", "delivered_at"),
        )
        read_only_fields: tuple[str, ...] = fields


class WholeOutboxMessageShape(OutboxMessageShape):
    """The same with what it says."""

    class Meta(OutboxMessageShape.Meta):
        fields = (*OutboxMessageShape.Meta.fields, "payload")
        read_only_fields = fields


class ReplayForm(StrictForm):
    """Messages to send again."""

    ids = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**63 - 1),
        allow_empty=False,
        max_length=outbox.MAX_REPLAYED,
    )


class ReplayAnswer(serializers.Serializer[Any]):
    """Which were queued, and which were skipped since they wait anyway."""

    replayed = serializers.ListField(child=serializers.IntegerField())
    skipped = serializers.ListField(child=serializers.IntegerField())
    count = serializers.IntegerField()


class OutboxViewSet(ReadMixin):
    """Messages to Kafka, newest first."""

    queryset = OutboxMessage.objects.all()
    serializer_class = OutboxMessageShape
    pagination_class = CursorOrPageOfItems
    rights = {"replay": C.RETRY_OUTBOX}
    filters = {
        "id": number(),
        "kind": choice(list(OutboxMessage.Kind.values)),
        "status": choice(list(OutboxMessage.Status.values)),
        "topic": text(),
        "key": text(),
        "event_id": text(),
        "created_at": moment(),
        "delivered_at": moment(),
    }
    sorts = {"id": "pk", "created_at": "created_at"}
    default_sort = ("-pk",)

    def visible(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """A key that is limited to some systems sees nothing of the registry's changes."""
        codes = self.caller.system_codes_for(C.VIEW)
        return queryset if codes is None else queryset.exclude(kind=OutboxMessage.Kind.CATALOG)

    def get_serializer_class(self) -> Any:
        return WholeOutboxMessageShape if self.action == "retrieve" else OutboxMessageShape

    def get_queryset(self) -> QuerySet[Any]:
        found = super().get_queryset()
        return found if self.action == "retrieve" else found.defer("payload")

    @extend_schema(request=ReplayForm, responses=ReplayAnswer, filters=False)
    @action(detail=False, methods=["post"])
    def replay(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        form = ReplayForm(data=request.data)
        form.is_valid(raise_exception=True)
        return Response(outbox.replay(form.validated_data["ids"], by=self.caller))
