"""What can go wrong on the way to a database: a plain sentence each, in time, and never a secret."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from aide_crawler import CrawlError, Limits, Scope, inspect
from aide_crawler.options import check_options
from aide_crawler.urls import has_password, read_url, redact, safe_url, secrets_of
from sqlalchemy.engine import URL, make_url

SECRETS = ["S3cret-pw", "p@ss:w/r%d?#", "пароль🙂", 'it\'s "q" \\b', "a b+c&d=e", "%41%42", "%(x)s {y}"]


def _trouble(url: str | URL, **how: Any) -> CrawlError:
    began = time.monotonic()
    with pytest.raises(CrawlError) as raised:
        inspect(url, **how)
    error = raised.value
    assert time.monotonic() - began < 15
    assert error.__cause__ is None
    assert error.__context__ is None
    assert str(error).count("\n") == 0
    assert str(error).endswith(".")
    return error


def _hides(error: CrawlError, secret: str) -> None:
    for spelling in (secret, quote(secret), quote(secret, safe=""), repr(secret)[1:-1]):
        assert spelling not in str(error)
        assert spelling not in repr(error)


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that accepts connections and never says a word."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(5)
        yield listener.getsockname()[1]


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.mark.parametrize("dialect", ["postgresql", "postgres", "mysql", "mariadb"])
@pytest.mark.parametrize("secret", SECRETS)
def test_a_refused_connection_names_the_place(dialect: str, secret: str, closed_port: int) -> None:
    error = _trouble(f"{dialect}://u:{quote(secret, safe='')}@127.0.0.1:{closed_port}/x")

    assert error.code == "refused"
    assert f"127.0.0.1:{closed_port}" in str(error)
    _hides(error, secret)


@pytest.mark.parametrize("dialect", ["postgresql", "mysql"])
def test_a_silent_server_is_given_up(dialect: str, silent_port: int) -> None:
    error = _trouble(f"{dialect}://u:S3cret-pw@127.0.0.1:{silent_port}/x", limits=Limits(connect_seconds=2))

    assert error.code == "timeout"
    assert f"127.0.0.1:{silent_port}" in str(error)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["postgresql", "mysql"])
def test_a_silent_server_is_given_up_in_time_without_any_setting(dialect: str, silent_port: int) -> None:
    assert _trouble(f"{dialect}://u:S3cret-pw@localhost:{silent_port}/x").code == "timeout"


@pytest.mark.parametrize("dialect", ["postgresql", "mysql"])
def test_an_unknown_host_is_named(dialect: str) -> None:
    error = _trouble(f"{dialect}://u:S3cret-pw@no-such-host.invalid/x")

    assert error.code == "unknown_host"
    assert "no-such-host.invalid" in str(error)


@pytest.mark.parametrize("secret", SECRETS)
def test_a_wrong_password_of_postgresql(secret: str, postgres_server: Any) -> None:
    postgres_server.execute(
        "DO $$ BEGIN CREATE ROLE aide_locked LOGIN PASSWORD 'right-one' IN ROLE pw_required; "
        "EXCEPTION WHEN duplicate_object THEN NULL; END $$"
    )
    url = make_url(postgres_server.url).set(username="aide_locked")

    error = _trouble(url, password=secret)

    assert error.code == "auth_failed"
    assert "aide_locked" in str(error)
    _hides(error, secret)


@pytest.mark.parametrize("secret", SECRETS)
def test_a_wrong_password_of_mariadb(secret: str, mariadb_server: Any) -> None:
    mariadb_server.execute("CREATE USER IF NOT EXISTS 'aide:u@x'@'127.0.0.1' IDENTIFIED BY 'right'")
    url = make_url(mariadb_server.url).set(username="aide:u@x", password=secret)

    error = _trouble(url)

    assert error.code == "auth_failed"
    assert "aide:u@x" in str(error)
    _hides(error, secret)


def test_the_right_password_may_hold_anything(postgres_server: Any, mariadb_server: Any) -> None:
    secret = "p@ss:w/r%d?#пароль🙂"
    quoted = secret.replace("'", "''")
    postgres_server.execute("DROP ROLE IF EXISTS aide_odd")
    postgres_server.execute(f"CREATE ROLE aide_odd LOGIN PASSWORD '{quoted}' IN ROLE pw_required")
    mariadb_server.execute(f"CREATE OR REPLACE USER aide_odd@'127.0.0.1' IDENTIFIED BY '{quoted}'")

    for server in (postgres_server, mariadb_server):
        url = make_url(server.url).set(username="aide_odd")
        assert inspect(url, password=secret).coverage.listed == 0


def test_a_missing_database_is_named(postgres_server: Any, mariadb_server: Any) -> None:
    for server in (postgres_server, mariadb_server):
        error = _trouble(make_url(server.url).set(database="not_there"))
        assert error.code == "no_such_database"
        assert "not_there" in str(error)


def test_tls_is_never_given_up_silently(postgres_server: Any) -> None:
    url = make_url(postgres_server.url).update_query_dict({"sslmode": "require"})

    assert _trouble(url, password="S3cret-pw").code == "tls_failed"


def test_the_wrong_kind_of_server_is_told(postgres_server: Any, mariadb_server: Any) -> None:
    port = make_url(mariadb_server.url).port

    error = _trouble(f"postgresql://u:S3cret-pw@127.0.0.1:{port}/x")

    assert "postgresql" in str(error)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "nothing",
        "postgresql",
        "postgresql://u:S3cret@pw@h/x",
        "postgresql://u:S3cret@h:port/x",
        "postgresql://u:S3cret@h:99999/x",
        "mysql://u:a/S3cret@b@h/x",
        "://u:S3cret@h/x",
        "post gres://u:S3cret@h/x",
    ],
)
def test_a_url_that_cannot_be_read_is_not_repeated(url: str) -> None:
    error = _trouble(url)

    assert error.code == "bad_url"
    assert "S3cret" not in str(error)


def test_an_unknown_option_is_a_bad_url(postgres_server: Any, mariadb_server: Any) -> None:
    for server in (postgres_server, mariadb_server):
        assert _trouble(make_url(server.url).update_query_dict({"foo": "bar"})).code == "bad_url"


@pytest.mark.parametrize("url", ["nosuch://u:S3cret@h/x", "postgresql+pg8000://u:S3cret@h/x"])
def test_a_missing_driver_is_named(url: str) -> None:
    error = _trouble(url)

    assert error.code == "missing_driver"
    assert url.partition(":")[0] in str(error)
    assert "S3cret" not in str(error)


@pytest.mark.parametrize("name", ["missing.db", "folder", "garbage.db"])
def test_what_is_no_sqlite_file_is_refused_and_never_made(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "garbage.db").write_text("this is no database, only text that is long enough " * 5)
    before = sorted(tmp_path.iterdir())

    error = _trouble(f"sqlite:///{tmp_path / name}")

    assert error.code == "open_failed"
    assert name in str(error)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///relative.db", "sqlite:///:memory:"])
def test_a_sqlite_url_must_name_a_whole_path(url: str) -> None:
    assert _trouble(url).code == "bad_url"


def test_bare_dialects_choose_the_shipped_drivers() -> None:
    assert read_url("postgres://h/x").drivername == "postgresql+psycopg"
    assert read_url("postgresql://h/x").drivername == "postgresql+psycopg"
    assert read_url("mysql://h/x").drivername == "mysql+pymysql"
    assert read_url("mariadb://h/x").drivername == "mariadb+pymysql"
    assert read_url("postgresql+psycopg2://h/x").drivername == "postgresql+psycopg2"


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("postgresql://u:S3cret@h/x", True),
        ("postgresql://u@h/x?password=S3cret", True),
        ("postgresql://u@h/x?sslpassword=S3cret", True),
        ("mssql+pyodbc://h/x?odbc_connect=DRIVER%3Dx%3BPWD%3DS3cret", True),
        ("postgresql://u@h/x?sslmode=require", False),
        ("postgresql://u:@h/x", False),
        ("sqlite:////srv/a@b:c.db", False),
    ],
)
def test_a_password_in_a_url_is_found_and_hidden(url: str, found: bool) -> None:
    assert has_password(url) is found
    assert "S3cret" not in safe_url(url)
    assert ("S3cret" in secrets_of(read_url(url))) is found


def test_redacting_knows_every_spelling() -> None:
    for secret in SECRETS:
        text = f"x {secret} y {quote(secret)} z {quote(secret, safe='')} {secret!r}"
        assert secret not in redact(text, [secret])
        assert quote(secret, safe="") not in redact(text, [secret])
    assert redact("reached by b", ["b"]) == "reached by ***"


def test_a_crawl_error_can_be_sent_between_processes() -> None:
    import pickle

    error = pickle.loads(pickle.dumps(CrawlError("refused", "Nothing there.")))

    assert (error.code, str(error)) == ("refused", "Nothing there.")


def test_a_silent_server_can_be_left_at_once(silent_port: int) -> None:
    began = time.monotonic()
    stop: Callable[[], bool] = lambda: time.monotonic() - began > 0.3  # noqa: E731

    error = _trouble(f"postgresql://u:x@127.0.0.1:{silent_port}/x", should_stop=stop)

    assert error.code == "cancelled"
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("url", "option"),
    [
        ("mysql://u@h/x?init_command=drop+table+S3cret", "init_command"),
        ("mysql://u@h/x?local_infile=1", "local_infile"),
        ("mariadb://u@h/x?read_default_file=/etc/S3cret", "read_default_file"),
        ("mysql://u@h/x?ssl_ca=/etc/S3cret", "ssl_ca"),
        ("mysql://u@h/x?unix_socket=/srv/S3cret", "unix_socket"),
        ("mysql://u@h/x?charset=S3cret", "charset"),
        ("mysql://u@h/x?connect_timeout=S3cret", "connect_timeout"),
        ("mysql://u@h/x?ssl_disabled=S3cret", "ssl_disabled"),
        ("postgresql://u@h/x?passfile=/etc/S3cret", "passfile"),
        ("postgresql://u@h/x?sslkey=/etc/S3cret", "sslkey"),
        ("postgresql://u@h/x?sslrootcert=/etc/S3cret", "sslrootcert"),
        ("postgresql://u@h/x?service=S3cret", "service"),
        ("postgresql://u@h/x?host=S3cret", "host"),
        ("postgresql://u@h/x?options=-csearch_path%3DS3cret", "options"),
        ("postgresql://u@h/x?connect_timeout=S3cret", "connect_timeout"),
        ("postgresql://u@h/x?sslmode=require&sslmode=S3cret", "sslmode"),
        ("postgresql+psycopg2://u@h/x?passfile=/etc/S3cret", "passfile"),
        ("sqlite:////srv/x?mode=S3cret", "mode"),
        ("oracle://u@h/x?plugin=S3cret", "plugin"),
        ("mssql+pyodbc://u@h/x?driver=/srv/S3cret.so", "driver"),
        ("mssql+pyodbc://?odbc_connect=Driver%3D/srv/S3cret.so", "Driver"),
    ],
)
def test_an_option_that_reaches_too_far_is_refused_by_its_name(url: str, option: str) -> None:
    error = _trouble(url)

    assert error.code == "bad_url"
    assert f"The option {option} " in error.sentence
    assert "S3cret" not in error.sentence


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u@h/x?sslmode=verify-full&sslrootcert=system&connect_timeout=5&application_name=a",
        "mysql://u@h/x?charset=utf8mb4&connect_timeout=5&ssl_verify_identity=true",
        "mssql+pyodbc://u@h/x?driver=ODBC+Driver+18+for+SQL+Server&TrustServerCertificate=yes",
        "oracle://u@h/?service_name=shop",
        "snowflake://u@h/x?warehouse=w&role=r",
    ],
)
def test_the_options_that_people_need_are_taken(url: str) -> None:
    check_options(read_url(url))


def test_a_flag_of_mysql_is_read_as_a_flag(mariadb_server: Any) -> None:
    url = make_url(mariadb_server.url).update_query_dict({"charset": "latin1", "ssl_disabled": "false"})

    assert inspect(url, scope=Scope(schemas=("none",))).dialect == "mariadb"
