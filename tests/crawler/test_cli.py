"""The command `aide-crawler`: streams, exit codes, its sentences, and its talk with a server."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aide_crawler import Snapshot
from aide_crawler.cli import main

from tests.factories import PASSWORD, make_api_key, make_flavor, make_service, make_system, make_user

SECRET = "S3cret@/pw"
TITLE = "=== AIDE Crawler Diff Report ==="


@dataclass(frozen=True)
class Answer:
    """What one run of the command gave."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answer]:
    """Run the command with arguments, in an environment without its variables."""
    for name in (
        "AIDE_CRAWLER_CONNECTION_URL",
        "AIDE_METASTORE_URL",
        "AIDE_METASTORE_USER",
        "AIDE_METASTORE_PASSWORD",
        "AIDE_METASTORE_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str) -> Answer:
        capsys.readouterr()
        code = main(arguments)
        streams = capsys.readouterr()
        return Answer(code, streams.out, streams.err)

    return call


@pytest.fixture
def shop(tmp_path: Path) -> str:
    """The URL of a small SQLite file."""
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'x');"
        "CREATE TABLE bill (id INTEGER PRIMARY KEY, customer_id INT REFERENCES customer, UNIQUE (customer_id));"
        'CREATE TABLE "odd,name" (a INT); CREATE VIEW names AS SELECT name FROM customer'
    )
    connection.close()
    return f"sqlite:///{path}"


def _is_trouble(answer: Answer) -> None:
    assert answer.code == 1
    assert answer.out == ""
    assert answer.err.count("\n") == 1
    assert "Traceback" not in answer.err
    assert "S3cret" not in answer.err


def test_inspect_prints_a_snapshot(run: Callable[..., Answer], shop: str) -> None:
    answer = run("inspect", "--connection-url", shop, "--format", "json")

    assert (answer.code, answer.err) == (0, "")
    snapshot = Snapshot.from_dict(json.loads(answer.out))
    assert [dataset["name"] for dataset in snapshot.datasets] == ["bill", "customer", "names", "odd,name"]
    assert snapshot.coverage.complete


def test_inspect_prints_text_for_people(run: Callable[..., Answer], shop: str) -> None:
    answer = run("inspect", "--connection-url", shop)

    assert answer.code == 0
    assert "table main.customer\n    id  INTEGER  not null  identity rowid_alias\n" in answer.out
    assert "    foreign key (customer_id) to main.customer (id)\n" in answer.out
    assert answer.out.endswith("4 of 4 datasets read, 6 fields\n")


def test_filters_take_commas_quotes_and_wildcards(run: Callable[..., Answer], shop: str) -> None:
    def names(*filters: str) -> list[str]:
        answer = run("inspect", "--connection-url", shop, "--format", "json", *filters)
        return [dataset["name"] for dataset in json.loads(answer.out)["datasets"]]

    assert names("--tables", 'customer,main.b*,"odd,name"') == ["bill", "customer", "odd,name"]
    assert names("--tables", "bill", "--tables", "names") == ["bill", "names"]
    assert names("--exclude-tables", "main.*") == []
    assert names("--exclude-schemas", "main") == []
    assert names("--schemas", "m*", "--exclude-tables", "n?mes,b*") == ["customer", "odd,name"]


def test_the_answer_goes_to_a_file(run: Callable[..., Answer], shop: str, tmp_path: Path) -> None:
    path = tmp_path / "answer.json"

    answer = run("inspect", "--connection-url", shop, "--format", "json", "-o", str(path))

    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert len(json.loads(path.read_text())["datasets"]) == 4


def test_the_url_may_come_from_the_environment(
    run: Callable[..., Answer], shop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIDE_CRAWLER_CONNECTION_URL", shop)

    assert run("inspect").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nonsense",),
        ("inspect",),
        ("inspect", "--nonsense"),
        ("inspect", f"postgresql://u:{SECRET}@h/x"),
        ("inspect", "u:S3cret@h/x"),
        (f"postgresql://u:{SECRET}@h/x",),
        ("crawl", "--system-code", "s", "S3cret"),
        ("inspect", "--connection-url", "sqlite:////x", "--format", f"postgresql://u:{SECRET}@h/x"),
        ("inspect", "--connection-url", "sqlite:////not/there.db"),
        ("inspect", "--connection-url", "sqlite:////not/there.db", "--format", "xml"),
        ("inspect", "--connection-url", f"postgresql://u:{SECRET}@127.0.0.1:1/x"),
        ("inspect", "--connection-url", "postgresql://u:S3cret%40@127.0.0.1:1/x"),
        ("inspect", "--connection-url", "sqlite:////not/there.db", "--tables", "a.b.c"),
        ("crawl", "--connection-url", "sqlite:////not/there.db"),
        ("crawl", "--system-code", "s", "--connection-url", "sqlite:////not/there.db"),
        ("crawl", "--system-code", "s", "--connection-url", f"postgresql://u:{SECRET}@h/x"),
    ],
)
def test_each_trouble_is_one_sentence(arguments: tuple[str, ...], run: Callable[..., Answer]) -> None:
    _is_trouble(run(*arguments))


