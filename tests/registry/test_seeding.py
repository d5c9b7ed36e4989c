"""Seed files: what is wrong is refused with its place; loading is idempotent and deletes nothing."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from aide.audit.models import AuditEntry
from registry.catalogues import Counts, load
from registry.models import DataType, SystemFlavor, SystemKind
from registry.seeding import SeedInvalid, bundled_catalogue, bundled_files, read_all, read_text

HEAD = """
kind: {code: RDBMS, name: Relational database}
flavor: {code: toy, name: Toy}
types:
"""
ONE = "  - {code: a, name: a}\n"


def test_a_type_without_more_than_a_name_is_written_as_its_name() -> None:
    (typedef,) = read_text(HEAD + ONE, file="toy.yaml").types
    assert (typedef.render_template, typedef.kind, typedef.takes) == ("a", "base", ())
    assert typedef.examples[0].sql == "a"


def test_a_type_needs_no_more_than_a_code_schema_and_template() -> None:
    text = """
  - code: n
    params_schema: {type: object, properties: {p: {type: integer}}}
    render_template: "n({{ p }})"
"""
    (typedef,) = read_text(HEAD + text, file="toy.yaml").types
    assert (typedef.name, typedef.takes, typedef.examples) == ("n", ("p",), ())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (HEAD + ONE + "size: 3", "toy.yaml: unknown key size"),
        (HEAD + "  - {code: a, name: a, colour: red}", "toy.yaml: types[0]: unknown key colour"),
        (HEAD + ONE + ONE, "toy.yaml: type a: the code is used twice"),
        (HEAD + "  - {code: a, code: b, name: a}", "toy.yaml: line 5: code is given twice"),
        (HEAD + "  - {name: a}", "toy.yaml: types[0]: code is missing"),
        ("schema_version: 2", "toy.yaml: schema_version: this is not a version that can be read (1)"),
        (HEAD + "  - {code: 3, name: a}", "toy.yaml: types[0]: code must be text (quote it)"),
        (HEAD + "  - {code: a, name: a, aliases: [1]}",
         "toy.yaml: type a: aliases: every entry must be text (quote it)"),
        (HEAD + "  - {code: a, name: a, params_schema: {type: nothing}}", "toy.yaml: type a: params_schema type: "),
        (HEAD + "  - {code: a, name: a, render_template: '{{ x'}", "toy.yaml: type a: render_template: Line 1: "),
        (HEAD + "  - {code: a, name: a, render_template: '{{ x() }}'}",
         "toy.yaml: type a: render_template: Line 1: Calling a function is not allowed in a render template"),
        (HEAD + "  - {code: a, name: a, examples: [{params: {}, sql: b}]}",
         "toy.yaml: type a: examples[0]: renders to 'a', not to 'b'"),
        (HEAD + "  - {code: a, name: a, examples: [{params: {n: 1}, sql: a}]}",
         "toy.yaml: type a: examples[0]: n is not a parameter of this type"),
        (HEAD + "  - {code: a, name: a, examples: [{params: {}, sql: a, speed: 1}]}",
         "toy.yaml: type a: examples[0]: unknown key speed"),
        ("types: [{code: a, name: a}]", "toy.yaml: types: types need one flavor that they belong to"),
        ("flavor: {code: toy, name: Toy}", "toy.yaml: flavor toy: kind is missing"),
        ("- a", "toy.yaml: must be a mapping of keys to values"),
        ("a: [", "toy.yaml: line "),
        ("kinds: {code: A}", "toy.yaml: kinds: must be a list"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(text: str, told: str) -> None:
    with pytest.raises(SeedInvalid) as refused:
        read_text(text, file="toy.yaml")
    assert str(refused.value).startswith(told)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SeedInvalid, match=r"absent\.yaml: cannot be read: No such file"):
        read_all([tmp_path / "absent.yaml"])


def test_two_files_may_not_define_one_flavor(tmp_path: Path) -> None:
    for name in ("one.yaml", "two.yaml"):
        (tmp_path / name).write_text(HEAD + ONE, encoding="utf-8")
    with pytest.raises(SeedInvalid, match=r"two\.yaml: flavor toy: .*one\.yaml defines it, too"):
        read_all([tmp_path / "one.yaml", tmp_path / "two.yaml"])


def test_all_kinds_and_flavors_come_with_the_product() -> None:
    seeds = read_all(bundled_files())
    assert {kind.code for seed in seeds for kind in seed.kinds} == {
        "RDBMS", "MESSAGE_QUEUE", "OBJECT_STORAGE", "FILE_TRANSFER", "DATA_WAREHOUSE",
    }  # fmt: skip
    flavors = {flavor.code: flavor for seed in seeds for flavor in seed.flavors}
    assert set(flavors) == {
        "postgresql", "mysql", "mariadb", "sqlite", "oracle", "sqlserver", "hive", "iceberg", "kafka_avro",
        "kafka_json", "kafka_protobuf", "parquet", "csv",
    }  # fmt: skip
    assert set(flavors["mariadb"].sqlalchemy_dialects) == {"mysql", "mariadb"}
    assert len(bundled_catalogue("postgresql")) > 90
    assert all(len(bundled_catalogue(code)) > 8 for code in flavors)
    assert len(bundled_catalogue("flavors")) == 0


def test_no_two_types_of_a_flavor_share_a_spelling() -> None:
    for flavor in ("postgresql", "mysql", "mariadb", "sqlite"):
        spellings = [
            name.lower() for each in bundled_catalogue(flavor) for name in (each.name, *each.aliases)
        ]
        assert len(spellings) == len(set(spellings)), flavor


@pytest.mark.django_db
def test_loading_again_changes_nothing() -> None:
    seeds = read_all(bundled_files())
    first = load(seeds)
    assert first["kinds"] == Counts(inserted=5)
    assert first["flavors"] == Counts(inserted=13)
    assert first["types"].inserted == DataType.objects.count() > 150
    before = list(DataType.objects.order_by("id").values())
    assert AuditEntry.objects.filter(action="catalogue.seed").count() == 1
    again = load(seeds)
    assert AuditEntry.objects.filter(action="catalogue.seed").count() == 1
    assert again["kinds"] == Counts(unchanged=5)
    assert again["flavors"] == Counts(unchanged=13)
    assert again["types"] == Counts(unchanged=len(before))
    assert list(DataType.objects.order_by("id").values()) == before


@pytest.mark.django_db
def test_a_changed_row_is_updated_a_deleted_one_comes_back_and_a_strange_one_stays() -> None:
    seed = read_text(HEAD + ONE + "  - {code: b, name: b}\n", file="toy.yaml")
    load([seed])
    changed, deleted = DataType.objects.order_by("code")
    changed.name, changed.note = "other", "mine"
    changed.save()
    deleted.deleted_at = timezone.now()
    deleted.save()
    DataType.objects.create(flavor=changed.flavor, code="own", name="own")
    assert load([seed])["types"] == Counts(updated=1, restored=1)
    changed.refresh_from_db()
    deleted.refresh_from_db()
    assert (changed.name, changed.note, changed.row_version) == ("a", "mine", 2)
    assert (deleted.deleted_at, deleted.row_version) == (None, 2)
    assert DataType.objects.alive().filter(code="own").exists()


@pytest.mark.django_db
def test_a_dry_run_tells_and_writes_nothing() -> None:
    assert load(read_all(bundled_files()), dry_run=True)["kinds"] == Counts(inserted=5)
    assert not SystemKind.objects.exists()


@pytest.mark.django_db
def test_a_flavor_of_an_unknown_kind_is_refused_and_nothing_is_kept() -> None:
    seeds = [
        read_text("kinds: [{code: A, name: A}]", file="a.yaml"),
        read_text("flavors: [{code: x, name: X, kind: NONE}]", file="b.yaml"),
    ]
    with pytest.raises(SeedInvalid, match=r"b\.yaml: flavor x: there is no kind NONE"):
        load(seeds)
    assert not SystemKind.objects.exists()


@pytest.mark.django_db
def test_the_command_counts_what_it_did(tmp_path: Path) -> None:
    file = tmp_path / "toy.yaml"
    file.write_text(HEAD + ONE, encoding="utf-8")
    out = StringIO()
    call_command("seed_data_types", "--file", str(file), "--dry-run", stdout=out)
    assert "types: 1 inserted, 0 updated, 0 unchanged, 0 restored" in out.getvalue()
    assert "dry run: nothing was written" in out.getvalue()
    assert not SystemFlavor.objects.exists()
    out = StringIO()
    call_command("seed_data_types", "--file", str(file), stdout=out)
    assert "total: 3 inserted, 0 updated, 0 unchanged, 0 restored" in out.getvalue()
    file.write_text(HEAD + ONE + ONE, encoding="utf-8")
    with pytest.raises(CommandError, match="the code is used twice"):
        call_command("seed_data_types", "--file", str(file))
