"""Writing about one field where one reads it: a line of the dataset's table, and the tags of the column page."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from aide.accounts.roles import Capability, can, why_not
from aide.core.errors import Conflict
from aide.core.forms import WordsField
from aide.desk.bulk.forms import TagsField
from registry import curation, tagging
from registry.models import Field, FieldTag


class LineForm(forms.Form):
    """Description, tags and further kinds of personal data of one field, and the version that the person saw."""

    description = forms.CharField(required=False, max_length=10_000, widget=forms.Textarea(attrs={"rows": 2}))
    tags = WordsField(help_text="Separated by commas.", max_length=2000)
    add_tags = TagsField(label="Add personal-data tags")
    seen_version = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, field: Field, **kwargs: Any) -> None:
        initial = {"description": field.description, "tags": field.tags, "seen_version": field.row_version}
        super().__init__(data, initial=initial, label_suffix="", **kwargs)
        carried = FieldTag.objects.filter(field=field, until__isnull=True, state=FieldTag.State.CONFIRMED)
        held: Any = self.fields["add_tags"]
        held.queryset = held.queryset.exclude(pk__in=carried.values("tag"))


def urls(wrap: Any) -> list[Any]:
    """The routes, for the admin of fields."""
    return [
        path("<int:field_id>/line/", wrap(line), name="registry_field_line"),
        path("<int:field_id>/tag/", wrap(require_POST(tag)), name="registry_field_tag"),
    ]


def line(request: HttpRequest, field_id: int) -> HttpResponse:
    """The form of one line, and saving it; over what someone else saved meanwhile nothing is written."""
    field = _editable(request, field_id)
    form = LineForm(request.POST or None, field=field)
    if request.method == "POST" and form.is_valid():
        try:
            _save(field, form.cleaned_data, by=request.user)
        except Conflict as refused:
            return _page(request, field, _kept(request, field, refused), refused=refused, status=409)
        messages.success(request, f"Saved {field.path}.")
        return HttpResponseRedirect(_back(request, field))
    return _page(request, field, form, status=422 if form.errors else 200)


def tag(request: HttpRequest, field_id: int) -> HttpResponse:
    """Tag one column by hand with what was ticked."""
    field = _editable(request, field_id)
    form = LineForm(request.POST, field=field)
    form.is_valid()
    chosen = list(form.cleaned_data.get("add_tags") or ())
    with transaction.atomic():
        for each in chosen:
            tagging.confirm(field, each, by=request.user, reason=request.POST.get("reason", "")[:1000])
    if chosen:
        messages.success(request, f"Tagged {field.path} as {', '.join(each.code for each in chosen)}.")
    else:
        messages.error(request, "Nothing was tagged: tick at least one kind of personal data.")
    return HttpResponseRedirect(_back(request, field))


@transaction.atomic
def _save(field: Field, given: dict[str, Any], *, by: Any) -> None:
    values = {"description": given["description"].strip(), "tags": given["tags"]}
    curation.edit(field, values, by=by, row_version=given["seen_version"])
    for each in given["add_tags"]:
        tagging.confirm(field, each, by=by)


def _editable(request: HttpRequest, field_id: int) -> Field:
    rows = Field.objects.select_related("dataset__system").filter(dataset__deleted_at__isnull=True)
    field = rows.filter(pk=field_id).first()
    if field is None:
        raise Http404
    system = field.dataset.system
    if not can(request.user, Capability.EDIT_CURATED, system):
        reason = why_not(Capability.EDIT_CURATED, system)
        raise PermissionDenied(f"You can view this page but not change it. {reason}")
    return field


def _kept(request: HttpRequest, field: Field, refused: Conflict) -> LineForm:
    """What the person typed, ready to be saved over what is there now."""
    data = request.POST.copy()
    data["seen_version"] = str(refused.extra["current"]["row_version"])
    return LineForm(data, field=field)


def _page(
    request: HttpRequest, field: Field, form: LineForm, *, refused: Conflict | None = None, status: int
) -> HttpResponse:
    context = {
        **admin.site.each_context(request),
        "title": f"Describe {field.path}",
        "field": field,
        "form": form,
        "current": refused.extra["current"] if refused else None,
        "back": _back(request, field),
    }
    return render(request, "admin/registry/field/line.html", context, status=status)


def _back(request: HttpRequest, field: Field) -> str:
    wanted = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(wanted, allowed_hosts={request.get_host()}):
        return wanted
    return f"{reverse('admin:registry_dataset_change', args=[field.dataset_id])}?tab=fields#field-{field.pk}"


def line_of(request: HttpRequest, dataset: Any) -> dict[str, Any]:
    """What the dataset's table needs for the one line that the address asks to edit (`edit=<field>`)."""
    wanted = request.GET.get("edit", "")
    if (
        not wanted.isdecimal()
        or len(wanted) > 18
        or not can(request.user, Capability.EDIT_CURATED, dataset.system)
    ):
        return {}
    field = Field.objects.filter(pk=int(wanted), dataset=dataset).first()
    return {"edited": field.pk, "line_form": LineForm(field=field)} if field is not None else {}
