"""Which schemas and tables a crawl looks at: name patterns with SQL quoting and wildcards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from aide_crawler.errors import ScopeInvalid

_KEYS = ("schemas", "tables", "exclude_schemas", "exclude_tables")
LONGEST_PATTERN = 1_000
MOST_PATTERNS = 10_000
_ANY_TEXT = None
_ANY_CHARACTER = ""


@dataclass(frozen=True)
class Glob:
    """One part of a pattern: characters, _ANY_CHARACTER for one, _ANY_TEXT for any number of them."""

    pieces: tuple[str | None, ...]

    def fullmatch(self, text: str) -> bool:
        """Whether the whole text fits, without ever going back further than the last _ANY_TEXT."""
        pieces, length = self.pieces, len(self.pieces)
        at = place = kept = 0
        star = -1
        while place < len(text):
            piece = pieces[at] if at < length else "too long"
            if piece is _ANY_TEXT:
                star, kept = at, place
                at += 1
            elif piece in (_ANY_CHARACTER, text[place]):
                at, place = at + 1, place + 1
            elif star >= 0:
                kept += 1
                at, place = star + 1, kept
            else:
                return False
        return all(piece is _ANY_TEXT for piece in pieces[at:])


@dataclass(frozen=True)
class Pattern:
    """One pattern, read: what the schema's name is like (None = any) and what the table's."""

    text: str
    schema: Glob | None
    name: Glob
    schema_literal: str | None
    name_literal: str | None

    def matches(self, schema: str, name: str) -> bool:
        """Whether the table is meant; names are compared exactly, with their case."""
        return (self.schema is None or self.schema.fullmatch(schema)) and self.name.fullmatch(name)


@dataclass(frozen=True)
class Scope:
    """Patterns of what to crawl and what to leave out; nothing given means everything.

    `schemas` and `exclude_schemas` hold names of schemas, `tables` and `exclude_tables` hold
    `table` or `schema.table`. A part may be written as a quoted SQL identifier; outside quotes
    `*` stands for any text and `?` for one character. Raises ScopeInvalid for a pattern that
    cannot be read.
    """

    schemas: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    exclude_schemas: tuple[str, ...] = ()
    exclude_tables: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for key in _KEYS:
            value = getattr(self, key)
            if isinstance(value, str) or not all(isinstance(item, str) for item in value):
                raise ScopeInvalid(f"{key} is a list of names.")
            if len(value) > MOST_PATTERNS:
                raise ScopeInvalid(f"{key} has {len(value)} patterns; at most {MOST_PATTERNS} can be given.")
            object.__setattr__(self, key, tuple(value))
            read = read_schema_pattern if key.endswith("schemas") else read_table_pattern
            for text in getattr(self, key):
                read(text)

    @classmethod
    def from_lists(
        cls,
        *,
        schemas: Iterable[str] | None = None,
        tables: Iterable[str] | None = None,
        exclude_schemas: Iterable[str] | None = None,
        exclude_tables: Iterable[str] | None = None,
    ) -> Scope:
        """A scope from any lists of patterns, None for an empty one."""
        return cls(
            schemas=tuple(schemas or ()),
            tables=tuple(tables or ()),
            exclude_schemas=tuple(exclude_schemas or ()),
            exclude_tables=tuple(exclude_tables or ()),
        )

    @classmethod
    def from_dict(cls, document: Mapping[str, Any] | None) -> Scope:
        """The scope of a JSON object; a key that is not one of the four raises ScopeInvalid."""
        document = document or {}
        if unknown := sorted(set(document) - set(_KEYS)):
            raise ScopeInvalid(f"A scope has no key {unknown[0]!r}.")
        for key, value in document.items():
            if value is not None and not isinstance(value, list | tuple):
                raise ScopeInvalid(f"{key} is a list of names.")
        return cls.from_lists(**document)

    def to_dict(self) -> dict[str, list[str]]:
        """The JSON form, always with all four lists."""
        return {key: list(getattr(self, key)) for key in _KEYS}

    def covers_schema(self, name: str) -> bool:
        """Whether any table of the schema could be in the scope."""
        included, wanted, excluded, _ = self._read
        if included and not any(pattern.name.fullmatch(name) for pattern in included):
            return False
        if any(pattern.name.fullmatch(name) for pattern in excluded):
            return False
        return not wanted or any(p.schema is None or p.schema.fullmatch(name) for p in wanted)

    def covers(self, schema: str, name: str) -> bool:
        """Whether the table is in the scope."""
        if not self.covers_schema(schema):
            return False
        _, wanted, _, unwanted = self._read
        if wanted and not any(pattern.matches(schema, name) for pattern in wanted):
            return False
        return not any(pattern.matches(schema, name) for pattern in unwanted)

    @cached_property
    def _read(self) -> tuple[tuple[Pattern, ...], ...]:
        return (
            tuple(map(read_schema_pattern, self.schemas)),
            tuple(map(read_table_pattern, self.tables)),
            tuple(map(read_schema_pattern, self.exclude_schemas)),
            tuple(map(read_table_pattern, self.exclude_tables)),
        )


@lru_cache(maxsize=4096)
def read_table_pattern(text: str) -> Pattern:
    """A pattern of one part (any schema) or two."""
    parts = _parts(text)
    if len(parts) > 2:
        raise ScopeInvalid(
            f"The pattern {text!r} has {len(parts)} parts; write table or schema.table, "
            "and put double quotes round a part that holds a dot."
        )
    name_glob, name_literal = _compiled(parts[-1], text)
    if len(parts) == 1:
        return Pattern(text, None, name_glob, None, name_literal)
    schema_glob, schema_literal = _compiled(parts[0], text)
    return Pattern(text, schema_glob, name_glob, schema_literal, name_literal)


@lru_cache(maxsize=4096)
def read_schema_pattern(text: str) -> Pattern:
    """A pattern of a schema's name; a dot outside quotes is part of the name."""
    tokens: list[tuple[str, bool]] = []
    for index, part in enumerate(_parts(text)):
        tokens += [(".", True), *part] if index else part
    glob, exactly = _compiled(tokens, text)
    return Pattern(text, None, glob, None, exactly)


