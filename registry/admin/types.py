"""The type catalogue: the list, the form, and a live preview of what a template writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render as render_page
from django.urls import path
from django.utils.html import format_html

from aide.audit.recording_admin import RecordedAdmin
from aide.core.forms import PrettyJSONField, VersionedForm, WordsField
from aide.core.html import DASH, count_in_words
from registry import typesystem
from registry.catalogues import typedef_of
from registry.models import DataType


def children_for(typedef: typesystem.TypeDef) -> dict[str, typesystem.TypeExpr]:
    """A stand-in for each slot, so that a nested type's template can be shown."""
    return {slot.name: typesystem.TypeExpr(None, native="…", rendered=slot.name) for slot in typedef.slots}


def written(typedef: typesystem.TypeDef, params: Mapping[str, Any]) -> str:
    """What the type writes for these parameters; raises TypeSystemError."""
    catalogue = typesystem.Catalogue(typedef.flavor, (typedef,))
    return typesystem.render(catalogue, typedef.code, params, children_for(typedef))


def run_examples(typedef: typesystem.TypeDef) -> list[dict[str, Any]]:
    """Each example with what the template really writes."""
    results = []
    for example in typedef.examples:
        try:
            sql, error = written(typedef, example.params), ""
        except typesystem.TypeSystemError as fault:
            sql, error = "", str(fault)
        passes = not error and (sql == example.sql or bool(typedef.slots))
        results.append(
            {"params": example.params, "expected": example.sql, "sql": sql, "error": error, "ok": passes}
        )
    return results


