"""The crawl report: what a run found, as JSON values and as text. Pure; runs, API and CLI show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from crawling.diff import Change, DatasetDiff
from registry.documents import split_path
from registry.locations import dataset_name, quote_part

SCHEMA_VERSION = 1
TITLE = "=== AIDE Crawler Diff Report ==="
VIEWS = frozenset({"view", "materialized_view"})
RENAMES = frozenset({"rename_field", "rename_dataset", "move_dataset"})
SECTIONS = (
    ("new_datasets", "New datasets"),
    ("removed_datasets", "Removed datasets"),
    ("renames", "Renames"),
    ("new_fields", "New fields"),
    ("removed_fields", "Removed fields"),
    ("type_changes", "Type changes"),
    ("other_changes", "Other changes"),
    ("unmapped_types", "Unmapped types"),
    ("skipped", "Skipped"),
)
_LONGEST = 200


def build(
    diffs: Iterable[DatasetDiff],
    *,
    system: str,
    run_id: int | None,
    coverage: Mapping[str, Any] | None = None,
    unmapped: Sequence[Mapping[str, Any]] = (),
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """The report of one comparison. `unmapped` holds {dataset, field, type} of types the catalogue does not know."""
    report: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "system": system,
        "run_id": run_id,
        "new_datasets": [],
        "removed_datasets": [],
        "new_fields": {},
        "removed_fields": {},
        "type_changes": [],
        "other_changes": [],
        "renames": [],
        "unmapped_types": [dict(each) for each in unmapped],
        "skipped": _skipped(coverage or {}),
        "warnings": list(warnings),
    }
    for each in diffs:
        for change in each.changes:
            _sort_in(report, change)
    report["summary"] = {category: _count(report[category]) for category, _ in SECTIONS}
    return report


def has_changes(report: Mapping[str, Any]) -> bool:
    """Whether the source differs from the registry; notes on types and coverage are no difference."""
    return any(report["summary"][category] for category, _ in SECTIONS[:7])


def _sort_in(report: dict[str, Any], change: Change) -> None:
    name, op = change.dataset, change.op
    if op == "add_dataset":
        report["new_datasets"].append(_dataset(name, change.after))
    elif op == "drop_dataset":
        report["removed_datasets"].append(_dataset(name, change.before))
    elif op == "add_field":
        report["new_fields"].setdefault(name, []).append(_field(change, change.after))
    elif op == "drop_field":
        report["removed_fields"].setdefault(name, []).append(_field(change, change.before))
    elif op in ("change_type", "change_parameters"):
        report["type_changes"].append(_type_change(change))
    elif op in RENAMES:
        report["renames"].append(
            {
                "dataset": name,
                "field": change.field,
                "op": op,
                "from": change.before,
                "to": change.after,
                "evidence": [entry["text"] for entry in change.evidence],
            }
        )
    else:
        report["other_changes"].append(
            {
                "dataset": name,
                "field": change.field,
                "op": op,
                "before": change.before,
                "after": change.after,
                "risk": change.risk,
                "why": change.why,
            }
        )


def _dataset(name: str, document: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "object_name": name,
        "schema": document.get("schema"),
        "table": document.get("name") or dataset_name(document),
        "is_view": document.get("kind") in VIEWS,
        "fields_count": len(document.get("fields") or ()),
    }


def _field(change: Change, field: Mapping[str, Any]) -> dict[str, Any]:
    path = change.field or ""
    names = split_path(path)
    return {"name": names[0] if len(names) == 1 else path, "type": field.get("native_type") or ""}


def _type_change(change: Change) -> dict[str, Any]:
    return {
        "dataset": change.dataset,
        "field": change.field,
        "old_type": _spelled(change.before, change.after),
        "new_type": _spelled(change.after, change.before),
        "risk": change.risk,
        "why": change.why,
    }


def _spelled(value: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """The native spelling, with the parameters that differ where the spelling alone is the same."""
    native = str(value.get("native_type") or "")
    if native != str(other.get("native_type") or ""):
        return native
    mine, theirs = value.get("parameters") or {}, other.get("parameters") or {}
    differing = [f"{key} {_short(mine[key])}" for key in sorted(mine) if mine[key] != theirs.get(key)]
    return f"{native} ({', '.join(differing)})" if differing else native


def _skipped(coverage: Mapping[str, Any]) -> list[dict[str, str]]:
    schemas = [
        {
            "object": quote_part(each["name"]),
            "reason": each.get("reason") or "The schema could not be listed.",
        }
        for each in coverage.get("schemas") or ()
        if each.get("status") == "failed"
    ]
    tables = [
        {
            "object": f"{quote_part(each['schema'])}.{quote_part(each['name'])}",
            "reason": each.get("reason") or "",
        }
        for part in ("failed", "skipped")
        for each in coverage.get(part) or ()
    ]
    return schemas + tables


def _count(entries: Any) -> int:
    return sum(len(fields) for fields in entries.values()) if isinstance(entries, dict) else len(entries)


def text(report: Mapping[str, Any]) -> str:
    """The report for people: a section for each category that is not empty, and always the summary."""
    lines = [TITLE, f"System: {_line(report['system'])}"]
    if report.get("run_id") is not None:
        lines.append(f"Run: {report['run_id']}")
    lines += [_line(f"WARNING: {each}") for each in report.get("warnings") or ()]
    for category, title in SECTIONS:
        entries = report[category]
        if entries:
            lines += ["", f"--- {title} ({_count(entries)}) ---"]
            lines += [_line(each) for each in _LINES[category](entries)]
    lines += ["", "--- Summary ---"]
    width = max(len(title) for _, title in SECTIONS) + 1
    lines += [f"{title + ':':<{width}} {report['summary'][category]}" for category, title in SECTIONS]
    if not has_changes(report):
        lines.append("No changes.")
    return "\n".join(lines) + "\n"


def _datasets(sign: str, entries: Iterable[Mapping[str, Any]]) -> list[str]:
    return [
        f"{sign} {each['object_name']} ({'view' if each['is_view'] else 'table'}, {_columns(each['fields_count'])})"
        for each in entries
    ]


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"


def _fields(sign: str, entries: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    return [
        f"{sign} {name}: {field['name']} {field['type']}".rstrip()
        for name, fields in entries.items()
        for field in fields
    ]


def _type_lines(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    return [
        f"~ {e['dataset']}: {e['field']} {e['old_type']} -> {e['new_type']} ({e['risk']})" for e in entries
    ]


def _other_lines(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    lines = []
    for each in entries:
        where = f"{each['dataset']}: {each['field']}" if each["field"] else each["dataset"]
        what = each["op"].removeprefix("change_").replace("_", " ")
        values = f"{_short(each['before'])} -> {_short(each['after'])}"
        lines.append(f"~ {where} {what}: {values} ({each['risk']})")
    return lines


def _rename_lines(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    return [
        f"~ {e['dataset']}: {e['from']} -> {e['to']}" if e["field"] else f"~ {e['from']} -> {e['to']}"
        for e in entries
    ]


def _unmapped_lines(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    return [f"~ {e['dataset']}: {e['field']} {e['type']}" for e in entries]


def _skipped_lines(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    return [f"~ {e['object']}: {e['reason']}" for e in entries]


_LINES: Mapping[str, Any] = {
    "new_datasets": lambda entries: _datasets("+", entries),
    "removed_datasets": lambda entries: _datasets("-", entries),
    "renames": _rename_lines,
    "new_fields": lambda entries: _fields("+", entries),
    "removed_fields": lambda entries: _fields("-", entries),
    "type_changes": _type_lines,
    "other_changes": _other_lines,
    "unmapped_types": _unmapped_lines,
    "skipped": _skipped_lines,
}


def _short(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        if "ref_table" in value:
            return (
                f"({', '.join(value['columns'])}) to {value['ref_table']} ({', '.join(value['ref_columns'])})"
            )
        if "columns" in value:
            return f"({', '.join(value['columns'])})"
        shown = ", ".join(f"{key} {inner}" for key, inner in value.items() if inner is not None)
    elif isinstance(value, list):
        shown = f"({', '.join(str(each) for each in value)})"
    else:
        shown = str(value)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"


def _line(value: Any) -> str:
    """One line, whatever the source named its things."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(value))
