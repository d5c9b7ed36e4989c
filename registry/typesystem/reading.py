"""What every flavor's reader of native types shares: its input, its answer, and normal parameters. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from registry.typesystem.model import NOTHING, Catalogue, TypeDef, TypeExpr

_IN_BRACKETS = ("display_width", "precision", "scale", "length", "fsp", "subtype", "srid", "dimensions")


@dataclass(frozen=True)
class Found:
    """What a reader found: a type's code, its raw parameters, and child types."""

    code: str
    params: Mapping[str, Any] = field(default_factory=dict)
    children: Mapping[str, TypeExpr] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """One spelling to be read, with what the document's field tells beside it; `again` reads a part of it."""

    catalogue: Catalogue
    text: str
    told: Mapping[str, Any]
    again: Callable[[str, Mapping[str, Any] | None], TypeExpr]

    @property
    def parameters(self) -> Mapping[str, Any]:
        found = self.told.get("parameters")
        return found if isinstance(found, Mapping) else NOTHING


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def text_list(value: Any) -> list[str] | None:
    """The list when it holds nothing but texts."""
    return (
        list(value)
        if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
        else None
    )


def positional(typedef: TypeDef) -> list[str]:
    """The parameters that stand in brackets, in the order in which SQL writes them."""
    return [name for name in _IN_BRACKETS if name in typedef.takes]


def without(params: Mapping[str, Any], **defaults: Any) -> dict[str, Any]:
    """The parameters, leaving out those that only say what holds anyway."""
    return {
        name: value for name, value in params.items() if not (name in defaults and value == defaults[name])
    }