class DataTypeForm(VersionedForm):
    aliases = WordsField(help_text="Other spellings of the same type, separated by commas.")
    slots = PrettyJSONField(empty=list, help_text="Places for child types, such as an array's element.")
    params_schema = PrettyJSONField(label="Parameters", help_text="JSON Schema 2020-12 of what it takes.")
    examples = PrettyJSONField(
        empty=list, help_text='A list of {"params": …, "sql": …}; they must pass to be saved.'
    )

    class Meta:
        model = DataType
        fields = (
            "flavor", "code", "name", "category", "logical_type", "aliases", "params_schema",
            "render_template", "slots", "examples", "note",
        )  # fmt: skip

        labels = {"flavor": "Flavor", "render_template": "Template"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "slots" in self.fields:
            self.fields["slots"].widget.attrs["rows"] = 2
        if "render_template" in self.fields:
            self.fields["render_template"].widget.attrs |= {"class": "code", "rows": 4, "spellcheck": "false"}

    def clean_params_schema(self) -> Any:
        schema = self.cleaned_data["params_schema"]
        faults = typesystem.check_schema(schema)
        if faults:
            raise ValidationError([f"{fault.path}: {fault.message}".lstrip(": ") for fault in faults[:3]])
        return schema

    def clean_render_template(self) -> str:
        text = str(self.cleaned_data["render_template"] or "")
        if text:
            try:
                typesystem.check_template(text)
            except typesystem.TypeSystemError as fault:
                raise ValidationError(str(fault)) from None
        return text

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if self.errors or not cleaned.get("flavor"):
            return cleaned
        try:
            typedef = typesystem.TypeDef(
                flavor=cleaned["flavor"].code,
                code=cleaned["code"],
                name=cleaned["name"],
                slots=tuple(typesystem.Slot.read(slot) for slot in cleaned["slots"]),
                params_schema=cleaned["params_schema"],
                render_template=cleaned["render_template"] or None,
                examples=tuple(typesystem.Example.read(example) for example in cleaned["examples"]),
            )
        except (TypeError, KeyError, AttributeError):
            self.add_error("examples", "An example needs params (an object) and sql (the expected text).")
            return cleaned
        for result in run_examples(typedef):
            if not result["ok"]:
                got = result["error"] or f"it writes {result['sql']}"
                self.add_error("examples", f"{result['params']} should give {result['expected']}, but {got}.")
        return cleaned


@admin.register(DataType)
class DataTypeAdmin(RecordedAdmin):
    lead = "How each flavor's types are read, checked and written."
    how = (
        "A type has a name, other spellings, the parameters it takes and a template that writes it as SQL.\n\n"
        "The examples are checked when you save: what the template writes must be what they say."
    )
    form = DataTypeForm
    change_form_template = "admin/registry/datatype/change_form.html"
    list_display = ("title", "code", "flavor", "category", "logical_type", "takes", "examples_count")
    list_display_links = ("title",)
    list_select_related = ("flavor",)
    list_filter = ("flavor",)
    search_fields = ("code", "name", "category", "logical_type")
    ordering = ("flavor__code", "name")
    fieldsets = (
        ("Type", {"fields": ("flavor", "code", "name", "category", "logical_type", "aliases")}),
        ("Parameters and SQL", {"fields": ("params_schema", "render_template", "slots", "examples")}),
        ("More", {"fields": ("note",), "classes": ("collapse",)}),
    )

    @admin.display(description="type", ordering="name")
    def title(self, data_type: DataType) -> Any:
        return format_html('<span class="mono">{}</span>', data_type.name)

    @admin.display(description="parameters")
    def takes(self, data_type: DataType) -> str:
        properties = data_type.params_schema.get("properties", {}) if data_type.params_schema else {}
        return ", ".join(properties) or DASH

    @admin.display(description="examples")
    def examples_count(self, data_type: DataType) -> str:
        return str(len(data_type.examples) or DASH)

    def get_urls(self) -> list[Any]:
        preview = path(
            "<int:data_type_id>/preview/",
            self.admin_site.admin_view(self.preview),
            name="registry_datatype_preview",
        )
        return [preview, *super().get_urls()]

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        data_type = kwargs.get("obj")
        if data_type is not None:
            typedef = typedef_of(data_type, flavor=data_type.flavor.code)
            examples = run_examples(typedef)
            context |= {
                "preview": self._preview(typedef, typedef.examples[0].params if typedef.examples else {}),
                "preview_fields": preview_fields(typedef),
                "example_results": examples,
                "examples_passed": sum(result["ok"] for result in examples),
                "used_by": self._used_by(data_type),
            }
        return super().render_change_form(request, context, *args, **kwargs)

    def preview(self, request: HttpRequest, data_type_id: int) -> HttpResponse:
        """The fragment that shows what these parameters write, or what is wrong with them."""
        data_type = DataType.objects.select_related("flavor").filter(pk=data_type_id).first()
        if data_type is None or not self.has_view_permission(request, data_type):
            raise Http404
        typedef = typedef_of(data_type, flavor=data_type.flavor.code)
        found = self._preview(typedef, params_from(typedef, request.GET))
        context = {
            "preview": found,
            "at_fields": [(name, found["at"].get(name, "")) for name in typedef.takes],
        }
        return render_page(request, "admin/registry/datatype/preview.html", context)

    def _preview(self, typedef: typesystem.TypeDef, params: Mapping[str, Any]) -> dict[str, Any]:
        """What is written, else what is wrong: at which parameter, or with the whole."""
        try:
            return {"sql": written(typedef, params), "errors": [], "at": {}}
        except typesystem.ParamsInvalid as fault:
            at: dict[str, str] = {}
            errors = []
            for error in fault.errors:
                name = error.path.split(".")[0]
                if name in typedef.takes:
                    at.setdefault(name, error.message)
                else:
                    errors.append(f"{error.path}: {error.message}".lstrip(": "))
            return {"sql": "", "errors": errors, "at": at}
        except typesystem.TypeSystemError as fault:
            return {"sql": "", "errors": [str(fault)], "at": {}}

    def _used_by(self, data_type: DataType) -> str:
        rows: QuerySet[Any] = data_type.instances.all()
        used = rows.aggregate(n=Count("bindings__field", distinct=True))["n"]
        return count_in_words(used, "column") if used else "no column yet"

    def blockers(self, data_type: DataType) -> list[str]:
        return [f"Columns use it: {self._used_by(data_type)}"] if data_type.instances.exists() else []


def preview_fields(typedef: typesystem.TypeDef) -> list[dict[str, Any]]:
    """The small form's inputs, from the parameters' schema."""
    first = typedef.examples[0].params if typedef.examples else {}
    fields = []
    for name in typedef.takes:
        rule = typedef.params_schema["properties"].get(name) or {}
        kind = rule.get("type")
        value = first.get(name, "")
        fields.append(
            {
                "name": name,
                "kind": kind if isinstance(kind, str) else "string",
                "choices": [str(each) for each in rule.get("enum", [])],
                "value": ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value,
                "minimum": rule.get("minimum", ""),
                "maximum": rule.get("maximum", ""),
            }
        )
    return fields


def params_from(typedef: typesystem.TypeDef, values: Mapping[str, str]) -> dict[str, Any]:
    """The parameters of the preview form; what is left empty is not given."""
    params: dict[str, Any] = {}
    for name in typedef.takes:
        text = values.get(name, "").strip()[:500]
        if not text:
            continue
        kind = (typedef.params_schema["properties"].get(name) or {}).get("type")
        if kind == "integer":
            params[name] = int(text) if text.lstrip("-").isdecimal() else text
        elif kind == "boolean":
            params[name] = text in {"1", "true", "on", "yes"}
        elif kind == "array":
            params[name] = [part.strip() for part in text.split(",") if part.strip()]
        else:
            params[name] = text
    return params
