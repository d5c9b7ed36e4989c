"""Fixtures of the flows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.flows.sources import ENGINES, Source, open_source, sqlite_source


@pytest.fixture
def new_source(
    request: pytest.FixtureRequest, tmp_path: Path, type_catalogues: None
) -> Callable[[str], Source]:
    """Makes an empty source database of an engine."""
    return lambda engine: open_source(engine, request=request, folder=tmp_path)


@pytest.fixture(params=ENGINES)
def source(request: pytest.FixtureRequest, new_source: Callable[[str], Source]) -> Source:
    """An empty source database, on each engine in turn."""
    return new_source(request.param)


@pytest.fixture
def sqlite(tmp_path: Path, type_catalogues: None) -> Source:
    """An empty SQLite source: for what does not depend on the engine."""
    return sqlite_source(tmp_path / "source.sqlite3")
