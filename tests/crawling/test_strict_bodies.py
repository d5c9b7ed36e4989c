"""A misspelt member of an act's body is refused: it must not widen a crawl or leave a decision out."""

from __future__ import annotations

import pytest

from crawling.models import CrawlRun
from tests.flows.desk import API, Desk
from tests.flows.sources import Source, sqlite_source

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def desk(tmp_path, type_catalogues: None) -> Desk:
    source: Source = sqlite_source(tmp_path / "source.sqlite3")
    source.execute("CREATE TABLE t (id integer);")
    return Desk(source.system())


def test_a_misspelt_scope_starts_no_crawl(desk: Desk) -> None:
    body = {"system": desk.system.code, "confg": {"tables": ["t"]}}
    answer = desk.by_engineer.post(f"{API}/crawl-runs", body, format="json")
    assert answer.status_code == 422
    assert [(each["field"], each["code"]) for each in answer.json()["errors"]] == [("confg", "unknown")]
    assert not CrawlRun.objects.exists()


@pytest.mark.parametrize(
    ("body", "field"),
    [({"aprove": "all"}, "aprove"), ({"reject": [{"id": 1, "reason": "no", "mod": "once"}]}, "reject.0.mod")],
)
def test_a_misspelt_decision_is_none(desk: Desk, body: dict, field: str) -> None:
    desk.crawl()
    [proposal] = desk.proposals()
    answer = desk.by_steward.post(f"{API}/proposals/{proposal['id']}/decide", body, format="json")
    assert answer.status_code == 422
    assert [each["field"] for each in answer.json()["errors"]] == [field]
