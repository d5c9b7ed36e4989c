"""The PII workbench: what waits for a decision, what was decided, how far each system is, and the file of columns."""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse, QueryDict
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.http import urlencode

from aide.accounts.roles import Capability, can, systems_limit, why_not
from aide.audit.entries import Entry, new_batch, record
from aide.core.admin import CappedPaginator, ReadOnlyAdmin
from aide.core.errors import Conflict, DomainError, Invalid
from aide.core.html import NOTHING, ago, chip, count_in_words, short_name
from aide.core.problems import problem_response
from aide.core.spreadsheets import harmless
from registry import suggesting, tagging, workbench
from registry.admin.tag_posts import REASONS, Decision, number, plain, read_decision
from registry.models import Dataset, FieldTag, PIITag, System

DECIDE = Capability.DECIDE
FILTERS = ("tab", "tag", "system", "min", "all", "open", "page")
TABS = ("accepted", "removals", "rejected", "coverage")
A_PAGE = 100
State = FieldTag.State
STATE_CHIPS = {State.SUGGESTED: "pii suggested", State.CONFIRMED: "pii"}


@admin.register(FieldTag)
class FieldTagAdmin(ReadOnlyAdmin):
    page_title = "Tags of personal data"
    noun = "tag"
    lead = "Every tag of every column, as it is and as it was. Deciding is done in the workbench."
    list_display = ("column", "tag_chip", "state", "origin", "confidence", "rule", "decided", "since")
    list_display_links = ("column",)
    list_filter = ("state", "origin", ("tag", admin.RelatedFieldListFilter))
    search_fields = ("field__path",)
    ordering = ("-pk",)
    fields = (
        "field", "tag", "state", "origin", "confidence", "rule", "rule_version", "evidence", "native_type",
        "returned", "reason", "decided_by", "decided_at", "second_by", "since", "until",
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[FieldTag]:
        rows = super().get_queryset(request).filter(field__dataset__deleted_at__isnull=True)
        return rows.select_related("field__dataset__system", "tag", "decided_by")

    @admin.display(description="column")
    def column(self, row: FieldTag) -> Any:
        return format_html(
            '<span class="mono">{}</span><span class="sub mono">{}</span>',
            short_name(row.field.path),
            short_name(row.field.dataset.name),
        )

    @admin.display(description="tag")
    def tag_chip(self, row: FieldTag) -> Any:
        return chip(STATE_CHIPS.get(State(row.state), "plain"), f"PII {row.tag.code}")

    @admin.display(description="decided")
    def decided(self, row: FieldTag) -> Any:
        return ago(row.decided_at) if row.decided_at else NOTHING

    def get_urls(self) -> list[Any]:
        wrap = self.admin_site.admin_view
        own = [
            path("workbench/", wrap(self.workbench), name="registry_pii_workbench"),
            path("workbench/decide/", wrap(self.decide), name="registry_pii_decide"),
            path("workbench/suggest/", wrap(self.suggest), name="registry_pii_suggest"),
            path("workbench/columns.csv", wrap(self.columns), name="registry_pii_columns"),
        ]
        return [*own, *super().get_urls()]

    # Looking.

    def workbench(self, request: HttpRequest) -> HttpResponse:
        """The page with its tabs; `rows` answers the rows of one group alone."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        chosen = {name: plain(request.GET.get(name)) for name in FILTERS}
        tab = chosen["tab"] if chosen["tab"] in TABS else ""
        if "rows" in request.GET:
            query = urlencode(
                {name: chosen[name] for name in ("tag", "system", "min", "all") if chosen[name]}
            )
            opened = self._opened(request, chosen, plain(request.GET["rows"]))
            return render(request, "admin/registry/pii/rows.html", {"query": query, **opened})
        views: dict[str, Callable[[HttpRequest, dict[str, str]], dict[str, Any]]] = {
            "": self._to_decide, "accepted": self._accepted, "removals": self._removals, "rejected": self._rejected,
            "coverage": self._coverage,
        }  # fmt: skip
        kept = {name: value for name, value in chosen.items() if value and name not in ("open", "page")}
        context = {
            **self.admin_site.each_context(request),
            "title": "PII suggestions",
            "chosen": chosen,
            "tab": tab,
            "tags": list(PIITag.objects.filter(deleted_at__isnull=True).order_by("code")),
            "systems": list(
                System.objects.filter(deleted_at__isnull=True).order_by("code").only("code", "name")
            ),
            "query": urlencode(kept),
            "tab_query": urlencode(
                {name: value for name, value in kept.items() if name in ("tag", "system", "all")}
            ),
            "may_decide": can(request.user, DECIDE),
            "is_limited": self._is_limited(request, chosen),
            "is_steward": systems_limit(request.user, DECIDE) is not None and can(request.user, DECIDE),
            "reasons": REASONS,
            "asked_to_go": self._own(request, workbench.narrowed(_asked()), chosen).count(),
            **views[tab](request, chosen),
        }
        return render(request, "admin/registry/pii/workbench.html", context)

    def _own(
        self, request: HttpRequest, rows: QuerySet[FieldTag], chosen: dict[str, str]
    ) -> QuerySet[FieldTag]:
        """Only what this person may decide, unless they look at all or only look."""
        if not self._is_limited(request, chosen):
            return rows
        return rows.filter(field__dataset__system__in=systems_limit(request.user, DECIDE) or ())

    def _is_limited(self, request: HttpRequest, chosen: dict[str, str]) -> bool:
        user = request.user
        return can(user, DECIDE) and systems_limit(user, DECIDE) is not None and not chosen["all"]

    def _waiting(self, request: HttpRequest, chosen: dict[str, str]) -> QuerySet[FieldTag]:
        rows = workbench.waiting(tag=chosen["tag"], system=chosen["system"], least=_fraction(chosen["min"]))
        return self._own(request, rows, chosen)

    def _to_decide(self, request: HttpRequest, chosen: dict[str, str]) -> dict[str, Any]:
        waiting = self._waiting(request, chosen)
        groups = workbench.groups(waiting)
        opened = chosen["open"] if any(group.key == chosen["open"] for group in groups) else ""
        return {
            "groups": groups,
            "batches": workbench.batches(waiting),
            "total": sum(group.count for group in groups),
            "ready": sum(group.ready for group in groups),
            "opened": opened,
            **(self._opened(request, chosen, opened) if opened else {}),
        }

    def _opened(self, request: HttpRequest, chosen: dict[str, str], key: str) -> dict[str, Any]:
        rows = workbench.in_group(self._waiting(request, chosen), key)
        start = number(request.GET.get("start", ""))
        shown = workbench.rows_of(rows, start=start, size=workbench.ROWS + 1)
        return {
            "rows": shown[: workbench.ROWS],
            "next_start": start + workbench.ROWS if len(shown) > workbench.ROWS else 0,
            "key": key,
            "may_decide": can(request.user, DECIDE),
            "deciding": _deciding(request.user),
            "back": request.GET.urlencode(),
        }

    def _accepted(self, request: HttpRequest, chosen: dict[str, str]) -> dict[str, Any]:
        return self._decided(request, chosen, FieldTag.objects.filter(state=State.CONFIRMED))

    def _removals(self, request: HttpRequest, chosen: dict[str, str]) -> dict[str, Any]:
        return self._decided(request, chosen, _asked())

    def _rejected(self, request: HttpRequest, chosen: dict[str, str]) -> dict[str, Any]:
        return self._decided(
            request, chosen, FieldTag.objects.filter(state__in=(State.REJECTED, State.REMOVED))
        )

    def _decided(
        self, request: HttpRequest, chosen: dict[str, str], rows: QuerySet[FieldTag]
    ) -> dict[str, Any]:
        rows = workbench.narrowed(rows, tag=chosen["tag"], system=chosen["system"])
        rows = self._own(request, rows, chosen).select_related(
            "field__dataset__system", "tag", "decided_by", "second_by", "removal_by"
        )
        paginator: Paginator[FieldTag] = CappedPaginator(rows.order_by("-decided_at", "-pk"), A_PAGE)
        page = paginator.get_page(chosen["page"] or 1)
        deciding = _deciding(request.user)
        lines = [
            {
                "row": row,
                "may": deciding is None or row.field.dataset.system_id in deciding,
                "why_not": tagging.why_not_second(row, by=request.user) if row.removal_by_id else "",
            }
            for row in page.object_list
        ]
        return {"page_obj": page, "lines": lines, "people": tagging.people_needed()}

    def _coverage(self, request: HttpRequest, chosen: dict[str, str]) -> dict[str, Any]:
        rows = System.objects.filter(deleted_at__isnull=True).order_by("code")
        if chosen["system"]:
            rows = rows.filter(code=chosen["system"])
        if self._is_limited(request, chosen):
            rows = rows.filter(pk__in=systems_limit(request.user, DECIDE) or ())
        return {"coverage": workbench.coverage(list(rows)), "deciding": _deciding(request.user)}

    # Deciding.

    def decide(self, request: HttpRequest) -> HttpResponse:
        """One decision, or one for a group; POST only. It takes effect at once."""
        if request.method != "POST":
            raise Http404
        asked = read_decision(request.POST)
        if asked is None:
            raise Http404
        try:
            with transaction.atomic():
                said = self._carry_out(request, asked)
        except DomainError as error:
            return self._refused(request, error)
        if said is None:
            return self._ask(request, asked)
        if _wants_json(request):
            return JsonResponse({"ok": True, **said})
        messages.success(request, said["words"])
        return HttpResponseRedirect(_back(request))

    def _carry_out(self, request: HttpRequest, asked: Decision) -> dict[str, Any] | None:
        """What was done, as it is told; None where a reason has to be asked first."""
        if asked.act == "group":
            return self._accept_group(request, asked)
        if asked.act == "undo":
            for system in tagging.systems_of(asked.key):
                _may_decide(request.user, system)
            undone = tagging.undo(asked.key, by=request.user)
            kept = f", {undone.settled} stay as they were decided before" if undone.settled else ""
            return {"words": f"Refused {count_in_words(undone.undone, 'suggestion')}{kept}."}
        row = self._one(request, asked.pk)
        name = f"{row.tag.code} on {row.field.path}"
        if asked.act == "accept":
            tagging.accept([row], by=request.user)
            return {"words": f"Accepted {name}.", "ids": [row.pk], "state": "accepted"}
        if asked.act == "reopen":
            tagging.reopen(row, by=request.user)
            return {"words": f"{name} waits again.", "ids": [row.pk], "state": "open"}
        if asked.act == "keep":
            tagging.keep(row, by=request.user)
            return {"words": f"{name} stays.", "ids": [row.pk], "state": "kept"}
        if asked.act == "confirm":
            tagging.remove(row, by=request.user)
            return {"words": f"Removed {name}.", "ids": [row.pk], "state": "removed"}
        if asked.needs_reason:
            return None
        if asked.act == "remove":
            after = tagging.remove(row, by=request.user, reason=asked.reason)
            waits = after.state == State.CONFIRMED
            words = f"Another person must confirm that {name} goes." if waits else f"Removed {name}."
            return {"words": words, "ids": [row.pk], "state": "waiting" if waits else "removed"}
        if asked.tag:
            other = PIITag.objects.filter(code=asked.tag, deleted_at__isnull=True).first()
            if other is None:
                raise Invalid(detail="Choose which tag is right.")
            tagging.change(row, other, by=request.user)
            words = f"{row.field.path} is {other.code}, not {row.tag.code}."
            return {"words": words, "ids": [row.pk], "state": "changed"}
        refused = tagging.reject(row, reason=asked.reason, by=request.user)
        return {"words": f"Rejected {name}.", "ids": [row.pk], "state": "rejected", "undo": refused.pk}

    def _accept_group(self, request: HttpRequest, asked: Decision) -> dict[str, Any]:
        kept = QueryDict(request.POST.get("back", "")[:500])
        chosen = {name: plain(kept.get(name)) for name in FILTERS}
        _may_decide(request.user)
        rows = workbench.in_group(self._waiting(request, {**chosen, "all": ""}), asked.key)
        count = rows.count()
        if asked.seen and asked.seen != count:
            raise Conflict(
                "STALE_CHANGE", f"{asked.seen} when you looked, {count} now. Look again, then accept."
            )
        taken = tagging.accept(
            list(workbench.ready(rows)), by=request.user, batch=new_batch(), reason=asked.reason
        )
        words = f"{len(taken)} accepted, {count - len(taken)} left for you"
        return {"words": words, "accepted": len(taken), "left": count - len(taken), "key": asked.key}

    def _one(self, request: HttpRequest, pk: int) -> FieldTag:
        rows = FieldTag.objects.select_related("field__dataset__system", "tag", "removal_by")
        row = rows.filter(pk=pk, field__dataset__deleted_at__isnull=True).first()
        if row is None:
            raise Http404
        _may_decide(request.user, row.field.dataset.system)
        return row

    def _ask(self, request: HttpRequest, asked: Decision) -> HttpResponse:
        row = self._one(request, asked.pk)
        if _wants_json(request):
            return problem_response(422, code="VALIDATION_ERROR", detail="Choose a reason.")
        context = {
            **self.admin_site.each_context(request),
            "title": "Remove a tag" if asked.act == "remove" else "Reject a suggestion",
            "asked": asked,
            "row": row,
            "reasons": REASONS,
            "tags": list(PIITag.objects.filter(deleted_at__isnull=True).order_by("code")),
            "back": request.POST.get("back", ""),
            "people": tagging.people_needed(),
        }
        return render(
            request, "admin/registry/pii/reason.html", context, status=200 if asked.is_first else 422
        )

    def _refused(self, request: HttpRequest, error: DomainError) -> HttpResponse:
        if _wants_json(request):
            return problem_response(error.status, code=error.code, detail=error.detail)
        if error.status == 403:
            raise PermissionDenied(error.detail)
        messages.error(request, error.detail)
        return HttpResponseRedirect(_back(request))

    # Looking again, and the file.

    def suggest(self, request: HttpRequest) -> HttpResponse:
        """Have the rules look at a system or a dataset again; POST only."""
        if request.method != "POST":
            raise Http404
        system = System.objects.filter(
            code=plain(request.POST.get("system")), deleted_at__isnull=True
        ).first()
        dataset = Dataset.objects.filter(pk=number(request.POST.get("dataset", "")), deleted_at__isnull=True)
        found = dataset.select_related("system").first()
        where = found.system if found is not None else system
        if where is None:
            raise Http404
        _may_decide(request.user, where)
        try:
            count = suggesting.suggest_for(by=request.user, system=None if found else system, dataset=found)
        except DomainError as error:
            return self._refused(request, error)
        messages.success(request, f"The rules look at {count_in_words(count, 'dataset')} again.")
        return HttpResponseRedirect(_back(request))

    def columns(self, request: HttpRequest) -> HttpResponse:
        """Every column that carries a tag, as CSV, such as for a request of access. Who took it is recorded."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        tag, system = plain(request.GET.get("tag")), plain(request.GET.get("system"))
        response = HttpResponse(content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = 'attachment; filename="columns-with-personal-data.csv"'
        writer = csv.writer(response)
        writer.writerow(workbench.HOLDING)
        count = 0
        for line in workbench.holding(tag=tag, system=system):
            writer.writerow([harmless(value) for value in line])
            count += 1
        said = {"tag": tag, "system": system, "columns": count}
        name = "columns with personal data"
        record(
            Entry("tag.export", "file", None, name, system_code=system, touches_pii=True, after=said),
            by=request.user,
        )
        return response


def _asked() -> QuerySet[FieldTag]:
    return FieldTag.objects.filter(state=State.CONFIRMED, removal_by__isnull=False)


def _deciding(user: Any) -> frozenset[int] | None:
    """The systems whose suggestions the person decides; None for all."""
    return systems_limit(user, DECIDE)


def _may_decide(user: Any, system: System | None = None) -> None:
    if not can(user, DECIDE, system):
        raise PermissionDenied(why_not(DECIDE, system))


def _fraction(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def _wants_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept", "").startswith("application/json")


def _back(request: HttpRequest) -> str:
    kept = QueryDict(request.POST.get("back", "")[:500])
    query = {name: kept[name] for name in FILTERS if kept.get(name)}
    url = reverse("admin:registry_pii_workbench")
    return f"{url}?{urlencode(query)}" if query else url
