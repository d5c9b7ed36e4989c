"""What every list and form of the admin shares: rights by role and system, capped counts, soft deletion."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.db import models, transaction
from django.forms import ModelChoiceField
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse
from django.utils import timezone

from aide.core.errors import DomainError
from aide.core.exporting import as_csv
from aide.core.forms import VersionedForm
from aide.core.models import Editable, SoftDeletable

COUNT_CAP = 10_000
MOST_DELETED = 200
BIGGEST = 2**63 - 1

if TYPE_CHECKING:
    _Base = admin.ModelAdmin[Any]
    _Paginator = Paginator[Any]
else:
    _Base = admin.ModelAdmin
    _Paginator = Paginator


class CappedPaginator(_Paginator):
    """Counts no further than 10,000 rows, so that a long table costs no more than a page of it."""

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        if isinstance(rows, models.QuerySet):
            return rows.order_by()[: COUNT_CAP + 1].count()
        return len(rows)

    @property
    def is_capped(self) -> bool:
        return self.count > COUNT_CAP


class BoundedChangeList(ChangeList):
    """A filter's value that no column can hold matches no row, whatever the database says of such values."""

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> models.QuerySet[Any]:
        rows = super().get_queryset(request, exclude_parameters)
        given = [
            text for values in self.filter_params.values() for value in values for text in value.split(",")
        ]
        return rows.none() if any(map(_fits_no_column, given)) else rows


def _fits_no_column(text: str) -> bool:
    try:
        return "\x00" in text or not -BIGGEST <= int(text) <= BIGGEST
    except ValueError:
        return False


