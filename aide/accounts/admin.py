"""People, programs and their API keys, as administrators see them."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import Group
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.html import format_html, format_html_join
from django.views.decorators.debug import sensitive_post_parameters

from aide.accounts import keys, people, roles
from aide.accounts.models import ApiKey, User
from aide.accounts.roles import Capability, can
from aide.audit.recording_admin import RecordedAdmin
from aide.core.admin import DeskAdmin
from aide.core.errors import DomainError
from aide.core.forms import VersionedForm
from aide.core.html import NOTHING, ago, chip

FOUR_EYES_WORDS = {
    "off": "No change needs a second person.",
    "breaking": "Breaking changes need a second person, who is not the one who decided first.",
    "all": "Every change needs a second person, who is not the one who decided first.",
}
ROLE_CHIPS = {"admin": "info", "approver": "ok", "steward": "plain"}
MOST_DAYS = 365


class UserForm(VersionedForm):
    """A person or program; an empty password leaves the present one."""

    new_password = forms.CharField(
        label="Password",
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="At least 8 characters. Leave it empty to keep the present one, or for a program that uses keys.",
    )

    class Meta:
        model = User
        fields = ("email", "full_name", "user_type", "is_active", "groups", "note")
        labels = {"user_type": "Kind", "is_active": "May sign in"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "groups" in self.fields:
            field = self.fields["groups"]
            field.queryset = Group.objects.filter(name__in=roles.GROUPS).order_by("pk")  # type: ignore[attr-defined]
            field.help_text = "Rights come from roles alone."
            field.label = "Roles"
        systems = User._meta.get_field("systems").related_model
        if "systems" in self.fields and systems is not None:
            alive = systems._default_manager.filter(deleted_at__isnull=True).order_by("code")
            self.fields["systems"].queryset = alive  # type: ignore[attr-defined]
            if self.instance.pk:
                self.initial["systems"] = list(self.instance.systems.all())

    systems = forms.ModelMultipleChoiceField(
        User.objects.none(),
        required=False,
        label="Steward of",
        widget=forms.CheckboxSelectMultiple,
        help_text="A steward may edit and decide in these systems only.",
    )

    def clean_new_password(self) -> str:
        password = str(self.cleaned_data["new_password"])
        if password:
            validate_password(password, self.instance)
        elif not self.instance.pk and self.data.get("user_type") != User.Type.TECHNICAL:
            raise ValidationError("A person needs a password to sign in.")
        return password


@admin.register(User)
class UserAdmin(RecordedAdmin):
    page_title = "Users & roles"
    lead = "Who may use AIDE, and what for."
    form = UserForm
    change_form_template = "admin/accounts/user/change_form.html"
    secret_fields = RecordedAdmin.secret_fields | {"new_password"}
    list_display = ("title", "type_word", "roles_held", "state", "last_seen")
    list_display_links = ("title",)
    list_filter = ("groups", "user_type", "is_active")
    search_fields = ("email", "full_name")
    fieldsets = (
        ("Account", {"fields": ("email", "full_name", "user_type", "is_active", "new_password")}),
        ("Rights", {"fields": ("groups", "systems")}),
        ("More", {"fields": ("note",), "classes": ("collapse",)}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).prefetch_related("groups")

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        # `systems` and `new_password` are the form's own, not columns of the table.
        names = [name for name in UserForm.Meta.fields if name not in self.get_readonly_fields(request, obj)]
        return super().get_form(request, obj, change=change, **{**kwargs, "fields": names})

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "groups":
            kwargs["widget"] = forms.CheckboxSelectMultiple
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    @admin.display(description="person", ordering="email")
    def title(self, user: User) -> Any:
        return format_html('{}<span class="sub">{}</span>', user.full_name or user.email, user.email)

    @admin.display(description="kind", ordering="user_type")
    def type_word(self, user: User) -> str:
        return user.get_user_type_display()

    @admin.display(description="roles")
    def roles_held(self, user: User) -> Any:
        held = [role for role in roles.GROUPS if role in user.role_names]
        chips = ((chip(ROLE_CHIPS.get(role, "plain"), role),) for role in held)
        return format_html_join(" ", "{}", chips) if held else chip("warn", "no role")

    @admin.display(description="state", ordering="is_active")
    def state(self, user: User) -> Any:
        return chip("ok", "active") if user.is_active else chip("bad", "inactive")

    @admin.display(description="last sign-in", ordering="last_login")
    def last_seen(self, user: User) -> Any:
        return ago(user.last_login)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @method_decorator(sensitive_post_parameters("new_password"))
    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return super().changeform_view(request, *args, **kwargs)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        password = form.cleaned_data.get("new_password")
        if password:
            obj.set_password(password)
        elif not change:
            obj.set_unusable_password()
        super().save_model(request, obj, form, change)
        if change and (password or not obj.is_active):
            people.end_sessions(obj)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        if "systems" in form.cleaned_data:
            form.instance.systems.set(form.cleaned_data["systems"])
        super().save_related(request, form, formsets, change)
        people.refuse_without_admin()

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        user = kwargs.get("obj")
        if user is not None:
            context |= {
                "rights": [words for capability, words in roles.WORDS.items() if can(user, capability)],
                "steward_of": list(user.systems.all()) if roles.STEWARD in user.role_names else [],
                "four_eyes": FOUR_EYES_WORDS[settings.AIDE_FOUR_EYES],
                "keys": list(user.api_keys.order_by("-pk")[:20]),
            }
        return super().render_change_form(request, context, *args, **kwargs)


class ApiKeyForm(forms.ModelForm):
    """A new key; its secret is made on saving and shown once."""

    scopes = forms.MultipleChoiceField(
        choices=[(scope, f"{words} ({scope})") for scope, words in roles.SCOPE_WORDS.items()],
        widget=forms.CheckboxSelectMultiple,
        help_text="A key can do no more than its owner, and no more than this.",
    )
    expires_on = forms.DateField(
        label="Expires on",
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="At most a year from now.",
    )
    system_codes = forms.MultipleChoiceField(
        label="Only for these systems",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None ticked means every system that the owner may use.",
    )

    class Meta:
        model = ApiKey
        fields = ("user", "name", "note")
        labels = {"user": "Owner"}
        help_texts = {"name": "What it is for, such as Airflow production."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
        today = timezone.localdate()
        self.fields["expires_on"].initial = today + dt.timedelta(days=90)
        systems = User._meta.get_field("systems").related_model
        if systems is not None and "system_codes" in self.fields:
            alive = systems._default_manager.filter(deleted_at__isnull=True).order_by("code")
            self.fields["system_codes"].choices = [(s.code, s.code) for s in alive]  # type: ignore[attr-defined]

    def clean_expires_on(self) -> dt.date:
        day: dt.date = self.cleaned_data["expires_on"]
        today = timezone.localdate()
        if day <= today:
            raise ValidationError("Choose a day after today.")
        if day > today + dt.timedelta(days=MOST_DAYS):
            raise ValidationError("A key lives for a year at most.")
        return day


@admin.register(ApiKey)
class ApiKeyAdmin(DeskAdmin):
    lead = (
        "What programs sign in with. A key's secret is shown once, when it is made; only its hash is stored."
    )
    how = (
        "Give a program its own account, and its key only the scopes it needs.\n\n"
        "Send it as a header: Authorization: Bearer aide_… Revoking takes effect at once."
    )
    form = ApiKeyForm  # type: ignore[assignment]
    change_form_template = "admin/accounts/apikey/change_form.html"
    list_display = ("title", "owner", "scopes_held", "state", "used", "expires")
    list_display_links = ("title",)
    search_fields = ("name", "user__email", "last_four")
    ordering = ("-pk",)
    empty_sentence = "No key yet. Pipelines and the crawler need one to send what they know."
    fieldsets = (
        ("Key", {"fields": ("user", "name", "expires_on", "note")}),
        ("What it may do", {"fields": ("scopes", "system_codes")}),
    )
    page_title = "API keys"

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        rows = super().get_queryset(request).select_related("user")
        return rows if can(request.user, Capability.MANAGE_USERS) else rows.filter(user_id=request.user.pk)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change=change, **{**kwargs, "fields": ("user", "name", "note")})

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "user":
            users = User.objects.filter(is_active=True)
            if not can(request.user, Capability.MANAGE_USERS):
                users = users.filter(pk__in=[request.user.pk])
            kwargs |= {"queryset": users.order_by("-user_type", "email"), "initial": request.user.pk}
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    @admin.display(description="key", ordering="name")
    def title(self, key: ApiKey) -> Any:
        return format_html('{}<span class="sub mono">…{}</span>', key.name, key.last_four)

    @admin.display(description="owner", ordering="user__email")
    def owner(self, key: ApiKey) -> str:
        return str(key.user)

    @admin.display(description="may")
    def scopes_held(self, key: ApiKey) -> str:
        return ", ".join(roles.SCOPE_WORDS.get(scope, scope) for scope in key.scopes)

    @admin.display(description="state")
    def state(self, key: ApiKey) -> Any:
        return state_chip(key)

    @admin.display(description="last used", ordering="last_used_at")
    def used(self, key: ApiKey) -> Any:
        return ago(key.last_used_at) if key.last_used_at else NOTHING

    @admin.display(description="expires", ordering="expires_at")
    def expires(self, key: ApiKey) -> Any:
        return ago(key.expires_at) if key.expires_at else "never"

    # A key is made, read and revoked; it is never edited or deleted.

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_urls(self) -> list[Any]:
        revoke = path(
            "<int:key_id>/revoke/", self.admin_site.admin_view(self.revoke), name="accounts_apikey_revoke"
        )
        return [revoke, *super().get_urls()]

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        values = form.cleaned_data
        if values["user"].pk != request.user.pk and not can(request.user, Capability.MANAGE_USERS):
            raise PermissionDenied("You may make keys of your own only.")
        at_end_of_day = dt.datetime.combine(values["expires_on"], dt.time(23, 59, 59))
        key, secret = keys.make_key(
            user=values["user"],
            name=values["name"],
            scopes=values["scopes"],
            system_codes=values["system_codes"],
            expires_at=timezone.make_aware(at_end_of_day),
            note=values["note"],
            by=request.user,  # type: ignore[arg-type]
        )
        obj.pk = key.pk
        request.made_key = (key, secret)  # type: ignore[attr-defined]

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """The key is complete already."""

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        key, secret = request.made_key  # type: ignore[attr-defined]
        context = {
            **self.admin_site.each_context(request),
            "title": f"Key {key.name}",
            "opts": self.opts,
            "key": key,
            "secret": secret,
            "server": request.build_absolute_uri("/").rstrip("/"),
        }
        response = render(request, "admin/accounts/apikey/made.html", context)
        response["Cache-Control"] = "no-store"
        return response

    def revoke(self, request: HttpRequest, key_id: int) -> HttpResponse:
        """Revoke with a reason; only by POST, and for one's own keys or by an administrator."""
        key = self.get_queryset(request).filter(pk=key_id).first()
        if key is None:
            raise Http404
        if request.method != "POST" or not can(request.user, Capability.OWN_KEYS):
            raise PermissionDenied("You may not revoke this key.")
        try:
            keys.revoke_key(key, by=request.user, reason=request.POST.get("reason", "").strip())  # type: ignore[arg-type]
        except DomainError as error:
            self.refuse(request, error)
        else:
            messages.success(request, f"The key {key.name} is revoked. It stopped working at this moment.")
        return HttpResponseRedirect(reverse("admin:accounts_apikey_change", args=[key_id]))

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        key = kwargs.get("obj")
        if key is not None:
            context |= {
                "key": key,
                "scope_words": [roles.SCOPE_WORDS.get(scope, scope) for scope in key.scopes],
                "state_chip": state_chip(key),
                "may_revoke": key.revoked_at is None and can(request.user, Capability.OWN_KEYS),
            }
        return super().render_change_form(request, context, *args, **kwargs)


def state_chip(key: ApiKey) -> Any:
    if key.revoked_at:
        return chip("bad", "revoked")
    if key.expires_at and key.expires_at <= timezone.now():
        return chip("plain", "expired")
    if key.expires_at and key.expires_at <= timezone.now() + dt.timedelta(days=14):
        return chip("warn", "expires soon")
    return chip("ok", "active")
