"""A thousand renames among drops beside adds, by another generator: found, not made up, everything carried over."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from crawling.diff import compare
from registry.models import Field, FieldBinding, FieldTag, PIITag
from registry.seeding import bundled_catalogue
from tests.crawling.evolved import Evolution
from tests.flows.desk import API, Desk, ok
from tests.flows.sources import make_system

ENOUGH = 1000


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    ("numbered", "flavor", "least"),
    [(True, "postgresql", 0.97), (False, "mariadb", 0.90)],
    ids=["with-column-numbers", "without-column-numbers"],
)
def test_a_thousand_renames_are_found_and_none_is_made_up(
    seed: int, numbered: bool, flavor: str, least: float
) -> None:
    evolution, catalogue = Evolution(seed, numbered=numbered), bundled_catalogue(flavor)
    found: set[Any] = set()
    true: set[Any] = set()
    night = 0
    while len(true) < ENOUGH:
        night += 1
        before, after, truth = evolution.night()
        true |= {(night, *each) for each in truth.columns | truth.tables}
        for each in compare(before, after, catalogue=catalogue, covered=lambda name: True):
            for change in each.changes:
                if change.op == "rename_field":
                    found.add((night, each.before_name, change.before, change.after))
                elif change.op in ("rename_dataset", "move_dataset"):
                    found.add((night, change.before, change.after))
    right = len(found & true)
    assert right / len(found) >= 0.99, (right / len(found), sorted(found - true, key=str)[:10])
    assert right / len(true) >= least, (right / len(true), sorted(true - found, key=str)[:10])


RENAMED_TABLES, ALTERED_TABLES, COLUMNS, RENAMED_COLUMNS = 40, 60, 20, 16
TABLES = RENAMED_TABLES + ALTERED_TABLES


def _shop(*, is_renamed: bool) -> dict[str, Any]:
    """A snapshot of a hundred tables; afterwards forty are renamed, and sixteen columns of each of the others."""
    chance = random.Random(5)
    documents = []
    for table in range(TABLES):
        is_other = is_renamed and table < RENAMED_TABLES
        is_altered = is_renamed and not is_other
        fields = []
        for column in range(COLUMNS):
            name = f"attribute_{column:02}"
            if is_altered and 1 <= column <= RENAMED_COLUMNS:
                name = f"{chance.choice(('c', 'fld', 'src'))}_{name}"
            fields.append({"name": name, "native_type": "text", "native_position": column + 1})
        if is_altered:  # one goes for good, and another comes at the end
            fields[-1] = {"name": "added", "native_type": "text", "native_position": COLUMNS + 1}
        name = f"things_{chr(97 + table % 26) * 3}{chr(97 + table // 26) * 3}"
        documents.append(
            {
                "schema": "public", "name": f"{name}_renamed" if is_other else name, "kind": "table",
                "fields": fields, "primary_key": {"name": f"{name}_pkey", "columns": [fields[0]["name"]]},
            }
        )  # fmt: skip
    schemas = [{"name": "public", "status": "listed"}]
    coverage = {"schemas": schemas, "listed": TABLES, "read": TABLES, "all_schemas": True}
    return {
        "snapshot_version": 1, "dialect": "postgresql", "database": "shop", "datasets": documents,
        "coverage": coverage,
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_thousand_accepted_renames_take_everything_along(type_catalogues: None, tmp_path: Path) -> None:
    desk = Desk(make_system("postgresql", "postgresql://127.0.0.1/shop"))
    body = {"system": desk.system.code, "snapshot": _shop(is_renamed=False)}
    desk.approve_all(ok(desk.by_engineer.post(f"{API}/crawl-runs", body, format="json")))
    _curate(desk)
    before = _known()
    bindings = dict(FieldBinding.objects.values_list("pk", "name"))

    body["snapshot"] = _shop(is_renamed=True)
    run = ok(desk.by_engineer.post(f"{API}/crawl-runs", body, format="json"))
    assert run["summary"]["renames"] == ALTERED_TABLES * RENAMED_COLUMNS + RENAMED_TABLES == ENOUGH
    desk.approve_all(run)

    after = _known()
    gone = {key for key in before if key not in after}
    assert len(gone) == ALTERED_TABLES, "only what was dropped"
    kept = {key: value for key, value in before.items() if key in after}
    assert {key: value[1:] for key, value in kept.items()} == {key: after[key][1:] for key in kept}
    renamed = [key for key, value in kept.items() if value[0] != after[key][0]]
    assert len(renamed) == ALTERED_TABLES * RENAMED_COLUMNS
    datasets = desk.system.datasets.all()
    assert datasets.count() == TABLES, "a renamed table is the same dataset"
    kept_rows = datasets.filter(name__endswith="_renamed", owner="Team of it", description="All of it")
    assert kept_rows.count() == RENAMED_TABLES
    now = FieldBinding.objects.filter(dataset_schema__version_num=1).values_list("pk", "name")
    assert dict(now) == bindings, "history keeps the old names"
    assert {1, 2} <= set(
        FieldBinding.objects.filter(field_id=renamed[0]).values_list("dataset_schema__version_num", flat=True)
    )


def _curate(desk: Desk) -> None:
    desk.system.datasets.update(owner="Team of it", description="All of it")
    fields = list(Field.objects.all())
    for field in fields:
        field.description, field.owner = f"What {field.path} means", f"owner {field.pk % 7}"
        field.tags = ["kept", f"tag{field.pk % 3}"]
    Field.objects.bulk_update(fields, ["description", "owner", "tags"], batch_size=200)
    tag = PIITag.objects.get_or_create(code="email", defaults={"name": "E-mail", "sensitivity": 2})[0]
    FieldTag.objects.bulk_create(
        FieldTag(
            field=field,
            tag=tag,
            state=FieldTag.State.CONFIRMED,
            since=field.created_at,
            decided_by=desk.steward,
            decided_at=field.created_at,
        )
        for field in fields[::5]
    )


def _known() -> dict[int, tuple[Any, ...]]:
    """What people know of each living field, by its id; first its present path."""
    tagged = set(
        FieldTag.objects.filter(until__isnull=True, state="confirmed").values_list("field_id", flat=True)
    )
    rows = Field.objects.filter(retired_at__isnull=True)
    return {
        field.pk: (
            field.path,
            field.dataset_id,
            field.description,
            field.owner,
            field.tags,
            field.pk in tagged,
        )
        for field in rows
        if not field.path.startswith("added")
    }
