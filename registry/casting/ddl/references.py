"""Foreign keys as each engine's DDL says them. Pure; used by `registry.casting.ddl` only."""

from __future__ import annotations

from collections.abc import Callable

from registry.casting.documents import ReferencePlan

INLINE = ("sqlite",)
NOT_KEPT = ("iceberg",)
_SUFFIX = {"hive": " DISABLE NOVALIDATE"}
# The actions that an engine has; what is not here stays the source's.
_ON_DELETE = {
    "oracle": ("CASCADE", "SET NULL"),
    "sqlserver": ("CASCADE", "SET NULL", "SET DEFAULT"),
    "mysql": ("CASCADE", "SET NULL", "RESTRICT"),
    "mariadb": ("CASCADE", "SET NULL", "RESTRICT"),
    "hive": (),
}
_ON_UPDATE = {**_ON_DELETE, "oracle": ()}
_ALL = ("CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT")


def clause(key: ReferencePlan, *, flavor: str, quote: Callable[[str], str], has_schema: bool) -> str:
    """`CONSTRAINT … FOREIGN KEY (…) REFERENCES … (…)` with the actions that the engine has."""
    parts = [key.schema, key.table] if key.schema and has_schema else [key.table]
    written = [f"CONSTRAINT {quote(key.name)}"] if key.name else []
    written.append(f"FOREIGN KEY ({', '.join(map(quote, key.columns))})")
    written.append(f"REFERENCES {'.'.join(map(quote, parts))}")
    if key.to:
        written.append(f"({', '.join(map(quote, key.to))})")
    if key.on_delete in _ON_DELETE.get(flavor, _ALL):
        written.append(f"ON DELETE {key.on_delete}")
    if key.on_update in _ON_UPDATE.get(flavor, _ALL):
        written.append(f"ON UPDATE {key.on_update}")
    return " ".join(written) + _SUFFIX.get(flavor, "")


def lost(key: ReferencePlan, *, flavor: str) -> list[str]:
    """The actions that the engine does not have."""
    deleted, updated = _ON_DELETE.get(flavor, _ALL), _ON_UPDATE.get(flavor, _ALL)
    found = [f"ON DELETE {key.on_delete}"] if key.on_delete and key.on_delete not in deleted else []
    return found + ([f"ON UPDATE {key.on_update}"] if key.on_update and key.on_update not in updated else [])