def literal(name: str) -> str:
    """The pattern that means exactly this name."""
    return '"' + name.replace('"', '""') + '"'


def split_list(text: str) -> list[str]:
    """The items of a comma-separated list, where a comma inside double quotes separates nothing."""
    items: list[str] = [""]
    quoted = False
    for char in text:
        if char == '"':
            quoted = not quoted
        if char == "," and not quoted:
            items.append("")
        else:
            items[-1] += char
    return [item.strip() for item in items if item.strip()]


def _parts(text: str) -> list[list[tuple[str, bool]]]:
    """The parts of a pattern between dots, each as (character, is it literal)."""
    parts: list[list[tuple[str, bool]]] = [[]]
    stripped = text.strip()
    if len(stripped) > LONGEST_PATTERN:
        raise ScopeInvalid(
            f"The pattern that begins with {stripped[:40]!r} is too long; "
            f"a pattern has at most {LONGEST_PATTERN} characters."
        )
    quoted = False
    position = 0
    while position < len(stripped):
        char = stripped[position]
        if char == '"':
            if quoted and stripped[position + 1 : position + 2] == '"':
                parts[-1].append(('"', True))
                position += 1
            else:
                quoted = not quoted
        elif quoted:
            parts[-1].append((char, True))
        elif char == ".":
            parts.append([])
        else:
            parts[-1].append((char, char not in "*?"))
        position += 1
    if quoted:
        raise ScopeInvalid(f"A double quote is not closed in the pattern {text!r}.")
    return parts


def _compiled(tokens: list[tuple[str, bool]], text: str) -> tuple[Glob, str | None]:
    """What one part of a pattern means, and its text where it has no wildcard."""
    if not tokens:
        raise ScopeInvalid(f"A part of the pattern {text!r} is empty.")
    pieces: list[str | None] = []
    for char, is_literal in tokens:
        piece = char if is_literal else {"*": _ANY_TEXT, "?": _ANY_CHARACTER}[char]
        if piece is not _ANY_TEXT or pieces[-1:] != [_ANY_TEXT]:
            pieces.append(piece)
    exact = all(is_literal for _, is_literal in tokens)
    return Glob(tuple(pieces)), "".join(char for char, _ in tokens) if exact else None
