"""Unique and foreign keys of SQLite tables, from rows of its pragma functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from aide_crawler.dialects.sqlite_ddl import index_predicate, index_terms

Row = tuple[Any, ...]
Keys = Mapping[str, tuple[str, list[str], dict[str, str]]]
_EXPRESSION = -2


def uniques_of(rows: list[Row]) -> list[dict[str, Any]]:
    """The unique keys of one table: (table, index, origin, partial, seqno, cid, column, index text)."""
    by_index: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row[2] != "pk":
            by_index[row[1]].append(row)
    uniques = []
    for name, terms in by_index.items():
        terms.sort(key=lambda row: row[4])
        _, _, origin, partial, _, _, _, definition = terms[0]
        unique: dict[str, Any] = {
            "name": None if origin == "u" else name,
            "columns": [row[6] for row in terms if row[5] >= 0],
            "kind": "constraint" if origin == "u" else "index",
        }
        if partial:
            unique["partial"] = True
            unique["predicate"] = index_predicate(definition or "")
        if any(row[5] == _EXPRESSION for row in terms):
            texts = index_terms(definition or "")
            unique["expressions"] = [
                texts[row[4]] if row[4] < len(texts) else "" for row in terms if row[5] == _EXPRESSION
            ]
        uniques.append(unique)
    return sorted(uniques, key=lambda unique: (unique["name"] or "", unique["columns"]))


def foreign_keys_of(rows: list[Row], keys: Keys) -> list[dict[str, Any]]:
    """The foreign keys of one table: (table, id, seq, parent, from, to, on update, on delete).

    SQLite compares names without case, so a parent and its columns get their own spelling; a
    reference without columns means the parent's primary key, and a missing parent has none.
    """
    by_id: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        by_id[row[1]].append(row)
    found = []
    for number in sorted(by_id, reverse=True):  # SQLite numbers them from the last to the first
        parts = sorted(by_id[number], key=lambda row: row[2])
        parent, primary, columns = keys.get(parts[0][3].lower(), (parts[0][3], [], {}))
        own = keys.get(parts[0][0].lower(), ("", [], {}))[2]
        named = [row[5] for row in parts if row[5] is not None]
        found.append(
            {
                "name": None,
                "columns": [own.get(row[4].lower(), row[4]) for row in parts],
                "ref_schema": "main",
                "ref_table": parent,
                "ref_columns": [columns.get(name.lower(), name) for name in named] if named else primary,
                "on_update": parts[0][6],
                "on_delete": parts[0][7],
            }
        )
    return found
