"""MariaDB beyond the cases: what a user may see, broken views, vanishing tables, lost connections."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from aide_crawler import CrawlError, Limits, Scope, Snapshot, inspect
from aide_crawler.dialects.connection import Connection
from aide_crawler.dialects.mysql import lowered
from aide_crawler.dialects.mysql_grants import read_grants
from aide_crawler.dialects.mysql_types import labels, native_type, parse
from sqlalchemy.engine import make_url


def _dataset(snapshot: Snapshot, name: str) -> dict[str, Any]:
    return next(dataset for dataset in snapshot.datasets if dataset["name"] == name)


def _before_columns(monkeypatch: pytest.MonkeyPatch, act: Callable[[Connection], str | None]) -> None:
    """Act just before the columns are read; a returned text is run in place of that statement."""
    original = Connection.rows

    def rows(self: Connection, sql: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        if "information_schema.columns" in sql:
            other = act(self)
            if other is not None:
                return original(self, other)
        return original(self, sql, parameters)

    monkeypatch.setattr(Connection, "rows", rows)


def _user(server: Any, name: str, *grants: str) -> dict[str, str]:
    server.execute(f"CREATE OR REPLACE USER {name}@'127.0.0.1' IDENTIFIED BY 'pw-{name}'")
    for grant in grants:
        server.execute(f"GRANT {grant} TO {name}@'127.0.0.1'")
    return {"username": name, "password": f"pw-{name}"}


SHOP = (
    "CREATE TABLE par (id int PRIMARY KEY); CREATE TABLE ch (x int, y int, FOREIGN KEY (x) REFERENCES par (id));"
    "CREATE VIEW v AS SELECT x FROM ch"
)


def test_a_reader_of_a_whole_database_sees_all_of_it(
    mariadb_database: Callable[..., str], mariadb_server: Any
) -> None:
    url = make_url(mariadb_database(SHOP))
    login = _user(mariadb_server, "aide_reader", f"SELECT ON `{url.database}`.*")

    snapshot = inspect(url.set(**login))

    assert snapshot.datasets == inspect(url).datasets
    assert snapshot.coverage.complete
    assert not snapshot.coverage.all_schemas


def test_what_is_granted_table_by_table_is_never_taken_for_everything(
    mariadb_database: Callable[..., str], mariadb_server: Any
) -> None:
    url = make_url(mariadb_database(SHOP))
    login = _user(
        mariadb_server,
        "aide_partial",
        f"SELECT ON `{url.database}`.par",
        f"SELECT (x) ON `{url.database}`.ch",
    )

    snapshot = inspect(url.set(**login))

    assert [dataset["name"] for dataset in snapshot.datasets] == ["ch", "par"]
    assert [field["name"] for field in _dataset(snapshot, "ch")["fields"]] == ["x"]
    assert not snapshot.coverage.shows_schema(str(url.database))
    assert [item.name for item in snapshot.coverage.failed] == ["ch"]


def test_json_stays_json_where_its_check_is_hidden(
    mariadb_database: Callable[..., str], mariadb_server: Any
) -> None:
    url = make_url(
        mariadb_database(
            "CREATE TABLE t (`a``b` json COMMENT 'CHECK (json_valid(`x`))', b longtext COMMENT 'json', c json);"
            "CREATE TABLE u (a json, b int)"
        )
    )
    login = _user(
        mariadb_server, "aide_json", f"SELECT ON `{url.database}`.t", f"SELECT (a) ON `{url.database}`.u"
    )

    everything, granted = inspect(url), inspect(url.set(**login))

    assert _dataset(granted, "t") == _dataset(everything, "t")
    assert [item.name for item in granted.coverage.failed] == ["u"]


def test_columns_keep_their_places_where_others_are_hidden(
    mariadb_database: Callable[..., str], mariadb_server: Any
) -> None:
    url = make_url(mariadb_database("CREATE TABLE t (a int, b int, c int DEFAULT 3)"))
    login = _user(mariadb_server, "aide_third", f"SELECT (c) ON `{url.database}`.t")

    fields = _dataset(inspect(url.set(**login)), "t")["fields"]

    assert [(field["name"], field["position"], field["default"]) for field in fields] == [("c", 3, "3")]


def test_a_schema_that_may_be_hidden_is_not_taken_for_dropped(
    mariadb_database: Callable[..., str], mariadb_server: Any
) -> None:
    url = make_url(mariadb_database(SHOP))
    login = _user(mariadb_server, "aide_reader", f"SELECT ON `{url.database}`.*")

    snapshot = inspect(url.set(**login), scope=Scope(schemas=(str(url.database), "perhaps")))

    assert not snapshot.coverage.shows_schema("perhaps")
    assert snapshot.coverage.shows_schema(str(url.database))


def test_a_broken_view_stays_a_view_and_is_told(
    mariadb_database: Callable[..., str], mariadb_server: Any
) -> None:
    url = mariadb_database(SHOP)
    mariadb_server.execute("DROP TABLE ch", database=make_url(url).database)

    snapshot = inspect(url)

    assert _dataset(snapshot, "v")["kind"] == "view"
    assert _dataset(snapshot, "v")["attributes"] == {"broken": True}
    assert [item.name for item in snapshot.coverage.skipped] == ["v"]


def test_types_that_only_mariadb_has(mariadb_database: Callable[..., str]) -> None:
    snapshot = inspect(
        mariadb_database(
            "CREATE TABLE t (j json, f float(7,3), d double(9,2) unsigned, hid int INVISIBLE DEFAULT 3, "
            "u uuid, i inet6, b binary(3), e enum('x\\\\y','q''q','l\\nb'));"
            "CREATE TABLE p (a int) PARTITION BY HASH (a) PARTITIONS 3;"
            "CREATE TABLE s (a int, rs timestamp(6) GENERATED ALWAYS AS ROW START, "
            "re timestamp(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (rs, re)) WITH SYSTEM VERSIONING"
        )
    )

    fields = {field["name"]: field for field in _dataset(snapshot, "t")["fields"]}
    assert fields["j"]["native_type"] == "longtext"
    assert fields["j"]["parameters"]["json_alias"] is True
    assert fields["f"]["parameters"] == {"precision": 7, "scale": 3}
    assert fields["d"]["parameters"] == {"precision": 9, "scale": 2, "unsigned": True}
    assert fields["hid"]["hidden"] is True
    assert fields["u"]["native_type"] == "uuid"
    assert fields["e"]["parameters"]["values"] == ["x\\y", "q'q", "l\nb"]
    assert _dataset(snapshot, "p")["attributes"]["partition_count"] == 3
    assert _dataset(snapshot, "p")["kind"] == "table"
    assert _dataset(snapshot, "s")["attributes"]["system_versioned"] is True
    assert _dataset(snapshot, "s")["fields"][1]["generated"] == {"kind": "stored", "expression": "ROW START"}


def test_odd_names_of_databases_tables_and_columns(mariadb_database: Callable[..., str]) -> None:
    url = mariadb_database("CREATE TABLE `t a%%b.c` (`c``1 %s` int UNIQUE)", name="we`ird.%s db")

    snapshot = inspect(url)

    assert [(dataset["schema"], dataset["name"]) for dataset in snapshot.datasets] == [
        ("we`ird.%s db", "t a%%b.c")
    ]
    assert snapshot.datasets[0]["unique"][0]["columns"] == ["c`1 %s"]


def test_without_a_database_every_schema_of_users_is_read(
    mariadb_database: Callable[..., str], mariadb_server: Any
) -> None:
    url = mariadb_database("CREATE TABLE t (a int)")
    other = mariadb_database("CREATE TABLE t (a int)")
    names = {make_url(each).database for each in (url, other)}

    snapshot = inspect(mariadb_server.url)

    assert names <= {dataset["schema"] for dataset in snapshot.datasets}
    assert not {"mysql", "sys", "information_schema"} & {dataset["schema"] for dataset in snapshot.datasets}
    assert snapshot.coverage.all_schemas
    assert snapshot.dialect == "mariadb"


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("sql_select_limit", "1"),
        ("max_join_size", "1"),
        ("sql_quote_show_create", "0"),
        ("time_zone", "'+05:00'"),
        ("sql_mode", "'ANSI_QUOTES,PIPES_AS_CONCAT'"),
        ("sql_mode", "'ORACLE'"),
        ("lc_messages", "'de_DE'"),
    ],
)
def test_settings_of_the_server_change_nothing(
    mariadb_database: Callable[..., str], mariadb_server: Any, setting: str, value: str
) -> None:
    url = mariadb_database(
        "CREATE TABLE a (x int DEFAULT (1 + 2), j json, y int DEFAULT (`x` + 1), g int AS (`x` * 2) VIRTUAL,"
        "at timestamp NOT NULL DEFAULT '2000-01-01 00:00:01', UNIQUE (x), CHECK (`x` > 0));"
        "CREATE TABLE b (x int); CREATE VIEW lost AS SELECT x FROM b; DROP TABLE b; CREATE TABLE c (z int)"
    )
    before = inspect(url).to_dict()

    mariadb_server.execute(f"SET GLOBAL {setting} = {value}")
    try:
        after = inspect(url).to_dict()
    finally:
        mariadb_server.execute(f"SET GLOBAL {setting} = DEFAULT")

    assert after["datasets"] == before["datasets"]
    assert after["coverage"]["failed"] == []


def test_a_table_dropped_during_the_crawl_fails_alone(
    mariadb_database: Callable[..., str], mariadb_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = mariadb_database("CREATE TABLE goes (a int); CREATE TABLE stays (a int)")
    _before_columns(
        monkeypatch,
        lambda _: mariadb_server.execute("DROP TABLE IF EXISTS goes", database=make_url(url).database),
    )

    snapshot = inspect(url)

    assert [dataset["name"] for dataset in snapshot.datasets] == ["stays"]
    assert [item.name for item in snapshot.coverage.failed] == ["goes"]


def test_a_database_dropped_during_the_crawl_is_not_taken_for_an_empty_one(
    mariadb_database: Callable[..., str], mariadb_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = mariadb_database("CREATE TABLE t (a int)")
    original = Connection.rows

    def rows(self: Connection, sql: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        if "information_schema.schemata" in sql:
            mariadb_server.drop_database(make_url(url).database)
        return original(self, sql, parameters)

    monkeypatch.setattr(Connection, "rows", rows)

    with pytest.raises(CrawlError) as raised:
        inspect(url)

    assert raised.value.code == "no_such_database"


def test_a_lost_connection_ends_the_crawl_with_an_error(
    mariadb_database: Callable[..., str], mariadb_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = mariadb_database("CREATE TABLE t (a int)")
    _before_columns(monkeypatch, lambda own: mariadb_server.execute(f"KILL {own.raw.thread_id()}"))

    with pytest.raises(CrawlError) as raised:
        inspect(url)

    assert raised.value.code == "connection_lost"


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("timeout", {"limits": Limits(statement_seconds=0.5)}),
        ("timeout", {"limits": Limits(total_seconds=0.5)}),
        ("cancelled", {"should_stop": iter([False] * 12 + [True] * 99).__next__}),
    ],
)
def test_a_statement_that_hangs_is_ended(
    code: str, how: dict[str, Any], mariadb_database: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = mariadb_database("CREATE TABLE t (a int)")
    _before_columns(monkeypatch, lambda _: "select sleep(20)")
    began = time.monotonic()

    with pytest.raises(CrawlError) as raised:
        inspect(url, **how)

    assert raised.value.code == code
    assert time.monotonic() - began < 8


def test_grants_are_read_with_their_patterns() -> None:
    grants = read_grants(
        [
            "GRANT USAGE ON *.* TO `u`@`%` IDENTIFIED BY PASSWORD '*B69027D44F6E5EDC07F1AEAD1477967B16F28227'",
            "GRANT SELECT, SHOW VIEW ON `shop\\_1%`.* TO `u`@`%`",
            "GRANT EXECUTE ON `other`.* TO `u`@`%`",
            "GRANT SELECT (`a`, `b`), INSERT ON `x``y`.`t.1` TO `u`@`%`",
            "GRANT SELECT (`a`) ON `x``y`.`t2` TO `u`@`%`",
        ]
    )

    assert grants.shows_schema("shop_1")
    assert grants.shows_schema("shop_12")
    assert not grants.shows_schema("shopx1")
    assert not grants.shows_schema("other")
    assert grants.shows_table("x`y", "t.1")
    assert not grants.shows_table("x`y", "t2")
    assert not grants.everything
    assert read_grants(["GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION"]).everything


def test_types_are_taken_apart() -> None:
    def parameters(text: str) -> tuple[str, dict[str, Any]]:
        return parse(native_type(text), charset=None, collation=None, is_json=False)

    assert native_type("datetime /* mariadb-5.3 */") == "datetime"
    assert parameters("int(10) unsigned zerofill") == (
        "int",
        {"display_width": 10, "unsigned": True, "zerofill": True},
    )
    assert parameters("decimal(10,0) unsigned") == (
        "decimal",
        {"precision": 10, "scale": 0, "unsigned": True},
    )
    assert parameters("set('a,b','(c)','')") == ("set", {"values": ["a,b", "(c)", ""]})
    assert parameters("varchar(10) /*M!100301 COMPRESSED*/") == ("varchar", {"length": 10})
    assert parameters("year(4)") == ("year", {"display_width": 4})
    assert labels("'it''s','back\\\\slash','tab\\t'") == ["it's", "back\\slash", "tab\t"]


def test_a_server_that_folds_names_is_asked_for_folded_ones() -> None:
    scope = Scope(schemas=('"Sales"',), exclude_tables=("Old*", "Sales.T"))

    folded = lowered(scope)

    assert folded == Scope(schemas=('"sales"',), exclude_tables=("old*", "sales.t"))
    assert folded.covers("sales", "orders")
    assert not folded.covers("sales", "old_1")