def test_an_api_key_that_no_header_can_hold_is_told(
    run: Callable[..., Answer], shop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIDE_METASTORE_API_KEY", "S3cret\N{BULLET}")

    answer = run("crawl", "--system-code", "s", "--connection-url", shop)

    _is_trouble(answer)
    assert "API key" in answer.err


def test_a_file_that_cannot_be_written_is_named(run: Callable[..., Answer], shop: str) -> None:
    answer = run("inspect", "--connection-url", shop, "-o", "/not/there/answer.txt")

    _is_trouble(answer)
    assert "/not/there/answer.txt" in answer.err


def test_no_such_database_is_named(run: Callable[..., Answer], postgres_server: Any) -> None:
    answer = run("inspect", "--connection-url", postgres_server.url.replace("/postgres", "/not_there"))

    _is_trouble(answer)
    assert "not_there" in answer.err


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "ftp://h", "nonsense", "http://u:S3cret@127.0.0.1:1"])
def test_a_server_that_cannot_be_reached_is_told(url: str, run: Callable[..., Answer], shop: str) -> None:
    answer = run(
        *("crawl", "--system-code", "s", "--connection-url", shop, "--metastore-url", url),
        *("--metastore-user", "a@example.com", "--metastore-password", SECRET),
    )

    _is_trouble(answer)


@pytest.fixture
def crawl(
    run: Callable[..., Answer], shop: str, live_server: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Answer]:
    """Crawl the shop into a real server as an engineer."""
    engineer = make_user("engineer")
    make_system("shop", flavor="sqlite")
    login = {"user": engineer.email, "password": PASSWORD}

    def call(*arguments: str, **changed: str) -> Answer:
        monkeypatch.setenv("AIDE_METASTORE_URL", live_server.url)
        for key, value in {**login, **changed}.items():
            monkeypatch.setenv(f"AIDE_METASTORE_{key.upper()}", value)
        return run("crawl", "--connection-url", shop, *arguments)

    return call


def test_crawl_prints_the_servers_report(crawl: Callable[..., Answer]) -> None:
    answer = crawl("--system-code", "shop")

    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(TITLE + "\n")
    assert "--- New datasets (4) ---" in answer.out
    assert "--- Summary ---" in answer.out


def test_the_exit_code_tells_of_changes_only_when_asked(crawl: Callable[..., Answer]) -> None:
    nothing = ("--tables", "not_there")

    assert crawl("--system-code", "shop", "--detailed-exitcode").code == 2
    assert crawl("--system-code", "shop", *nothing).code == 0
    assert crawl("--system-code", "shop", *nothing, "--detailed-exitcode").code == 0


def test_a_report_alone_proposes_nothing(crawl: Callable[..., Answer], tmp_path: Path) -> None:
    from crawling.models import Proposal

    path = tmp_path / "report.json"
    answer = crawl("--system-code", "shop", "--report-only", "--format", "json", "-o", str(path))

    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert json.loads(path.read_text())["summary"]["new_datasets"] == 4
    assert not Proposal.objects.exists()

    assert crawl("--system-code", "shop", "--format", "json").code == 0
    assert Proposal.objects.count() == 4


def test_an_api_key_is_as_good_as_a_password(crawl: Callable[..., Answer]) -> None:
    _, secret = make_api_key(make_service(), "crawl:write", "registry:read")

    assert crawl("--system-code", "shop", user="", password="", api_key=secret).code == 0


def test_a_wrong_password_is_told_without_it(crawl: Callable[..., Answer]) -> None:
    answer = crawl("--system-code", "shop", password=SECRET)

    _is_trouble(answer)
    assert "did not accept the log-in" in answer.err


def test_an_unknown_system_is_named(crawl: Callable[..., Answer]) -> None:
    answer = crawl("--system-code", "not/there")

    _is_trouble(answer)
    assert "not/there" in answer.err


def test_a_flavor_without_types_stops_before_the_crawl(crawl: Callable[..., Answer]) -> None:
    make_flavor("mariadb", types=False)
    make_system("typeless", flavor="mariadb")

    answer = crawl("--system-code", "typeless")

    _is_trouble(answer)
    assert "mariadb" in answer.err


def test_a_database_of_another_kind_is_refused_by_the_server(crawl: Callable[..., Answer]) -> None:
    make_system("elsewhere", flavor="postgresql")

    answer = crawl("--system-code", "elsewhere")

    _is_trouble(answer)
    assert "refused" in answer.err


def test_a_viewer_may_not_crawl(crawl: Callable[..., Answer]) -> None:
    viewer = make_user("viewer")

    _is_trouble(crawl("--system-code", "shop", user=viewer.email))
