"""The bundled shop builds, holds together before and after its changes, and is large enough to review."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from crawling.samples import build_shop, change_shop, stage_of


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "shop.sqlite3"
    build_shop(path)
    return path


def names(path: Path, kind: str) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = ? AND name NOT LIKE 'sqlite_%'", (kind,)
        )
        return {name for (name,) in rows}


def is_sound(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        for view in names(path, "view"):
            connection.execute(f"SELECT * FROM {view}").fetchone()
        return (
            connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            and not connection.execute("PRAGMA foreign_key_check").fetchall()
        )


def test_the_shop_has_two_families_of_tables_and_some_views(shop: Path) -> None:
    assert len(names(shop, "table")) == 26
    assert {name.split("_")[0] for name in names(shop, "table")} == {"sales", "stock"}
    assert len(names(shop, "view")) == 3
    assert is_sound(shop)


def test_the_changes_add_drop_and_rename_and_leave_it_sound(shop: Path) -> None:
    before = names(shop, "table")
    change_shop(shop)
    assert names(shop, "table") - before == {"stock_recalls", "stock_locations"}
    assert before - names(shop, "table") == {"sales_loyalty_accounts", "stock_bins"}
    assert is_sound(shop)


def test_a_change_that_fails_leaves_the_shop_as_it_was(shop: Path) -> None:
    with closing(sqlite3.connect(shop)) as connection:
        connection.execute("DROP TABLE stock_supplier_products")
    before = names(shop, "table")
    with pytest.raises(sqlite3.OperationalError):
        change_shop(shop)
    assert names(shop, "table") == before
    assert stage_of(shop) == 1


def test_the_shop_has_three_stages_and_then_stays(shop: Path) -> None:
    assert [change_shop(shop), change_shop(shop), change_shop(shop)] == [True, True, False]
    assert stage_of(shop) == 3
    assert is_sound(shop)


def test_building_again_replaces_what_was_there(shop: Path) -> None:
    change_shop(shop)
    build_shop(shop)
    assert "sales_loyalty_accounts" in names(shop, "table")
    assert [path.name for path in shop.parent.iterdir()] == ["shop.sqlite3"]
