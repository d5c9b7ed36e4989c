"""Lists and forms of system kinds, flavors, credential references and systems."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from aide.accounts.models import User
from aide.accounts.roles import STEWARD
from aide.audit.recording_admin import RecordedAdmin
from aide.core.errors import Invalid
from aide.core.forms import LinesField, PrettyJSONField, VersionedForm, WordsField
from aide.core.html import NOTHING, chip, count_in_words
from registry import shapes
from registry.connections import checked_namespaces, checked_url, set_namespaces, without_secrets
from registry.models import CredentialRef, System, SystemFlavor, SystemKind


@admin.register(SystemKind)
class SystemKindAdmin(RecordedAdmin):
    lead = "The categories of platforms: databases, message queues, object stores, file transfer, warehouses."
    list_display = ("name", "code", "flavors_count")
    search_fields = ("code", "name")
    fields = ("code", "name", "note")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SystemKind]:
        alive = Count("flavors", filter=Q(flavors__deleted_at__isnull=True))
        return super().get_queryset(request).annotate(flavors_alive=alive)

    @admin.display(description="flavors", ordering="flavors_alive")
    def flavors_count(self, kind: Any) -> str:
        return f"{kind.flavors_alive:,}"

    def blockers(self, kind: SystemKind) -> list[str]:
        count = kind.flavors.filter(deleted_at__isnull=True).count()
        return [f"{count_in_words(count, 'flavor', 'flavors')} of this kind"] if count else []


class FlavorForm(VersionedForm):
    versions = WordsField(help_text="Versions in use or known, separated by commas.")
    sqlalchemy_dialects = WordsField(
        label="SQLAlchemy dialects", help_text="Connections of these dialects are accepted for its systems."
    )

    class Meta:
        model = SystemFlavor
        fields = ("kind", "code", "name", "vendor", "versions", "sqlalchemy_dialects", "note")


@admin.register(SystemFlavor)
class SystemFlavorAdmin(RecordedAdmin):
    page_title = "Flavors"
    noun = "flavor"
    lead = "Technologies (flavors) such as PostgreSQL or Kafka with Avro. Each has its own catalogue of data types."
    how = (
        "A system belongs to one flavor, and its columns are read with that flavor's data types.\n\n"
        "A flavor without types cannot be crawled: load the shipped lists with manage.py seed_data_types."
    )
    form = FlavorForm
    list_display = ("name", "code", "kind", "vendor", "types_count")
    list_select_related = ("kind",)
    list_filter = ("kind",)
    search_fields = ("code", "name", "vendor")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SystemFlavor]:
        alive = Count("data_types", filter=Q(data_types__deleted_at__isnull=True))
        return super().get_queryset(request).annotate(types_alive=alive)

    @admin.display(description="data types", ordering="types_alive")
    def types_count(self, flavor: Any) -> str:
        return f"{flavor.types_alive:,}" if flavor.types_alive else chip("warn", "no types yet")

    def blockers(self, flavor: SystemFlavor) -> list[str]:
        systems = flavor.systems.filter(deleted_at__isnull=True).count()
        types = flavor.data_types.filter(deleted_at__isnull=True).count()
        found = [(systems, "system", "systems"), (types, "data type", "data types")]
        return [f"{count_in_words(count, one, many)} of this flavor" for count, one, many in found if count]


@admin.register(CredentialRef)
class CredentialRefAdmin(RecordedAdmin):
    page_title = "Credential references"
    noun = "credential reference"
    lead = "Where passwords can be found. The password itself is never stored or shown here."
    how = (
        "Environment variable: the path is the variable's name in the server's environment.\n\n"
        "File: the path is a file below the folder that AIDE_CREDENTIAL_DIR names, nothing outside of it.\n\n"
        "Vault: mount/path/of/the/secret, with #key after it for a key that is not called password."
    )
    list_display = ("path", "provider", "version", "systems_count")
    list_filter = ("provider",)
    search_fields = ("path",)
    fields = ("provider", "path", "version", "note")

    def get_queryset(self, request: HttpRequest) -> QuerySet[CredentialRef]:
        alive = Count("systems", filter=Q(systems__deleted_at__isnull=True))
        return super().get_queryset(request).annotate(systems_alive=alive)

    @admin.display(description="used by")
    def systems_count(self, reference: Any) -> str:
        return count_in_words(reference.systems_alive, "system") if reference.systems_alive else NOTHING

    def blockers(self, reference: CredentialRef) -> list[str]:
        codes = reference.systems.filter(deleted_at__isnull=True).values_list("code", flat=True)
        return [f"The system {code} logs in with it" for code in codes[:10]]


class SystemForm(VersionedForm):
    tags = WordsField(help_text="Separated by commas.")
    extra = PrettyJSONField(help_text="Anything else worth keeping, as a JSON object.")
    namespaces = LinesField(
        label="OpenLineage namespaces",
        help_text="One a line, such as postgres://db1:5432: names under which pipelines report this system.",
    )

    class Meta:
        model = System
        fields = (
            "code", "name", "flavor", "connection_url", "credential_ref", "environment", "owner", "stewards",
            "tags", "is_active", "sample_values", "namespaces", "extra", "note",
        )  # fmt: skip
        labels = {
            "flavor": "Flavor",
            "connection_url": "Connection URL",
            "credential_ref": "Credential reference",
            "is_active": "Active: it may be crawled",
            "sample_values": "Look at some values for signs of personal data",
        }
        help_texts = {
            "code": "Short and lasting: a-z, 0-9, dot, underscore and hyphen.",
            "connection_url": "SQLAlchemy's form without a password, such as postgresql://reader@host:5432/name.",
            "sample_values": "The worker reads up to 200 rows of a table and keeps counts of shapes, never a value.",
            "credential_ref": "Where the password is found. Leave it empty for a database without one.",
        }
        widgets = {"connection_url": forms.TextInput(attrs={"class": "code", "spellcheck": "false"})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "namespaces" in self.fields and self.instance.pk:
            names = list(self.instance.namespace_rows.values_list("namespace", flat=True))
            self.initial["namespaces"] = names
        if "stewards" in self.fields:
            people = User.objects.filter(is_active=True, groups__name=STEWARD).order_by("email")
            self.fields["stewards"].queryset = people  # type: ignore[attr-defined]

    def clean_connection_url(self) -> str:
        text = str(self.cleaned_data["connection_url"]).strip()
        self._show_again(text)
        flavor = self.cleaned_data.get("flavor")
        if flavor is None or not {"connection_url", "flavor"} & set(self.changed_data):
            return text
        try:
            return checked_url(text, flavor=flavor)
        except Invalid as error:
            raise ValidationError(error.detail) from None

    def _show_again(self, text: str) -> None:
        """A form that comes back holds no password that someone wrote into the URL."""
        shown = without_secrets(text)
        if shown != text:
            data: Any = self.data.copy()  # type: ignore[attr-defined]
            data[self.add_prefix("connection_url")] = shown
            self.data = data

    def clean_namespaces(self) -> list[str]:
        try:
            return checked_namespaces(self.cleaned_data["namespaces"], system=self.instance)
        except Invalid as error:
            raise ValidationError(error.detail) from None


class SystemAdmin(RecordedAdmin):
    """The list and the form; `aide.desk` registers it with what crawls add."""

    lead = "The databases, brokers, buckets and servers that hold data, and where AIDE looks for it."
    form = SystemForm
    list_display: tuple[str, ...] = ("title", "flavor_name", "environment", "owner", "state")
    list_display_links = ("title",)
    list_select_related = ("flavor",)
    list_filter = ("flavor", "is_active")
    search_fields = ("code", "name", "owner")
    empty_sentence = "No system yet. Add the first one, then test its connection and crawl it."
    fieldsets = (
        ("System", {"fields": ("code", "name", "flavor", "environment", "is_active")}),
        (
            "Connection",
            {
                "fields": ("connection_url", "credential_ref", "sample_values"),
                "description": (
                    "AIDE reads names, types and comments of tables and columns. It reads no rows unless told to."
                ),
            },
        ),
        ("People", {"fields": ("owner", "stewards", "tags")}),
        ("More", {"fields": ("namespaces", "extra", "note"), "classes": ("collapse",)}),
    )

    @admin.display(description="system", ordering="code")
    def title(self, system: System) -> Any:
        return format_html('{}<span class="sub">{}</span>', system.name, system.code)

    @admin.display(description="flavor", ordering="flavor__name")
    def flavor_name(self, system: System) -> str:
        return system.flavor.name

    @admin.display(description="state", ordering="is_active")
    def state(self, system: System) -> Any:
        return chip("ok", "active") if system.is_active else chip("plain", "inactive")

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "stewards":
            kwargs["widget"] = forms.CheckboxSelectMultiple
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        names = form.cleaned_data.get("namespaces")
        if names is not None:
            set_namespaces(form.instance, names)
        if change and "sample_values" in form.changed_data and not form.instance.sample_values:
            shapes.forget(form.instance.pk)
        super().save_related(request, form, formsets, change)

    def system_code(self, obj: Any) -> str:
        return str(obj.code)

    def blockers(self, system: System) -> list[str]:
        count = system.datasets.filter(deleted_at__isnull=True).count()
        return [f"{count_in_words(count, 'dataset')} in this system"] if count else []
