"""A long audit log: searches and filters by their indexes, counts that stop, and a check in bounded steps."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from aide.audit import checking
from tests.factories import api_client, make_user
from tests.scale.audit_filling import fill_audit
from tests.scale.test_plans import need_postgresql, plan_of, statements_of

pytestmark = pytest.mark.django_db
ROWS = 12_000
SCREEN, API = "/admin/audit/auditentry/", "/api/v1/audit"


@pytest.fixture
def ask() -> dict[str, Any]:
    need_postgresql()
    user = make_user("admin")
    fill_audit(ROWS, by=user)
    with connection.cursor() as cursor:
        # As many pages as fit a test are cheap to read whole; in a long log they are not.
        cursor.execute("SET LOCAL random_page_cost = 1")
        cursor.execute("SET LOCAL seq_page_cost = 10")
    browser = Client(headers={"accept": "text/html"})
    browser.force_login(user, "aide.accounts.backends.EmailBackend")
    return {SCREEN: browser.get, API: api_client(user).get}


def test_searches_and_filters_of_the_log_use_their_indexes(ask: dict[str, Any]) -> None:
    wanted = {
        f"{SCREEN}?q=xylophone": "audit_auditentry_search",
        f"{SCREEN}?q=nosuchword": "audit_auditentry_search",
        f"{SCREEN}?about=user": "audit_auditentry_action_prefix",
        f"{SCREEN}?object_type=field&object_id=7701": "audit_entry_object",
        f"{API}?object_type=field&object_id=7701": "audit_entry_object",
        SCREEN: "audit_auditentry_pkey",
        API: "audit_auditentry_pkey",
    }
    for address, index in wanted.items():
        get = ask[address.partition("?")[0]]
        get(address)
        statements = statements_of(get, address)
        assert len(statements) <= 10, address
        rows = [each for each in statements if 'FROM "audit_auditentry"' in each]
        nodes = [node for each in rows for node in plan_of(each)]
        assert index in {node.get("Index Name") for node in nodes}, (address, rows)
        whole = [each for each in rows if any(node["Node Type"] == "Seq Scan" for node in plan_of(each))]
        assert [each for each in whole if "LIMIT 10001" not in each] == [], address


def test_a_check_reads_the_log_in_steps(ask: dict[str, Any]) -> None:
    with CaptureQueriesContext(connection) as asked:
        verdict = checking.verify()
    assert verdict.ok, verdict
    steps = [each["sql"] for each in asked if "ORDER BY place LIMIT" in each["sql"]]
    assert ROWS // 2_000 <= len(steps) <= ROWS // 2_000 + 2
    assert "audit_auditentry_place_once" in {node.get("Index Name") for node in plan_of(steps[1])}
