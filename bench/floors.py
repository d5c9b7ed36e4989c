"""The floors of a crawl: the catalogue read in bulk with the plain driver, and its rows put into dictionaries."""

from __future__ import annotations

import sqlite3
import sys
from collections import defaultdict
from typing import Any

Tables = dict[Any, dict[str, Any]]

_OWN = "n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'"
_OF = "JOIN pg_class c ON c.oid = {} JOIN pg_namespace n ON n.oid = c.relnamespace"
_RELATIONS = f"""
SELECT c.oid, n.nspname, c.relname, c.relkind, obj_description(c.oid, 'pg_class'),
       CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND {_OWN}"""
_COLUMNS = f"""
SELECT a.attrelid, a.attname, a.attnum, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
       a.attgenerated, pg_get_expr(d.adbin, d.adrelid), t.description
FROM pg_attribute a {_OF.format("a.attrelid")}
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
LEFT JOIN pg_description t ON t.objoid = a.attrelid AND t.objsubid = a.attnum AND t.classoid = 'pg_class'::regclass
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND {_OWN}"""
_KEYS = f"""
SELECT k.conrelid, k.conname, k.contype, k.conkey, k.confrelid, k.confkey, pg_get_constraintdef(k.oid)
FROM pg_constraint k {_OF.format("k.conrelid")} WHERE {_OWN}"""
_INDEXES = f"""
SELECT i.indrelid, x.relname, i.indisunique, i.indkey::int2[], pg_get_indexdef(i.indexrelid),
       pg_get_expr(i.indpred, i.indrelid)
FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid {_OF.format("i.indrelid")}
WHERE NOT i.indisprimary AND {_OWN}"""
_LABELS = f"""
SELECT n.nspname, t.typname, array_agg(e.enumlabel::text ORDER BY e.enumsortorder)
FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid JOIN pg_namespace n ON n.oid = t.typnamespace
WHERE {_OWN} GROUP BY 1, 2"""
_PARTITIONS = f"""
SELECT i.inhrelid, i.inhparent, pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits i {_OF.format("i.inhrelid")}
WHERE {_OWN}"""


def postgresql(dsn: str) -> Tables:
    """Six statements of pg_catalog."""
    import psycopg

    with psycopg.connect(dsn) as connection:
        relations, columns, keys, indexes, _labels, _partitions = (
            connection.execute(each).fetchall()
            for each in (_RELATIONS, _COLUMNS, _KEYS, _INDEXES, _LABELS, _PARTITIONS)
        )
    tables: Tables = {
        oid: {"schema": schema, "name": name, "kind": kind, "comment": comment, "sql": sql, "columns": {}, "keys": [],
              "indexes": []}
        for oid, schema, name, kind, comment, sql in relations
    }  # fmt: skip
    names = {}
    for oid, name, number, native, required, identity, generated, default, comment in columns:
        names[oid, number] = name
        tables[oid]["columns"][name] = {
            "type": native, "nullable": not required, "identity": identity, "generated": generated,
            "default": default, "comment": comment, "position": number,
        }  # fmt: skip
    for oid, name, kind, own, target, other, text in keys:
        key = {"name": name, "kind": kind, "columns": [names[oid, n] for n in own or ()], "text": text}
        if kind == "f":
            key["to"] = (tables[target]["name"], [names[target, n] for n in other])
        if oid in tables:
            tables[oid]["keys"].append(key)
    for oid, name, unique, own, text, predicate in indexes:
        tables[oid]["indexes"].append(
            {"name": name, "unique": unique, "columns": [names.get((oid, n)) for n in own], "text": text,
             "predicate": predicate}
        )  # fmt: skip
    return tables


_MARIADB = {
    "tables": "SELECT table_name, table_type, table_comment, engine FROM tables WHERE table_schema = %s",
    "columns": "SELECT table_name, column_name, ordinal_position, column_type, is_nullable, column_default, extra, "
    "column_comment, collation_name, generation_expression FROM columns WHERE table_schema = %s",
    "constraints": "SELECT table_name, constraint_name, constraint_type FROM table_constraints "
    "WHERE constraint_schema = %s",
    "keys": "SELECT table_name, constraint_name, column_name, ordinal_position, referenced_table_schema, "
    "referenced_table_name, referenced_column_name FROM key_column_usage WHERE constraint_schema = %s",
    "rules": "SELECT constraint_name, table_name, update_rule, delete_rule FROM referential_constraints "
    "WHERE constraint_schema = %s",
    "checks": "SELECT table_name, constraint_name, check_clause FROM check_constraints WHERE constraint_schema = %s",
    "indexes": "SELECT table_name, index_name, non_unique, seq_in_index, column_name, index_type FROM statistics "
    "WHERE table_schema = %s",
    "views": "SELECT table_name, view_definition FROM views WHERE table_schema = %s",
}


def mariadb(*, port: int, database: str) -> int:
    """Eight statements of information_schema, without a dictionary; the number of columns."""
    import pymysql

    connection = pymysql.connect(host="127.0.0.1", port=port, user="root", database="information_schema")
    with connection, connection.cursor() as cursor:
        rows = {}
        for name, statement in _MARIADB.items():
            cursor.execute(statement, (database,))
            rows[name] = cursor.fetchall()
    return len(rows["columns"])


_SQLITE = (
    "SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view')",
    "SELECT m.name, p.* FROM sqlite_master m, pragma_table_xinfo(m.name) p WHERE m.type IN ('table', 'view')",
    "SELECT m.name, p.* FROM sqlite_master m, pragma_foreign_key_list(m.name) p WHERE m.type = 'table'",
    "SELECT m.name, p.name, x.* FROM sqlite_master m, pragma_index_list(m.name) p, pragma_index_xinfo(p.name) x "
    "WHERE m.type = 'table'",
)


def sqlite(path: str) -> int:
    """Four statements of pragma functions, put together by table; the number of columns."""
    connection = sqlite3.connect(path)
    by_table: defaultdict[str, list[Any]] = defaultdict(list)
    counts = []
    for statement in _SQLITE:
        rows = connection.execute(statement).fetchall()
        counts.append(len(rows))
        for row in rows:
            by_table[row[0]].append(row)
    connection.close()
    return counts[1]


if __name__ == "__main__":
    postgresql(sys.argv[1])
