"""CREATE TABLE for the engines that have it, and ALTER TABLE for foreign keys. Pure; used by `registry.casting.ddl`.

Expressions are the source's own: computed columns, numbering and defaults that are no literal are told in comments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from registry.casting.ddl import defaults, references
from registry.casting.documents import FieldPlan, ReferencePlan, TablePlan
from registry.casting.fitting import flavor_name
from registry.typesystem import TypeExpr


def _doubled(mark: str, closing: str = "") -> Callable[[str], str]:
    closing = closing or mark
    return lambda name: mark + name.replace(closing, closing * 2) + closing


def _single(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _backslashed(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


@dataclass(frozen=True)
class Dialect:
    """How an engine writes a table. `comment` is inline, statement, extended or empty; `keys` is enforced,
    informational or empty."""

    quote: Callable[[str], str]
    text: Callable[[str], str] = _single
    comment: str = ""
    keys: str = "enforced"
    not_null: bool = True
    suffix: str = ""
    has_schema: bool = True


DIALECTS: Mapping[str, Dialect] = {
    "postgresql": Dialect(_doubled('"'), comment="statement"),
    "mysql": Dialect(_doubled("`"), _backslashed, "inline"),
    "mariadb": Dialect(_doubled("`"), _backslashed, "inline"),
    "sqlite": Dialect(_doubled('"'), has_schema=False),
    "oracle": Dialect(_doubled('"'), comment="statement"),
    "sqlserver": Dialect(_doubled("[", "]"), comment="extended"),
    "hive": Dialect(_doubled("`"), _backslashed, "inline", "informational", not_null=False),
    "iceberg": Dialect(_doubled("`"), _backslashed, "inline", "", suffix="USING iceberg"),
}
_STANDARD = Dialect(_doubled('"'))

_SPARK = {"int": "INT", "long": "BIGINT", "float": "FLOAT", "double": "DOUBLE", "boolean": "BOOLEAN", "date": "DATE",
          "string": "STRING", "uuid": "STRING", "time": "STRING", "fixed": "BINARY", "binary": "BINARY",
          "timestamp": "TIMESTAMP_NTZ", "timestamptz": "TIMESTAMP", "timestamp_ns": "TIMESTAMP_NTZ",
          "timestamptz_ns": "TIMESTAMP", "variant": "VARIANT", "unknown": "VOID"}  # fmt: skip
_MYSQL_LOBS = (
    "tinytext",
    "text",
    "mediumtext",
    "longtext",
    "tinyblob",
    "blob",
    "mediumblob",
    "longblob",
    "json",
    "geometry",
)
_MYSQL_KEY, _SQLSERVER_KEY = 3072, 900
_NO_KEYS = {
    "postgresql": ("json", "xml", "point", "line", "lseg", "box", "path", "polygon", "circle"),
    "oracle": ("clob", "nclob", "blob", "long", "long_raw", "xmltype", "timestamptz", "json", "bfile"),
    "sqlserver": ("xml", "text", "ntext", "image", "geometry", "geography", "json"),
}


def write(plan: TablePlan) -> str:
    """The statements, each ended by a semicolon. Fields without a type are told in comments."""
    dialect = DIALECTS.get(plan.flavor, _STANDARD)
    table = _table(plan, dialect)
    lines = [_column(field, plan, dialect) for field in plan.known]
    refused: list[str] = []
    lines += _keys(plan, dialect, refused)
    kept = _kept_references(plan, dialect, refused)
    if plan.flavor in references.INLINE:
        lines += [_reference(key, plan, dialect) for key in kept]
    notes = [
        f"  -- {_plain(field.name)} {_plain(field.native)}: {_plain(field.cast.why)}"
        for field in plan.missing
    ]
    notes += [f"  -- {note}" for note in (*_lost(plan, dialect), *refused)]
    body = ",\n".join(f"  {line}" for line in lines)
    if not lines:
        return "\n".join(("-- No column of this dataset has a type here.", *notes)) + "\n"
    inside = "\n".join(part for part in ("\n".join(notes), body) if part)
    end = [f"COMMENT {dialect.text(plan.comment)}"] if plan.comment and dialect.comment == "inline" else []
    if plan.flavor in ("mysql", "mariadb"):
        end = [part.replace("COMMENT ", "COMMENT = ", 1) for part in end]
    parts = [dialect.suffix, *end]
    tail = "".join(f"\n{part}" for part in parts if part)
    altered = "" if plan.flavor in references.INLINE else _altered(kept, plan, dialect, table)
    return f"CREATE TABLE {table} (\n{inside}\n){tail};\n" + _comments(plan, dialect, table) + altered


def _lost(plan: TablePlan, dialect: Dialect) -> list[str]:
    """What the columns had that the new table does not keep."""
    told = []
    for field in plan.known:
        told += [_plain(f"{field.name}: {sentence}") for sentence in field.left_out]
        assert field.target is not None
        if defaults.clause(field.default, field.target, flavor=plan.flavor, text=dialect.text) is None:
            told.append(
                _plain(f"{field.name}: its default was left out: {flavor_name(plan.flavor)} keeps none here")
            )
    return told


def _kept_references(plan: TablePlan, dialect: Dialect, refused: list[str]) -> list[ReferencePlan]:
    named = {field.name for field in plan.known}
    kept = []
    for key in plan.references:
        written = _reference(key, plan, dialect)
        missing = next((name for name in key.columns if name not in named), None)
        if plan.flavor in references.NOT_KEPT:
            refused.append(_plain(f"{written}: not kept by {flavor_name(plan.flavor)}"))
        elif missing is not None:
            refused.append(_plain(f"{written}: {missing} has no type here"))
        else:
            kept.append(key)
            refused += [
                _plain(f"{action} of ({', '.join(key.columns)}): not known to {flavor_name(plan.flavor)}")
                for action in references.lost(key, flavor=plan.flavor)
            ]
    return kept


def _reference(key: ReferencePlan, plan: TablePlan, dialect: Dialect) -> str:
    return references.clause(key, flavor=plan.flavor, quote=dialect.quote, has_schema=dialect.has_schema)


def _altered(kept: list[ReferencePlan], plan: TablePlan, dialect: Dialect, table: str) -> str:
    if not kept:
        return ""
    lines = [f"ALTER TABLE {table} ADD {_reference(key, plan, dialect)};" for key in kept]
    return "\n".join(("-- When the tables that these name are there:", *lines)) + "\n"


def _table(plan: TablePlan, dialect: Dialect) -> str:
    parts = [plan.schema, plan.name] if plan.schema and dialect.has_schema else [plan.name]
    return ".".join(dialect.quote(part) for part in parts)


def _column(field: FieldPlan, plan: TablePlan, dialect: Dialect) -> str:
    assert field.target is not None
    written = spark_type(field.target) if plan.flavor == "iceberg" else _type(field.target, plan.flavor)
    parts = [dialect.quote(field.name), written]
    parts.append(defaults.clause(field.default, field.target, flavor=plan.flavor, text=dialect.text) or "")
    required = not field.nullable or (field.name in plan.primary_key and dialect.keys == "enforced")
    if dialect.not_null and required:
        parts.append("NOT NULL")
    elif plan.flavor in ("mysql", "mariadb") and field.target.code == "timestamp":
        parts.append("NULL")
    if field.comment and dialect.comment == "inline":
        parts.append(f"COMMENT {dialect.text(field.comment)}")
    return " ".join(part for part in parts if part)


def _type(expr: TypeExpr, flavor: str) -> str:
    """The type as a column may have it: named types by their name alone."""
    if flavor == "oracle" and isinstance(expr.params.get("type_name"), str) and expr.code != "ref":
        return str(expr.params["type_name"])
    return expr.rendered


def spark_type(expr: TypeExpr) -> str:
    """An Iceberg type as Spark SQL declares it."""
    if expr.code == "list":
        return f"ARRAY<{spark_type(expr.children['element'])}>"
    if expr.code == "map":
        return f"MAP<{spark_type(expr.children['key'])}, {spark_type(expr.children['value'])}>"
    if expr.code == "struct":
        quote = DIALECTS["iceberg"].quote
        fields = [f"{quote(name)}: {spark_type(expr.children[name])}" for name in expr.params["fields"]]
        return f"STRUCT<{', '.join(fields)}>"
    if expr.code == "decimal":
        return f"DECIMAL({expr.params['precision']}, {expr.params['scale']})"
    return _SPARK.get(expr.code or "", expr.rendered.upper())


def _keys(plan: TablePlan, dialect: Dialect, refused: list[str]) -> list[str]:
    lines = []
    named = {field.name: field for field in plan.known}
    wanted = [("PRIMARY KEY", plan.primary_key)] if plan.primary_key else []
    wanted += [("UNIQUE", columns) for columns in plan.unique]
    for word, columns in wanted:
        written = f"{word} ({', '.join(dialect.quote(name) for name in columns)})"
        if not dialect.keys or (dialect.keys == "informational" and word != "PRIMARY KEY"):
            refused.append(_plain(f"{written}: not kept by {flavor_name(plan.flavor)}"))
            continue
        reason = _refused(columns, named, plan.flavor)
        if reason:
            refused.append(_plain(f"{written}: {reason}"))
        else:
            lines.append(written + (" DISABLE NOVALIDATE" if dialect.keys == "informational" else ""))
    return lines


def _refused(columns: tuple[str, ...], named: Mapping[str, FieldPlan], flavor: str) -> str:
    """Why the engine would not take the key; empty when it does."""
    missing = [name for name in columns if name not in named]
    if missing:
        return f"{missing[0]} has no type here"
    targets = [target for name in columns if (target := named[name].target) is not None]
    bad = next((each for each in targets if each.code in _NO_KEYS.get(flavor, ())), None)
    if flavor in ("mysql", "mariadb"):
        bad = next((each for each in targets if each.code in _MYSQL_LOBS), None)
        if bad is None and sum(_key_bytes(each) for each in targets) > _MYSQL_KEY:
            return f"a key has at most {_MYSQL_KEY} bytes"
    if flavor == "sqlserver":
        bad = bad or next((each for each in targets if each.params.get("length") == "max"), None)
        if bad is None and sum(_key_bytes(each) for each in targets) > _SQLSERVER_KEY:
            return f"a key has at most {_SQLSERVER_KEY} bytes"
    return f"a {bad.rendered} cannot be in a key" if bad is not None else ""


def _key_bytes(expr: TypeExpr) -> int:
    length = expr.params.get("length")
    if not isinstance(length, int):
        return 16
    widths = {"char": 4, "varchar": 4, "nchar": 2, "nvarchar": 2}
    return length * widths.get(expr.code or "", 1)


def _comments(plan: TablePlan, dialect: Dialect, table: str) -> str:
    told = [(field.name, field.comment) for field in plan.known if field.comment]
    if dialect.comment == "statement":
        lines = [f"COMMENT ON TABLE {table} IS {dialect.text(plan.comment)};"] if plan.comment else []
        lines += [
            f"COMMENT ON COLUMN {table}.{dialect.quote(name)} IS {dialect.text(text)};" for name, text in told
        ]
    elif dialect.comment == "extended":
        lines = [_extended(plan, plan.comment)] if plan.comment else []
        lines += [_extended(plan, text, name) for name, text in told]
    else:
        lines = []
    return "".join(f"{line}\n" for line in lines)


def _extended(plan: TablePlan, text: str, column: str = "") -> str:
    parts = [("SCHEMA", plan.schema or "dbo"), ("TABLE", plan.name)] + (
        [("COLUMN", column)] if column else []
    )
    levels = ", ".join(f"'{kind}', N{_single(name)}" for kind, name in parts)
    return f"EXEC sp_addextendedproperty N'MS_Description', N{_single(text)}, {levels};"


def _plain(text: str) -> str:
    """One line, so that a comment cannot end early."""
    return " ".join(text.split())
