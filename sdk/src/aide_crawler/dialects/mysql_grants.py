"""What a MySQL or MariaDB user can see: information_schema hides what is not granted, without a word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_GRANT = re.compile(r"GRANT (?P<rights>.+?) ON (?:TABLE )?(?P<object>\S.*?) TO ", re.DOTALL | re.IGNORECASE)
_OBJECT = re.compile(r"(?P<schema>\*|`(?:[^`]|``)*`|[^.`]+)\.(?P<table>\*|`(?:[^`]|``)*`|.+)", re.DOTALL)
_COLUMN_LIST = re.compile(r"\([^()]*\)")
# Rights that let a user see the tables they are granted on, with their columns.
_SHOWING = frozenset({"ALL PRIVILEGES", "SELECT", "INSERT", "UPDATE", "REFERENCES"})


@dataclass
class Grants:
    """For which schemas and tables everything is visible."""

    everything: bool = False
    schemas: list[re.Pattern[str]] = field(default_factory=list)
    tables: set[tuple[str, str]] = field(default_factory=set)

    def shows_schema(self, schema: str) -> bool:
        """Whether every table of the schema is visible, so that a missing one is certainly gone."""
        return self.everything or any(pattern.fullmatch(schema) for pattern in self.schemas)

    def shows_table(self, schema: str, table: str) -> bool:
        """Whether every column of the table is visible."""
        return self.shows_schema(schema) or (schema, table) in self.tables


def read_grants(lines: Iterable[str]) -> Grants:
    """From the lines of SHOW GRANTS, of which nothing else is kept: they hold hashes of passwords."""
    grants = Grants()
    for line in lines:
        match = _GRANT.match(line)
        place = _OBJECT.fullmatch(match["object"]) if match else None
        if match is None or place is None or not _shows(match["rights"]):
            continue
        schema, table = place["schema"], place["table"]
        if schema == "*":
            grants.everything = True
        elif table == "*":
            grants.schemas.append(_like(_unquoted(schema)))
        else:
            grants.tables.add((_unquoted(schema), _unquoted(table)))
    return grants


def _shows(rights: str) -> bool:
    """Whether one of the rights holds for whole tables, not for single columns only."""
    marked = _COLUMN_LIST.sub("(", rights)
    return any(part.strip().upper() in _SHOWING for part in marked.split(","))


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def _like(pattern: str) -> re.Pattern[str]:
    """A schema name in a grant is a LIKE pattern, where a backslash takes the meaning from the next."""
    source = ""
    position = 0
    while position < len(pattern):
        char = pattern[position]
        if char == "\\" and position + 1 < len(pattern):
            position += 1
            source += re.escape(pattern[position])
        else:
            source += {"%": ".*", "_": "."}.get(char, re.escape(char))
        position += 1
    return re.compile(source, re.DOTALL)
