"""What people wrote survives whatever the source does."""

from __future__ import annotations

import pytest

from registry import curation, tagging
from registry.models import Dataset, Field, FieldTag, PIITag
from tests.flows.desk import Desk
from tests.flows.sources import Source

PEOPLE = """
CREATE TABLE people (
  id integer NOT NULL PRIMARY KEY,
  phone varchar(20),
  email varchar(100),
  city varchar(40)
);
"""
RENAMED_AND_RETYPED = {
    "postgresql": """
        ALTER TABLE people RENAME phone TO mobile_phone;
        ALTER TABLE people ALTER email TYPE text;
        ALTER TABLE people DROP city;
    """,
    "mariadb": """
        ALTER TABLE people CHANGE phone mobile_phone varchar(20);
        ALTER TABLE people MODIFY email text;
        ALTER TABLE people DROP city;
    """,
    "sqlite": """
        ALTER TABLE people RENAME phone TO mobile_phone;
        ALTER TABLE people DROP email;
        ALTER TABLE people ADD email text;
        ALTER TABLE people DROP city;
    """,
}


@pytest.fixture
def desk(source: Source) -> Desk:
    source.execute(PEOPLE)
    desk = Desk(source.system())
    desk.decide(desk.crawl(), approve="all")
    return desk


def _described(desk: Desk, source: Source) -> dict[str, Field]:
    dataset = Dataset.objects.get(name=source.name("people"))
    curation.edit(dataset, {"description": "Everyone", "owner": "crm", "tags": ["gold"]}, by=desk.steward)
    phone_tag = PIITag.objects.get_or_create(code="phone", defaults={"name": "Phone", "sensitivity": 2})[0]
    fields = {}
    for field in Field.objects.filter(dataset=dataset):
        values = {
            "description": f"About {field.name}",
            "owner": f"owner of {field.name}",
            "tags": [field.name],
        }
        curation.edit(field, values, by=desk.steward)
        fields[field.name] = field
    tagging.confirm(fields["phone"], phone_tag, by=desk.steward)
    return fields


def _same_words(field: Field, name: str) -> bool:
    field.refresh_from_db()
    return (field.description, field.owner, field.tags) == (f"About {name}", f"owner of {name}", [name])


def test_words_and_tags_survive_crawls_type_changes_and_accepted_renames(source: Source, desk: Desk) -> None:
    fields = _described(desk, source)
    desk.crawl()
    assert desk.proposals() == []
    assert all(_same_words(field, name) for name, field in fields.items())

    source.execute(RENAMED_AND_RETYPED[source.flavor])
    run = desk.crawl()
    renames = [each for each in desk.changes() if each["op"] == "rename_field"]
    assert [each["path"]["field"] for each in renames] == ["phone"]
    outcome = desk.approve_all(run)
    assert outcome["failed"] == outcome["waiting"] == []

    served = {field["name"]: field for field in desk.schema(source.name("people"))["fields"]}
    assert served["mobile_phone"]["field_id"] == fields["phone"].pk
    assert served["mobile_phone"]["description"] == "About phone"
    assert served["mobile_phone"]["pii_tags"] == ["phone"]
    assert served["email"]["field_id"] == fields["email"].pk
    assert served["email"]["description"] == "About email"
    assert "city" not in served
    assert all(_same_words(field, name) for name, field in fields.items())
    dataset = Dataset.objects.get(name=source.name("people"))
    assert (dataset.description, dataset.owner, dataset.tags) == ("Everyone", "crm", ["gold"])
    assert FieldTag.objects.get(field=fields["phone"], until__isnull=True).state == "confirmed"

    earlier = {field["name"] for field in desk.schema(source.name("people"), version=1)["fields"]}
    assert earlier == {"id", "phone", "email", "city"}, "a rename rewrites no history"


def test_a_column_that_comes_back_is_the_old_one(source: Source, desk: Desk) -> None:
    fields = _described(desk, source)
    source.execute("ALTER TABLE people DROP city;")
    desk.approve_all(desk.crawl())
    source.execute("ALTER TABLE people ADD city varchar(40);")
    desk.approve_all(desk.crawl())
    served = {field["name"]: field for field in desk.schema(source.name("people"))["fields"]}
    assert served["city"]["field_id"] == fields["city"].pk
    assert served["city"]["description"] == "About city"


def test_dropping_a_tagged_column_says_so_and_needs_two(source: Source, desk: Desk) -> None:
    _described(desk, source)
    source.execute("ALTER TABLE people DROP phone;")
    run = desk.crawl()
    (change,) = desk.changes()
    assert (change["op"], change["risk"], change["touches_pii"]) == ("drop_field", "breaking", True)
    assert desk.decide(run, approve="all")["waiting"]
