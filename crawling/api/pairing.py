"""Splitting and pairing renames, and comments, over the API: actions of a proposal."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts.idempotency import once
from aide.accounts.roles import Capability
from aide.core.api.strict import StrictForm
from aide.core.api.views import refuse_unless
from aide.core.errors import NotFound
from crawling import pairing, review
from crawling.models import Comment

MOST = 2**63 - 1
RIGHTS = {"split": Capability.DECIDE, "pair": Capability.DECIDE, "comment": Capability.START_CRAWL}


class SplitForm(StrictForm):
    """A rename that is none."""

    change_id = serializers.IntegerField(min_value=1, max_value=MOST)


class PairForm(StrictForm):
    """A dropped and an added thing that are one, renamed."""

    drop_id = serializers.IntegerField(min_value=1, max_value=MOST)
    add_id = serializers.IntegerField(min_value=1, max_value=MOST)


class CommentForm(StrictForm):
    """What someone says about a change."""

    change_id = serializers.IntegerField(min_value=1, max_value=MOST)
    text = serializers.CharField(max_length=2000)


class CommentShape(serializers.ModelSerializer[Comment]):
    """What someone said about a change."""

    change_id = serializers.IntegerField(read_only=True)
    by = serializers.CharField(source="person.email", read_only=True)
    at = serializers.DateTimeField(source="created_at", read_only=True)

    class Meta:
        model = Comment
        fields = ("id", "change_id", "by", "at", "text")
        read_only_fields = fields


class PairingActions:
    """For the view set of proposals; the answer of splitting and pairing is the proposal as it is then."""

    @extend_schema(request=SplitForm)
    @action(detail=True, methods=["post"])
    def split(self: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A rename becomes one dropped and one added; notes on other changes stay."""
        return once(request, lambda: self._correct(request, SplitForm, pairing.split))

    @extend_schema(request=PairForm)
    @action(detail=True, methods=["post"])
    def pair(self: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A dropped and an added column or dataset become one renamed; notes on other changes stay."""
        return once(request, lambda: self._correct(request, PairForm, pairing.pair))

    def _correct(self: Any, request: Request, form_class: Any, rule: Any) -> Response:
        proposal = self.get_object()
        refuse_unless(request.user, Capability.DECIDE, proposal.system)
        form = form_class(data=request.data)
        form.is_valid(raise_exception=True)
        rule(proposal, by=request.user, **form.validated_data)
        answer: Response = self.answer(self.get_object())
        return answer

    @extend_schema(request=CommentForm, responses={201: CommentShape})
    @action(detail=True, methods=["post"])
    def comment(self: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Say something about one of its changes."""
        return once(request, lambda: self._comment(request))

    def _comment(self: Any, request: Request) -> Response:
        proposal = self.get_object()
        refuse_unless(request.user, Capability.START_CRAWL, proposal.system)
        form = CommentForm(data=request.data)
        form.is_valid(raise_exception=True)
        change = proposal.changes.filter(pk=form.validated_data["change_id"]).first()
        if change is None:
            raise NotFound("CHANGE_NOT_FOUND", f"There is no change {form.validated_data['change_id']} here.")
        said = review.comment(change, form.validated_data["text"], by=request.user)
        return Response(CommentShape(said).data, status=status.HTTP_201_CREATED)
