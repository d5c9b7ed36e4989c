"""Proposals over the API: what waits, noting decisions, carrying them out."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Prefetch, QuerySet, prefetch_related_objects
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from aide.accounts.idempotency import once
from aide.accounts.roles import Capability
from aide.core.api.filters import choice, moment, number, ref, text
from aide.core.api.shapes import CodeField, IdField, JsonObject, Shape
from aide.core.api.views import ReadMixin, refuse_unless
from aide.core.problems import ApiValidationError
from crawling import crawl, review
from crawling.api.decisions import DecisionForm, OutcomeShape
from crawling.api.pairing import RIGHTS, PairingActions
from crawling.models import Change, Proposal, Verdict
from registry.models import Dataset, System

C = Capability
DRAFTED = {Verdict.APPROVE.value: "approved", Verdict.REJECT.value: "rejected"}
MOST_CHANGES = 20_000
"""So many changes a page of the list holds; with more, each proposal shows its first `FIRST_CHANGES`."""
FIRST_CHANGES = 20
_PERSON = {"type": ["string", "null"]}
DECISION_SCHEMA = {
    "type": "object",
    "properties": {
        "state": {"enum": ["open", "approved", "rejected", "waiting", "applied", "stale"]},
        "by": _PERSON,
        "at": {"type": ["string", "null"], "format": "date-time"},
        "reason": _PERSON,
        "second_by": _PERSON,
    },
}
PATH_SCHEMA = {
    "type": "object",
    "properties": {"dataset": {"type": "string"}, "field": {"type": ["string", "null"]}},
}


class ChangeShape(Shape):
    """One difference, and how it was decided."""

    path = serializers.SerializerMethodField()
    requires = serializers.SerializerMethodField()
    decision = serializers.SerializerMethodField()
    applied_version = serializers.IntegerField(
        source="applied_version.version_num", read_only=True, default=None, allow_null=True
    )

    class Meta:
        model = Change
        fields = (
            "id", "op", "path", "before", "after", "risk", "why", "rule", "evidence", "touches_pii", "requires",
            "decision", "applied_version",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(PATH_SCHEMA)
    def get_path(self, change: Change) -> dict[str, Any]:
        return {"dataset": change.dataset_name, "field": change.field_path or None}

    @extend_schema_field({"type": "array", "items": {"type": "integer"}})
    def get_requires(self, change: Change) -> list[int]:
        return sorted(need.pk for need in change.requires.all())

    @extend_schema_field(DECISION_SCHEMA)
    def get_decision(self, change: Change) -> dict[str, Any]:
        return decision_of(change)


def decision_of(change: Change) -> dict[str, Any]:
    """How a change stands; a note that is not carried out yet counts as approved or rejected."""
    given = list(change.decisions.all())
    draft = getattr(change, "draft", None)
    first = given[0] if given else None
    last = given[-1] if given else None
    second = given[1] if len(given) > 1 else None
    if draft is not None and change.state in Change.UNDECIDED:
        confirms = first is not None and draft.verdict == first.verdict
        return {
            "state": DRAFTED[draft.verdict],
            "by": _name(first.person if confirms and first else draft.person),
            "at": draft.updated_at,
            "reason": draft.reason or None,
            "second_by": draft.person.email if confirms else None,
        }
    if change.state == Change.State.REJECTED and last is not None:
        first, second = last, None
    return {
        "state": change.state,
        "by": _name(first.person) if first else None,
        "at": last.at if last else None,
        "reason": (first.reason or None) if first else None,
        "second_by": _name(second.person) if second else None,
    }


def _name(person: Any) -> str:
    return person.email if person is not None else "the plan"


class ProposalShape(Shape):
    """What one source says about one dataset."""

    system = serializers.CharField(source="system.code", read_only=True)
    dataset_id = serializers.IntegerField(read_only=True, allow_null=True)
    crawl_run_id = serializers.IntegerField(read_only=True, allow_null=True)
    superseded_by_id = serializers.IntegerField(read_only=True, allow_null=True)
    proposed_by = serializers.CharField(
        source="proposed_by.email", read_only=True, default=None, allow_null=True
    )
    base_version = serializers.IntegerField(
        source="base_version.version_num", read_only=True, default=None, allow_null=True
    )
    changes = ChangeShape(many=True, read_only=True)
    changes_total = serializers.SerializerMethodField(
        help_text="How many changes it has; a page of a list that would be huge shows the first of each alone."
    )

    class Meta:
        model = Proposal
        fields = (
            "id", "system", "dataset_id", "dataset_name", "origin", "crawl_run_id", "proposed_by", "base_version",
            "status", "superseded_by_id", "comment", "created_at", "updated_at", "changes_total",
            "changes",
        )  # fmt: skip
        read_only_fields = fields

    def get_changes_total(self, proposal: Proposal) -> int:
        counted: int | None = getattr(proposal, "counted_changes", None)
        return len(proposal.changes.all()) if counted is None else counted


def _changes() -> QuerySet[Change]:
    return (
        Change.objects.select_related("draft__person", "applied_version")
        .prefetch_related(Prefetch("requires", Change.objects.only("id")), "decisions__person")
        .order_by("place")
    )


def with_changes(rows: Any) -> Any:
    """Proposals with all that their shape shows, in a constant number of statements."""
    return _with_names(rows).prefetch_related(Prefetch("changes", _changes()))


def _with_names(rows: Any) -> Any:
    return rows.select_related("system", "base_version", "proposed_by")


def fill_page(page: list[Proposal]) -> None:
    """Give the proposals of a page their changes: all of them, or of very many the first ones of each."""
    counted = Change.objects.filter(proposal__in=[each.pk for each in page]).order_by()
    totals = dict(counted.values_list("proposal_id").annotate(many=Count("pk")))
    for each in page:
        each.counted_changes = totals.get(each.pk, 0)  # type: ignore[attr-defined]
    changes = _changes()
    if sum(totals.values()) > MOST_CHANGES:
        changes = changes.filter(place__lte=FIRST_CHANGES)
    prefetch_related_objects(page, Prefetch("changes", changes))


class NewProposalForm(serializers.Serializer[Any]):
    """A document that might become a dataset's next version."""

    dataset_id = IdField(
        source="dataset", queryset=Dataset.objects.select_related("system__flavor", "current_schema")
    )
    document = JsonObject(help_text="A field needs only name and native_type; absent keys take defaults.")
    comment = serializers.CharField(required=False, default="", allow_blank=True, max_length=5000)


