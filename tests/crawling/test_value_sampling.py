"""Values are looked at only where a system allows it, only counts of shapes stay, and no value is found anywhere."""

from __future__ import annotations

import json
import logging
import sqlite3
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from aide_crawler import CrawlError
from aide_crawler.sampling import Table, sample
from django.apps import apps
from django.test import Client
from django.urls import reverse
from structlog.testing import capture_logs

from aide.work.models import WorkItem
from aide.work.runner import drain
from crawling import sampling
from registry import suggesting
from registry.models import Dataset, FieldShapes, FieldTag, PIITag, System
from tests.factories import api_client, make_system, make_user, publish

CANARIES = [f"kanarienvogel{n:03d}@vogelhaus-zq7x.example" for n in range(120)]
MARK = "vogelhaus-zq7x"
WIDE = [("id", "integer"), ("Contact %s", "text"), ("note", "text"), ("born", "date")]


def fill(path: Path) -> None:
    with sqlite3.connect(path) as source:
        source.execute('create table people (id integer, "Contact %s" text, note text, born date)')
        source.executemany(
            "insert into people values (?, ?, ?, ?)",
            [(n, CANARIES[n], f"{MARK} {n}", f"19{n % 90 + 10}-05-03") for n in range(120)],
        )
        source.execute("create table locked_out (email text)")
    source.close()


@pytest.fixture
def vocabulary(db: None) -> None:
    for code in ("email", "birth_date", "phone", "person_name", "free_text"):
        PIITag.objects.get_or_create(code=code, defaults={"name": code, "sensitivity": 2})


@pytest.fixture
def system(vocabulary: None, tmp_path: Path) -> System:
    path = tmp_path / "source.sqlite3"
    fill(path)
    return make_system("people", flavor="sqlite", connection_url=f"sqlite:///{path}")


def people(system: System, name: str = "people") -> Dataset:
    dataset = Dataset.objects.create(
        system=system, kind="rdbms", name=f"main.{name}", location={"schema": "main", "table": name}
    )
    publish(dataset, *WIDE, kind="table")
    dataset.refresh_from_db()
    return dataset


def tables(*columns: str) -> list[Table]:
    return [Table("main", "people", columns)]


def test_only_what_the_counter_makes_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "source.sqlite3"
    fill(path)
    found = sample(f"sqlite:///{path}", tables("Contact %s", "id"), len, rows=50)
    assert found == {("main", "people"): {"Contact %s": 50, "id": 50}}


def test_a_table_that_cannot_be_read_is_left_out_and_a_lost_source_is_told_without_values(
    tmp_path: Path,
) -> None:
    path = tmp_path / "source.sqlite3"
    fill(path)
    gone = [Table("main", "nothing", ["x"]), *tables("id")]
    assert set(sample(f"sqlite:///{path}", gone, len)) == {("main", "people")}

    def fails(values: list[Any]) -> int:
        raise ValueError(f"I do not like {values[0]}")

    with pytest.raises(CrawlError) as error:
        sample(f"sqlite:///{path}", tables("note"), fails)
    assert MARK not in f"{error.value!r} {error.value.sentence} {error.value.__context__!r}"


def test_nothing_is_looked_at_unless_the_system_says_so(system: System) -> None:
    dataset = people(system)
    assert not WorkItem.objects.filter(task=sampling.TASK).exists()
    assert sampling.sample_now([dataset.pk]) == 0
    assert not FieldShapes.objects.exists()


def test_a_table_whose_values_could_not_be_read_is_told_by_name(system: System) -> None:
    System.objects.filter(pk=system.pk).update(sample_values=True)
    gone = people(system, "gone")
    with capture_logs() as told:
        assert sampling.sample_now([gone.pk]) == 0
    warnings = [each for each in told if each["event"] == "pii.tables_not_sampled"]
    assert [(each["system"], each["count"], each["first"]) for each in warnings] == [("people", 1, ["gone"])]


