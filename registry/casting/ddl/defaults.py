"""A default value as each engine's DDL says it. Pure; used by `registry.casting.ddl` only."""

from __future__ import annotations

from collections.abc import Callable

from registry.casting.defaults import BOOLEAN, DAY, MOMENT, NOTHING, NOW, NUMBER, TODAY, Default
from registry.typesystem import TypeExpr

_MYSQL = ("mysql", "mariadb")
_MYSQL_LOBS = ("text", "blob", "json")
_NOT_KEPT = ("hive", "iceberg")


def clause(
    default: Default | None, target: TypeExpr, *, flavor: str, text: Callable[[str], str]
) -> str | None:
    """`DEFAULT 7`, empty where there is none to say, and None where the engine keeps no such default.

    `text` quotes a text as the engine does.
    """
    if default is None or default.kind == NOTHING:
        return ""
    if flavor in _NOT_KEPT:
        return None
    written = _value(default, target, flavor=flavor, text=text)
    if written is None:
        return None
    if flavor in _MYSQL and (default.kind == TODAY or (target.code or "").endswith(_MYSQL_LOBS)):
        written = f"({written})"
    return f"DEFAULT {written}"


def _value(default: Default, target: TypeExpr, *, flavor: str, text: Callable[[str], str]) -> str | None:
    if default.kind == NOW:
        return _now(target, flavor)
    if default.kind == TODAY:
        return {"oracle": "TRUNC(SYSDATE)", "sqlserver": "CAST(GETDATE() AS date)"}.get(
            flavor, "CURRENT_DATE"
        )
    if default.kind == BOOLEAN:
        is_true = default.text == "true"
        words = flavor in ("postgresql", *_MYSQL) or (target.code == "boolean" and flavor != "sqlite")
        return str(is_true).upper() if words else str(int(is_true))
    if default.kind == NUMBER:
        return default.text
    if flavor == "oracle" and not default.text:  # to Oracle an empty text is none at all
        return None
    if flavor == "oracle" and default.kind in (DAY, MOMENT):
        return f"{'DATE' if default.kind == DAY else 'TIMESTAMP'} {text(default.text)}"
    if flavor in _MYSQL and target.code == "timestamp" and not "1971" <= default.text[:4] <= "2037":
        return None
    return f"N{text(default.text)}" if flavor == "sqlserver" else text(default.text)


def _now(target: TypeExpr, flavor: str) -> str:
    if flavor in _MYSQL:
        digits = target.params.get("fsp")
        return f"CURRENT_TIMESTAMP({digits})" if digits else "CURRENT_TIMESTAMP"
    if flavor == "oracle" and target.code == "date":
        return "SYSDATE"
    if flavor == "sqlserver":
        return "SYSDATETIMEOFFSET()" if target.code == "datetimeoffset" else "SYSDATETIME()"
    return "CURRENT_TIMESTAMP"
