"""`manage.py export_model` prints a ChartDB file of AIDE's own model or of a system."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from registry import diagrams
from registry.models import Dataset
from registry.versions import retire
from tests.factories import make_dataset, make_system, publish
from tests.registry.chartdb_rules import problems

KEPT = Path(__file__).parents[2] / "docs" / "AIDE_data_model.json"


def export(*args: str) -> dict[str, Any]:
    out = StringIO()
    call_command("export_model", "--format", "chartdb", *args, stdout=out)
    return json.loads(out.getvalue())


def test_our_own_model_in_the_documentation_is_current() -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    command = "manage.py export_model --format chartdb > docs/AIDE_data_model.json"
    assert kept == export(), f"The models changed; run {command}"


def test_our_own_model_keeps_to_the_rules_and_refers_within_itself() -> None:
    found = diagrams.of_ourselves()
    tables = {each["name"]: each for each in found["tables"]}
    fields = {each["name"]: each for each in tables["registry_dataset"]["fields"]}

    assert problems(found) == []
    assert "auth_group" not in tables
    assert (fields["id"]["type"]["id"], fields["id"]["increment"]) == ("bigint", True)
    assert (fields["name"]["type"]["id"], fields["name"]["characterMaximumLength"]) == ("varchar", "1000")
    assert any(
        each["sourceTableId"] == tables["registry_system"]["id"]
        and each["targetFieldId"] == fields["system_id"]["id"]
        for each in found["relationships"]
    )


@pytest.mark.django_db
def test_a_system_is_drawn_with_its_versions_in_force() -> None:
    system = make_system("shop")
    publish(make_dataset("author", system=system), ("id", "bigint"), ("name", "varchar(80)"))
    publish(make_dataset("author_2", system=system), ("id", "int4"))
    gone = make_dataset("gone", system=system)
    publish(gone)
    retire([gone], by=None)
    make_dataset("without_version", system=system)

    found = export("--system", "shop")

    assert problems(found) == []
    assert [each["name"] for each in found["tables"]] == ["author", "author_2"]
    assert {each["schema"] for each in found["tables"]} == {"public"}
    assert found["tables"][1]["fields"][0]["type"] == {"id": "int", "name": "int"}
    assert found == export("--system", "shop")


@pytest.mark.django_db
def test_a_system_of_topics_is_generic() -> None:
    system = make_system("events", flavor="kafka_avro")
    topic = Dataset.objects.create(system=system, kind="kafka", name="orders", location={"topic": "orders"})
    publish(topic, ("id", "long"))
    found = export("--system", "events")
    assert problems(found) == []
    assert (found["databaseType"], found["tables"][0]["name"]) == ("generic", "orders")


@pytest.mark.django_db
def test_an_unknown_system_is_a_plain_sentence() -> None:
    with pytest.raises(CommandError, match="There is no system with the code nowhere"):
        export("--system", "nowhere")
