"""Base views: strict parameters, and careful create, bulk create, update, delete and restore."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import ProtectedError, QuerySet
from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aide.core.api.filters import parameter_names
from aide.core.api.permissions import READ
from aide.core.api.schema import MAX_BULK
from aide.core.api.versions import check_row_version, etag
from aide.core.api.wire import storable
from aide.core.errors import Conflict, DomainError, Forbidden
from aide.core.models import SoftDeletable
from aide.core.problems import ApiValidationError, ItemRefused


class StrictParameters(APIView):
    """Refuses a query parameter that the action does not know, one given twice, and text no database stores."""

    extra_parameters: dict[str, frozenset[str]] = {}

    @property
    def caller(self) -> Any:
        """Who calls; the permission classes have let them in."""
        return self.request.user

    def known_parameters(self) -> frozenset[str]:
        return self.extra_parameters.get(getattr(self, "action", "") or "", frozenset())

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        for value in kwargs.values():
            if not storable(str(value)):
                raise Http404
        known = self.known_parameters()
        errors = []
        for key, values in request.query_params.lists():
            if key not in known:
                errors.append(
                    {"field": key[:100], "code": "unknown", "detail": "This parameter is not known here."}
                )
            elif len(values) > 1:
                errors.append({"field": key, "code": "repeated", "detail": "Give this parameter once."})
            elif not storable(values[0]):
                errors.append({"field": key, "code": "invalid", "detail": "Use plain text."})
        if errors:
            raise ApiValidationError(errors)

    def within_reach(self, queryset: QuerySet[Any], system_path: str | None) -> QuerySet[Any]:
        """Without the rows of systems that the caller's key does not reach."""
        limit = getattr(self.request.user, "system_codes_for", None) if system_path and self.request else None
        codes = limit(READ) if limit is not None else None
        return queryset if codes is None else queryset.filter(**{f"{system_path}__in": codes})


class ListMixin(StrictParameters, mixins.ListModelMixin, viewsets.GenericViewSet[Any]):
    """A list with the declared filters and sorts, and constant queries."""

    filters: dict[str, Any] = {}
    sorts: dict[str, str] = {}
    default_sort: tuple[str, ...] = ("pk",)
    list_actions: frozenset[str] = frozenset({"list"})

    def known_parameters(self) -> frozenset[str]:
        known = super().known_parameters()
        if self.action in self.list_actions:
            paging: frozenset[str] = getattr(self.pagination_class, "parameters", frozenset())
            known = known | parameter_names(self) | paging | {"sort"}
        return known


