"""Descriptions, owners and tags by spreadsheet: out, changed, looked at by the cell, applied as one batch, undone."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from aide.core.spreadsheets import escaped, unescaped
from aide.desk.models import Batch, Selection
from registry import curation, tagging
from registry.models import Dataset, Field, FieldTag, PIITag, System
from tests.admin.conftest import Screen
from tests.factories import make_dataset, make_system, publish

Row = dict[str, str]


@pytest.fixture
def steward(screen: Callable[..., Screen], system: System) -> Screen:
    return screen("steward", systems=(system,))


@pytest.fixture
def email(db: None) -> PIITag:
    return PIITag.objects.get_or_create(code="email", defaults={"name": "E-mail address", "sensitivity": 2})[
        0
    ]


def exported(client: Screen, subject: str = "field", **query: Any) -> list[Row]:
    answer = client.get(reverse(f"admin:registry_{subject}_for_editing"), query)
    text = b"".join(answer.streaming_content).decode("utf-8")  # type: ignore[attr-defined]
    assert text.startswith("\ufeff"), "so that spreadsheets know the coding"
    return list(csv.DictReader(io.StringIO(text[1:])))


def as_file(rows: list[Row], *, delimiter: str = ",", coding: str = "utf-8") -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0], delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode(coding)


def upload(client: Screen, content: bytes | list[Row], subject: str = "field") -> Any:
    raw = as_file(content) if isinstance(content, list) else content
    return client.post(
        reverse(f"admin:registry_{subject}_upload"), {"file": SimpleUploadedFile("words.csv", raw)}
    )


def page_of(client: Screen, answer: Any) -> str:
    assert answer.status_code == 302, answer.content.decode()
    return client.get(answer["Location"]).content.decode()


def by_name(rows: list[Row], name: str) -> Row:
    return next(row for row in rows if row["field"] == name)


def test_out_changed_applied_and_undone(steward: Screen, dataset: Dataset, email: PIITag) -> None:
    rows = exported(steward, q="customers") or exported(steward)
    assert [row["field"] for row in rows] == ["email", "id", "phone"]
    by_name(rows, "email").update(
        {"description": "Where we\nwrite to", "owner": "CRM", "tags": "mail, crm", "personal data": "email"}
    )
    by_name(rows, "phone")["owner"] = "CRM"
    answer = upload(steward, rows)
    page = page_of(steward, answer)
    assert "2 rows would change" in page
    assert "1 other lines are as the registry has them" in page
    assert "Apply 2</button>" in page
    assert Field.objects.filter(owner="CRM").count() == 0
    done = steward.post(answer["Location"], {"step": "apply", "expected": "2", "reason": "From the workshop"})
    batch = Batch.objects.get()
    assert done["Location"] == reverse("admin:desk_batch", args=[batch.pk])
    field = Field.objects.get(name="email")
    assert (field.description, field.owner, field.tags) == ("Where we\nwrite to", "CRM", ["mail", "crm"])
    assert FieldTag.objects.get().decided_by == steward.user
    assert (batch.changed, batch.reason, batch.words) == (2, "From the workshop", "words.csv")
    steward.post(reverse("admin:desk_batch_undo", args=[batch.pk]))
    field.refresh_from_db()
    assert (field.description, field.owner, field.tags) == ("", "", [])
    assert FieldTag.objects.filter(until=None).count() == 0


def test_what_was_not_touched_changes_nothing_even_after_a_spreadsheet_had_it(
    steward: Screen, dataset: Dataset
) -> None:
    curation.edit(
        dataset.fields.get(name="email"),
        {"description": "=1+1\n'quoted'", "tags": ["a, b", "c"]},
        by=steward.user,
    )
    curation.edit(dataset.fields.get(name="phone"), {"description": "'=kept"}, by=steward.user)
    rows = exported(steward)
    assert by_name(rows, "email")["description"] == "'=1+1\n'quoted'"
    for delimiter, coding in ((",", "utf-8"), (";", "utf-8-sig"), ("\t", "utf-16")):
        again = as_file(rows, delimiter=delimiter, coding=coding).replace(
            b"\n", b"\r\n" if coding != "utf-16" else b"\n"
        )
        page = page_of(steward, upload(steward, again))
        assert "0 rows would change" in page, (delimiter, coding)
        assert "0 lines will be skipped" in page


def test_each_fault_is_named_with_its_row_and_the_rest_is_applied(
    steward: Screen, dataset: Dataset, email: PIITag, screen: Callable[..., Screen]
) -> None:
    publish(make_dataset("theirs", system=make_system("billing")), ("secret", "text"))
    tagging.confirm(dataset.fields.get(name="phone"), email, by=steward.user)
    rows = exported(steward)
    curation.edit(dataset.fields.get(name="email"), {"owner": "Sales"}, by=screen("approver").user)
    for row in rows:
        row["owner"] = "CRM"
    by_name(rows, "phone")["personal data"] = ""
    extra = {**by_name(rows, "id")}
    unknown = {**extra, "id": "99999999"}
    strange = {**extra, "id": "seven"}
    answer = upload(steward, [*rows, extra, unknown, strange])
    page = page_of(steward, answer)
    assert "public.customers · email" in page
    assert "changed since the file was made: owner is now “Sales”" in page
    assert "it carries email; removing a confirmed tag takes two people" in page
    assert "the same row as in line" in page
    assert "there is nothing with the id 99999999" in page
    assert "“seven” is no id" in page
    assert "billing is none of your systems" in page
    assert "Apply 1, skip 6</button>" in page
    lines = {(fault["line"], fault["column"]) for fault in Selection.objects.get().faults}
    assert lines == {(2, "owner"), (4, "personal data"), (6, "id"), (7, "id"), (8, "id")}
    steward.post(answer["Location"], {"step": "apply", "expected": "1"})
    owners = dict(Field.objects.values_list("name", "owner"))
    assert owners == {"email": "Sales", "id": "CRM", "phone": "", "secret": ""}


def test_what_changed_after_the_look_is_not_written(
    steward: Screen, dataset: Dataset, screen: Callable[..., Screen]
) -> None:
    rows = exported(steward)
    for row in rows:
        row["owner"] = "CRM"
    answer = upload(steward, rows)
    curation.edit(dataset.fields.get(name="email"), {"owner": "Sales"}, by=screen("approver").user)
    again = steward.post(answer["Location"], {"step": "apply", "expected": "3"})
    assert again.status_code == 409
    assert "3 when you looked, 2 now." in again.content.decode()
    assert "changed since the file was made" in steward.get(answer["Location"]).content.decode()
    assert Batch.objects.count() == 0


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        (b"id,seen,owner,colour,shape\n1,v,x,y,z\n", "Unknown columns: colour, shape."),
        (b"id,owner\n1,x\n", "The column seen is missing."),
        (b"id,seen,owner,owner\n1,v,x,y\n", "The column owner is there twice."),
        (b"id,seen,field\n1,v,x\n", "No column can be edited"),
        (b"id,seen,owner\n1,v,\xff\xfe\n", "The file is not in UTF-8."),
        (b"id,seen,owner\n1,v,a\x00b\n", "Is it really a CSV file?"),
        (b'id,seen,owner\n1,v,"a\n', "This is no CSV file that can be read"),
        (b"PK\x03\x04\x00\x00", "Is it really a CSV file?"),
    ],
    ids=["empty", "blank", "unknown", "no key", "twice", "nothing", "coding", "nul", "quote", "zip"],
)  # fmt: skip
def test_a_file_that_cannot_be_taken_is_refused_by_name(
    content: bytes, sentence: str, steward: Screen, dataset: Dataset
) -> None:
    answer = upload(steward, content)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert sentence in page
    assert Selection.objects.count() == 0


def test_lines_of_another_length_are_faults_and_blank_ones_are_nothing(
    steward: Screen, dataset: Dataset
) -> None:
    content = b"id,seen,owner\n\n1,v\n,,\n2,v,x,y\n3,v," + b"x" * 300 + b"\n"
    page = page_of(steward, upload(steward, content))
    assert "2 cells, but the header has 3" in page
    assert "4 cells, but the header has 3" in page
    assert "longer than 255 characters" in page
    assert [fault["line"] for fault in Selection.objects.get().faults] == [3, 5, 6]


def test_datasets_go_round_too(steward: Screen, dataset: Dataset) -> None:
    rows = exported(steward, "dataset")
    rows[0]["description"] = "Everybody who ever bought"
    answer = upload(steward, rows, "dataset")
    steward.post(answer["Location"], {"step": "apply", "expected": "1"})
    dataset.refresh_from_db()
    assert dataset.description == "Everybody who ever bought"
    assert upload(steward, b"id,seen,personal data\n1,v,email\n", "dataset").status_code == 422


def test_the_export_and_the_upload_take_as_many_statements_for_many_rows(
    steward: Screen, system: System
) -> None:
    counts = []
    for size in (50, 300):
        publish(make_dataset(system=system), *((f"s{size}_{n}", "text") for n in range(size)))
        with CaptureQueriesContext(connection) as asked:
            rows = exported(steward, q=f"s{size}_")
        out = len(asked)
        for row in rows:
            row["owner"] = "CRM"
        with CaptureQueriesContext(connection) as asked:
            answer = upload(steward, rows)
        with CaptureQueriesContext(connection) as looked:
            steward.get(answer["Location"])
        counts.append((out, len(asked), len(looked)))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("text", ["", "=1", "'=1", "''x", "'x", "-5", "plain", "\tx", "@", "'", "''"])
def test_an_escaped_cell_comes_back_as_it_was(text: str) -> None:
    assert unescaped(escaped(text)) == text
    assert not escaped(text).startswith(("=", "+", "-", "@", "\t", "\r"))
