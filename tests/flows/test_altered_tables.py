"""After the source changed: exactly those changes, with the right risk, and only the approved ones in force."""

from __future__ import annotations

import pytest

from tests.flows.desk import Desk, brief, counts
from tests.flows.sources import Source

# A crawl that takes seconds has a heartbeat, which needs to see what this thread wrote.
pytestmark = pytest.mark.django_db(transaction=True)

CUSTOMERS = """
CREATE TABLE customers (
  id integer NOT NULL PRIMARY KEY,
  name varchar(50) NOT NULL,
  email varchar(100),
  phone varchar(20),
  city varchar(40) NOT NULL,
  age integer,
  note text
);
CREATE TABLE orders (
  id integer NOT NULL PRIMARY KEY,
  customer_id integer NOT NULL,
  total numeric(10,2),
  FOREIGN KEY (customer_id) REFERENCES customers (id)
);
"""
ALTERED = {
    "postgresql": """
        ALTER TABLE customers ADD loyalty integer;
        ALTER TABLE customers DROP note;
        ALTER TABLE customers ALTER name TYPE varchar(120);
        ALTER TABLE customers ALTER email TYPE varchar(60);
        ALTER TABLE customers ALTER city DROP NOT NULL;
        ALTER TABLE customers ALTER age SET NOT NULL;
        COMMENT ON COLUMN customers.age IS 'In years';
        ALTER TABLE customers RENAME phone TO mobile_phone;
    """,
    "mariadb": """
        ALTER TABLE customers ADD loyalty integer;
        ALTER TABLE customers DROP note;
        ALTER TABLE customers MODIFY name varchar(120) NOT NULL;
        ALTER TABLE customers MODIFY email varchar(60);
        ALTER TABLE customers MODIFY city varchar(40) NULL;
        ALTER TABLE customers MODIFY age integer NOT NULL COMMENT 'In years';
        ALTER TABLE customers CHANGE phone mobile_phone varchar(20);
    """,
    "sqlite": """
        CREATE TABLE fresh (
          id integer NOT NULL PRIMARY KEY,
          name varchar(120) NOT NULL,
          email varchar(60),
          mobile_phone varchar(20),
          city varchar(40),
          age integer NOT NULL,
          loyalty integer
        );
        DROP TABLE customers;
        ALTER TABLE fresh RENAME TO customers;
    """,
}
EXPECTED = {
    ("add_field", "loyalty", "safe"),
    ("drop_field", "note", "breaking"),
    ("change_parameters", "name", "safe"),
    ("change_parameters", "email", "breaking"),
    ("change_nullable", "city", "safe"),
    ("change_nullable", "age", "risky"),
    ("change_comment", "age", "safe"),
    ("rename_field", "phone", "breaking"),
}
TWO_OF_THREE = {
    "postgresql": """
        ALTER TABLE customers ADD loyalty integer;
        ALTER TABLE customers ADD birthday date;
        ALTER TABLE customers ALTER age SET NOT NULL;
    """,
    "mariadb": """
        ALTER TABLE customers ADD loyalty integer;
        ALTER TABLE customers ADD birthday date;
        ALTER TABLE customers MODIFY age integer NOT NULL;
    """,
    "sqlite": """
        ALTER TABLE customers ADD loyalty integer;
        ALTER TABLE customers ADD birthday date;
        CREATE TABLE fresh (
          id integer NOT NULL PRIMARY KEY,
          name varchar(50) NOT NULL,
          email varchar(100),
          phone varchar(20),
          city varchar(40) NOT NULL,
          age integer NOT NULL,
          note text,
          loyalty integer,
          birthday date
        );
        DROP TABLE customers;
        ALTER TABLE fresh RENAME TO customers;
    """,
}


@pytest.fixture
def desk(source: Source) -> Desk:
    """The two tables, crawled and approved."""
    source.execute(CUSTOMERS)
    desk = Desk(source.system())
    outcome = desk.decide(desk.crawl(), approve="all")
    assert len(outcome["applied"]) == 2
    return desk


def test_each_alteration_is_proposed_once_with_its_risk(source: Source, desk: Desk) -> None:
    source.execute(ALTERED[source.flavor])
    run = desk.crawl()
    assert run["status"] == "completed"
    expected = {e for e in EXPECTED if source.flavor != "sqlite" or e[0] != "change_comment"}
    found = desk.changes()
    assert brief(found) == expected
    assert len(found) == len(expected)
    assert {each["path"]["dataset"] for each in found} == {source.name("customers")}
    assert all(each["why"] for each in found)

    outcome = desk.approve_all(run)
    assert outcome["failed"] == outcome["waiting"] == outcome["stale"] == []
    fields = {field["name"]: field for field in desk.schema(source.name("customers"))["fields"]}
    assert not {"note", "phone"} & set(fields)
    assert fields["mobile_phone"]["native_type"] == "varchar(20)" or source.flavor == "postgresql"
    assert fields["age"]["nullable"] is False
    again = desk.crawl()
    assert desk.changes() == []
    assert not any(again["summary"].values())