def test_shapes_are_counted_and_the_suggestion_says_so(system: System) -> None:
    System.objects.filter(pk=system.pk).update(sample_values=True)
    dataset = people(system)
    assert WorkItem.objects.filter(task=sampling.TASK).count() == 1
    drain()
    shapes = FieldShapes.objects.get(field__dataset=dataset, field__path="Contact %s")
    assert (shapes.counts["email"], shapes.sampled) == (120, 120)
    row = FieldTag.objects.get(field=shapes.field, tag__code="email", until=None)
    assert "120 of 120 sampled values" in row.evidence
    assert (row.name_only, row.confidence is not None and row.confidence >= 0.9) == (False, True)


def test_no_sampled_value_is_found_anywhere_afterwards(
    system: System, caplog: pytest.LogCaptureFixture
) -> None:
    heard = StringIO()
    handler = logging.StreamHandler(heard)
    logging.getLogger().addHandler(handler)
    try:
        with caplog.at_level(logging.DEBUG):
            System.objects.filter(pk=system.pk).update(sample_values=True)
            dataset, broken = people(system), people(system, "no_such_table")
            drain()
            suggesting.suggest([dataset.pk, broken.pk])
            approver = make_user("approver", "viewer")
            browser = Client(headers={"accept": "text/html"})
            browser.force_login(approver, "aide.accounts.backends.EmailBackend")
            bench = reverse("admin:registry_pii_workbench")
            pages = [browser.get(bench), browser.get(f"{bench}?tab=coverage")]
            for group in pages[0].context["groups"]:
                pages.append(browser.get(bench, {"open": group.key}))
            pages.append(browser.get(reverse("admin:registry_dataset_change", args=[dataset.pk])))
            answers = [
                api_client(approver).get(f"/api/v1/{path}") for path in ("field-tags", "audit", "outbox")
            ]
    finally:
        logging.getLogger().removeHandler(handler)
    assert FieldShapes.objects.filter(field__dataset=dataset).count() >= 2
    texts = [answer.content.decode() for answer in (*pages, *answers)]
    assert any("sampled values" in text for text in texts)
    for model in apps.get_models():
        for values in model._base_manager.values():
            texts.append(json.dumps(values, default=str))
    texts += [heard.getvalue(), caplog.text]
    assert [text[:200] for text in texts if MARK in text or "kanarienvogel" in text] == []


def test_switching_it_on_looks_and_switching_it_off_forgets(system: System) -> None:
    dataset = people(system)
    drain()
    assert not FieldShapes.objects.exists()
    admin = Client(headers={"accept": "text/html"})
    admin.force_login(make_user("admin"), "aide.accounts.backends.EmailBackend")
    url = reverse("admin:registry_system_edit", args=[system.pk])
    form = admin.get(url).context["adminform"].form
    body = {name: form.initial.get(name) for name in ("code", "name", "flavor", "connection_url")}
    body |= {"is_active": "on", "extra": "{}"}
    assert admin.post(url, {**body, "sample_values": "on"}).status_code == 302
    drain()
    assert FieldShapes.objects.filter(field__dataset=dataset).exists()
    assert admin.post(url, body).status_code == 302
    system.refresh_from_db()
    assert system.sample_values is False
    assert not FieldShapes.objects.exists()


@pytest.mark.parametrize("server", ["postgres_server", "mariadb_server"])
def test_servers_are_looked_at_in_a_transaction_that_only_reads(
    server: str, request: pytest.FixtureRequest
) -> None:
    from sqlalchemy import create_engine, text

    url: str = request.getfixturevalue(server).create_database()
    engine = create_engine(url)
    mark = '"' if server == "postgres_server" else "`"
    with engine.begin() as source:
        source.execute(text(f"create table people (id int, {mark}the mail{mark} varchar(200), born date)"))
        for n in range(30):
            source.execute(text(f"insert into people values ({n}, '{CANARIES[n]}', '1980-02-0{n % 9 + 1}')"))
    schema = "public" if server == "postgres_server" else str(engine.url.database)
    engine.dispose()
    table = Table(schema, "people", ["the mail", "born", "id"])
    found = sample(url, [table], lambda values: min(map(str, values)))
    assert found == {(schema, "people"): {"the mail": CANARIES[0], "born": "1980-02-01", "id": "0"}}
