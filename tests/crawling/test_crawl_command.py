"""`manage.py crawl`: here and now, the text report on stdout, one plain sentence and exit 1 on trouble."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from aide.work.models import WorkItem
from crawling.models import CrawlRun, Proposal
from registry.models import System
from tests.flows.sources import sqlite_source

SOURCE = """
CREATE TABLE parts (id integer NOT NULL PRIMARY KEY);
CREATE TABLE "odd,name" (id integer NOT NULL PRIMARY KEY);
CREATE TABLE scratch_1 (id integer);
"""


@pytest.fixture
def system(tmp_path: Any, type_catalogues: None) -> System:
    source = sqlite_source(tmp_path / "parts.sqlite3")
    source.execute(SOURCE)
    return source.system(code="parts")


def _crawl(*arguments: str) -> str:
    out = StringIO()
    call_command("crawl", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_it_prints_the_report_and_leaves_proposals(system: System) -> None:
    text = _crawl("parts")
    assert text.startswith("=== AIDE Crawler Diff Report ===\n")
    assert "--- New datasets (3) ---\n" in text
    assert text.count("--- Summary ---") == 1
    run = CrawlRun.objects.get()
    assert (run.status, run.trigger, run.started_by) == ("completed", "command", None)
    assert Proposal.objects.count() == 3
    assert WorkItem.objects.filter(task="crawling.crawl").count() == 0


def test_a_dry_run_proposes_nothing(system: System) -> None:
    assert "--- New datasets (3) ---" in _crawl("parts", "--dry-run")
    assert Proposal.objects.count() == 0


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["--tables", "parts"], {"main.parts"}),
        (["--tables", 'parts,"odd,name"'], {"main.parts", "main.odd,name"}),
        (["--tables", "parts", "--tables", "main.scratch_?"], {"main.parts", "main.scratch_1"}),
        (["--exclude-tables", "scratch*"], {"main.parts", "main.odd,name"}),
        (["--schemas", "main"], {"main.parts", "main.odd,name", "main.scratch_1"}),
        (["--exclude-schemas", "main"], set()),
    ],
)
def test_filters_narrow_the_look(system: System, arguments: list[str], found: set[str]) -> None:
    _crawl("parts", *arguments)
    assert set(Proposal.objects.values_list("dataset_name", flat=True)) == found


def test_trouble_is_a_sentence(system: System) -> None:
    with pytest.raises(CommandError, match="no system with the code elsewhere"):
        _crawl("elsewhere")
    with pytest.raises(CommandError, match="parts"):
        _crawl("parts", "--tables", "a.b.c")
    CrawlRun.objects.create(system=system, trigger="api", status="queued")
    with pytest.raises(CommandError, match="one at a time"):
        _crawl("parts")


def test_an_interrupted_crawl_frees_the_system(system: System, monkeypatch: Any) -> None:
    from crawling.crawl import look

    def interrupted(*args: Any, **kwargs: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(look, "inspect", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _crawl("parts")
    assert CrawlRun.objects.get().status == "cancelled"
    monkeypatch.undo()
    assert "--- New datasets (3) ---" in _crawl("parts")
