"""The base of every answer: frozen, with unknown keys kept; and the page of a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from aide_sdk.calls import Answer

M = TypeVar("M")
T = TypeVar("T")


class Model(BaseModel):
    """What the server said. A key that this version does not know is an attribute all the same."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True, protected_namespaces=())


class Row(Model):
    """What every stored thing has."""

    id: int
    note: str = ""
    created_at: str | None = None
    updated_at: str | None = None
    row_version: int | None = None
    """Send it back with an update: an older one is refused with `VERSION_CONFLICT`."""


class Page(Model, Generic[T]):
    """A part of a list. By page: `total` (exact to 10,000), `page`, `pages`, `has_next`; by cursor:
    `next_cursor`, None after the last part."""

    items: list[T] = Field(default_factory=list)
    total: int | None = None
    total_is_capped: bool = False
    page: int = 1
    size: int = 50
    pages: int | None = None
    has_next: bool = False
    next_cursor: str | None = None


class Verdict(Model):
    """What a change means to readers and writers. `reasons`: `[{field, rule, old, new, severity, version}]`."""

    compatible: bool
    risk: str | None = None
    reasons: list[dict[str, Any]] = Field(default_factory=list)


def one(model: type[M]) -> Callable[[Answer], M]:
    """Reads an answer that is one `model`."""
    validate: Callable[[Any], M] = model.model_validate  # type: ignore[attr-defined]
    return lambda answer: validate(answer.json())


def page_of(model: type[M]) -> Callable[[Answer], Page[M]]:
    """Reads a page of `model`s."""
    validate = Page[model].model_validate  # type: ignore[valid-type]

    def read(answer: Answer) -> Page[M]:
        return validate(answer.json())

    return read


def items_of(model: type[M]) -> Callable[[Answer], list[M]]:
    """Reads `{"items": […]}`."""
    validate: Callable[[Any], M] = model.model_validate  # type: ignore[attr-defined]
    return lambda answer: [validate(item) for item in answer.json()["items"]]