def test_approving_two_and_rejecting_one_makes_one_version_of_the_two(source: Source, desk: Desk) -> None:
    source.execute(TWO_OF_THREE[source.flavor])
    run = desk.crawl()
    changes = {each["op"] + " " + each["path"]["field"]: each for each in desk.changes()}
    assert set(changes) == {"add_field loyalty", "add_field birthday", "change_nullable age"}
    before = counts()
    outcome = desk.decide(
        run,
        approve=[changes["add_field birthday"]["id"], changes["change_nullable age"]["id"]],
        reject=[{"id": changes["add_field loyalty"]["id"], "reason": "Not ours", "mode": "mute"}],
        comment="Agreed with the shop team",
    )
    assert counts()["registry.DatasetSchema"] == before["registry.DatasetSchema"] + 1
    assert [sorted(each["change_ids"]) for each in outcome["applied"]] == [
        sorted([changes["add_field birthday"]["id"], changes["change_nullable age"]["id"]])
    ]
    assert [each["change_id"] for each in outcome["rejected"]] == [changes["add_field loyalty"]["id"]]
    schema = desk.schema(source.name("customers"))
    fields = {field["name"]: field for field in schema["fields"]}
    assert schema["version"] == 2
    assert "loyalty" not in fields
    assert "birthday" in fields
    assert fields["age"]["nullable"] is False
    assert [field["position"] for field in schema["fields"]] == list(range(1, len(fields) + 1))


def test_a_rejected_change_comes_back_only_when_the_source_changes_it(source: Source, desk: Desk) -> None:
    source.execute("ALTER TABLE customers ADD loyalty integer;")
    run = desk.crawl()
    (change,) = desk.changes()
    desk.decide(run, reject=[{"id": change["id"], "reason": "Not ours", "mode": "mute"}])
    for _ in range(2):
        assert desk.crawl()["status"] == "completed"
        assert desk.proposals() == []
    if source.flavor == "sqlite":
        source.execute("ALTER TABLE customers DROP loyalty; ALTER TABLE customers ADD loyalty text;")
    elif source.flavor == "mariadb":
        source.execute("ALTER TABLE customers MODIFY loyalty text;")
    else:
        source.execute("ALTER TABLE customers ALTER loyalty TYPE text;")
    desk.crawl()
    (again,) = desk.changes()
    assert (again["op"], again["path"]["field"]) == ("add_field", "loyalty")
    assert again["after"]["native_type"].lower() == "text"


def test_a_change_rejected_once_is_asked_about_at_the_next_crawl(source: Source, desk: Desk) -> None:
    source.execute("ALTER TABLE customers ADD loyalty integer;")
    run = desk.crawl()
    (change,) = desk.changes()
    desk.decide(run, reject=[{"id": change["id"], "reason": "Not now", "mode": "once"}])
    assert desk.proposals() == []
    desk.crawl()
    assert brief(desk.changes()) == {("add_field", "loyalty", "safe")}


def test_a_table_outside_of_the_scope_is_never_proposed_as_removed(source: Source, desk: Desk) -> None:
    source.execute("DROP TABLE orders;")
    for config in (
        {"tables": ["customers"]},
        {"tables": [source.name("cust*")]},
        {"exclude_tables": ["orders"]},
        {"schemas": ["elsewhere"]},
        {"exclude_schemas": [f'"{source.schema}"']},
    ):
        run = desk.crawl(config=config)
        assert run["status"].startswith("completed"), (config, run["error"])
        assert desk.proposals() == [], config


def test_a_dropped_table_is_proposed_as_removed_and_retired_by_two_people(source: Source, desk: Desk) -> None:
    source.execute("DROP TABLE orders;")
    run = desk.crawl()
    (change,) = desk.changes()
    assert (change["op"], change["path"]["dataset"], change["risk"]) == (
        "drop_dataset",
        source.name("orders"),
        "breaking",
    )
    first = desk.decide(run, approve="all")
    assert [each["change_id"] for each in first["waiting"]] == [change["id"]]
    assert desk.dataset(source.name("orders"))["status"] == "active"
    second = desk.decide(run, desk.by_approver, approve="all")
    assert second["applied"][0]["change_ids"] == [change["id"]]
    assert desk.dataset(source.name("orders"))["status"] == "retired"
    desk.crawl()
    assert desk.proposals() == []


def test_a_retired_table_that_returns_keeps_its_history(source: Source, desk: Desk) -> None:
    before = desk.dataset(source.name("orders"))["id"]
    source.execute("DROP TABLE orders;")
    desk.approve_all(desk.crawl())
    source.execute("CREATE TABLE orders (id integer NOT NULL PRIMARY KEY, total numeric(10,2));")
    run = desk.crawl()
    (change,) = desk.changes()
    assert (change["op"], change["risk"]) == ("add_dataset", "breaking")
    outcome = desk.approve_all(run)
    assert outcome["applied"][0]["dataset_id"] == before
    assert outcome["applied"][0]["version_num"] == 2
    assert desk.dataset(source.name("orders"))["status"] == "active"
    assert desk.schema(source.name("orders"), version=1)["fields"][1]["name"] == "customer_id"


def test_a_new_table_that_vanishes_before_its_review_is_no_longer_asked_about(
    source: Source, desk: Desk
) -> None:
    source.execute("CREATE TABLE coupons (id integer NOT NULL PRIMARY KEY);")
    desk.crawl()
    assert len(desk.proposals()) == 1
    desk.crawl(config={"tables": ["customers"]})
    assert len(desk.proposals()) == 1, "a crawl of another scope leaves it alone"
    source.execute("DROP TABLE coupons;")
    desk.crawl()
    assert desk.proposals() == []


def test_a_renamed_table_keeps_its_identity(source: Source, desk: Desk) -> None:
    before = desk.dataset(source.name("orders"))["id"]
    source.execute("ALTER TABLE orders RENAME TO purchase_orders;")
    run = desk.crawl()
    (change,) = [each for each in desk.changes() if each["op"] != "change_foreign_key"]
    assert (change["op"], change["risk"]) == ("rename_dataset", "breaking")
    outcome = desk.approve_all(run)
    assert not outcome["failed"], outcome
    renamed = desk.dataset(source.name("purchase_orders"))
    assert renamed["id"] == before
    assert renamed["location"]["table"] == "purchase_orders"
    again = desk.crawl()
    assert not any(again["summary"].values()), desk.report(again["id"])
    assert desk.proposals() == []
