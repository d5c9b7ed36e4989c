"""The file of a round trip: its columns, and reading it back into cells or plain sentences about what is wrong."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from aide.core.ids import row_id
from aide.core.spreadsheets import unescaped

MOST_LINES = 20_000
MOST_BYTES = 5 * 1024 * 1024
KEYS = ("id", "seen")
EDITABLE: dict[str, tuple[str, ...]] = {
    "field": ("description", "owner", "tags", "personal data"),
    "dataset": ("description", "owner", "tags"),
}
SHOWN: dict[str, tuple[str, ...]] = {
    "field": ("system", "dataset", "field", "source comment"),
    "dataset": ("system", "dataset", "source comment"),
}
LONGEST = {"owner": 255, "description": 10_000, "tags": 2_000, "personal data": 2_000}


class SheetRefused(ValueError):  # noqa: N818 (read as what it says)
    """The file as a whole cannot be taken; the message is a sentence for people."""


@dataclass(frozen=True)
class Fault:
    """One line that cannot be taken: its number as spreadsheets count, the column, and why."""

    line: int
    column: str
    detail: str
    name: str = ""

    def as_json(self) -> dict[str, str | int]:
        return {"line": self.line, "column": self.column, "detail": self.detail, "name": self.name}


@dataclass(frozen=True)
class Line:
    """One line: its number, the row that it is about, what its author saw, and the cells that can be edited."""

    number: int
    id: int
    seen: str
    cells: dict[str, str]


@dataclass
class Sheet:
    """What a file holds."""

    lines: list[Line] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def columns_of(subject: str) -> tuple[str, ...]:
    """The header of an export for editing. What is only shown stands around what can be edited."""
    *before, comment = SHOWN[subject]
    return (*KEYS, *before, *EDITABLE[subject], comment)


def read(raw: bytes, *, subject: str) -> Sheet:
    """The lines of a file. Raises SheetRefused where the whole of it cannot be taken."""
    text = _text(raw)
    rows = _rows(text)
    try:
        header = [name.strip().lower() for name in next(rows, [])]
        _check_header(header, subject)
        return _sheet(header, rows, EDITABLE[subject])
    except csv.Error as error:
        raise SheetRefused(f"This is no CSV file that can be read: {error}.") from error


def _text(raw: bytes) -> str:
    if len(raw) > MOST_BYTES:
        raise SheetRefused("The file is larger than 5 MiB. Upload it in parts.")
    coding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = raw.decode(coding)
    except UnicodeDecodeError as error:
        raise SheetRefused("The file is not in UTF-8. Save it as “CSV UTF-8” and upload it again.") from error
    if "\x00" in text:
        raise SheetRefused("The file holds characters that no text has. Is it really a CSV file?")
    return text


def _rows(text: str) -> Any:
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)


def _check_header(header: list[str], subject: str) -> None:
    if not any(header):
        raise SheetRefused("The file is empty. Its first line must hold the names of the columns.")
    known = columns_of(subject)
    unknown = [name or "(without a name)" for name in header if name not in known]
    if unknown:
        raise SheetRefused(
            f"Unknown column{'s' if len(unknown) > 1 else ''}: {', '.join(unknown)[:300]}. "
            f"Known are {', '.join(known)}. Nothing was read."
        )
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise SheetRefused(f"The column {twice[0]} is there twice. Nothing was read.")
    missing = [name for name in KEYS if name not in header]
    if missing:
        raise SheetRefused(
            f"The column {missing[0]} is missing. Begin with “Export for editing” and keep its columns."
        )
    if not set(header) & set(EDITABLE[subject]):
        raise SheetRefused(f"No column can be edited: there is none of {', '.join(EDITABLE[subject])}.")


def _sheet(header: list[str], rows: Any, editable: tuple[str, ...]) -> Sheet:
    sheet = Sheet()
    places = {name: place for place, name in enumerate(header)}
    wanted = [name for name in editable if name in places]
    needed = max(places[name] for name in (*KEYS, *wanted)) + 1
    met: dict[int, int] = {}
    for number, row in enumerate(rows, start=2):
        if number > MOST_LINES + 1:
            raise SheetRefused(f"The file has more than {MOST_LINES:,} lines. Upload it in parts.")
        if not any(cell.strip() for cell in row):
            continue
        if len(row) < needed or len(row) > len(header):
            detail = f"{len(row)} cells, but the header has {len(header)}"
            sheet.faults.append(Fault(number, "", detail))
            continue
        pk = row_id(row[places["id"]].strip())
        cells = {name: unescaped(row[places[name]]).replace("\r\n", "\n") for name in wanted}
        fault = _fault(number, pk, cells, met, row[places["id"]])
        if fault is not None:
            sheet.faults.append(fault)
            continue
        met[pk] = number
        sheet.lines.append(Line(number, pk, row[places["seen"]].strip(), cells))
    return sheet


def _fault(number: int, pk: int, cells: dict[str, str], met: dict[int, int], written: str) -> Fault | None:
    if not pk:
        return Fault(number, "id", f"“{written[:40]}” is no id")
    if pk in met:
        return Fault(number, "id", f"the same row as in line {met[pk]}")
    for name, text in cells.items():
        if len(text) > LONGEST[name]:
            return Fault(number, name, f"longer than {LONGEST[name]:,} characters")
    return None


def words_of(cell: str) -> list[str]:
    """The words of a cell, which are separated by commas, each once."""
    return list(dict.fromkeys(word.strip() for word in cell.split(",") if word.strip()))
