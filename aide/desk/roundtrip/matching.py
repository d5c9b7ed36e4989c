"""What the lines of a file mean for the registry now: per row what it gets, and which lines cannot be taken."""

from __future__ import annotations

from typing import Any

from aide.desk.bulk.forecast import shown
from aide.desk.bulk.plans import Plan, mark_of
from aide.desk.bulk.weighing import AT_ONCE, MODELS, name_of
from aide.desk.models import Selection, Subject
from aide.desk.roundtrip.sheet import Fault, Line, Sheet, words_of
from registry.models import FieldTag, PIITag


def take(sheet: Sheet, *, subject: Subject, by: Any, file_name: str) -> Selection:
    """A selection of the rows that the file changes, with what each gets and which lines are left out."""
    wishes: dict[str, dict[str, Any]] = {}
    faults = list(sheet.faults)
    unchanged = 0
    vocabulary = set(PIITag.objects.alive().values_list("code", flat=True))
    for start in range(0, len(sheet.lines), AT_ONCE):
        part = sheet.lines[start : start + AT_ONCE]
        rows, carried = _present(part, subject)
        for line in part:
            row = rows.get(line.id)
            found = _wish(line, row, carried.get(line.id, set()), vocabulary)
            if isinstance(found, Fault):
                faults.append(found)
            elif found.is_empty:
                unchanged += 1
            else:
                wishes[str(line.id)] = {**found.as_json(), "line": line.number}
    faults.sort(key=lambda each: each.line)
    ids = [int(pk) for pk in wishes]
    words = f"{unchanged:,} other lines are as the registry has them" if unchanged else ""
    return Selection.objects.create(
        person=by, subject=subject, words=words, is_whole=False, ids=ids, count=len(ids),
        file_name=file_name[:255], wishes=wishes, faults=[each.as_json() for each in faults],
    )  # fmt: skip


def _present(lines: list[Line], subject: Subject) -> tuple[dict[int, Any], dict[int, set[str]]]:
    path = "system" if subject == Subject.DATASET else "dataset__system"
    ids = [line.id for line in lines]
    rows = {row.pk: row for row in MODELS[subject].objects.filter(pk__in=ids).select_related(path)}
    carried: dict[int, set[str]] = {}
    if subject == Subject.FIELD:
        tags = FieldTag.objects.filter(
            field__in=ids, until__isnull=True, state=FieldTag.State.CONFIRMED
        ).values_list("field_id", "tag__code")
        for pk, code in tags:
            carried.setdefault(pk, set()).add(code)
    return rows, carried


def _wish(line: Line, row: Any, carried: set[str], vocabulary: set[str]) -> Plan | Fault:
    if row is None:
        return Fault(line.number, "id", f"there is nothing with the id {line.id}")
    name = name_of(row)
    wanted: dict[str, Any] = {}
    for column in ("description", "owner"):
        if (
            column in line.cells
            and line.cells[column].strip() != getattr(row, column).replace("\r\n", "\n").strip()
        ):
            wanted[column] = line.cells[column].strip()
    if "tags" in line.cells and line.cells["tags"].strip() != ", ".join(row.tags):
        wanted["tags"] = words_of(line.cells["tags"])
    if wanted and line.seen != mark_of(row):
        now = "; ".join(f"{column} is now “{shown(getattr(row, column))}”" for column in wanted)
        return Fault(line.number, ", ".join(wanted), f"changed since the file was made: {now}", name)
    codes = words_of(line.cells.get("personal data", ""))
    unknown = [code for code in codes if code not in vocabulary]
    if unknown:
        return Fault(line.number, "personal data", f"there is no tag {', '.join(unknown)[:100]}", name)
    gone = sorted(carried - set(codes)) if "personal data" in line.cells else []
    if gone:
        detail = f"it carries {', '.join(gone)}; removing a confirmed tag takes two people"
        return Fault(line.number, "personal data", detail, name)
    added = tuple(code for code in codes if code not in carried)
    return Plan(own=wanted, add_tags=added, seen=line.seen if wanted else "")
