"""The values of the type system: a catalogue's definitions and one concrete type. Pure; anybody may use them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

ANY_NAME = "*"
NOTHING: Mapping[str, Any] = MappingProxyType({})


class TypeSystemError(ValueError):
    """A type cannot be checked or rendered; `str()` is a plain sentence."""


@dataclass(frozen=True)
class ParamError:
    """One thing wrong with parameters: where (dotted, "" for the whole) and what, in plain words."""

    path: str
    message: str


class ParamsInvalid(TypeSystemError):  # noqa: N818 - reads like the errors of forms
    """The parameters break the type's schema; `errors` names every place."""

    def __init__(self, errors: tuple[ParamError, ...]) -> None:
        super().__init__("; ".join(error.message for error in errors))
        self.errors = errors


class TemplateInvalid(TypeSystemError):  # noqa: N818 - reads like the errors of forms
    """A render template is wrong, too slow or too long; `line` counts from 1 where it is known."""

    def __init__(self, message: str, *, line: int | None = None) -> None:
        super().__init__(f"Line {line}: {message}" if line else message)
        self.message = message
        self.line = line


@dataclass(frozen=True)
class Slot:
    """A place for a child type: an array's element, a domain's base; `*` stands for any number of named ones."""

    name: str
    required: bool = True

    @classmethod
    def read(cls, value: str | Mapping[str, Any]) -> Slot:
        return cls(value) if isinstance(value, str) else cls(value["name"], bool(value.get("required", True)))


@dataclass(frozen=True)
class Example:
    """A worked example: `params` render to `sql`; the server reports it back as `canonical`."""

    params: Mapping[str, Any]
    sql: str
    canonical: str = ""
    setup: str = ""
    since: str = ""
    unchecked: str = ""

    @property
    def reported(self) -> str:
        return self.canonical or self.sql

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> Example:
        """From stored JSON. Raises `KeyError` without `sql`; keys that say nothing to us are left out."""
        texts = {name: str(value.get(name) or "") for name in ("canonical", "setup", "since", "unchecked")}
        return cls(params=dict(value.get("params") or {}), sql=str(value["sql"]), **texts)


@dataclass(frozen=True, eq=False)
class TypeDef:
    """One type of one flavor: its names, what parameters it takes and how it is written."""

    flavor: str
    code: str
    name: str
    category: str = ""
    logical_type: str = ""
    kind: str = "base"
    aliases: tuple[str, ...] = ()
    slots: tuple[Slot, ...] = ()
    params_schema: Mapping[str, Any] = field(default_factory=dict)
    render_template: str | None = None
    examples: tuple[Example, ...] = ()

    @property
    def has_named_parts(self) -> bool:
        """Whether its child types have names of their own, as the fields of a struct do."""
        return any(slot.name == ANY_NAME for slot in self.slots)

    @property
    def takes(self) -> tuple[str, ...]:
        """The names of the parameters. Their order means nothing: a database may keep it or not."""
        properties = self.params_schema.get("properties")
        return tuple(properties) if isinstance(properties, Mapping) else ()


@dataclass(frozen=True, eq=False)
class Catalogue:
    """All types of one flavor. Compared by identity; keep one for many look-ups."""

    flavor: str
    types: tuple[TypeDef, ...] = ()

    def __iter__(self) -> Iterator[TypeDef]:
        return iter(self.types)

    def __len__(self) -> int:
        return len(self.types)

    def get(self, code: str | None) -> TypeDef | None:
        return self._by_code.get(code) if code else None

    def find(self, spelling: str) -> TypeDef | None:
        """The type that has this name or alias, whatever its case and blanks."""
        return self._by_spelling.get(fold(spelling))

    @cached_property
    def memory(self) -> dict[Any, Any]:
        """Room for what was parsed before."""
        return {}

    @cached_property
    def _by_code(self) -> dict[str, TypeDef]:
        return {each.code: each for each in self.types}

    @cached_property
    def _by_spelling(self) -> dict[str, TypeDef]:
        found: dict[str, TypeDef] = {}
        for each in self.types:
            for alias in each.aliases:
                found.setdefault(fold(alias), each)
        for each in self.types:
            found[fold(each.name)] = each
        return found


@dataclass(frozen=True, eq=False)
class TypeExpr:
    """One concrete type in normal form: `numeric(12,2)`, `text[]`.

    Two are equal when they mean the same type: the kept spelling (`native`) does not count. `code` is None for a
    type that the catalogue does not know; then the spelling, blanks apart, is all that can be compared.
    """

    code: str | None
    params: Mapping[str, Any] = field(default_factory=dict)
    children: Mapping[str, TypeExpr] = field(default_factory=dict)
    native: str = ""
    rendered: str = ""

    @cached_property
    def key(self) -> str:
        """A text that is equal exactly for equal types; stable between runs."""
        return json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=False, separators=(",", ":"))

    def to_dict(self) -> dict[str, Any]:
        """What the type is, as JSON values, without any spelling for known types."""
        if self.code is None:
            return {"native": " ".join(self.native.split())}
        answer: dict[str, Any] = {"code": self.code}
        if self.params:
            answer["params"] = dict(self.params)
        if self.children:
            answer["children"] = {slot: child.to_dict() for slot, child in self.children.items()}
        return answer

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, TypeExpr) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        return self.rendered


def fold(spelling: str) -> str:
    """Lower case, single blanks, none at the ends."""
    return " ".join(spelling.split()).lower()