class ImportForm(serializers.Serializer[Any]):
    """A file and the system whose datasets it draws."""

    system = CodeField(queryset=System.objects.select_related("flavor__kind"))
    document = JsonObject(help_text="The file's JSON as it is.")
    comment = serializers.CharField(required=False, default="", allow_blank=True, max_length=5000)
    remove_missing = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Also propose to remove the datasets that the file does not have.",
    )


class NoteAnswer(serializers.Serializer[Any]):
    """Something of a file that was not taken over."""

    object = serializers.CharField()
    reason = serializers.CharField()


class ImportAnswer(serializers.Serializer[Any]):
    """What came of a file."""

    items = ProposalShape(many=True)
    count = serializers.IntegerField()
    unchanged = serializers.ListField(child=serializers.CharField())
    skipped = NoteAnswer(many=True)


class ProposalViewSet(PairingActions, ReadMixin):
    """What waits for a decision, and what was decided."""

    queryset = Proposal.objects.all()
    serializer_class = ProposalShape
    system_path = "system__code"
    rights = {
        "read": C.VIEW,
        "create": C.PUBLISH,
        "bring": C.PUBLISH,
        "decide": C.DECIDE,
        "apply": C.DECIDE,
        **RIGHTS,
    }
    extra_parameters = {"bring": frozenset({"format"})}
    filters = {
        "id": number(),
        "system": ref("system__code"),
        "dataset_id": number("dataset_id"),
        "dataset_name": text(),
        "crawl_run_id": number("crawl_run_id"),
        "status": choice(list(Proposal.Status.values)),
        "origin": choice(list(Proposal.Origin.values)),
        "created_at": moment(),
        "updated_at": moment(),
    }
    sorts = {
        "id": "pk",
        "system": "system__code",
        "dataset_name": "dataset_name",
        "status": "status",
        "created_at": "created_at",
        "updated_at": "updated_at",
    }
    default_sort = ("-pk",)

    def get_queryset(self) -> Any:
        rows = super().get_queryset()
        return _with_names(rows) if self.action == "list" else with_changes(rows)

    def paginate_queryset(self, queryset: Any) -> Any:
        page = super().paginate_queryset(queryset)
        if page and self.action == "list":
            fill_page(page)
        return page

    @extend_schema(request=NewProposalForm, responses={201: ProposalShape})
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Propose a dataset's next version by hand; it waits for a review like a crawl's."""
        return once(request, lambda: self._create(request))

    def _create(self, request: Request) -> Response:
        form = NewProposalForm(data=request.data, context=self.get_serializer_context())
        form.is_valid(raise_exception=True)
        values = form.validated_data
        refuse_unless(request.user, C.PUBLISH, values["dataset"].system)
        made = crawl.bring_document(
            values["dataset"], values["document"], by=request.user, comment=values["comment"]
        )
        return self.answer(self.get_queryset().get(pk=made.pk), status=status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="proposals_import",
        request=ImportForm,
        responses={201: ImportAnswer},
        filters=False,
        parameters=[OpenApiParameter("format", enum=["chartdb"], default="chartdb")],
    )
    @action(detail=False, methods=["post"], url_path="import")
    def bring(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Propose that a system's datasets be as a file draws them."""
        if request.query_params.get("format", "chartdb") != "chartdb":
            raise ApiValidationError([{"field": "format", "code": "invalid", "detail": "Use chartdb."}])
        return once(request, lambda: self._bring(request))

    def _bring(self, request: Request) -> Response:
        form = ImportForm(data=request.data, context=self.get_serializer_context())
        form.is_valid(raise_exception=True)
        values = dict(form.validated_data)
        system = values.pop("system")
        refuse_unless(request.user, C.PUBLISH, system)
        brought = crawl.bring_chartdb(system, values.pop("document"), by=request.user, **values)
        made = [each.pk for each in brought.offered.proposals]
        rows = self.get_serializer(self.get_queryset().filter(pk__in=made).order_by("pk"), many=True).data
        answer = {
            "items": rows,
            "count": len(rows),
            "unchanged": brought.offered.unchanged,
            "skipped": [{"object": each.object, "reason": each.reason} for each in brought.notes],
        }
        return Response(answer, status=status.HTTP_201_CREATED if rows else status.HTTP_200_OK)

    @extend_schema(request=DecisionForm, responses=ProposalShape)
    @action(detail=True, methods=["post"])
    def decide(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Note decisions; nothing takes effect until they are applied."""
        return once(request, lambda: self._decide(request))

    def _decide(self, request: Request) -> Response:
        proposal = self.get_object()
        refuse_unless(request.user, C.DECIDE, proposal.system)
        review.decide([proposal], by=request.user, **DecisionForm.read(request.data))
        return self.answer(self.get_object())

    @extend_schema(request=None, responses=OutcomeShape)
    @action(detail=True, methods=["post"])
    def apply(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Carry out what was noted."""
        return once(request, lambda: self._apply(request))

    def _apply(self, request: Request) -> Response:
        proposal = self.get_object()
        refuse_unless(request.user, C.DECIDE, proposal.system)
        return Response(review.apply([proposal], by=request.user).to_dict())
