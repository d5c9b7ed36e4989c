"""What was not read whole is no news: neither gone, nor without its columns."""

from __future__ import annotations

import pytest

from tests.flows.desk import Desk
from tests.flows.sources import Source

pytestmark = pytest.mark.django_db(transaction=True)

SHOP = """
CREATE TABLE customers (id integer NOT NULL PRIMARY KEY, name varchar(50), city varchar(40));
CREATE VIEW customer_names AS SELECT id, name, city FROM customers;
"""


@pytest.mark.parametrize("source", ["mariadb", "sqlite"], indirect=True)
def test_a_view_that_broke_keeps_its_version_and_no_change_of_it_is_proposed(source: Source) -> None:
    source.execute(SHOP)
    desk = Desk(source.system())
    desk.approve_all(desk.crawl())
    source.execute("DROP TABLE customers;")
    run = desk.crawl()

    assert [(each["op"], each["path"]["dataset"]) for each in desk.changes()] == [
        ("drop_dataset", source.name("customers"))
    ]
    assert [each["object"] for each in desk.report(run["id"])["skipped"]] == [source.name("customer_names")]
    assert [each["name"] for each in desk.schema(source.name("customer_names"))["fields"]] == [
        "id",
        "name",
        "city",
    ]
