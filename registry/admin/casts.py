"""Cast rules: their list and form, the matrix of two flavors, and a dataset tried in another flavor."""

from __future__ import annotations

import csv
from typing import Any
from urllib.parse import quote

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from aide.audit.models import AuditEntry
from aide.audit.recording_admin import RecordedAdmin
from aide.core.forms import PrettyJSONField, VersionedForm
from aide.core.html import DASH, ago, chip
from registry.admin.cast_matrix import MARKS, Matrix, Row, examples_of
from registry.casting import check_rule, write_ddl
from registry.casts import plan_version
from registry.catalogues import typedef_of
from registry.models import CastRule, Dataset, DataType, SystemFlavor

SAFETY_CHIPS = {"lossless": "safe", "lossy": "risky", "unsafe": "breaking", "none": "plain"}
USUAL = ("postgresql", "hive")
MOST_DATASETS = 500
CHOSEN, RULED = SafeString(' class="chosen"'), SafeString(' <span class="by-rule">rule</span>')
_FORMULA = ("=", "+", "-", "@")


class CastRuleForm(VersionedForm):
    param_mapping = PrettyJSONField(
        label="Parameters", help_text='{"precision": "@precision", "scale": 2}: @ copies one of the source.'
    )

    class Meta:
        model = CastRule
        fields = ("source_data_type", "target_data_type", "safety", "param_mapping", "template", "note")
        labels = {"source_data_type": "From", "target_data_type": "To", "template": "Conversion"}
        help_texts = {"template": "SQL that converts a value, such as host({{ column }})."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "param_mapping" in self.fields:
            self.fields["param_mapping"].widget.attrs["rows"] = 4
        if "template" in self.fields:
            self.fields["template"].widget.attrs |= {"class": "code", "rows": 3, "spellcheck": "false"}
        ends = [name for name in ("source_data_type", "target_data_type") if name in self.fields]
        groups = types_by_flavor() if ends else []
        for name in ends:
            self.fields[name].choices = groups  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        source, target = cleaned.get("source_data_type"), cleaned.get("target_data_type")
        if source is None or target is None or "param_mapping" not in cleaned:
            return cleaned
        for key, sentence in check_rule(
            typedef_of(source, flavor=source.flavor.code),
            typedef_of(target, flavor=target.flavor.code),
            cleaned["param_mapping"],
            cleaned.get("template", ""),
        ):
            self.add_error(key, sentence)
        same = CastRule.objects.alive().filter(source_data_type=source, target_data_type=target)
        if same.exclude(pk=self.instance.pk).exists():
            self.add_error("target_data_type", "There is a rule between these two types already.")
        return cleaned


def types_by_flavor() -> list[Any]:
    """Every type as a choice, in groups of a flavor each."""
    rows = DataType.objects.alive().filter(flavor__deleted_at__isnull=True)
    groups: dict[str, list[tuple[int, str]]] = {}
    listed = rows.order_by("flavor__name", "name").values_list("flavor__name", "pk", "name")
    for flavor, pk, name in listed:
        groups.setdefault(flavor, []).append((pk, name))
    return [("", "Choose one"), *groups.items()]


class FromFilter(admin.RelatedFieldListFilter):
    """The technology that rules lead from."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = "from"


class ToFilter(admin.RelatedFieldListFilter):
    """The technology that rules lead to."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = "to"


@admin.register(CastRule)
class CastRuleAdmin(RecordedAdmin):
    lead = "What a type becomes in another technology, where that is not what would be derived."
    how = (
        "Most casts are derived from the values that two types can hold; the matrix shows them all.\n\n"
        "A rule goes before that. Its safety is the best it can claim: for each column the values decide."
    )
    empty_sentence = "No rule yet. The matrix shows what is derived without one."
    form = CastRuleForm
    change_list_template = "admin/registry/castrule/change_list.html"
    list_display = ("title", "goes_to", "safe", "parameters", "changed")
    list_display_links = ("title",)
    list_select_related = ("source_data_type__flavor", "target_data_type__flavor")
    list_filter = ("safety", ("source_data_type__flavor", FromFilter), ("target_data_type__flavor", ToFilter))
    search_fields = ("source_data_type__name", "target_data_type__name", "note")

    @admin.display(description="from", ordering="source_data_type__name")
    def title(self, rule: CastRule) -> Any:
        return _type_cell(rule.source_data_type)

    @admin.display(description="to", ordering="target_data_type__name")
    def goes_to(self, rule: CastRule) -> Any:
        return _type_cell(rule.target_data_type)

    @admin.display(description="safety", ordering="safety")
    def safe(self, rule: CastRule) -> Any:
        return chip(SAFETY_CHIPS[rule.safety], rule.get_safety_display())

    @admin.display(description="changed", ordering="updated_at")
    def changed(self, rule: CastRule) -> Any:
        return ago(rule.updated_at)

    @admin.display(description="parameters")
    def parameters(self, rule: CastRule) -> str:
        return ", ".join(f"{name}: {value}" for name, value in rule.param_mapping.items()) or DASH

    def get_urls(self) -> list[Any]:
        wrap = self.admin_site.admin_view
        own = [
            path("matrix/", wrap(self.matrix), name="registry_cast_matrix"),
            path("try/", wrap(self.try_dataset), name="registry_cast_try"),
        ]
        return [*own, *super().get_urls()]

    # The matrix.

    def matrix(self, request: HttpRequest) -> HttpResponse:
        """The page, its panel alone (`panel=1`), or the same rows as CSV (`format=csv`)."""
        self._see(request)
        flavors = _flavors()
        source, target = _chosen(request, "from", flavors, 0), _chosen(request, "to", flavors, 1)
        found = Matrix.of(source, target, missing="missing" in request.GET, used="used" in request.GET)
        if request.GET.get("format") == "csv":
            return _as_csv(found)
        panel = self._panel(request, found)
        if "panel" in request.GET:
            return render(request, "admin/registry/castrule/panel.html", {"panel": panel})
        names = {flavor.code: flavor.name for flavor in flavors}
        context = {
            **self._page(request, f"Casts from {names.get(source, source)} to {names.get(target, target)}"),
            "flavors": flavors,
            "matrix": found,
            "panel": panel,
            "marks": MARKS,
            "as_list": request.GET.get("view") == "list",
            "query": _query(request, "from", "to", "missing", "used", "view", source=source, target=target),
            "covered": len(found.considered) - len(found.without),
        }
        context["rows"] = [
            (row, "" if context["as_list"] else cells_html(row, context["query"])) for row in found.rows
        ]
        return render(request, "admin/registry/castrule/matrix.html", context)

    def _panel(self, request: HttpRequest, matrix: Matrix) -> dict[str, Any] | None:
        row = matrix.row(request.GET.get("source", ""))
        if row is None:
            return None
        derived = row.cast.target.code if row.cast.target is not None else ""
        code = request.GET.get("target") or derived or ""
        cast = matrix.cast_to(row, code) if matrix.planner.target.get(code or None) else row.cast
        rule = matrix.rule(row.typedef.code, code or "")
        return {
            "row": row,
            "code": code,
            "target": matrix.planner.target.get(code or None),
            "cast": cast,
            "is_chosen": cast.target is not None and cast.target == row.cast.target,
            "chip": SAFETY_CHIPS[cast.safety],
            "rule": rule,
            "entry": _last_entry(rule) if rule else None,
            "examples": [(each, SAFETY_CHIPS[each.safety]) for each in examples_of(matrix, row, code or "")],
            "add_url": self._add_url(matrix, row, code) if self.has_add_permission(request) else "",
            "may_change": self.has_change_permission(request, rule),
        }

    def _add_url(self, matrix: Matrix, row: Row, code: str | None) -> str:
        rows = DataType.objects.alive()
        first = (
            rows.filter(flavor__code=matrix.source, code=row.typedef.code)
            .values_list("pk", flat=True)
            .first()
        )
        second = rows.filter(flavor__code=matrix.target, code=code or "").values_list("pk", flat=True).first()
        given = {"source_data_type": first, "target_data_type": second}
        query = urlencode({name: value for name, value in given.items() if value})
        return f"{reverse('admin:registry_castrule_add')}?{query}"

    # A dataset in another flavor.

    def try_dataset(self, request: HttpRequest) -> HttpResponse:
        """The current version of a dataset, planned for another flavor."""
        self._see(request)
        flavors = _flavors()
        target = _chosen(request, "to", flavors, 1)
        rows = Dataset.objects.alive().filter(current_schema__isnull=False)
        key = request.GET.get("dataset", "")
        dataset = (
            rows.select_related("system__flavor", "current_schema__dataset__system__flavor")
            .filter(pk=int(key))
            .first()
            if key.isascii() and key.isdecimal() and len(key) <= 18
            else None
        )
        plan = plan_version(dataset.current_schema, to=target) if dataset is not None else None  # type: ignore[arg-type]
        context = {
            **self._page(request, "Try a dataset in another technology"),
            "flavors": flavors,
            "target": target,
            "dataset": dataset,
            "datasets": rows.select_related("system").order_by("system__code", "name")[:MOST_DATASETS],
            "unknown": bool(key) and dataset is None,
            "fields": plan.fields if plan else (),
            "missing": len(plan.missing) if plan else 0,
            "lossy": sum(f.cast.safety in ("lossy", "unsafe") for f in plan.fields) if plan else 0,
            "ddl": write_ddl(plan) if plan else "",
        }
        return render(request, "admin/registry/castrule/try.html", context)

    def _see(self, request: HttpRequest) -> None:
        if not self.has_view_permission(request):
            raise PermissionDenied

    def _page(self, request: HttpRequest, title: str) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.opts, "title": title}