class ReadMixin(ListMixin, mixins.RetrieveModelMixin):
    """List and detail. A detail path takes the id, or the code where `lookup_code` names one."""

    lookup_value_regex = "[^/]+"
    lookup_code: str | None = None
    # Where a row's system has its code, for callers who are limited to some systems.
    system_path: str | None = None

    def visible(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """What there is to see: not what was deleted."""
        return queryset.alive() if hasattr(queryset, "alive") else queryset

    def get_queryset(self) -> QuerySet[Any]:
        return self.within_reach(self.visible(super().get_queryset()), self.system_path)

    def get_object(self) -> Any:
        found = self.find(self.get_queryset(), self.kwargs[self.lookup_url_kwarg or self.lookup_field])
        self.check_object_permissions(self.request, found)
        return found

    def find(self, queryset: QuerySet[Any], key: str) -> Any:
        """The row with this id, or else this code."""
        if key.isascii() and key.isdecimal() and len(key) <= 18:
            found = queryset.filter(pk=int(key)).first()
            if found is not None:
                return found
        if self.lookup_code:
            found = queryset.filter(**{self.lookup_code: key}).first()
            if found is not None:
                return found
        raise Http404

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        instance = self.get_object()
        return self.answer(instance)

    def answer(self, instance: Any, *, status: int = status.HTTP_200_OK) -> Response:
        """One thing, with its ETag."""
        response = Response(self.get_serializer(instance).data, status=status)
        if hasattr(instance, "row_version"):
            response["ETag"] = etag(instance.row_version)
        return response


class WriteMixin(ReadMixin):
    """Create (also in bulk), PUT, PATCH, DELETE. Subclasses say in `recorded` what is written down where."""

    blocking: tuple[str, ...] = ()
    # Whether POST also takes {"items": […]}.
    takes_items = True

    def recorded(self, verb: str, instance: Any, *, before: Any = None, after: Any = None) -> None:
        """Called in the transaction of each write; verb is create, update, delete or restore."""

    def check_system(self, instance_or_values: Any) -> None:
        """Refuses a write on a system that the caller has no right for."""

    def answer_rows(self) -> QuerySet[Any] | None:
        """Where saved rows are read again for their answer, or None when they are answered as they were saved."""
        return None

    def read_again(self, saved: list[Any]) -> list[Any]:
        """The saved rows as they are answered, in the same order, by a constant number of statements."""
        rows = self.answer_rows()
        if rows is None:
            return saved
        found = rows.in_bulk([row.pk for row in saved])
        return [found[row.pk] for row in saved]

    # Creating

    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        if isinstance(request.data, dict) and set(request.data) == {"items"}:
            return self.create_many(request.data["items"])
        with transaction.atomic():
            instance = self.read_again([self.create_one(request.data)])[0]
        return self.answer(instance, status=status.HTTP_201_CREATED)

    def create_one(self, data: Any) -> Any:
        serializer = self.get_serializer(data=data)
        serializer.is_valid(raise_exception=True)
        self.check_system(serializer.validated_data)
        instance = self.perform_save(serializer)
        self.recorded("create", instance, after=self.snapshot(instance))
        return instance

    def create_many(self, items: Any) -> Response:
        """All or none; an error names the item it is about."""
        if not isinstance(items, list):
            raise ApiValidationError([{"field": "items", "code": "not_a_list", "detail": "Use a list."}])
        if len(items) > MAX_BULK:
            raise ApiValidationError(
                [{"field": "items", "code": "max_length", "detail": f"At most {MAX_BULK} items."}]
            )
        errors: dict[str, Any] = {}
        made = []
        with transaction.atomic():
            for position, item in enumerate(items):
                try:
                    made.append(self.create_one(item))
                except ValidationError as error:
                    errors[f"items.{position}"] = error.detail
                    if len(errors) >= 100:
                        break
                except (DomainError, IntegrityError) as error:
                    raise ItemRefused(position, error) from error
            if errors:
                raise ValidationError(errors)
            made = self.read_again(made)
        data = self.get_serializer(made, many=True).data
        return Response({"items": data, "count": len(data)}, status=status.HTTP_201_CREATED)

    def perform_save(self, serializer: Any) -> Any:
        return serializer.save()

    def snapshot(self, instance: Any) -> Any:
        """What the audit log keeps of a row: its own plain values."""
        names = {f.name: f for f in instance._meta.concrete_fields}
        skipped = {"created_at", "updated_at", "row_version", "password", "secret_hash"}
        return {
            field.attname: _plain(getattr(instance, field.attname))
            for name, field in names.items()
            if name not in skipped
        }

    # Changing

    def locked(self) -> Any:
        """The row of this request, locked until the transaction ends."""
        found = self.get_object()
        locked = self.get_queryset().select_for_update(of=("self",)).filter(pk=found.pk).first()
        if locked is None:
            raise Http404
        return locked

    def update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.change(request, partial=False)

    def partial_update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.change(request, partial=True)

    def change(self, request: Request, *, partial: bool) -> Response:
        with transaction.atomic():
            instance = self.locked()
            self.check_system(instance)
            self.check_changeable(instance)
            sent = request.data.get("row_version") if isinstance(request.data, dict) else None
            check_row_version(
                request, instance, sent=sent, current=lambda: self.get_serializer(instance).data
            )
            before = self.snapshot(instance)
            serializer = self.get_serializer(instance, data=request.data, partial=partial)
            serializer.is_valid(raise_exception=True)
            self.check_system(serializer.validated_data)
            if hasattr(instance, "row_version"):
                instance.row_version += 1
            instance = self.perform_save(serializer)
            self.recorded("update", instance, before=before, after=self.snapshot(instance))
            instance = self.read_again([instance])[0]
        return self.answer(instance)

    def check_changeable(self, instance: Any) -> None:
        """Refuses changes of what is frozen."""

    # Deleting

    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        with transaction.atomic():
            instance = self.locked()
            self.check_system(instance)
            self.check_changeable(instance)
            check_row_version(request, instance, current=lambda: self.get_serializer(instance).data)
            self.perform_delete(instance)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def perform_delete(self, instance: Any) -> None:
        before = self.snapshot(instance)
        if isinstance(instance, SoftDeletable):
            refuse_dependents(instance, also=self.blocking)
            instance.deleted_at = timezone.now()
            instance.deleted_by = self.caller
            if hasattr(instance, "row_version"):
                instance.row_version += 1
            instance.save()
            self.recorded("delete", instance, before=before)
        else:
            self.recorded("delete", instance, before=before)
            instance.delete()


class RestoreMixin(WriteMixin):
    """`POST …/restore` brings back what was deleted softly."""

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def restore(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        with transaction.atomic():
            everything = self.within_reach(super(ReadMixin, self).get_queryset(), self.system_path)
            instance = self.find_deleted(everything)
            self.check_system(instance)
            parent = instance.deleted_parent()
            if parent is not None:
                word = parent._meta.verbose_name
                raise Conflict("PARENT_DELETED", f"Its {word} {parent} is deleted; restore that first.")
            instance.deleted_at = None
            instance.deleted_by = None
            if hasattr(instance, "row_version"):
                instance.row_version += 1
            instance.save()
            self.recorded("restore", instance, after=self.snapshot(instance))
            instance = self.read_again([instance])[0]
        return self.answer(instance)

    def find_deleted(self, queryset: QuerySet[Any]) -> Any:
        key = self.kwargs[self.lookup_url_kwarg or self.lookup_field]
        deleted = queryset.filter(deleted_at__isnull=False).order_by("-deleted_at", "-pk")
        try:
            return self.find(deleted, key)
        except Http404:
            self.find(queryset, key)  # still 404 if there never was one
            raise Conflict("NOT_DELETED", "This is not deleted.") from None


def refuse_dependents(instance: Any, *, also: tuple[str, ...] = ()) -> None:
    """The soft counterpart of PROTECT: things that are there and refer to the row keep it.

    Rows of history (runs, versions, decisions) do not, since nothing is lost; `also` names relations that do.
    """
    for relation in instance._meta.related_objects:
        soft = issubclass(relation.related_model, SoftDeletable)
        if not soft and relation.get_accessor_name() not in also:
            continue
        rows = relation.related_model._base_manager.filter(**{relation.field.name: instance})
        found = list((rows.filter(deleted_at__isnull=True) if soft else rows)[:1000])
        if found:
            raise ProtectedError("still needed", set(found))


def refuse_unless(user: Any, capability: str, system: Any = None) -> None:
    """Raises 403 with the sentence that says what is missing."""
    if not user.can(capability, system):
        raise Forbidden("FORBIDDEN", user.why_not(capability, system))


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float | bool | list | dict) else str(value)
