"""What most addresses can: lists, single rows, create, update, delete, restore."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Generic, TypeAlias, TypeVar

from aide_sdk.calls import Call, Repeat, body_of, nothing
from aide_sdk.models import Model, Page
from aide_sdk.models.base import items_of, one, page_of
from aide_sdk.operations import Mode, Resource, listing, operation

M = TypeVar("M", bound=Model)
Key: TypeAlias = int | str
"""An id, or the code of what has one."""
Many: TypeAlias = list
Values: TypeAlias = Mapping[str, Any] | Model | None


def queried(where: Mapping[str, Any] | None, filters: Mapping[str, Any], **paging: Any) -> dict[str, Any]:
    """The query of a list. `sort` may be a list; what is None is left out."""
    return {**(where or {}), **filters, **paging}


class Readable(Resource[Mode], Generic[M, Mode]):
    """Rows that can be listed and read."""

    model: type[M]

    @listing()
    def list(
        self,
        where: Mapping[str, Any] | None = None,
        /,
        *,
        size: int = 200,
        sort: str | Iterable[str] | None = None,
        **filters: Any,
    ) -> Call[Page[M]]:
        """Every row that the filters let through, fetched page by page: `list(system="shop", name__like="ord")`.

        `where` takes filters whose names are no Python words; `from_` means `from`. `size` is that of the pages.
        """
        query = queried(where, filters, size=size, sort=_sorted(sort))
        return Call(page_of(self.model), query=query)

    @operation("GET")
    def page(
        self,
        page: int = 1,
        where: Mapping[str, Any] | None = None,
        /,
        *,
        size: int = 50,
        sort: str | Iterable[str] | None = None,
        **filters: Any,
    ) -> Call[Page[M]]:
        """One page, with the total."""
        query = queried(where, filters, page=page, size=size, sort=_sorted(sort))
        return Call(page_of(self.model), query=query)

    @operation("GET", "/{key}")
    def get(self, key: Key) -> Call[M]:
        """One row by its id, or by its code where it has one. NotFoundError."""
        return Call(one(self.model), at={"key": key})


class Removable(Readable[M, Mode]):
    """Rows that can be made and deleted too."""

    @operation("POST")
    def create(self, values: Values = None, /, **more: Any) -> Call[M]:
        """Make one, of a mapping or of keywords. ValidationError, ConflictError."""
        return Call(one(self.model), json=body_of(values, more))

    @operation("POST")
    def create_many(self, items: Iterable[Mapping[str, Any] | Model], /) -> Call[Many[M]]:
        """Make all or none; the rows in the same order."""
        return Call(items_of(self.model), json={"items": [body_of(item, {}) for item in items]})

    @operation("DELETE", "/{key}")
    def delete(self, key: Key) -> Call[None]:
        """Delete one. ConflictError when others still need it."""
        return Call(nothing, at={"key": key})


class Editable(Removable[M, Mode]):
    """Rows that can be changed too."""

    @operation("PATCH", "/{key}")
    def update(self, key: Key, values: Values = None, /, **more: Any) -> Call[M]:
        """Change some values. With the `row_version` that was read, a change by another in between is a
        ConflictError whose `problem` holds the current state."""
        return Call(one(self.model), at={"key": key}, json=body_of(values, more))

    @operation("PUT", "/{key}")
    def replace(self, key: Key, values: Values = None, /, **more: Any) -> Call[M]:
        """Write the whole row."""
        return Call(one(self.model), at={"key": key}, json=body_of(values, more))


class Restorable(Editable[M, Mode]):
    """Rows that come back after they were deleted."""

    @operation("POST", "/{key}/restore")
    def restore(self, key: Key) -> Call[M]:
        """Bring a deleted row back."""
        return Call(one(self.model), at={"key": key})


def _sorted(sort: str | Iterable[str] | None) -> str | None:
    return sort if sort is None or isinstance(sort, str) else ",".join(sort)


__all__ = ["Editable", "Key", "Many", "Readable", "Removable", "Repeat", "Restorable", "Values", "queried"]