def cells_html(row: Row, query: str) -> Any:
    """The cells of a row: a matrix has thousands, too many for a template's loop."""
    address = f"?{query}&{urlencode({'source': row.typedef.code})}&target="
    return format_html_join(
        "",
        '<td{}><a class="cell {}" href="{}#cast-panel">{}{}</a></td>',
        (
            (
                CHOSEN if cell.is_chosen else "",
                cell.safety,
                address + quote(cell.code, safe=""),
                cell.safety,
                RULED if cell.has_rule else "",
            )
            for cell in row.cells
        ),
    )


def _type_cell(data_type: DataType) -> Any:
    return format_html(
        '<span class="mono">{}</span><span class="sub">{}</span>', data_type.name, data_type.flavor.name
    )


def _flavors() -> list[SystemFlavor]:
    """The flavors that have types."""
    rows = SystemFlavor.objects.alive().filter(data_types__deleted_at__isnull=True, data_types__isnull=False)
    return list(rows.distinct().order_by("name"))


def _chosen(request: HttpRequest, name: str, flavors: list[SystemFlavor], place: int) -> str:
    """The flavor that the address names; else the usual one, else any."""
    codes = [flavor.code for flavor in flavors]
    wanted = request.GET.get(name, "")
    if wanted in codes:
        return wanted
    return USUAL[place] if USUAL[place] in codes or not codes else codes[min(place, len(codes) - 1)]


def _query(request: HttpRequest, *names: str, source: str, target: str) -> str:
    kept = {name: request.GET[name] for name in names if name in request.GET}
    return urlencode({**kept, "from": source, "to": target})


def _last_entry(rule: CastRule) -> AuditEntry | None:
    rows = AuditEntry.objects.filter(object_type="cast_rule", object_id=str(rule.pk))
    return rows.order_by("-pk").first()


def _as_csv(matrix: Matrix) -> HttpResponse:
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="casts-{matrix.source}-{matrix.target}.csv"'
    out = csv.writer(response)
    columns = [typedef.name for typedef in matrix.columns]
    out.writerow(
        ["type", "example", "columns", "becomes", "safety", "why", "by rule", *map(_harmless, columns)]
    )
    for row in matrix.rows:
        becomes = row.cast.target.rendered if row.cast.target is not None else ""
        told = [row.typedef.name, row.sample.rendered, row.columns, becomes, row.cast.safety, row.cast.why]
        out.writerow(
            [*map(_harmless, told), "yes" if row.cast.rule else "", *(cell.safety for cell in row.cells)]
        )
    return response


def _harmless(value: Any) -> Any:
    """A value that spreadsheets do not take for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
