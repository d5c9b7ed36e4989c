"""What the tests of PostgreSQL share: parts of a snapshot, sessions beside the crawl, and acting in its midst."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg
import pytest
from aide_crawler import Snapshot
from aide_crawler.dialects import postgresql_sql as statements
from sqlalchemy.engine import make_url


def dataset_of(snapshot: Snapshot, name: str) -> dict[str, Any]:
    return next(dataset for dataset in snapshot.datasets if dataset["name"] == name)


def fields_of(snapshot: Snapshot, name: str) -> dict[str, dict[str, Any]]:
    return {field["name"]: field for field in dataset_of(snapshot, name)["fields"]}


@contextmanager
def session(url: str) -> Iterator[psycopg.Connection[Any]]:
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with closing(psycopg.connect(plain)) as connection:
        yield connection


def before(monkeypatch: pytest.MonkeyPatch, part: str, act: Callable[[], object]) -> None:
    """Do something in another session just before the first statement of a part is run."""
    original = getattr(statements, part)
    done: list[bool] = []

    def statement(*arguments: Any, **keywords: Any) -> str:
        if not done:
            done.append(True)
            act()
        return str(original(*arguments, **keywords))

    monkeypatch.setattr(statements, part, statement)
