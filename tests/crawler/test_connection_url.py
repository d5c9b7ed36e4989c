"""A connection URL is read and written just as SQLAlchemy does, whose import a crawl of PostgreSQL spares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aide_crawler.connection_url import URL
from aide_crawler.urls import read_url
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy.engine import URL as SqlAlchemyUrl  # noqa: N811 (ours has the name here)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

PARTS = ("drivername", "username", "password", "host", "port", "database")
PIECES = st.sampled_from((
    ":", "/", "@", "?", "&", "=", "[", "]", "::1", "+", "%", "%40", "%2F", "%zz", " ", "#", ";", "\n", "5432",
    "h.example", "user", "pä55", "db", "a=b", "sqlite", "mysql+pymysql", "://", "日本", "\u0661",
))  # fmt: skip
TEXT = st.text(max_size=8)
relaxed = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def parts_of(url: URL | SqlAlchemyUrl) -> dict[str, object]:
    return {name: getattr(url, name) for name in PARTS} | {"query": dict(url.query)}


def read(reader: Callable[[str], Any], text: str) -> Any:
    try:
        return reader(text)
    except (ArgumentError, TypeError, ValueError):
        return None


@relaxed
@given(st.lists(PIECES, max_size=12).map("".join))
@example("postgresql+psycopg://user:p%40ss%2F@[fe80::1]:5432/a%20b?sslmode=require&x=1&x=2&empty=")
@example("sqlite:////var/data/a file.db")
@example("mysql://h:port/x")
@example("no url")
def test_every_text_is_read_as_sqlalchemy_reads_it(tail: str) -> None:
    for text in (tail, f"postgresql://{tail}"):
        theirs, ours = read(make_url, text), read(URL.parse, text)
        assert (ours is None) == (theirs is None)
        if ours is None:
            continue
        assert parts_of(ours) == parts_of(theirs)
        assert parts_of(ours.for_sqlalchemy()) == parts_of(theirs)
        assert URL.of(theirs) == ours
        assert ours.get_backend_name() == theirs.get_backend_name()


@relaxed
@given(
    username=st.none() | TEXT, password=st.none() | TEXT, host=st.sampled_from([None, "h", "::1"]),
    port=st.none() | st.integers(1, 65535), database=st.none() | TEXT, query=st.dictionaries(TEXT, TEXT, max_size=2),
)  # fmt: skip
def test_every_url_is_written_as_sqlalchemy_writes_it(**parts: object) -> None:
    theirs = SqlAlchemyUrl.create("postgresql+psycopg", **parts)  # type: ignore[arg-type]
    ours = URL("postgresql+psycopg", **parts)  # type: ignore[arg-type]
    assert ours.render_as_string() == theirs.render_as_string()
    assert ours.render_as_string(hide_password=False) == theirs.render_as_string(hide_password=False)


def test_no_printed_form_shows_a_secret() -> None:
    url = URL.parse("postgresql://someone:S3cret@h/x?password=S3cret")
    assert url.password == "S3cret"
    assert not [text for text in (repr(url), str(url), f"{url}") if "S3cret" in text]


def test_a_url_of_sqlalchemy_is_taken_as_well() -> None:
    text = "postgresql://someone:S3cret@h:1/x?application_name=a"
    assert read_url(make_url(text)) == read_url(text)
