"""A list as a CSV file: the rows and columns that the page shows, all pages, written while they are read."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import islice
from typing import Any

from django.contrib.admin.utils import display_for_field, label_for_field, lookup_field
from django.core.exceptions import ObjectDoesNotExist
from django.http import StreamingHttpResponse

from aide.core.html import DASH
from aide.core.spreadsheets import harmless

AT_ONCE = 500
_VOID = frozenset({"br", "hr", "img", "input", "use", "wbr"})


class Echo:
    """A file that gives each line back instead of keeping it."""

    def write(self, value: str) -> str:
        return value


def as_csv(changelist: Any, *, name: str, left_out: tuple[str, ...] = ()) -> StreamingHttpResponse:
    """The list's rows, whatever page is shown, in its order, with the columns of the screen."""
    columns = [column for column in changelist.list_display if column not in left_out]
    return stream(_lines(changelist, columns), name=name)


def stream(lines: Iterator[list[Any]], *, name: str, for_people: bool = False) -> StreamingHttpResponse:
    """Lines as a CSV file to download. With `for_people` spreadsheets are told that it is UTF-8."""
    writer = csv.writer(Echo())
    written: Iterator[str] = (writer.writerow(line) for line in lines)
    response = StreamingHttpResponse(_begun(written) if for_people else written, "text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def _begun(lines: Iterator[str]) -> Iterator[str]:
    yield "\ufeff"
    yield from lines


def _lines(changelist: Any, columns: list[str]) -> Iterator[list[Any]]:
    admin = changelist.model_admin
    labels = [str(label_for_field(column, changelist.model, admin)) for column in columns]
    yield [label[:1].upper() + label[1:] for label in labels]
    rows = changelist.queryset.iterator(chunk_size=AT_ONCE)
    while some := list(islice(rows, AT_ONCE)):
        admin.complete(some)
        for row in some:
            yield [harmless(cell_of(column, row, admin)) for column in columns]


def cell_of(column: str, row: Any, admin: Any) -> Any:
    """What a list shows of a row in one column, as a plain value."""
    try:
        field, _, value = lookup_field(column, row, admin)
    except ObjectDoesNotExist:
        return ""
    if field is not None and value is not None and (getattr(field, "flatchoices", None) or field.is_relation):
        value = getattr(row, field.name) if field.is_relation else display_for_field(value, field, "")
    if value is None or value == DASH:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return value
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return plain_text(value) if hasattr(value, "__html__") else str(value)


def plain_text(markup: Any) -> str:
    """The text of a piece of HTML: whole names instead of shortened ones, exact times, no dash for nothing."""
    text = str(markup)
    if "<" not in text and "&" not in text:
        return "" if text == DASH else text
    reader = _Reader()
    reader.feed(text)
    reader.close()
    found = " ".join(" ".join(reader.parts).split())
    return "" if found == DASH else found


class _Reader(HTMLParser):
    """Collects text; what stands in a title, or in the datetime of a time, takes the place of the element's text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if self.hidden:
            self.hidden += tag not in _VOID
            return
        whole = given.get("datetime") if tag == "time" else given.get("title")
        if whole and tag in {"span", "time"}:
            self.parts.append(whole)
        if (whole and tag in {"span", "time"}) or tag == "svg":
            self.hidden = 1

    def handle_endtag(self, tag: str) -> None:
        if self.hidden and tag not in _VOID:
            self.hidden -= 1

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.parts.append(data)
