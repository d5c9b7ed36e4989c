"""A foreign key that follows a rename in another dataset is not in force before the rename is."""

from __future__ import annotations

import pytest

from tests.flows.desk import Desk
from tests.flows.sources import Source

# A crawl that takes seconds has a heartbeat, which needs to see what this thread wrote.
pytestmark = pytest.mark.django_db(transaction=True)

SHOP = """
CREATE TABLE customers (id integer NOT NULL PRIMARY KEY, code varchar(20) NOT NULL UNIQUE, name varchar(50));
CREATE TABLE orders (
  id integer NOT NULL PRIMARY KEY, customer_code varchar(20) REFERENCES customers (code), total numeric(10,2)
);
"""
RENAMES = {
    "table": "ALTER TABLE customers RENAME TO clients",
    "column": "ALTER TABLE customers RENAME COLUMN code TO customer_code",
}


@pytest.fixture(params=sorted(RENAMES))
def desk(request: pytest.FixtureRequest, new_source: object) -> Desk:
    source: Source = new_source("postgresql")  # type: ignore[operator]
    source.execute(SHOP)
    desk = Desk(source.system())
    desk.approve_all(desk.crawl())
    source.execute(RENAMES[request.param])
    return desk


def _target(desk: Desk) -> tuple[str, list[str]]:
    (key,) = desk.schema("public.orders")["foreign_keys"]
    return key["ref_table"], key["ref_columns"]


def test_it_waits_for_the_second_person_of_the_rename(desk: Desk) -> None:
    run = desk.crawl()
    by_op = {each["op"]: each for each in desk.changes()}
    key = by_op["change_foreign_key"]
    rename = by_op.get("rename_dataset") or by_op["rename_field"]
    outcome = desk.decide(run, approve="all")
    assert outcome["applied"] == []
    assert {"change_id": key["id"], "needs": f"change {rename['id']}"} in outcome["waiting"]
    assert _target(desk) == ("customers", ["code"])
    outcome = desk.decide(run, desk.by_approver, approve="all")
    assert sorted(n for each in outcome["applied"] for n in each["change_ids"]) == sorted(
        each["id"] for each in by_op.values()
    )
    assert _target(desk) in (("clients", ["code"]), ("customers", ["customer_code"]))
    assert desk.changes() == []
    again = desk.crawl()
    assert not any(again["summary"].values())


def test_alone_it_waits_and_goes_with_the_rename_later(desk: Desk) -> None:
    run = desk.crawl()
    by_op = {each["op"]: each for each in desk.changes()}
    key = by_op["change_foreign_key"]["id"]
    outcome = desk.decide(run, approve=[key])
    assert [each["change_id"] for each in outcome["waiting"]] == [key]
    desk.approve_all(run)
    assert desk.changes() == []
    assert _target(desk) in (("clients", ["code"]), ("customers", ["customer_code"]))