class DeskAdmin(_Base):
    """A ModelAdmin whose rights come from the user's groups and systems.

    `lead` is the sentence under the title and `how` the text of "How this works".
    """

    page_title = ""
    # What one row is called on the screen, where the model's own name is not the word for it.
    noun = ""
    lead = ""
    how = ""
    empty_sentence = ""
    list_per_page = 100
    list_max_show_all = 100
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    paginator = CappedPaginator
    actions = None
    form = VersionedForm
    save_as_continue = False
    soft_delete = True
    # Columns of the list that hold nothing to read.
    not_exported: tuple[str, ...] = ()

    # Rights: the user model answers for (app, action, model) and the object's system.

    def _may(self, request: HttpRequest, action: str, obj: Any = None) -> bool:
        name = f"{self.opts.app_label}.{action}_{self.opts.model_name}"
        return bool(request.user.has_perm(name, obj))

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, "view", obj) or self._may(request, "change", obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._may(request, "add")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, "change", obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, "delete", obj)

    # Pages.

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        plural = str(self.opts.verbose_name_plural)
        words = {"title": self.page_title or plural[:1].upper() + plural[1:], **self._words()}
        if self._is_soft() and self.has_delete_permission(request):
            words["deleted_url"] = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_deleted")
        query = request.GET.urlencode()
        exported = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_export")
        words["export_url"] = f"{exported}?{query}" if query else exported
        return super().changelist_view(request, {**words, **(extra_context or {})})

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        context = {"subtitle": None, "page_title": self.page_title, **(extra_context or {})}
        if object_id is None:
            context = {"title": f"Add {self._noun()}", **self._words(), **context}
        try:
            return super().changeform_view(request, object_id, form_url, context)
        except DomainError as error:
            # The transaction is undone; say why in the rule's own words, on the page it came from.
            self.refuse(request, error)
            return HttpResponseRedirect(request.get_full_path())

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        obj = kwargs.get("obj")
        if obj is not None and not context.get("own_title"):
            context["title"] = str(obj)
        return super().render_change_form(request, context, *args, **kwargs)

    def _words(self) -> dict[str, str]:
        return {
            "lead": self.lead,
            "how": self.how,
            "empty_sentence": self.empty_sentence,
            "noun": self._noun(),
        }

    def _noun(self) -> str:
        return self.noun or str(self.opts.verbose_name)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return BoundedChangeList

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        changelist: Any = super().get_changelist_instance(request)
        plural = f"{self.noun}s" if self.noun else self.opts.verbose_name_plural
        changelist.count_noun, changelist.plural = f"{self._noun()},{plural}", plural
        return changelist

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        related = db_field.related_model
        if (
            isinstance(field, ModelChoiceField)
            and isinstance(related, type)
            and issubclass(related, SoftDeletable)
        ):
            rows: Any = field.queryset
            field.queryset = rows.filter(deleted_at__isnull=True)
        # No pop-up windows: related things have pages of their own.
        for name in ("can_add_related", "can_change_related", "can_delete_related", "can_view_related"):
            if field is not None and hasattr(field.widget, name):
                setattr(field.widget, name, False)
        return field

    # Rows that may come back are marked, not removed.

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        rows = super().get_queryset(request)
        return rows.filter(deleted_at__isnull=True) if self._is_soft() else rows

    def _is_soft(self) -> bool:
        return self.soft_delete and issubclass(self.model, SoftDeletable)

    def blockers(self, obj: Any) -> list[str]:
        """Sentences that say why a row cannot be deleted now; empty when it can."""
        return []

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        if not self._is_soft():
            return super().get_deleted_objects(objs, request)
        rows = list(objs)
        blocked = [sentence for obj in rows for sentence in self.blockers(obj)]
        return [str(obj) for obj in rows], {self.opts.verbose_name_plural: len(rows)}, set(), blocked

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        if not self._is_soft():
            super().delete_model(request, obj)
            return
        obj.deleted_at = timezone.now()
        obj.deleted_by = request.user
        self._save_deletion(obj)

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: int) -> Any:
        """Back to the list, also for those who may delete but not edit."""
        messages.success(request, f"{obj_display} was deleted.")
        return HttpResponseRedirect(reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist"))

    def _save_deletion(self, obj: Any) -> None:
        names = ["deleted_at", "deleted_by", "updated_at"]
        if isinstance(obj, Editable):
            obj.row_version += 1
            names.append("row_version")
        obj.save(update_fields=names)

    # What was deleted, and bringing it back.

    def get_urls(self) -> list[Any]:
        name, wrap = f"{self.opts.app_label}_{self.opts.model_name}", self.admin_site.admin_view
        export = path("export/", wrap(self.export_view), name=f"{name}_export")
        urls = [export, *super().get_urls()]
        if not self._is_soft():
            return urls
        own = [
            path("deleted/", wrap(self.deleted_view), name=f"{name}_deleted"),
            path("<int:object_id>/restore/", wrap(self.restore_view), name=f"{name}_restore"),
        ]
        return [*own, *urls]

    def complete(self, rows: list[Any]) -> None:
        """Give some hundred rows of a file what the list shows and its own statement does not bring."""

    def export_view(self, request: HttpRequest) -> Any:
        """What the list shows with these filters, on all its pages, as a CSV file."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        try:
            changelist = self.get_changelist_instance(request)
        except IncorrectLookupParameters:
            raise Http404 from None
        return as_csv(changelist, name=str(self.opts.verbose_name_plural), left_out=self.not_exported)

    def deleted_view(self, request: HttpRequest) -> HttpResponse:
        """The rows that were deleted last, each with a button that brings it back."""
        if not self.has_delete_permission(request):
            raise PermissionDenied
        rows = self.model._default_manager.filter(deleted_at__isnull=False).select_related("deleted_by")
        shown = [
            row
            for row in rows.order_by("-deleted_at")[:MOST_DELETED]
            if self.has_delete_permission(request, row)
        ]
        plural = self.page_title or str(self.opts.verbose_name_plural)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"Deleted {plural[:1].lower()}{plural[1:]}",
            "listed": plural[:1].upper() + plural[1:],
            "rows": shown,
            "restore_name": f"admin:{self.opts.app_label}_{self.opts.model_name}_restore",
        }
        return render(request, "admin/deleted.html", context)

    def restore_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Bring a deleted row back; POST only. Says why where something else has its place or its parent is gone."""
        rows = self.model._default_manager.select_for_update().filter(deleted_at__isnull=False)
        with transaction.atomic():
            obj = rows.filter(pk=object_id).first()
            if obj is None:
                raise Http404
            if request.method != "POST" or not self.has_delete_permission(request, obj):
                raise PermissionDenied
            parent = obj.deleted_parent()
            obj.deleted_at = obj.deleted_by = None
            try:
                if parent is not None:
                    raise ValidationError(
                        f"Its {parent._meta.verbose_name} {parent} is deleted; restore that first."
                    )
                obj.validate_constraints()
            except ValidationError as error:
                messages.error(request, f"{obj} was not restored. {' '.join(error.messages)}")
            else:
                self._save_deletion(obj)
                self.restored(request, obj)
                messages.success(request, f"{obj} is back.")
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist"
        return HttpResponseRedirect(reverse(name))

    def restored(self, request: HttpRequest, obj: Any) -> None:
        """Called in the transaction that brought a row back."""

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if change and isinstance(obj, Editable):
            obj.row_version += 1
        super().save_model(request, obj, form, change)

    # A list needs no log of its own: what happened is in the audit log.

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        return None

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        return None

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        return None

    def refuse(self, request: HttpRequest, error: DomainError) -> None:
        """Say why a rule refused, in its own words."""
        messages.error(request, error.detail)
        for item in error.errors:
            messages.error(request, f"{item.get('field', '')}: {item.get('detail', '')}".lstrip(": "))


class ReadOnlyAdmin(DeskAdmin):
    """A list and its pages that nobody edits here, whatever the role."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


__all__ = ["CappedPaginator", "DeskAdmin", "ReadOnlyAdmin"]
