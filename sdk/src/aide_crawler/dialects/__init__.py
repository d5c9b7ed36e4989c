"""How each kind of database is read; only `aide_crawler.inspection` calls in here."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from aide_crawler.connection_url import URL
from aide_crawler.scope import Scope
from aide_crawler.snapshot import Snapshot
from aide_crawler.watch import Watch

Reader = Callable[[URL, Scope, Watch], Snapshot]
_MODULES = {
    "postgresql": "postgresql",
    "mysql": "mysql",
    "mariadb": "mysql",
    "sqlite": "sqlite",
    "duckdb": "duckdb",
}


def reader_for(url: URL) -> Reader:
    """The function that reads the URL's kind of database; any other goes through SQLAlchemy's Inspector."""
    name = _MODULES.get(url.get_backend_name(), "generic")
    module: Any = import_module(f"aide_crawler.dialects.{name}")
    reader: Reader = module.read
    return reader
