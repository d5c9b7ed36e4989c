"""Proposing a change by hand: a dataset's document as text that people edit, and the page for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml
from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse

from aide.accounts.roles import Capability, can, why_not
from aide.core.errors import Invalid
from crawling import crawl
from crawling.admin.proposals import review_of
from registry import documents, reading
from registry.models import Dataset

MAX_TEXT = 2_000_000
MAX_DEPTH = 100
_TYPE_DETAILS = ("type_name", "type_schema", "type_kind", "parameters")
_PLACES = ("position", "native_position", "primary_key")
_EMPTY: tuple[Any, ...] = (None, "", {}, [], False)


class TextInvalid(ValueError):  # noqa: N818 (named like DocumentInvalid)
    """The text is no document; the message is a plain sentence."""


_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _check_events(text: str) -> None:
    """Refuse anchors, which could grow a short text without end, and nesting that no document has."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.events.AliasEvent):
            raise TextInvalid("Write values out in full; anchors and aliases are not read here.")
        if isinstance(event, yaml.events.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.events.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise TextInvalid("This is nested too deep.")


def as_text(document: Mapping[str, Any]) -> str:
    """The document as short YAML: no place, no name, nothing that has its usual value."""
    short = {
        "kind": document["kind"],
        "comment": document.get("comment"),
        "fields": [_short(each) for each in document["fields"]],
        "primary_key": document.get("primary_key"),
        "unique": document.get("unique"),
        "foreign_keys": document.get("foreign_keys"),
    }
    kept = {key: value for key, value in short.items() if value not in _EMPTY}
    return yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, width=100)


def _short(field: Mapping[str, Any]) -> dict[str, Any]:
    short = {
        key: value
        for key, value in field.items()
        if key not in (*_TYPE_DETAILS, *_PLACES, "nullable", "fields") and value not in _EMPTY
    }
    if field.get("nullable") is False:
        short["nullable"] = False
    if field.get("default") is not None:
        short["default"] = field["default"]
    if field.get("fields"):
        short["fields"] = [_short(each) for each in field["fields"]]
    return short


def read_text(text: str, *, present: Mapping[str, Any] | None) -> dict[str, Any]:
    """The document that a text in JSON or YAML says. Fields keep the details of a type that was not edited."""
    text = text.replace("\t", "  ")  # JSON is YAML, but for tabs between its parts
    try:
        _check_events(text)
        document = yaml.load(text, Loader=_Loader)  # noqa: S506 (a safe loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
        raise TextInvalid(f"This is neither JSON nor YAML{where}.") from None
    except TextInvalid:
        raise
    except ValueError:
        raise TextInvalid("This holds a value that cannot be read, such as an impossible date.") from None
    if not isinstance(document, dict) or not isinstance(document.get("fields"), list):
        raise TextInvalid("A document is a mapping with a list of fields.")
    known = {} if present is None else dict(documents.walk(present))
    if present is not None:
        document.setdefault("attributes", present.get("attributes") or {})
    document["fields"] = [_long(each, known, ()) for each in document["fields"]]
    return document


def _long(field: Any, known: Mapping[str, Mapping[str, Any]], above: tuple[str, ...]) -> Any:
    if not isinstance(field, dict) or not isinstance(field.get("name"), str) or len(above) > 40:
        return field
    names = (*above, field["name"])
    before = known.get(documents.field_path(names))
    filled = dict(field)
    if before is not None and before.get("native_type") == field.get("native_type"):
        filled = {key: before[key] for key in _TYPE_DETAILS if key in before} | filled
    if before is not None and "native_position" in before:
        filled.setdefault("native_position", before["native_position"])
    default = field.get("default")
    if isinstance(default, bool | int | float):  # as people write it; the document has the source's text
        filled["default"] = str(default).lower() if isinstance(default, bool) else str(default)
    if isinstance(field.get("fields"), list):
        filled["fields"] = [_long(each, known, names) for each in field["fields"]]
    return filled


class ProposeForm(forms.Form):
    """The next version as text, and why."""

    text = forms.CharField(
        label="The next version",
        max_length=MAX_TEXT,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 28, "class": "code", "spellcheck": "false"}),
        help_text="YAML or JSON. A field needs only name and native_type.",
    )
    comment = forms.CharField(
        label="Why", required=False, max_length=5000, widget=forms.Textarea(attrs={"rows": 2})
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)


def page(request: HttpRequest, dataset: Dataset) -> HttpResponse:
    """Edit the document of the version in force; what differs becomes a proposal that waits for a review."""
    if not can(request.user, Capability.PUBLISH, dataset.system):
        raise PermissionDenied(why_not(Capability.PUBLISH, dataset.system))
    schema = dataset.current_schema
    present = reading.document_of(schema) if schema is not None else None
    start = as_text(present) if present is not None else "fields:\n- name: id\n  native_type: bigint\n"
    form = ProposeForm(request.POST or None, initial={"text": start})
    here = reverse("admin:registry_dataset_change", args=[dataset.pk])
    if request.method == "POST" and form.is_valid():
        try:
            document = read_text(form.cleaned_data["text"], present=present)
            made = crawl.bring_document(
                dataset, document, by=request.user, comment=form.cleaned_data["comment"]
            )
        except TextInvalid as error:
            form.add_error("text", str(error))
        except Invalid as error:
            for each in error.errors:
                name = str(each.get("field", "")).removeprefix("document").lstrip(".")
                form.add_error("text", f"{name}: {each['detail']}" if name else str(each["detail"]))
        else:
            messages.success(request, "Proposed. Nothing changes until a steward approves it in a review.")
            return HttpResponseRedirect(review_of(made))
    context = {
        **admin.site.each_context(request),
        "title": f"Propose a change of {dataset.name}",
        "dataset": dataset,
        "schema": schema,
        "form": form,
        "page_url": here,
    }
    return render(request, "admin/registry/dataset/propose.html", context, status=422 if form.errors else 200)
